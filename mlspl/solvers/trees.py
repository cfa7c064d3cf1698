"""Forests as flat arrays: what is kept of grown trees, and how rows fall through them."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["FlatForest", "sum_leaves"]


class FlatForest(NamedTuple):
    """The trees of one label, node by node, 17 bytes a node; scikit-learn's own take 72.

    Attributes
    ----------
    starts : int64 array (n_trees + 1,)
        Where each tree begins; the nodes of a tree follow its root.
    feature : int32 array
        The feature that splits a node, -1 in leaves.
    left, right : int32 arrays
        The children, counted from the root of their tree and always behind their parent; -1 in leaves.
    value : float32 array
        Rows at or below it go left; in leaves, the share of weight that carries the label.
    missing_left : bool array
        Whether rows without a value go left.
    """

    starts: NDArray[np.int64]
    feature: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: NDArray[np.float32]
    missing_left: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def sum_leaves(X, starts, feature, left, right, value, missing_left, in_bag, sums, counts):
    """Add to `sums` the leaf values of every row of X, float32 (n, d), and to `counts` the trees passed.

    Where `in_bag`, uint8 (n_trees, n), is not 0, the row is not let through the tree. An array of no rows lets
    all rows through all trees.
    """
    out_of_bag = in_bag.shape[0] > 0
    for tree in range(len(starts) - 1):
        start = starts[tree]
        for i in range(X.shape[0]):
            if out_of_bag and in_bag[tree, i] != 0:
                continue
            node = start
            while feature[node] >= 0:
                x = X[i, feature[node]]
                if np.isnan(x):
                    goes_left = missing_left[node]
                else:
                    goes_left = x <= value[node]
                node = start + (left[node] if goes_left else right[node])
            sums[i] += value[node]
            counts[i] += 1
