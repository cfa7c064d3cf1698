"""The best labels of every row, from scores, sparse scores or label indices, and which are relevant."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels_beside, check_scores, row_blocks
from mlspl.errors import UserError
from mlspl.metrics.kernels import best_of_entries, best_of_rows, find_pairs

__all__ = ["Ranked", "best_scored", "best_stored", "check_k"]


class Ranked:
    """The known labels of every row, best first, as far as somebody looks: `top` (n, m), and the `hits`."""

    def __init__(self, labels: Labels, top: NDArray[np.intp]):
        self.labels, self.top = labels, top
        self.hits = _found(labels.relevant, top)
        self.n_relevant = np.asarray(labels.relevant.sum(axis=1, dtype=np.int64)).ravel()

    @classmethod
    def of(cls, Y: ArrayLike | Labels, F: Any, k: int | None) -> "Ranked":
        """Rank as many labels as asked for, in whichever of its three forms F comes."""
        labels = check_labels_beside(Y, F, "F")
        k = labels.shape[1] if k is None else k
        check_k(k)
        if sparse.issparse(F):
            if F.shape != labels.shape:
                raise UserError(
                    f"Y has shape {labels.shape} but F has shape {F.shape}: they must be the same."
                )
            return cls(labels, best_stored(F, k, labels.unknown))
        if _is_indices(F, labels.shape):
            return cls(labels, _check_indices(F, labels))
        return cls(labels, best_scored(check_scores(F, labels.shape, infinite=True), k, labels.unknown))

    def precision(self, k: int) -> tuple[float, int]:
        """Sum over rows, and the number of rows with a known label."""
        known = self.labels.known
        n_rows = self.labels.shape[0] if known is None else np.count_nonzero(known.any(axis=1))
        return float(self.hits[:, :k].sum()) / k, int(n_rows)

    def ndcg(self, k: int | None) -> tuple[float, int]:
        """Sum over the rows with a relevant label, and their number."""
        k = self.labels.shape[1] if k is None else min(k, self.labels.shape[1])
        gain = 1 / np.log2(np.arange(2, k + 2))
        some = self.n_relevant > 0
        hits = self.hits[some, :k]
        best = np.cumsum(gain)[np.minimum(self.n_relevant[some], k) - 1]
        return float((hits @ gain[: hits.shape[1]] / best).sum()), int(some.sum())


def check_k(k: Any) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise UserError(f"k is {k!r}: it is the number of labels to look at, 1 or more.")


def _is_indices(F: Any, shape: tuple[int, int]) -> bool:
    """Whether F is an array of label indices: of integers, and not as wide as Y."""
    try:
        table = np.asarray(F)
    except ValueError:
        return False
    if table.ndim != 2 or table.dtype.kind not in "iu":
        return False
    if table.shape != shape:
        return True
    if shape[1] > 1 and (np.sort(table, axis=1) == np.arange(shape[1])).all():
        raise UserError(
            "F holds every integer from 0 to L − 1 in every row, so it is unclear whether they are scores or "
            "labels: give scores as floats, or fewer labels than L."
        )
    return False


def _check_indices(F: Any, labels: Labels) -> NDArray[np.intp]:
    top = np.asarray(F).astype(np.intp)
    n, n_labels = labels.shape
    if len(top) != n:
        raise UserError(f"Y has {n} rows but F has {len(top)}: they must match.")
    wrong = (top < -1) | (top >= n_labels)
    ordered = np.sort(top, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        raise UserError(
            f"F[{i}, {j}] is {top[i, j]}: label indices run from 0 to {n_labels - 1}, -1 is none. Give "
            "scores as floats, in the shape of Y."
        )
    if twice.any():
        i, j = np.argwhere(twice)[0]
        raise UserError(f"F[{i}] holds label {ordered[i, j]} twice.")
    if labels.unknown is not None:
        top = np.where(_found(labels.unknown, top), -1, top)
        top = np.take_along_axis(top, np.argsort(top < 0, axis=1, kind="stable"), axis=1)
    return top


def best_scored(scores: NDArray, k: int, unknown: Any) -> NDArray[np.intp]:
    k = min(k, scores.shape[1])
    top = np.empty((scores.shape[0], k), dtype=np.intp)
    skipped = np.zeros((0, 0), dtype=bool)
    for rows, block in row_blocks(scores):
        if unknown is not None:
            skipped = unknown[rows].toarray() if sparse.issparse(unknown) else unknown[rows]
        top[rows] = best_of_rows(np.ascontiguousarray(block, np.float64), skipped, k)
    return top


def best_stored(F: Any, k: int, unknown: Any) -> NDArray[np.intp]:
    scores = sparse.csr_array(F)
    if not scores.has_canonical_format:
        scores = scores.copy()
        scores.sum_duplicates()
    data = scores.data.astype(np.float64)
    if np.isnan(data).any():
        raise UserError("F holds NaN: a label without a score cannot be ranked.")
    skipped = np.empty(0, dtype=bool)
    if unknown is not None:
        rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
        unknown = sparse.csr_array(unknown)
        unknown.sort_indices()
        skipped = find_pairs(unknown.indptr, unknown.indices, rows, scores.indices)
    return best_of_entries(scores.indptr, scores.indices, data, min(k, scores.shape[1]), skipped)


def _found(table: Any, top: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of the pairs (i, top[i, j]) are True in the table; none is where there is no label."""
    rows = np.repeat(np.arange(top.shape[0]), top.shape[1])
    if sparse.issparse(table):
        return find_pairs(table.indptr, table.indices, rows, top.ravel()).reshape(top.shape)
    return (table[rows, top.ravel()] & (top.ravel() >= 0)).reshape(top.shape)
