"""Several criteria at once: of all rows, of every label, and of rows that come block by block."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from mlspl._validation import check_labels_beside, check_scores
from mlspl.metrics._shared import document
from mlspl.metrics.decisions import Decisions
from mlspl.metrics.ranking import RANKING_NAMES, mean_of_rows, rank_sums
from mlspl.metrics.top import Ranking


@document
def score_labels(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> dict[str, NDArray]:
    """Return precision, recall, F1, AUC and support of every label, over the rows where it is known.

    {both}

    Returns
    -------
    dict
        Arrays of length L under precision, recall, f1, auc and support (relevant rows). Undefined values are
        NaN: the precision of a label never predicted, the recall of one never relevant, the AUC of a
        constant label.
    """
    decisions = Decisions.count(Y, P)
    labels = check_labels_beside(Y, F, "F").dense()
    scores = check_scores(F, labels.shape, infinite=True)
    auc = np.full(labels.shape[1], np.nan)
    for label in range(labels.shape[1]):
        rows = slice(None) if labels.known is None else labels.known[:, label]
        relevant = labels.relevant[rows, label]
        if relevant.any() and not relevant.all():
            # Ranks are finite where scores may not be.
            auc[label] = roc_auc_score(relevant, rankdata(scores[rows, label]))
    return {**decisions.label_values(), "auc": auc, "support": decisions.relevant}


class Tally:
    """Every criterion of rows that are added block by block, in memory that does not grow with the rows.

    Parameters
    ----------
    at : sequence of int, default=()
        Each k of precision and nDCG at k.
    """

    def __init__(self, at: Sequence[int] = ()):
        self.at = tuple(at)
        self.n_rows = 0
        self._decisions: Decisions | None = None
        self._ranking = np.zeros((2, 4))
        self._top = np.zeros((2, 1 + 2 * len(self.at)))

    @document
    def add(self, Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> Self:
        """Count further rows.

        {both}
        """
        labels = check_labels_beside(Y, F, "F")
        scores = check_scores(F, labels.shape, infinite=True).astype(np.float64, copy=False)
        decisions = Decisions.count(labels, P)
        self._ranking += rank_sums(labels, scores)
        ranking = Ranking(labels, scores, None)
        parts = [ranking.ndcg(None)]
        for k in self.at:
            parts += [ranking.precision(k), ranking.ndcg(k)]
        self._top += np.transpose(parts)
        self._decisions = decisions if self._decisions is None else self._decisions + decisions
        self.n_rows += labels.shape[0]
        return self

    def scores(self) -> dict[str, float]:
        """Return the criteria by name, those of the paper first; NaN where no row defines one."""
        decisions = self._counted()
        with np.errstate(invalid="ignore"):
            top = self._top[0] / self._top[1]
        best = [f"{name}_at_{k}" for k in self.at for name in ("precision", "ndcg")]
        values = decisions.values()
        return {
            "hamming_loss": values.pop("hamming_loss"),
            **{name: mean_of_rows(self._ranking, number) for number, name in enumerate(RANKING_NAMES)},
            **values,
            **dict(zip(["ndcg", *best], top.tolist(), strict=True)),
        }

    def label_scores(self) -> dict[str, NDArray]:
        """Return precision, recall, F1 and support of every label, as `score_labels` does; no AUC."""
        decisions = self._counted()
        return {**decisions.label_values(), "support": decisions.relevant}

    def _counted(self) -> Decisions:
        if self._decisions is None:
            raise ValueError("No rows have been added.")
        return self._decisions
