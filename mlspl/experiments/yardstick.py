"""A strong method from outside the house, to measure ours against."""

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from mlspl.models._base import MultiLabelClassifier

__all__ = ["ExtraTrees"]


class ExtraTrees(MultiLabelClassifier):
    """scikit-learn's extremely randomised trees on all labels at once; a score is the share of votes minus ½.

    Parameters
    ----------
    n_estimators : int, default=500
        Number of trees.
    max_features : float or str, default="sqrt"
        Features tried at a split.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf.
    random_state : int, RandomState or None, default=None
        Seeds the trees.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = load_dataset("digits-traits")
    >>> model = ExtraTrees(n_estimators=20, random_state=0).fit(digits.X[:200], digits.Y[:200])
    >>> model.predict(digits.X[200:]).shape == digits.Y[200:].shape
    True
    """

    def __init__(self, n_estimators=500, max_features="sqrt", min_samples_leaf=1, random_state=None):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _fit(self, X, Y, label_weight):
        if label_weight is not None:
            raise ValueError(
                "ExtraTrees learns all labels at once and cannot weigh or leave out single pairs."
            )
        self._forest = ExtraTreesClassifier(**self.get_params()).fit(X, Y)

    def _scores(self, X):
        shares = self._forest.predict_proba(X)
        shares = shares if isinstance(shares, list) else [shares]
        classes = (
            self._forest.classes_ if isinstance(self._forest.classes_, list) else [self._forest.classes_]
        )
        # A label that was constant in training has one class, and one column.
        votes = [
            share[:, -1] if present[-1] else 1.0 - share[:, -1]
            for share, present in zip(shares, classes, strict=True)
        ]
        return np.column_stack(votes) - 0.5

    def _probabilities(self, X, scores):
        return scores + 0.5
