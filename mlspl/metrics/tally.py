"""Criteria of rows that come block by block: memory for the labels, none for rows × labels."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._validation import check_labels_beside, check_scores
from mlspl.metrics._ranked import Ranked
from mlspl.metrics.criteria import rank
from mlspl.metrics.decisions import Decisions
from mlspl.metrics.others import f1_by_label

__all__ = ["Tally"]


class Tally:
    """Every criterion of rows that are added block by block.

    Parameters
    ----------
    at : sequence of int, default=()
        Numbers of best labels to count precision and nDCG at.

    Examples
    --------
    >>> from mlspl.metrics import Tally, score_all
    >>> Y, F = [[1, 0, 1], [0, 1, 0]], [[2.0, 0.5, -1.0], [0.0, 1.0, 3.0]]
    >>> P = [[1, 1, 0], [0, 0, 1]]
    >>> tally = Tally().add(Y[:1], F[:1], P[:1]).add(Y[1:], F[1:], P[1:])
    >>> tally.scores()["average_precision"] == score_all(Y, F, P)["average_precision"]
    True
    """

    def __init__(self, at: Sequence[int] = ()):
        self.at = tuple(at)
        self.n_rows = 0
        self._decisions: Decisions | None = None
        self._ranking = np.zeros((2, 4))
        self._top = np.zeros((2, 1 + 2 * len(self.at)))

    def add(self, Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> Self:
        """Count further rows.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n, L)
            True labels; NaN where unknown.
        F : array-like of shape (n, L)
            Scores, higher for more relevant.
        P : array-like or sparse matrix of shape (n, L)
            Predicted labels.
        """
        labels = check_labels_beside(Y, F, "F")
        scores = check_scores(F, labels.shape, infinite=True).astype(np.float64, copy=False)
        decisions = Decisions.of(labels, P)
        values = rank(labels, scores)
        self._ranking += np.nansum(values, axis=1), np.count_nonzero(~np.isnan(values), axis=1)
        ranked = Ranked.of(labels, scores, None)
        parts = [ranked.ndcg(None)]
        for k in self.at:
            parts += [ranked.precision(k), ranked.ndcg(k)]
        self._top += np.transpose(parts)
        self._decisions = decisions if self._decisions is None else self._decisions + decisions
        self.n_rows += labels.shape[0]
        return self

    def scores(self) -> dict[str, float]:
        """Return the criteria by name, the five first; NaN where no row can speak for one."""
        decisions = self._counted()
        with np.errstate(invalid="ignore"):
            ranking, top = self._ranking[0] / self._ranking[1], self._top[0] / self._top[1]
        wrong, known = decisions.hamming_loss()
        names = ["ranking_loss", "one_error", "coverage", "average_precision"]
        best = [f"{name}_at_{k}" for k in self.at for name in ("precision", "ndcg")]
        return {
            "hamming_loss": wrong / known if known else np.nan,
            **dict(zip(names, ranking.tolist(), strict=True)),
            **decisions.values(),
            **dict(zip(["ndcg", *best], top.tolist(), strict=True)),
        }

    def label_scores(self) -> dict[str, NDArray]:
        """Return precision, recall, F1 and support of every label, as `score_labels` does; no AUC."""
        decisions = self._counted()
        return {**f1_by_label(decisions), "support": decisions.relevant}

    def _counted(self) -> Decisions:
        if self._decisions is None:
            raise ValueError("No rows have been added.")
        return self._decisions
