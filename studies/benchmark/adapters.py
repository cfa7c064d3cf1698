"""What gives any classifier the `decision_function` of shape (n, L) that decisions are made on."""

import numpy as np
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone

__all__ = ["AllLabels", "PerLabel"]

# Log-odds of certainty: more than any sum of a few hundred votes says, and finite.
_CERTAIN = 1e-6


class PerLabel(ClassifierMixin, BaseEstimator):
    """A clone of a binary classifier for every label; a label that is the same in all rows needs none.

    Parameters
    ----------
    estimator : classifier
        With `decision_function` or `predict_proba`.
    least : int, optional
        For trees: X is made dense, without the features that fewer rows have. Where leaves have at least so
        many rows, no split could use them, and they cost as much time as the others.
    """

    def __init__(self, estimator, least=None):
        self.estimator = estimator
        self.least = least

    def fit(self, X, Y):
        """Fit a classifier a label."""
        if self.least is not None:
            self.columns_ = np.flatnonzero(np.asarray((X != 0).sum(axis=0)).ravel() >= self.least)
        X = self._table(X)
        self.classes_ = np.arange(np.shape(Y)[1])
        self.estimators_ = [
            clone(self.estimator).fit(X, y) if y.min() < y.max() else None for y in np.asarray(Y).T
        ]
        self.constant_ = np.where(np.asarray(Y).all(axis=0), 1.0, -1.0) * -logit(_CERTAIN)
        return self

    def decision_function(self, X):
        """Scores of shape (n, L)."""
        X = self._table(X)
        columns = [
            np.full(X.shape[0], constant) if estimator is None else _binary_scores(estimator, X)
            for estimator, constant in zip(self.estimators_, self.constant_, strict=True)
        ]
        return np.column_stack(columns)

    def _table(self, X):
        return X if self.least is None else _dense(X[:, self.columns_])


class AllLabels(ClassifierMixin, BaseEstimator):
    """A classifier that learns all labels and gives probabilities, in whichever of the usual forms.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba` that returns an array or sparse matrix (n, L), or an array (n, 2) a label.
    dense : bool, default=False
        Whether to make a sparse X dense first.
    """

    def __init__(self, estimator, dense=False):
        self.estimator = estimator
        self.dense = dense

    def fit(self, X, Y):
        """Fit the classifier."""
        self.classes_ = np.arange(np.shape(Y)[1])
        self.estimator_ = self._copy().fit(_dense(X) if self.dense else X, np.asarray(Y))
        return self

    def _copy(self):
        return clone(self.estimator)

    def decision_function(self, X):
        """Scores of shape (n, L)."""
        shares = self.estimator_.predict_proba(_dense(X) if self.dense else X)
        if isinstance(shares, list):
            # A label that was the same in all training rows has one class.
            shares = np.column_stack(
                [
                    part[:, list(classes).index(1)] if 1 in classes else np.zeros(len(part))
                    for part, classes in zip(shares, self.estimator_.classes_, strict=True)
                ]
            )
        return _log_odds(_dense(shares))


def _dense(table) -> np.ndarray:
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def _binary_scores(estimator, X) -> np.ndarray:
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    return _log_odds(estimator.predict_proba(X)[:, 1])


def _log_odds(shares) -> np.ndarray:
    return logit(np.clip(shares.astype(np.float64), _CERTAIN, 1 - _CERTAIN))
