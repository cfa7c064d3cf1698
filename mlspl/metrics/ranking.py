"""Sums for the ranking criteria: those of the paper, and those of the k best labels of a row.

An unknown label (NaN in Y) takes no rank. Among equal scores the higher label index ranks better.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._numba_cache import njit
from mlspl._validation import Labels, check_labels_beside, check_scores, row_blocks
from mlspl.errors import UserError
from mlspl.metrics.decisions import Sums

_NAMES = ("ranking_loss", "one_error", "coverage", "average_precision")


def rank_criteria(Y: ArrayLike | Labels, F: ArrayLike) -> NDArray[np.float64]:
    """Return (4, n): ranking loss, one error, coverage and average precision of every row, or NaN."""
    labels = check_labels_beside(Y, F, "F")
    scores = check_scores(F, labels.shape, infinite=True)
    blocks = ((truth, np.ascontiguousarray(scores[rows], np.float64)) for rows, truth in labels.blocks())
    return np.concatenate([rank_rows(*block) for block in blocks], axis=1)


def rank_sums(Y: ArrayLike | Labels, F: ArrayLike) -> Sums:
    """Return the sum of each criterion over rows, and the number of rows that define it."""
    values = zip(_NAMES, rank_criteria(Y, F), strict=True)
    return {name: np.array([np.nansum(rows), np.count_nonzero(~np.isnan(rows))]) for name, rows in values}


def top_sums(Y: ArrayLike | Labels, F: ArrayLike, ks: Sequence[int | None]) -> Sums:
    """Return the same of precision and nDCG at each k, under names such as "ndcg_at_5"; None is "ndcg"."""
    labels = check_labels_beside(Y, F, "F")
    scores = check_scores(F, labels.shape, infinite=True)
    sums: Sums = {}
    for rows, codes in labels.blocks():
        hits = np.take_along_axis(codes, _rank(np.where(codes < 0, np.nan, scores[rows])), axis=1) == 1
        n_relevant, n_known = hits.sum(axis=1), np.count_nonzero((codes >= 0).any(axis=1))
        some = n_relevant > 0
        for k in ks:
            if k is not None:
                _check_k(k)
                precision = np.array([hits[:, :k].sum() / k, n_known])
                sums[f"precision_at_{k}"] = sums.get(f"precision_at_{k}", 0.0) + precision
            gain = 1 / np.log2(np.arange(2, hits[:, :k].shape[1] + 2))
            best = np.cumsum(gain)[np.minimum(n_relevant[some], len(gain)) - 1]
            ndcg = np.array([(hits[some, :k] @ gain / best).sum(), np.count_nonzero(some)])
            name = "ndcg" if k is None else f"ndcg_at_{k}"
            sums[name] = sums.get(name, 0.0) + ndcg
    return sums


def top_labels(F: ArrayLike, k: int) -> NDArray[np.intp]:
    """Return the indices (n, min(k, L)) of the k best labels of every row of F (n, L), best first.

    Among equal scores the higher index comes first.
    """
    _check_k(k)
    scores = check_scores(F, (None, np.shape(F)[-1] if np.ndim(F) == 2 else 0), infinite=True)
    return np.concatenate([_rank(block)[:, :k] for _, block in row_blocks(scores)])


def _check_k(k: Any) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise UserError(f"k is {k!r}: it is the number of best labels, 1 or more.")


def _rank(scores: NDArray) -> NDArray[np.intp]:
    """Return the labels of every row, best first, of equal ones the higher index first, NaN last."""
    return scores.shape[1] - 1 - np.argsort(-scores[:, ::-1].astype(np.float64), axis=1, kind="stable")


@njit(cache=True, nogil=True)
def rank_rows(Y: NDArray[np.int8], F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (4, n): ranking loss, one error, coverage and average precision of every row, or NaN.

    Y holds 1 (relevant), 0 (irrelevant) and -1 (unknown, ignored). Counting the labels above each relevant
    one is faster than sorting, because the inner loops compile to vector instructions.
    """
    n, L = Y.shape
    rows = np.empty((4, n))
    relevant, irrelevant = np.empty(L), np.empty(L)
    before = np.empty(L, np.int64)
    for i in range(n):
        rows[0, i] = rows[1, i] = rows[2, i] = rows[3, i] = np.nan
        n_relevant = n_irrelevant = 0
        for label in range(L):
            if Y[i, label] == 1:
                relevant[n_relevant] = F[i, label]
                before[n_relevant] = n_irrelevant
                n_relevant += 1
            elif Y[i, label] == 0:
                irrelevant[n_irrelevant] = F[i, label]
                n_irrelevant += 1

        reversed_pairs = deepest = 0
        precision, best = 0.0, -np.inf
        for p in range(n_relevant):
            score = relevant[p]
            best = max(best, score)
            # The tie rule: at an equal score, labels of a higher index are above, those of a lower are not.
            relevant_above = above = level = 0
            for q in range(p):
                relevant_above += relevant[q] > score
            for q in range(p, n_relevant):
                relevant_above += relevant[q] >= score
            for q in range(before[p]):
                above += irrelevant[q] > score
                level += irrelevant[q] == score
            for q in range(before[p], n_irrelevant):
                above += irrelevant[q] >= score
            reversed_pairs += above + level
            deepest = max(deepest, relevant_above + above)
            precision += relevant_above / (relevant_above + above)

        if n_relevant > 0 and n_irrelevant > 0:
            beaten = False
            for q in range(n_irrelevant):
                beaten |= irrelevant[q] > best
            rows[0, i] = reversed_pairs / (n_relevant * n_irrelevant)
            rows[1, i] = beaten
            rows[3, i] = precision / n_relevant
        if n_relevant + n_irrelevant > 0:
            rows[2, i] = max(deepest - 1, 0)
    return rows
