"""Criteria of the k best labels of a row.

The ranking is an array of scores (n, L), or a sparse matrix, of which only stored scores are ranked. Unknown
labels take no rank.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels_beside, check_scores, check_shape, row_blocks
from mlspl.errors import UserError
from mlspl.metrics._shared import NEEDS_ONE, NEEDS_RELEVANT, document, mean


@document
def precision_at_k(Y: ArrayLike, F: ArrayLike, k: int = 5) -> float:
    """Share of the k best labels of a row that are relevant, mean over rows.

    A row with fewer than k labels to rank is still divided by k, and one without relevant labels counts 0, as
    in the literature.

    {top}
    """
    return mean(*Ranking(Y, F, k).precision(k), f"precision at {k}", NEEDS_ONE)


@document
def ndcg_at_k(Y: ArrayLike | Labels, F: ArrayLike, k: int | None = 5) -> float:
    """Normalised discounted cumulative gain of the k best labels, mean over rows with a relevant label.

    The gain of a relevant label at rank r is 1 / log₂(r + 1); the sum is divided by the largest it could be.

    {top_or_all}
    """
    ranking = Ranking(Y, F, k)
    return mean(*ranking.ndcg(k), "nDCG" if k is None else f"nDCG at {k}", NEEDS_RELEVANT)


def top_labels(F: ArrayLike, k: int) -> NDArray[np.intp]:
    """Return the indices (n, k) of the k best labels of every row, best first.

    Parameters
    ----------
    F : array-like of shape (n, L) or sparse matrix
        Scores, higher for more relevant; of a sparse matrix only the stored labels are ranked.
    k : int
        Number of best labels.

    Returns
    -------
    ndarray of shape (n, min(k, L))
        Among equal scores the higher index comes first; -1 where a row has no further label.
    """
    _check_k(k)
    if sparse.issparse(F):
        return _top_stored(F, k, None)
    scores = check_scores(F, (None, np.shape(F)[-1] if np.ndim(F) == 2 else 0), infinite=True)
    return _top_dense(scores, k, None)


class Ranking:
    """The k best known labels of every row by F: `top` (n, k), best first, and which of them are `hits`."""

    def __init__(self, Y: ArrayLike | Labels, F: Any, k: int | None):
        self.labels = labels = check_labels_beside(Y, F, "F")
        k = labels.shape[1] if k is None else k
        _check_k(k)
        if sparse.issparse(F):
            check_shape(F.shape, labels.shape, "F")
            self.top = _top_stored(F, k, labels.unknown)
        else:
            self.top = _top_dense(check_scores(F, labels.shape, infinite=True), k, labels.unknown)
        self.hits = _lookup(labels.relevant, np.arange(len(self.top))[:, None], self.top) & (self.top >= 0)

    def precision(self, k: int) -> tuple[float, int]:
        """Sum over rows, and the number of rows with a known label."""
        known = self.labels.known
        n_rows = self.labels.shape[0] if known is None else int(known.any(axis=1).sum())
        return float(self.hits[:, :k].sum()) / k, n_rows

    def ndcg(self, k: int | None) -> tuple[float, int]:
        """Sum over the rows with a relevant label, and their number."""
        k = self.labels.shape[1] if k is None else min(k, self.labels.shape[1])
        gain = 1 / np.log2(np.arange(2, k + 2))
        n_relevant = np.asarray(self.labels.relevant.sum(axis=1, dtype=np.int64)).ravel()
        some = n_relevant > 0
        hits = self.hits[some, :k]
        best = np.cumsum(gain)[np.minimum(n_relevant[some], k) - 1]
        return float((hits @ gain[: hits.shape[1]] / best).sum()), int(some.sum())


def _check_k(k: Any) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise UserError(f"k is {k!r}: it is the number of best labels, 1 or more.")


def _top_dense(scores: NDArray, k: int, unknown: Any) -> NDArray[np.intp]:
    n_labels = scores.shape[1]
    top = np.empty((scores.shape[0], min(k, n_labels)), dtype=np.intp)
    for rows, block in row_blocks(scores):
        if unknown is not None:
            skipped = unknown[rows]
            skipped = skipped.toarray() if sparse.issparse(skipped) else skipped
            block = np.where(skipped, np.nan, block)  # NaN is sorted last
        # Stable and from the last column on, so that a higher index comes first.
        order = np.argsort(-block[:, ::-1].astype(np.float64), axis=1, kind="stable")[:, :k]
        top[rows] = n_labels - 1 - order
        if unknown is not None:
            top[rows][np.isnan(np.take_along_axis(block, top[rows], axis=1))] = -1
    return top


def _top_stored(F: Any, k: int, unknown: Any) -> NDArray[np.intp]:
    scores = sparse.csr_array(F)
    if not scores.has_canonical_format:
        scores = scores.copy()
        scores.sum_duplicates()
    if np.isnan(scores.data).any():
        raise UserError("F holds NaN: a label without a score cannot be ranked.")
    rows, columns, data = scores.tocoo().row, scores.indices, scores.data
    if unknown is not None:
        kept = ~_lookup(unknown, rows, columns)
        rows, columns, data = rows[kept], columns[kept], data[kept]
    order = np.lexsort((columns, data, -rows))[::-1]
    rows, columns = rows[order], columns[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    top = np.full((F.shape[0], min(k, F.shape[1])), -1, dtype=np.intp)
    best = place < top.shape[1]
    top[rows[best], place[best]] = columns[best]
    return top


def _lookup(table: Any, rows: NDArray, columns: NDArray) -> NDArray[np.bool_]:
    """Return which pairs of a row and a column are True in the table."""
    if not sparse.issparse(table):
        return table[rows, columns]
    stored = table.tocoo()
    n_labels = np.int64(table.shape[1])
    return np.isin(rows * n_labels + columns, stored.row * n_labels + stored.col)
