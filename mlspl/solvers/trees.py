"""Trees as flat arrays: what is kept of them once they are grown, and how rows fall through them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mlspl._numba_cache import njit


class FlatTrees:
    """Binary trees node by node, 17 bytes a node, where scikit-learn's own take 72.

    Parameters
    ----------
    starts : int64 array (n_trees + 1,)
        Where the nodes of each tree begin; the first is its root.
    feature : int32 array
        The feature that splits a node, -1 in leaves.
    left, right : int32 arrays
        The children, counted from the root of their tree and always behind their parent.
    value : float32 array
        Rows at or below it go left; in leaves, the answer.
    missing_left : bool array
        Whether rows without a value go left.
    n_features : int
        How many features rows have.
    """

    _contents = {
        "starts": "int64 (_)",
        "feature": "int32 (nodes)",
        "left": "int32 (nodes)",
        "right": "int32 (nodes)",
        "value": "float32 (nodes)",
        "missing_left": "bool (nodes)",
        "n_features": "int",
    }

    def __init__(self, starts, feature, left, right, value, missing_left, n_features) -> None:
        self.starts: NDArray[np.int64] = np.asarray(starts, dtype=np.int64)
        self.feature: NDArray[np.int32] = np.asarray(feature, dtype=np.int32)
        self.left: NDArray[np.int32] = np.asarray(left, dtype=np.int32)
        self.right: NDArray[np.int32] = np.asarray(right, dtype=np.int32)
        self.value: NDArray[np.float32] = np.asarray(value, dtype=np.float32)
        self.missing_left: NDArray[np.bool_] = np.asarray(missing_left, dtype=bool)
        self.n_features = n_features

    def __len__(self) -> int:
        """The number of trees."""
        return len(self.starts) - 1

    @classmethod
    def join(cls, parts: Sequence["FlatTrees"]) -> "FlatTrees":
        """All trees of these, in their order."""
        sizes = [np.diff(part.starts) for part in parts]
        starts = np.concatenate([[0], *sizes]).cumsum()
        feature, left, right, value, missing_left = map(
            np.concatenate, zip(*(part._nodes() for part in parts), strict=True)
        )
        return cls(starts, feature, left, right, value, missing_left, parts[0].n_features)

    def sum_leaves(
        self, X, in_bag=None, n_forests: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sums and numbers (n, n_forests) of the answers of each forest's trees for float32 rows X.

        The trees are `n_forests` forests of equal size, one after the other. A tree is left out for the rows
        where `in_bag`, uint8 (n_trees / n_forests, n), is not 0.
        """
        self._check_width(X)
        sums, counts = np.zeros((len(X), n_forests)), np.zeros((len(X), n_forests))
        in_bag = np.zeros((0, 0), dtype=np.uint8) if in_bag is None else in_bag
        _sum_leaves(X, self.starts, *self._nodes(), in_bag, sums, counts)
        return sums, counts

    def find_leaves(self, X) -> NDArray[np.int32]:
        """The leaf of each row in each tree, (n_trees, n): the number of its node, counted from the root."""
        self._check_width(X)
        found = np.empty((len(self), len(X)), dtype=np.int32)
        _find_leaves(X, self.starts, *self._nodes(), found)
        return found

    def _check_width(self, X) -> None:
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but the trees split {self.n_features}.")

    def _check_contents(self) -> None:
        """Refuse trees through which compiled code would fall out of the arrays, or fall for ever."""
        starts = self.starts
        # Compared, not subtracted: the difference of two untrusted integers can wrap around.
        grows = len(starts) > 1 and (starts[1:] > starts[:-1]).all()
        if not grows or starts[0] != 0 or starts[-1] != len(self.feature):
            raise ValueError("trees do not follow one another")
        sizes = np.diff(starts)
        if (self.feature < -1).any() or (self.feature >= self.n_features).any():
            raise ValueError("trees split features that there are not")
        inner = self.feature >= 0
        place = np.arange(len(self.feature)) - np.repeat(self.starts[:-1], sizes)
        for child in (self.left[inner], self.right[inner]):
            if (child <= place[inner]).any() or (child >= np.repeat(sizes, sizes)[inner]).any():
                raise ValueError("trees lead back or nowhere")

    def _nodes(self) -> tuple[NDArray, NDArray, NDArray, NDArray, NDArray]:
        return self.feature, self.left, self.right, self.value, self.missing_left


@njit(cache=True, nogil=True)
def _sum_leaves(X, starts, feature, left, right, value, missing_left, in_bag, sums, counts):
    out_of_bag = in_bag.shape[0] > 0
    n_trees = (len(starts) - 1) // sums.shape[1]
    for tree in range(len(starts) - 1):
        forest, own = tree // n_trees, tree % n_trees
        for i in range(X.shape[0]):
            if out_of_bag and in_bag[own, i] != 0:
                continue
            node = _descend(X, i, starts[tree], feature, left, right, value, missing_left)
            sums[i, forest] += value[node]
            counts[i, forest] += 1.0


@njit(cache=True, nogil=True)
def _find_leaves(X, starts, feature, left, right, value, missing_left, found):
    for tree in range(len(starts) - 1):
        for i in range(X.shape[0]):
            node = _descend(X, i, starts[tree], feature, left, right, value, missing_left)
            found[tree, i] = node - starts[tree]


@njit(cache=True, nogil=True)
def _descend(X, i, start, feature, left, right, value, missing_left):
    """Return the number of the leaf in which row i ends."""
    node = start
    while feature[node] >= 0:
        x = X[i, feature[node]]
        goes_left = missing_left[node] if np.isnan(x) else x <= value[node]
        node = start + (left[node] if goes_left else right[node])
    return node


@njit(cache=True, nogil=True)
def average_leaf_labels(leaves, n_nodes, weighted_labels, weights, found, sums, counts):
    """Add to `sums` and `counts` (m, L) the mean labels and weights of the training rows in the leaves found.

    `leaves` (n_trees, n) and `found` (n_trees, m), int32, are the leaves of training and new rows, negative
    where a tree is left out; `n_nodes` (n_trees,) are the sizes of the trees. `weighted_labels` and `weights`
    (n, L) are weight times label, and weight, of every training pair; weights of no rows mean 1.
    """
    n, n_labels = weighted_labels.shape
    weighted = weights.shape[0] > 0
    most = n_nodes.max()
    size, asked = np.empty(most), np.empty(most, np.bool_)
    labels_of, weights_of = np.empty((most, n_labels)), np.empty((most if weighted else 0, n_labels))
    for tree in range(len(leaves)):
        asked[:] = False
        for r in range(found.shape[1]):
            leaf = found[tree, r]
            if leaf >= 0 and not asked[leaf]:
                asked[leaf] = True
                size[leaf] = 0.0
                labels_of[leaf] = 0.0
                if weighted:
                    weights_of[leaf] = 0.0
        for i in range(n):
            leaf = leaves[tree, i]
            if leaf >= 0 and asked[leaf]:
                size[leaf] += 1.0
                for k in range(n_labels):
                    labels_of[leaf, k] += weighted_labels[i, k]
                if weighted:
                    for k in range(n_labels):
                        weights_of[leaf, k] += weights[i, k]
        for r in range(found.shape[1]):
            leaf = found[tree, r]
            if leaf < 0 or size[leaf] == 0.0:
                continue
            share = 1.0 / size[leaf]
            for k in range(n_labels):
                sums[r, k] += share * labels_of[leaf, k]
                counts[r, k] += share * weights_of[leaf, k] if weighted else 1.0
