"""Forests as a learner that can be paced: fitted with weights, judged out of bag."""

from typing import Any

import numpy as np

from mlspl.models._forest import Bags, TreeRows, grow_forests
from mlspl.models._label_forests import forest_probabilities

__all__ = ["ForestLearner", "given_label_losses"]

# A tree that disagrees does not make a pair infinitely hard, nor does a lone one that agrees.
_LEAST = 1e-3
# Steps from no weight to a label's largest. Sums of whole numbers do not depend on the order of the rows,
# which dense and sparse trees do not share; what is lighter than half a step is left out.
_STEPS = 2.0**20


def given_label_losses(Y, probabilities) -> np.ndarray:
    """−ln p of the label that each pair was given, at most 6.9."""
    return -np.log(np.clip(np.where(Y, probabilities, 1.0 - probabilities), _LEAST, 1.0))


class ForestLearner:
    """A forest per label on the same draws of the rows; a :class:`mlspl.pacing.Learner`."""

    def __init__(self, rows: TreeRows, Y, prior, bags: Bags, n_jobs) -> None:
        self.rows, self.Y, self.prior = rows, Y, prior
        self.bags, self.n_jobs = bags, n_jobs
        known = prior > 0
        self.frequencies = (0.5 + (prior * Y).sum(axis=0)) / (1.0 + prior.sum(axis=0))
        varied = (known & Y).any(axis=0) & (known & ~Y).any(axis=0)
        # None until the first fit.
        self.forests: dict[int, Any] = dict.fromkeys(np.flatnonzero(varied).tolist())
        self.importances = np.zeros((Y.shape[1], rows.X.shape[1]))
        self.probabilities = np.tile(self.frequencies, (len(Y), 1))
        self._fitted = np.full(Y.shape, np.nan)

    def fit(self, weights) -> None:
        """Grow the forests of all labels whose weights are not those of the last time."""
        weights = self.prior * weights
        largest = weights.max(axis=0)
        weights = np.rint(weights / np.where(largest > 0, largest, 1.0) * _STEPS)
        changed = [
            label for label in self.forests if not np.array_equal(weights[:, label], self._fitted[:, label])
        ]
        grown = grow_forests(self.rows, self.Y, weights, self.frequencies, self.bags, changed, self.n_jobs)
        for label, (trees, importances) in zip(changed, grown, strict=True):
            self.forests[label], self.importances[label] = trees, importances
        self._fitted = weights
        self.probabilities = forest_probabilities(
            self.forests, self.frequencies, self.rows.X, self.bags, self.n_jobs
        )

    def losses(self) -> np.ndarray:
        """−ln of the out-of-bag probability of the label that each pair was given."""
        return given_label_losses(self.Y, self.probabilities)
