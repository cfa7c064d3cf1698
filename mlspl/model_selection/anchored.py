"""Probabilities that agree with predictions made at score 0."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mlspl._validation import check_scores
from mlspl.model_selection.calibration import Calibration
from mlspl.model_selection.inputs import check_training
from mlspl.model_selection.sigmoids import fit_slopes

__all__ = ["AnchoredCalibration"]

# Slopes are searched between these; e^±1000 and e^±0.001 are as good as certain and as good as nothing.
_SLOPES = (1e-3, 1e3)


class AnchoredCalibration(Calibration):
    """A sigmoid per label and side of the decision boundary, held at probability ½ where the score is 0.

    Platt's sigmoid may put the probability ½ anywhere, so that a label predicted by its score can be called
    improbable by its probability. Here log-odds = slope · score with one slope for negative and one for
    positive scores, each fitted to Platt's smoothed targets: the order of the scores and their side of ½
    are kept. Made for margins, which are of the order of 1.

    Parameters
    ----------
    shared : bool, default=False
        One slope for all labels and both sides, for scores that rank the labels of a row already.

    Attributes
    ----------
    slopes_ : ndarray of shape (2, L)
        For negative and for positive scores; positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import AnchoredCalibration
    >>> rng = np.random.default_rng(0)
    >>> F = rng.standard_normal((100_000, 1))
    >>> Y = rng.random(F.shape) < 1 / (1 + np.exp(-np.where(F < 0, 3 * F, F)))
    >>> AnchoredCalibration().fit(F, Y).slopes_.round(1).ravel()
    array([3., 1.])
    """

    _contents = {"slopes_": "float (2, labels)"}

    def __init__(self, shared: bool = False) -> None:
        self.shared = shared

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Fit the slopes.

        Parameters
        ----------
        F : array-like of shape (n, L)
            Out-of-fold scores.
        Y : array-like or sparse matrix of shape (n, L)
            Labels: 0/1, ±1 or boolean; NaN where unknown.
        label_weight : array-like of shape (n, L), default=None
            Weight of each pair; 1 if not given.
        """
        scores, relevant, weight = check_training(F, Y, label_weight)
        n_labels = scores.shape[1]
        if self.shared:
            # Every score with both signs: the same on both sides of 0.
            scores, weight = (np.reshape(part, (-1, 1)) for part in (scores, weight))
            relevant = np.vstack([relevant.reshape(-1, 1), ~relevant.reshape(-1, 1)])
            scores, weight = np.vstack([scores, -scores]), np.vstack([weight, weight])
        positives = (weight * relevant).sum(axis=0)
        negatives = weight.sum(axis=0) - positives
        targets = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
        F, T, W = (np.ascontiguousarray(part.T) for part in (scores, targets, weight))
        self.slopes_ = fit_slopes(F, T, W, *_SLOPES)
        if self.shared:
            self.slopes_ = np.repeat(self.slopes_, n_labels, axis=1)
        return self

    @classmethod
    def beside(cls, parts: Sequence[Self]) -> Self:
        """Return the slopes of all parts, none of which is shared."""
        whole = cls()
        whole.slopes_ = np.concatenate([part.slopes_ for part in parts], axis=1)
        return whole

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return slope · F, shape (n, L)."""
        check_is_fitted(self)
        scores = check_scores(F, (None, self.slopes_.shape[1]))
        return np.where(scores < 0, self.slopes_[0], self.slopes_[1]) * scores
