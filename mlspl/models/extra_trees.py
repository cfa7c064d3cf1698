"""A strong method from outside the house, to measure ours against."""

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from mlspl.models._base import MultiLabelClassifier
from mlspl.models._forest import as_floats, flatten_tree
from mlspl.solvers import FlatTrees

__all__ = ["ExtraTrees"]

# Numbers of a sparse X that are made dense at a time.
_BLOCK = 1 << 22


class ExtraTrees(MultiLabelClassifier):
    """scikit-learn's extremely randomised trees; a score is the share of votes minus ½.

    One forest learns all labels at once; where pairs have weights or are unknown, each label has its own.

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

    Attributes
    ----------
    trees_ : list of FlatTrees
        The forest of all labels, or one of each; a leaf answers with its number in its tree.
    votes_ : list of arrays (n_leaves, n_labels)
        What the leaves of each forest say of its labels.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl.models import ExtraTrees
    >>> digits = load_dataset("digits-traits")
    >>> model = ExtraTrees(n_estimators=20, random_state=0).fit(digits.X[:200], digits.Y[:200])
    >>> model.predict(digits.X[200:]).shape == digits.Y[200:].shape
    True
    """

    _contents = {"trees_": [FlatTrees], "votes_": ["float (_, _)"]}

    def __init__(self, n_estimators=500, max_features="sqrt", min_samples_leaf=1, random_state=None):
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def _fit(self, X, Y, label_weight):
        forest = ExtraTreesClassifier(**self.get_params())
        if label_weight is None:
            forests = [forest.fit(X, Y)]
        else:
            columns = zip(Y.T, label_weight.T, strict=True)
            forests = [_fit_label(clone(forest), X, *column) for column in columns]
        flat = [_flatten(one) for one in forests]
        self.trees_, self.votes_ = [trees for trees, _ in flat], [votes for _, votes in flat]

    def _scores(self, X):
        height = max(1, _BLOCK // X.shape[1]) if sparse.issparse(X) else max(1, X.shape[0])
        blocks = [as_floats(X[start : start + height]) for start in range(0, X.shape[0], height)]
        return np.vstack([self._shares(block) for block in blocks]) - 0.5

    def _shares(self, X):
        """The share of the trees' votes for each label."""
        X = X.toarray() if sparse.issparse(X) else np.ascontiguousarray(X)
        shares = []
        for trees, votes in zip(self.trees_, self.votes_, strict=True):
            total = np.zeros((len(X), votes.shape[1]))
            leaves_before = np.concatenate([[0], np.cumsum(trees.feature < 0)])[trees.starts]
            for tree in range(len(trees)):
                leaf, _ = trees.part(tree, tree + 1).sum_leaves(X)
                total += votes[leaves_before[tree] + leaf.astype(np.intp)]
            shares.append(total / len(trees))
        return np.hstack(shares)

    def _probabilities(self, X, scores):
        return scores + 0.5

    def _check_contents(self) -> None:
        """Refuse trees of other features; where a leaf's number leads is checked when it is looked up."""
        if any(trees.n_features != self.n_features_in_ for trees in self.trees_):
            raise ValueError("the trees are of other features")
        if sum(votes.shape[1] for votes in self.votes_) != len(self.label_names_):
            raise ValueError("the trees are of other labels")


def _fit_label(forest, X, relevant, weight):
    """The forest of one label; one of which nothing is known is absent."""
    rows = np.flatnonzero(weight)
    if not len(rows):
        return forest.fit(X, np.zeros(len(relevant), dtype=bool))
    return forest.fit(X[rows], relevant[rows], weight[rows])


def _flatten(forest) -> tuple[FlatTrees, np.ndarray]:
    """A fitted forest as arrays, and what its leaves say of each label."""
    classes = forest.classes_ if isinstance(forest.classes_, list) else [forest.classes_]
    parts, votes = [], []
    for tree in forest.estimators_:
        feature, left, right, value, missing_left, _ = flatten_tree(tree)
        leaves = np.flatnonzero(feature < 0)
        value[leaves] = np.arange(len(leaves))
        parts.append(
            FlatTrees([0, len(feature)], feature, left, right, value, missing_left, forest.n_features_in_)
        )
        counts = tree.tree_.value[leaves]
        shares = counts / counts.sum(axis=2, keepdims=True)
        # A label that was constant in training has one class.
        columns = [
            shares[:, j, len(present) - 1] if present[-1] else np.zeros(len(leaves))
            for j, present in enumerate(classes)
        ]
        votes.append(np.column_stack(columns))
    return FlatTrees.join(parts), np.vstack(votes)
