"""Trees as flat arrays: what is kept of them once they are grown, and how rows fall through them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mlspl._numba_cache import njit


class FlatTrees:
    """Binary trees node by node, 17 bytes a node, where scikit-learn's own take 72.

    The nodes of each tree begin at `starts` (n_trees + 1,), with its root. `feature` splits a node, and is -1
    in leaves. The children `left` and `right` are counted from the root and lie behind their parent. Rows at
    or below `value` go left; in leaves it is the answer. NaN goes left with `missing_left`.
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
        self.starts: NDArray[np.int64] = starts
        self.feature: NDArray[np.int32] = feature
        self.left: NDArray[np.int32] = left
        self.right: NDArray[np.int32] = right
        self.value: NDArray[np.float32] = value
        self.missing_left: NDArray[np.bool_] = missing_left
        self.n_features = n_features

    def __len__(self) -> int:
        """The number of trees."""
        return len(self.starts) - 1

    @classmethod
    def join(cls, parts: Sequence["FlatTrees"]) -> "FlatTrees":
        """All trees of these, in their order."""
        starts = np.concatenate([[0], *(np.diff(part.starts) for part in parts)]).cumsum()
        nodes = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("feature", "left", "right", "value", "missing_left")
        )
        return cls(*[starts, *nodes, parts[0].n_features])

    def find_leaves(self, X) -> NDArray[np.int32]:
        """The leaf of each float32 row in each tree, (n_trees, n): its node, counted from the root."""
        if X.shape[1] != self.n_features:
            raise ValueError(f"X has {X.shape[1]} features, but the trees split {self.n_features}.")
        found = np.empty((len(self), len(X)), dtype=np.int32)
        nodes = self.feature, self.left, self.right, self.value, self.missing_left
        _find_leaves(X, self.starts, *nodes, found)
        return found

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


@njit(cache=True, nogil=True)
def _find_leaves(X, starts, feature, left, right, value, missing_left, found):
    for tree in range(len(starts) - 1):
        start = starts[tree]
        for i in range(X.shape[0]):
            node = start
            while feature[node] >= 0:
                x = X[i, feature[node]]
                goes_left = missing_left[node] if np.isnan(x) else x <= value[node]
                node = start + (left[node] if goes_left else right[node])
            found[tree, i] = node - start


@njit(cache=True, nogil=True)
def average_leaves(leaves, n_nodes, values, found, sums):
    """Add to `sums` (m, q) the mean `values` (n, q), in every tree, of the training rows in the leaves found.

    `leaves` (n_trees, n) and `found` (n_trees, m) are those of training and new rows, negative to leave out;
    no tree has more than `n_nodes`.
    """
    n, q = values.shape
    size, asked, total = np.empty(n_nodes), np.empty(n_nodes, np.bool_), np.empty((n_nodes, q))
    for tree in range(len(leaves)):
        asked[:] = False
        for r in range(found.shape[1]):
            leaf = found[tree, r]
            if leaf >= 0 and not asked[leaf]:
                asked[leaf] = True
                size[leaf] = 0.0
                for k in range(q):
                    total[leaf, k] = 0.0
        for i in range(n):
            leaf = leaves[tree, i]
            if leaf >= 0 and asked[leaf]:
                size[leaf] += 1.0
                for k in range(q):
                    total[leaf, k] += values[i, k]
        for r in range(found.shape[1]):
            leaf = found[tree, r]
            if leaf >= 0 and size[leaf] > 0.0:
                for k in range(q):
                    sums[r, k] += total[leaf, k] / size[leaf]
