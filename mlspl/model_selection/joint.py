"""Log-odds of every label from the scores of all labels."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from mlspl._validation import check_scores
from mlspl.model_selection.calibration import Calibration, PlattCalibration
from mlspl.model_selection.inputs import check_training

__all__ = ["JointCalibration"]

# Variances of what one label's log-odds, and its probability, may add to another's log-odds. From .001 to 1
# of the former rankings differ by .002.
_VARIANCE, _CHANCE_VARIANCE = 0.01, 1.0
_STEPS = 30


class JointCalibration(Calibration):
    """Log-odds = Platt's of the label + Σ_k (Δ_k · Platt's of label k + Γ_k · its chance) + a constant.

    Δ and Γ, of Gaussian priors around 0, have the largest posterior on these rows; so a label learns from the
    others what its own machine, which knows nothing of them, could not; nor could any machine that is linear
    in the features, as chances are not. Time grows as n·L³.

    Attributes
    ----------
    coef_ : ndarray of shape (L, L)
        What a score of each label (column) adds to the log-odds of each label (row).
    chance_coef_ : ndarray of shape (L, L)
        What the chance of each label by itself adds.
    offset_ : ndarray of shape (L,)
        The log-odds where all scores and chances are 0.
    alone_ : PlattCalibration
        The chances of labels by themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import JointCalibration
    >>> rng = np.random.default_rng(0)
    >>> F = rng.standard_normal((20_000, 2))
    >>> Y = rng.random(F.shape) < 1 / (1 + np.exp(-F @ [[2, 1], [0, 2]]))
    >>> JointCalibration().fit(F, Y).coef_.round() + 0.0
    array([[2., 0.],
           [1., 2.]])
    """

    _contents = {
        "coef_": "float (labels, labels)",
        "chance_coef_": "float (labels, labels)",
        "offset_": "float (labels)",
        "alone_": PlattCalibration,
    }

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Fit Platt's sigmoids, and then to their log-odds what the labels add to each other.

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
        self.alone_ = PlattCalibration().fit(scores, relevant, weight)
        odds = self.alone_.log_odds(scores)
        n_labels = odds.shape[1]
        features = np.hstack([odds, expit(odds), np.ones((len(odds), 1))])
        penalty = 1.0 / np.repeat([_VARIANCE, _CHANCE_VARIANCE, _VARIANCE], [n_labels, n_labels, 1])
        added = np.array(
            [
                _fit_added(odds[:, label], features, penalty, relevant[:, label], weight[:, label])
                for label in range(n_labels)
            ]
        ).reshape(n_labels, 2 * n_labels + 1)
        mixture = np.eye(n_labels) + added[:, :n_labels]
        self.coef_ = mixture * self.alone_.slope_
        self.chance_coef_ = added[:, n_labels : 2 * n_labels]
        self.offset_ = mixture @ self.alone_.offset_ + added[:, -1]
        return self

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return coef · F + chance_coef · chances + offset, shape (n, L)."""
        check_is_fitted(self)
        scores = check_scores(F, (None, len(self.offset_)))
        odds = scores @ self.coef_.T + self.alone_.transform(scores) @ self.chance_coef_.T + self.offset_
        # The last digits are the order of summation and would break ties at random.
        return np.round(odds, 12)


def _fit_added(odds, features, penalty, relevant, weight) -> NDArray[np.float64]:
    """Δ, Γ and the constant of a label, by Newton's method; the targets are smoothed as Platt's are."""
    positives = float(weight @ relevant)
    negatives = float(weight.sum()) - positives
    target = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))

    def objective(added) -> float:
        score = odds + features @ added
        return float(weight @ (np.logaddexp(0.0, score) - target * score) + 0.5 * penalty @ added**2)

    added = np.zeros(features.shape[1])
    value = objective(added)
    for _ in range(_STEPS):
        chance = expit(odds + features @ added)
        gradient = features.T @ (weight * (chance - target)) + penalty * added
        curved = features * (weight * chance * (1 - chance))[:, None]
        step = np.linalg.solve(features.T @ curved + np.diag(penalty), gradient)
        share, expected = 1.0, float(gradient @ step)
        if expected <= 1e-10 * max(value, 1.0):
            return added
        while (trial := objective(added - share * step)) > value - 1e-4 * share * expected and share > 1e-8:
            share /= 2
        added, value = added - share * step, trial
    return added
