"""Thresholds: from scores (n, L) to predicted labels (n, L), fitted on out-of-fold scores."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mlspl._validation import check_scores
from mlspl.errors import UserError
from mlspl.model_selection.inputs import check_training

__all__ = [
    "THRESHOLDS",
    "CountThreshold",
    "LabelThreshold",
    "Threshold",
    "ZeroThreshold",
    "cut_curve",
    "get_threshold",
]


class Threshold(BaseEstimator):
    """What every threshold offers: `fit(F, Y)`, then `apply(F)`."""

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Learn from scores F of rows the model was not fitted on, and their labels Y, both (n, L)."""
        raise NotImplementedError

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return the predicted labels as booleans of shape (n, L)."""
        raise NotImplementedError


class ZeroThreshold(Threshold):
    """A label is predicted where its score is positive.

    Examples
    --------
    >>> from mlspl.model_selection import ZeroThreshold
    >>> ZeroThreshold().fit([[0.5, -1.0]], [[1, 0]]).apply([[0.5, -1.0], [0.0, 2.0]])
    array([[ True, False],
           [False,  True]])
    """

    _contents = {"n_labels_": "int"}

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Check the arguments, and learn nothing but the number of labels."""
        scores, _, _ = check_training(F, Y, label_weight)
        self.n_labels_ = scores.shape[1]
        return self

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return F > 0."""
        check_is_fitted(self)
        return check_scores(F, (None, self.n_labels_)) > 0


class LabelThreshold(Threshold):
    """A label is predicted where its score is above that label's own cut, the best one on the scores seen.

    A cut lies halfway between two neighbouring scores, or at 0 if 0 is between them. Of equally good cuts the
    one nearest to 0 is taken, so that a label the scores say nothing about keeps the natural cut.

    Parameters
    ----------
    criterion : {"f1", "hamming_loss"}, default="f1"
        What each label's cut optimises: its F1 score, so that their mean, macro F1, is the best possible, or
        its share of wrong predictions, so that Hamming loss is.

    Attributes
    ----------
    cut_ : ndarray of shape (L,)
        The cuts.

    Examples
    --------
    >>> from mlspl.model_selection import LabelThreshold
    >>> threshold = LabelThreshold("hamming_loss").fit([[-3.0], [-2.0], [-1.0], [1.0]], [[0], [0], [1], [1]])
    >>> threshold.cut_
    array([-1.5])
    >>> threshold.apply([[-1.2]])
    array([[ True]])
    """

    _contents = {"cut_": "float (labels)"}

    def __init__(self, criterion: str = "f1"):
        self.criterion = criterion

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Find the cuts.

        Parameters
        ----------
        F : array-like of shape (n, L)
            Out-of-fold scores.
        Y : array-like or sparse matrix of shape (n, L)
            Labels: 0/1, ±1 or boolean; NaN where unknown.
        label_weight : array-like of shape (n, L), default=None
            Weight of each pair; 1 if not given.
        """
        if self.criterion not in ("f1", "hamming_loss"):
            raise UserError(
                f"criterion is {self.criterion!r}: a label's cut optimises 'f1' or 'hamming_loss'."
            )
        scores, relevant, weight = check_training(F, Y, label_weight)
        known = weight > 0
        self.cut_ = np.array(
            [
                best_cut(scores[rows, label], relevant[rows, label], weight[rows, label], self.criterion)
                for label, rows in enumerate(known.T)
            ]
        )
        return self

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return where F is above its label's cut."""
        check_is_fitted(self)
        return check_scores(F, (None, len(self.cut_))) > self.cut_


def cut_curve(
    scores: NDArray[np.float64],
    relevant: NDArray[np.bool_],
    weight: NDArray[np.float64] | None = None,
    criterion: str = "f1",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every cut that tells rows apart, from the highest to the lowest, and what it is worth.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Scores of one label.
    relevant : ndarray of shape (n,)
        Which rows have the label.
    weight : ndarray of shape (n,), default=None
        Weights of the rows; 1 if not given.
    criterion : {"f1", "hamming_loss"}, default="f1"
        F1, or the share of wrong predictions.

    Returns
    -------
    cuts, values : ndarrays
        A label is predicted where its score is above the cut.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import cut_curve
    >>> cuts, values = cut_curve(np.array([-2.0, 1.0, 3.0]), np.array([False, True, True]))
    >>> cuts.round(2).tolist(), values.round(2).tolist()
    ([3.0, 2.0, 0.0, -2.0], [0.0, 0.67, 1.0, 0.8])
    """
    weight = np.ones(len(scores)) if weight is None else weight
    order = np.argsort(-scores)
    # Entry k of each array is about the cut that predicts the k best rows.
    upper, lower = np.append(np.inf, scores[order]), np.append(scores[order], -np.inf)
    predicted = np.append(0.0, np.cumsum(weight[order]))
    found = np.append(0.0, np.cumsum((weight * relevant)[order]))
    if criterion == "f1":
        size = predicted + found[-1]
        # Nothing there and nothing predicted is perfect.
        values = np.divide(2 * found, size, out=np.ones_like(size), where=size > 0)
    else:
        values = (found[-1] + predicted - 2 * found) / max(predicted[-1], np.finfo(float).tiny)
    possible = lower < upper
    return cut_between(lower[possible], upper[possible]), values[possible]


def best_cut(
    scores: NDArray[np.float64], relevant: NDArray[np.bool_], weight: NDArray[np.float64], criterion: str
) -> float:
    """Return the cut of one label that is best by the criterion, of several the one nearest to 0."""
    cuts, values = cut_curve(scores, relevant, weight, criterion)
    gains = values if criterion == "f1" else -values
    # Sums of weights round; what is equal but for that is equal.
    cuts = cuts[gains >= gains.max() - 1e-12]
    sizes = np.round(np.abs(cuts), 9)
    nearest = cuts[sizes == sizes.min()]
    return 0.0 if (nearest == 0).any() else float(nearest[0])


def cut_between(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cuts c with lower ≤ c < upper: 0 if it can be, else the middle, else the end that is finite."""
    bottom = np.where(np.isneginf(lower), np.nextafter(upper, -np.inf), lower)
    top = np.where(np.isposinf(upper), bottom, upper)
    middle = bottom + (top - bottom) / 2
    # The middle of two neighbouring floats is one of them, and must not be the upper.
    cuts = np.where(middle < upper, middle, bottom)
    return np.where((lower <= 0) & (upper > 0), 0.0, cuts)


class CountThreshold(Threshold):
    """The labels of highest score are predicted, as many as the row is expected to have.

    The number is a linear function of the row's scores in descending order, by least squares, rounded and
    held between the smallest and the largest number seen. Where a row has unknown labels, its number is the
    share of relevant ones among the known, times L.

    Attributes
    ----------
    coef_ : ndarray of shape (L,)
        Weight of the best score, the second best, …
    intercept_ : float
        The constant term.
    least_, most_ : int
        The smallest and the largest number of labels predicted.

    Examples
    --------
    >>> from mlspl.model_selection import CountThreshold
    >>> F = [[2.0, 1.0, -1.0], [1.5, -1.0, -2.0], [1.0, 2.0, -2.0], [-1.0, -2.0, 1.0]]
    >>> threshold = CountThreshold().fit(F, [[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    >>> threshold.apply([[-0.5, 1.2, 1.9], [-1.0, 1.0, -2.0]])
    array([[False,  True,  True],
           [False,  True, False]])
    """

    _contents = {"coef_": "float (labels)", "intercept_": "float", "least_": "int", "most_": "int"}

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Regress the number of labels on the sorted scores.

        Parameters
        ----------
        F : array-like of shape (n, L)
            Out-of-fold scores.
        Y : array-like or sparse matrix of shape (n, L)
            Labels: 0/1, ±1 or boolean; NaN where unknown.
        label_weight : array-like of shape (n, L), default=None
            Weight of each pair; 1 if not given. A row weighs what its pairs weigh together.
        """
        scores, relevant, weight = check_training(F, Y, label_weight)
        total = weight.sum(axis=1)
        if not total.any():
            raise UserError("No label of Y is known or has a weight: there is nothing to count.")
        scores, relevant, weight, total = (part[total > 0] for part in (scores, relevant, weight, total))
        count = (weight * relevant).sum(axis=1) / total * scores.shape[1]
        design = np.column_stack([-np.sort(-scores, axis=1), np.ones(len(scores))])
        root = np.sqrt(total)
        # Scores that depend on each other up to rounding share their weight, on every machine.
        solution = np.linalg.lstsq(design * root[:, None], count * root, rcond=1e-9)[0]
        self.coef_, self.intercept_ = solution[:-1], float(solution[-1])
        self.least_, self.most_ = np.rint(np.round([count.min(), count.max()], 9)).astype(int).tolist()
        return self

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return the top labels of every row; among equal scores the higher label index goes first."""
        check_is_fitted(self)
        scores = check_scores(F, (None, len(self.coef_)))
        order = np.argsort(scores, axis=1, kind="stable")[:, ::-1]
        count = np.take_along_axis(scores, order, axis=1) @ self.coef_ + self.intercept_
        count = np.clip(np.rint(np.round(count, 9)), self.least_, self.most_)
        predicted = np.empty(scores.shape, dtype=bool)
        np.put_along_axis(predicted, order, np.arange(scores.shape[1]) < count[:, None], axis=1)
        return predicted


THRESHOLDS: Mapping[str, type[Threshold]] = MappingProxyType(
    {"zero": ZeroThreshold, "label": LabelThreshold, "count": CountThreshold}
)
"""The thresholds by name."""


def get_threshold(threshold: str | Threshold) -> Threshold:
    """Return a new threshold of that name; an instance passes through.

    Examples
    --------
    >>> from mlspl.model_selection import LabelThreshold, get_threshold
    >>> get_threshold("count")
    CountThreshold()
    >>> get_threshold(LabelThreshold("hamming_loss"))
    LabelThreshold(criterion='hamming_loss')
    """
    if isinstance(threshold, Threshold):
        return threshold
    if threshold not in THRESHOLDS:
        raise UserError(f"There is no threshold {threshold!r}: choose one of {', '.join(THRESHOLDS)}.")
    return THRESHOLDS[threshold]()
