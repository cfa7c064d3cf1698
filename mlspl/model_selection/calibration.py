"""Calibration: scores of different labels on one scale, fitted on out-of-fold scores.

Calibrated scores are log-odds. Zero is an even chance for every label, so labels of a row can be compared and
zero is the natural threshold. Unlike probabilities they do not saturate at 1.0, where different scores tie.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit
from sklearn.utils.validation import check_is_fitted

from mlspl._validation import check_scores
from mlspl.model_selection._training import ScoreEstimator, fit_curves, fit_logistic, resolve, smooth_targets

# Slope per standard deviation of a label with uninformative scores: small, but it keeps their order.
_FLAT = 1e-6
# Prior variances of the influence of another label's log-odds and of its probability in `JointCalibration`.
# Between 0.001 and 1 for the former, average precision differs by 0.002 on the development sets.
_VARIANCE, _PROBABILITY_VARIANCE = 0.01, 1.0


class Calibration(ScoreEstimator):
    """Base class: `fit(F, Y)`, then `log_odds(F)` or, as probabilities, `transform(F)`."""

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return calibrated scores of shape (n, L); 0 is an even chance."""
        raise NotImplementedError

    def transform(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of every pair, shape (n, L)."""
        return expit(self.log_odds(F))


class IdentityCalibration(Calibration):
    """No calibration: the scores are used as log-odds."""

    _contents = {"n_labels_": "int"}

    def _fit(self, scores, relevant, weight) -> None:
        self.n_labels_ = scores.shape[1]

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return a copy of F."""
        check_is_fitted(self)
        return check_scores(F, (None, self.n_labels_)).copy()


class PlattCalibration(Calibration):
    """A sigmoid per label: log-odds = slope · score + offset (Platt 1999, in the form of Lin et al. 2007).

    Slope and offset maximise the weighted likelihood of Platt's smoothed targets. The slope is positive: a
    label whose scores are uninformative or reversed gets its prior at every score.

    Parameters
    ----------
    shared : bool, default=False
        One sigmoid for all labels. It keeps the ranking within a row; where labels are noisy or few, a
        sigmoid per label overfits.
    offset : bool, default=True
        Without offset, score 0 has the probability ½: a label predicted by its score is above it.

    Attributes
    ----------
    slope_, offset_ : ndarrays of shape (L,)
        Positive slopes, and the log-odds at score 0.
    """

    _contents = {"slope_": "float (labels)", "offset_": "float (labels)"}

    def __init__(self, shared: bool = False, offset: bool = True) -> None:
        self.shared = shared
        self.offset = offset

    def _fit(self, scores, relevant, weight) -> None:
        n_labels = scores.shape[1]
        if self.shared:
            scores, relevant, weight = (part.reshape(-1, 1) for part in (scores, relevant, weight))
        # From here on (L, n): a label is a row.
        target, weight = smooth_targets(relevant, weight).T.copy(), weight.T.copy()
        total = weight.sum(axis=1)
        known = total > 0
        total[~known] = 1.0
        prior, centre = np.zeros((2, len(total)))
        if self.offset:
            prior = np.where(known, logit(np.einsum("ij,ij->i", weight, target) / total), 0.0)
            centre = np.einsum("ij,ji->i", weight, scores) / total
        features = np.ones((len(total), 2 if self.offset else 1, len(scores)))
        z = np.subtract(scores.T, centre[:, None], out=features[:, 0])
        spread = np.sqrt(np.einsum("ij,ij->i", weight, z * z) / total)
        # Rounding leaves a spread of about 1e-16 times the score if all scores are equal.
        spread = np.where(spread > 1e-12 * np.abs(centre), spread, 1.0)
        z /= spread[:, None]
        start = np.zeros(features.shape[:2])
        start[:, 1:] = prior[:, None]
        fitted = fit_curves(features, target, weight, start)
        slope, offset = fitted[:, 0], fitted[:, 1] if self.offset else prior
        flat = slope <= _FLAT
        slope, offset = np.where(flat, _FLAT, slope) / spread, np.where(flat, prior, offset)
        self.slope_ = np.resize(slope, n_labels)
        self.offset_ = np.resize(offset - slope * centre, n_labels)

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return slope · F + offset, shape (n, L)."""
        check_is_fitted(self)
        return self.slope_ * check_scores(F, (None, len(self.slope_))) + self.offset_


class ShrunkCalibration(Calibration):
    """Log-odds shrunk towards those of the label's frequency: prior + share · (score − prior).

    The scores must be log-odds. The slope of smallest log loss, from 0 to 1, is common to all labels.
    Label noise makes that slope too small, so the share is halfway from the slope to 1.

    Attributes
    ----------
    prior_ : ndarray of shape (L,)
        The log-odds of the labels' frequencies.
    share_ : float
        From 0.5 to 1.
    """

    _contents = {"prior_": "float (labels)", "share_": "float"}

    def _fit(self, scores, relevant, weight) -> None:
        self.prior_ = logit(((weight * relevant).sum(axis=0) + 0.5) / (weight.sum(axis=0) + 1.0))
        deviation = scores - self.prior_
        scale = max(np.abs(deviation[weight > 0]).max(initial=0.0), 1e-300)
        prior = np.broadcast_to(self.prior_, scores.shape).ravel()
        feature, target = deviation.reshape(-1, 1) / scale, relevant.ravel().astype(np.float64)
        fitted = fit_logistic(feature, target, weight.ravel(), offset=prior, start=np.array([scale]))
        slope = float(np.clip(fitted[0] / scale, 0.0, 1.0))
        self.share_ = (1.0 + slope) / 2

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return prior + share · (F − prior), shape (n, L)."""
        check_is_fitted(self)
        return self.prior_ + self.share_ * (check_scores(F, (None, len(self.prior_))) - self.prior_)


class JointCalibration(Calibration):
    """Log-odds of every label from the scores of all labels.

    Log-odds of label l = Platt's of l + Σ_k (Δ_lk · Platt's of k + Γ_lk · probability of k) + constant. Δ and
    Γ have Gaussian priors around 0 and maximise the posterior. Time grows as n·L³.

    Attributes
    ----------
    coef_, probability_coef_ : ndarrays of shape (L, L)
        Effect of the score and of the Platt probability of each label (column) on the log-odds of each (row).
    offset_ : ndarray of shape (L,)
        The log-odds where all scores and probabilities are 0.
    platt_ : PlattCalibration
        The calibration of the labels by themselves.
    """

    _contents = {
        "coef_": "float (labels, labels)",
        "probability_coef_": "float (labels, labels)",
        "offset_": "float (labels)",
        "platt_": PlattCalibration,
    }

    def _fit(self, scores, relevant, weight) -> None:
        self.platt_ = PlattCalibration().fit(scores, relevant, weight)
        odds = self.platt_.log_odds(scores)
        n_labels = odds.shape[1]
        target = smooth_targets(relevant, weight)
        features = np.hstack([odds, expit(odds), np.ones((len(odds), 1))])
        ridge = 1.0 / np.repeat([_VARIANCE, _PROBABILITY_VARIANCE, _VARIANCE], [n_labels, n_labels, 1])
        columns = zip(target.T, weight.T, odds.T, strict=True)
        fitted = np.array([fit_logistic(features, t, w, offset=o, ridge=ridge) for t, w, o in columns])
        mixture = np.eye(n_labels) + fitted[:, :n_labels]
        self.coef_ = mixture * self.platt_.slope_
        self.probability_coef_ = fitted[:, n_labels:-1]
        self.offset_ = mixture @ self.platt_.offset_ + fitted[:, -1]

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return coef · F + probability_coef · probabilities + offset, shape (n, L)."""
        check_is_fitted(self)
        scores = check_scores(F, (None, len(self.offset_)))
        odds = scores @ self.coef_.T + self.platt_.transform(scores) @ self.probability_coef_.T + self.offset_
        # The last digits depend on the order of summation and would break ties at random.
        return np.round(odds, 12)


CALIBRATIONS: dict[str, Callable[[], Calibration]] = {
    "none": IdentityCalibration,
    "platt": PlattCalibration,
    "pooled": partial(PlattCalibration, shared=True),
    "shrunk": ShrunkCalibration,
}
"""The calibrations by name."""


def get_calibration(calibration: str | Calibration | None) -> Calibration:
    """Return a new calibration of that name; an instance passes through, None is "none"."""
    return resolve("none" if calibration is None else calibration, Calibration, CALIBRATIONS)
