"""Extremely randomised trees for all labels at once, as a baseline."""

import numpy as np
from sklearn.utils import check_random_state

from mlspl._rounding import on_grid
from mlspl.models._base import MultiLabelClassifier, store_parameters
from mlspl.models._forest import ForestLearner, RowSamples, TreeRows
from mlspl.models._forest_models import JointForest, as_floats, check_forests


class ExtraTrees(MultiLabelClassifier):
    """Extremely randomised trees (Geurts, Ernst and Wehenkel 2006), each grown on all rows for all labels.

    The forest of scikit-learn's ``ExtraTreesClassifier``, with this package's interface, weights and NaN. The
    label's frequency counts as one more tree.

    Parameters
    ----------
    n_estimators : int, default=500
        Number of trees.
    max_features : {"auto", "sqrt"}, int or float, default="sqrt"
        Features tried for each cut, or their share.
    min_samples_leaf : int, default=1
        Fewest rows of a leaf.
    random_state : int, RandomState or None, default=None
        Seeds the trees.

    Attributes
    ----------
    forest_ : JointForest
        The trees.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl.models import ExtraTrees
    >>> digits = load_dataset("digits-traits")
    >>> model = ExtraTrees(n_estimators=20, random_state=0).fit(digits.X[:200], digits.Y[:200])
    >>> model.predict(digits.X[200:]).shape == digits.Y[200:].shape
    True
    """

    _contents = {"forest_": JointForest}

    def __init__(self, n_estimators=500, max_features="sqrt", min_samples_leaf=1, random_state=None):
        store_parameters(self, locals())

    def _fit(self, X, Y, label_weight):
        weights = np.ones(Y.shape) if label_weight is None else label_weight
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=(1, self.n_estimators))
        samples = RowSamples(np.ones((self.n_estimators, len(Y)), dtype=np.uint8), seeds)
        rows = TreeRows(as_floats(X), self.min_samples_leaf, self.max_features)
        learner = ForestLearner(rows, Y, weights, samples, ("joint",), None)
        learner.fit(np.ones(Y.shape))
        (self.forest_,) = learner.models

    def _scores(self, X):
        return on_grid(self.forest_.scores(X))

    def _check_contents(self) -> None:
        check_forests([self.forest_], self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
