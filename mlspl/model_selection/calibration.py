"""Calibration: scores of different labels on one scale, fitted on out-of-fold scores.

Calibrated scores are log-odds. Zero then means an even chance for every label, so that a ranking within a
row compares like with like and the cut at zero stays the natural one; and unlike probabilities they do not
run into 1.0, where distinct scores would tie.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mlspl._validation import check_scores
from mlspl.errors import UserError
from mlspl.model_selection.inputs import check_training
from mlspl.model_selection.sigmoids import fit_sigmoids

__all__ = [
    "CALIBRATIONS",
    "Calibration",
    "IdentityCalibration",
    "PlattCalibration",
    "PooledCalibration",
    "ShrunkCalibration",
    "get_calibration",
]

# What is left of scores that say nothing: their order.
_LEAST_SHARE = 0.05


class Calibration(BaseEstimator):
    """What every calibration offers: `fit(F, Y)`, then `log_odds(F)` or, as probabilities, `transform(F)`."""

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Learn from scores F of rows the model was not fitted on, and their labels Y, both (n, L)."""
        raise NotImplementedError

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return calibrated scores of shape (n, L); 0 is an even chance."""
        raise NotImplementedError

    @classmethod
    def beside(cls, parts: Sequence[Self]) -> Self:
        """Return the calibration of all labels from those of blocks of labels, where these stand alone."""
        raise NotImplementedError

    def transform(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of every pair, shape (n, L)."""
        return expit(self.log_odds(F))


class IdentityCalibration(Calibration):
    """No calibration: the scores are taken for log-odds as they are.

    Examples
    --------
    >>> from mlspl.model_selection import IdentityCalibration
    >>> calibration = IdentityCalibration().fit([[0.0, 2.0]], [[0, 1]])
    >>> calibration.log_odds([[0.0, -1.0]])
    array([[ 0., -1.]])
    """

    _contents = {"n_labels_": "int"}

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Check the arguments, and learn nothing but the number of labels."""
        scores, _, _ = check_training(F, Y, label_weight)
        self.n_labels_ = scores.shape[1]
        return self

    @classmethod
    def beside(cls, parts: Sequence[Self]) -> Self:
        """Return the calibration of as many labels as all parts have."""
        whole = cls()
        whole.n_labels_ = sum(part.n_labels_ for part in parts)
        return whole

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return a copy of F."""
        check_is_fitted(self)
        return check_scores(F, (None, self.n_labels_)).copy()


class PlattCalibration(Calibration):
    """A sigmoid per label: log-odds = slope · score + offset (Platt 1999, in the form of Lin et al. 2007).

    Slope and offset maximise the weighted likelihood of Platt's smoothed targets, (N₊ + 1)/(N₊ + 2) for the
    relevant and 1/(N₋ + 2) for the irrelevant rows, where N₊ and N₋ are sums of weights. The slope is held
    positive: a label whose scores point the wrong way or say nothing gets its prior at every score, in an
    unchanged order, never a reversed one.

    Attributes
    ----------
    slope_ : ndarray of shape (L,)
        Positive.
    offset_ : ndarray of shape (L,)
        The log-odds at score 0.

    References
    ----------
    H.-T. Lin, C.-J. Lin, R. C. Weng: A note on Platt's probabilistic outputs for support vector machines.
    Machine Learning 68, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import PlattCalibration
    >>> rng = np.random.default_rng(0)
    >>> F = rng.standard_normal((100_000, 2))
    >>> Y = rng.random(F.shape) < 1 / (1 + np.exp(-(3 * F - [0, 1])))
    >>> calibration = PlattCalibration().fit(F, Y)
    >>> print(calibration.slope_.round(1), calibration.offset_.round(1))
    [3. 3.] [ 0. -1.]
    """

    _contents = {"slope_": "float (labels)", "offset_": "float (labels)"}

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoids.

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
        total = weight.sum(axis=0)
        share = weight / np.where(total > 0, total, 1.0)
        centre = (share * scores).sum(axis=0)
        spread = np.sqrt((share * (scores - centre) ** 2).sum(axis=0))
        # Rounding leaves a spread of some 1e-16 times the score where all scores are the same.
        spread = np.where(spread > 1e-12 * np.abs(centre), spread, 1.0)
        positives = (weight * relevant).sum(axis=0)
        negatives = total - positives
        target = np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))
        slope, offset = fit_sigmoids(
            np.ascontiguousarray(((scores - centre) / spread).T),
            np.ascontiguousarray(target.T),
            np.ascontiguousarray(weight.T),
        )
        self.slope_ = slope / spread
        self.offset_ = offset - slope / spread * centre
        return self

    @classmethod
    def beside(cls, parts: Sequence[Self]) -> Self:
        """Return the sigmoids of all parts."""
        whole = cls()
        whole.slope_ = np.concatenate([part.slope_ for part in parts])
        whole.offset_ = np.concatenate([part.offset_ for part in parts])
        return whole

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return slope · F + offset, shape (n, L)."""
        check_is_fitted(self)
        return self.slope_ * check_scores(F, (None, len(self.slope_))) + self.offset_


class PooledCalibration(Calibration):
    """One sigmoid for all labels: log-odds = slope · score + offset.

    It puts scores on the scale of probabilities and leaves the ranking within a row as it is. Where labels
    are wrong or few, a sigmoid per label follows their errors, and the ranking suffers.

    Attributes
    ----------
    slope_, offset_ : float
        The slope is positive.
    n_labels_ : int
        How many labels there are.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import PooledCalibration
    >>> rng = np.random.default_rng(0)
    >>> F = rng.standard_normal((100_000, 2))
    >>> Y = rng.random(F.shape) < 1 / (1 + np.exp(-(3 * F - 1)))
    >>> calibration = PooledCalibration().fit(F, Y)
    >>> print(round(calibration.slope_, 1), round(calibration.offset_, 1))
    3.0 -1.0
    """

    _contents = {"slope_": "float", "offset_": "float", "n_labels_": "int"}

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Fit the sigmoid as :class:`PlattCalibration` does, to the pairs of all labels together.

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
        together = PlattCalibration().fit(*(part.reshape(-1, 1) for part in (scores, relevant, weight)))
        self.slope_, self.offset_ = float(together.slope_[0]), float(together.offset_[0])
        self.n_labels_ = scores.shape[1]
        return self

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return slope · F + offset, shape (n, L)."""
        check_is_fitted(self)
        return self.slope_ * check_scores(F, (None, self.n_labels_)) + self.offset_


class ShrunkCalibration(Calibration):
    """Log-odds drawn towards those of the label's frequency: prior + share · (score − prior).

    The scores must be log-odds. Of models that know little, scores vary by more than held-out rows confirm,
    and rank labels worse than their frequencies would. The slope, one for all labels, has the smallest log
    loss on these rows. Wrong labels too make a log loss ask for less than there is, so the share is half way
    from the slope to 1; but the slope itself if what is half way still ranks the labels of these rows worse
    than the frequencies do, by over one standard error of average precision. Scores are never spread.

    Attributes
    ----------
    prior_ : ndarray of shape (L,)
        The log-odds of the labels' frequencies.
    share_ : float
        From .05, if the scores say nothing, which keeps their order, to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import ShrunkCalibration
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.random((10_000, 2)) < [0.5, 0.1]
    >>> F = rng.standard_normal(Y.shape)
    >>> calibration = ShrunkCalibration().fit(F, Y)
    >>> print(round(calibration.share_, 2), calibration.prior_.round(1))
    0.05 [-0.  -2.2]
    """

    _contents = {"prior_": "float (labels)", "share_": "float"}

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Find the frequencies and the share.

        Parameters
        ----------
        F : array-like of shape (n, L)
            Out-of-fold log-odds.
        Y : array-like or sparse matrix of shape (n, L)
            Labels: 0/1, ±1 or boolean; NaN where unknown.
        label_weight : array-like of shape (n, L), default=None
            Weight of each pair; 1 if not given.
        """
        scores, relevant, weight = check_training(F, Y, label_weight)
        self.prior_ = logit(((weight * relevant).sum(axis=0) + 0.5) / (weight.sum(axis=0) + 1.0))
        apart = scores - self.prior_

        def slope_of_loss(slope: float) -> float:
            return float((weight * apart * (expit(self.prior_ + slope * apart) - relevant)).sum())

        # The loss is convex: its slope changes sign once.
        if slope_of_loss(1.0) <= 0:
            slope = 1.0
        else:
            slope = 0.0 if slope_of_loss(0.0) >= 0 else brentq(slope_of_loss, 0.0, 1.0, xtol=1e-6)
        half_way = (1.0 + slope) / 2
        alone, shrunk = (
            _row_precisions(self.prior_ + share * apart, relevant, weight > 0) for share in (0.0, half_way)
        )
        gain = alone - shrunk
        worse = len(gain) > 1 and gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)) + 1e-9
        self.share_ = max(slope, _LEAST_SHARE) if worse else half_way
        return self

    def log_odds(self, F: ArrayLike) -> NDArray[np.float64]:
        """Return prior + share · (F − prior), shape (n, L)."""
        check_is_fitted(self)
        return self.prior_ + self.share_ * (check_scores(F, (None, len(self.prior_))) - self.prior_)


def _row_precisions(scores: NDArray, relevant: NDArray, known: NDArray) -> NDArray[np.float64]:
    """Average precision of the rows that have a label; scores are rounded: ties are ties everywhere."""
    order = np.argsort(np.where(known, -scores.round(9), np.inf), axis=1, kind="stable")
    found = np.take_along_axis(relevant & known, order, axis=1)
    precision = np.cumsum(found, axis=1) / np.arange(1, found.shape[1] + 1)
    counts = found.sum(axis=1)
    return (precision * found).sum(axis=1)[counts > 0] / counts[counts > 0]


CALIBRATIONS: Mapping[str, type[Calibration]] = MappingProxyType(
    {
        "none": IdentityCalibration,
        "platt": PlattCalibration,
        "pooled": PooledCalibration,
        "shrunk": ShrunkCalibration,
    }
)
"""The calibrations by name."""


def get_calibration(calibration: str | Calibration | None) -> Calibration:
    """Return a new calibration of that name; an instance passes through, None is "none".

    Examples
    --------
    >>> from mlspl.model_selection import get_calibration
    >>> get_calibration("platt")
    PlattCalibration()
    """
    if isinstance(calibration, Calibration):
        return calibration
    name = "none" if calibration is None else calibration
    if name not in CALIBRATIONS:
        raise UserError(f"There is no calibration {name!r}: choose one of {', '.join(CALIBRATIONS)}.")
    return CALIBRATIONS[name]()
