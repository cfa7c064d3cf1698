"""Thresholds: from scores (n, L) to predicted labels (n, L), fitted on out-of-fold scores."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mlspl._validation import check_scores
from mlspl.errors import UserError
from mlspl.metrics import top_labels
from mlspl.model_selection._training import ScoreEstimator, resolve


class Threshold(ScoreEstimator):
    """Base class: `fit(F, Y)`, then `apply(F)`."""

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return the predicted labels as booleans of shape (n, L)."""
        raise NotImplementedError


class ZeroThreshold(Threshold):
    """A label is predicted where its score is positive."""

    _contents = {"n_labels_": "int"}

    def _fit(self, scores, relevant, weight) -> None:
        self.n_labels_ = scores.shape[1]

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return F > 0."""
        check_is_fitted(self)
        return check_scores(F, (None, self.n_labels_)) > 0


class LabelThreshold(Threshold):
    """A label is predicted where its score is above the label's own cut, chosen for its F1.

    A cut lies halfway between two neighbouring scores, or at 0 if 0 is between them. Of equally good cuts the
    one nearest to 0 is chosen.

    Attributes
    ----------
    cut_ : ndarray of shape (L,)
        The cuts.
    """

    _contents = {"cut_": "float (labels)"}

    def _fit(self, scores, relevant, weight) -> None:
        self.cut_ = np.empty(scores.shape[1])
        for label, rows in enumerate((weight > 0).T):
            self.cut_[label] = _best_cut(scores[rows, label], relevant[rows, label], weight[rows, label])

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return where F is above its label's cut."""
        check_is_fitted(self)
        return check_scores(F, (None, len(self.cut_))) > self.cut_


def _best_cut(scores, relevant, weight) -> float:
    """Return the cut between different scores of one label, or 0, that has the best F1; the nearest to 0."""
    values, place = np.unique(scores, return_inverse=True)
    if not len(values):
        return 0.0
    low, high = values[:-1], values[1:]
    middle = low + (high - low) / 2
    # The middle of two neighbouring floats is one of them, and must not be the upper.
    between = np.where(middle < high, middle, low)
    cuts = np.concatenate([values[-1:], between[::-1], [np.nextafter(values[0], -np.inf), 0.0]])
    above = np.searchsorted(values, cuts, side="right")
    predicted, found = (
        np.append(np.cumsum(np.bincount(place, part)[::-1])[::-1], 0.0)[above]
        for part in (weight, weight * relevant)
    )
    size = predicted + (weight * relevant).sum()
    # Without relevant and predicted rows F1 is 1.
    f1 = np.divide(2 * found, size, out=np.ones_like(size), where=size > 0)
    # Values that differ by rounding are equal.
    best = cuts[f1 >= f1.max() - 1e-12]
    return float(best[np.argmin(np.round(np.abs(best), 9))]) if 0.0 not in best else 0.0


class CountThreshold(Threshold):
    """The labels of highest score are predicted, as many as the row is expected to have.

    The number is a linear function of the row's sorted scores, by least squares, rounded and limited to the
    range of the training rows. For a row with unknown labels the number is the share of relevant labels among
    the known, times L. A row's weight is the sum of the weights of its pairs.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (L,) and float
        Weight of the best score, the second best, …; and the constant term.
    least_, most_ : int
        The smallest and the largest number of labels predicted.
    """

    _contents = {"coef_": "float (labels)", "intercept_": "float", "least_": "int", "most_": "int"}

    def _fit(self, scores, relevant, weight) -> None:
        total = weight.sum(axis=1)
        if not total.any():
            raise UserError("No label of Y is known or has a weight. Give at least one known label.")
        scores, relevant, weight, total = (part[total > 0] for part in (scores, relevant, weight, total))
        count = (weight * relevant).sum(axis=1) / total * scores.shape[1]
        design = np.column_stack([-np.sort(-scores, axis=1), np.ones(len(scores))])
        root = np.sqrt(total)
        # The tolerance makes collinear scores share their weight on every CPU.
        solution = np.linalg.lstsq(design * root[:, None], count * root, rcond=1e-9)[0]
        self.coef_, self.intercept_ = solution[:-1], float(solution[-1])
        self.least_, self.most_ = np.rint(np.round([count.min(), count.max()], 9)).astype(int).tolist()

    def apply(self, F: ArrayLike) -> NDArray[np.bool_]:
        """Return the top labels of every row; among equal scores the higher label index goes first."""
        check_is_fitted(self)
        scores = check_scores(F, (None, len(self.coef_)))
        order = top_labels(scores, scores.shape[1])
        count = np.take_along_axis(scores, order, axis=1) @ self.coef_ + self.intercept_
        count = np.clip(np.rint(np.round(count, 9)), self.least_, self.most_)
        predicted = np.empty(scores.shape, dtype=bool)
        np.put_along_axis(predicted, order, np.arange(scores.shape[1]) < count[:, None], axis=1)
        return predicted


THRESHOLDS: dict[str, type[Threshold]] = {
    "zero": ZeroThreshold,
    "label": LabelThreshold,
    "count": CountThreshold,
}
"""The thresholds by name."""


def get_threshold(threshold: str | Threshold) -> Threshold:
    """Return a new threshold of that name; an instance passes through."""
    return resolve(threshold, Threshold, THRESHOLDS)
