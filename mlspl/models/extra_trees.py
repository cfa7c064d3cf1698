"""scikit-learn's extra trees with this package's interface, as a baseline."""

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from mlspl.models._base import MultiLabelClassifier, store_parameters
from mlspl.models._forest import flatten_tree
from mlspl.models._forest_models import as_floats, find_leaves
from mlspl.solvers import FlatTrees


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
        The forest of all labels, or one of each.
    votes_ : list of arrays (n_leaves, n_labels)
        The share of each label in the leaves of each forest, in the order of the nodes.

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
        store_parameters(self, locals())

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
        X, shares = as_floats(X), []
        for trees, votes in zip(self.trees_, self.votes_, strict=True):
            leaf_number = np.cumsum(trees.feature < 0) - 1
            total = np.zeros((X.shape[0], votes.shape[1]))
            for start, leaves in zip(trees.starts, find_leaves(trees, X), strict=False):
                total += votes[leaf_number[start + leaves]]
            shares.append(total / len(trees))
        return np.hstack(shares) - 0.5

    def _probabilities(self, X, scores):
        return scores + 0.5

    def _check_contents(self) -> None:
        """Refuse trees of other features or labels, and votes for other leaves than the trees have."""
        if any(trees.n_features != self.n_features_in_ for trees in self.trees_):
            raise ValueError("the trees have other features")
        if sum(votes.shape[1] for votes in self.votes_) != len(self.label_names_):
            raise ValueError("the trees have other labels")
        leaves = [int((trees.feature < 0).sum()) for trees in self.trees_]
        if leaves != [len(votes) for votes in self.votes_]:
            raise ValueError("the votes have another number of leaves")


def _fit_label(forest, X, relevant, weight):
    """The forest of one label; a label that is unknown in every row has none."""
    rows = np.flatnonzero(weight)
    if not len(rows):
        return forest.fit(X, np.zeros(len(relevant), dtype=bool))
    return forest.fit(X[rows], relevant[rows], weight[rows])


def _flatten(forest) -> tuple[FlatTrees, np.ndarray]:
    """A fitted forest as arrays, and what its leaves say of each label."""
    classes = forest.classes_ if isinstance(forest.classes_, list) else [forest.classes_]
    parts, votes = [], []
    for tree in forest.estimators_:
        parts.append(flatten_tree(tree))
        leaves = np.flatnonzero(parts[-1].feature < 0)
        counts = tree.tree_.value[leaves]
        shares = counts / counts.sum(axis=2, keepdims=True)
        # A label that was constant in training has one class.
        columns = [
            shares[:, j, len(present) - 1] if present[-1] else np.zeros(len(leaves))
            for j, present in enumerate(classes)
        ]
        votes.append(np.column_stack(columns))
    return FlatTrees.join(parts), np.vstack(votes)
