"""Criteria of the k best labels of a row; unknown labels take no rank."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._validation import Labels, check_labels_beside, check_scores, row_blocks
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
    """Return the indices (n, min(k, L)) of the k best labels of every row of F (n, L), best first.

    Among equal scores the higher index comes first.
    """
    _check_k(k)
    scores = check_scores(F, (None, np.shape(F)[-1] if np.ndim(F) == 2 else 0), infinite=True)
    return np.concatenate([_rank(block)[:, :k] for _, block in row_blocks(scores)])


class Ranking:
    """Which of the k best known labels of every row by F are relevant: `hits` (n, k), best first."""

    def __init__(self, Y: ArrayLike | Labels, F: Any, k: int | None):
        labels = check_labels_beside(Y, F, "F")
        self.n_labels = labels.shape[1]
        k = self.n_labels if k is None else k
        _check_k(k)
        scores = check_scores(F, labels.shape, infinite=True)
        parts = []
        for rows, codes in labels.blocks():
            order = _rank(np.where(codes < 0, np.nan, scores[rows]))[:, :k]
            hits = np.take_along_axis(codes, order, axis=1) == 1
            parts.append((hits, (codes == 1).sum(axis=1), (codes >= 0).any(axis=1)))
        self.hits, self.n_relevant, self.known = map(np.concatenate, zip(*parts, strict=True))

    def precision(self, k: int) -> tuple[float, int]:
        """Sum over rows, and the number of rows with a known label."""
        return float(self.hits[:, :k].sum()) / k, int(self.known.sum())

    def ndcg(self, k: int | None) -> tuple[float, int]:
        """Sum over the rows with a relevant label, and their number."""
        k = self.n_labels if k is None else min(k, self.n_labels)
        gain = 1 / np.log2(np.arange(2, k + 2))
        some = self.n_relevant > 0
        best = np.cumsum(gain)[np.minimum(self.n_relevant[some], k) - 1]
        return float((self.hits[some, :k] @ gain / best).sum()), int(some.sum())


def _check_k(k: Any) -> None:
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise UserError(f"k is {k!r}: it is the number of best labels, 1 or more.")


def _rank(scores: NDArray) -> NDArray[np.intp]:
    """Return the labels of every row, best first, of equal ones the higher index first, NaN last."""
    return scores.shape[1] - 1 - np.argsort(-scores[:, ::-1].astype(np.float64), axis=1, kind="stable")
