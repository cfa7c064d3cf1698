"""Extremely randomised trees for 0/1 labels with a weight for every row, grown without the GIL.

As scikit-learn's ``ExtraTreeClassifier`` grows them (Geurts, Ernst and Wehenkel 2006): at every node some
features are drawn, each is cut at random between its extremes, and the cut that reduces Gini's impurity most
is made. With a few hundred rows, scikit-learn takes longer to begin a tree than to grow it.
"""

import numpy as np

from mlspl._numba_cache import njit
from mlspl.solvers.trees import FlatTrees

__all__ = ["grow_extra_trees"]

# A feature whose values lie closer together is constant, as scikit-learn has it.
_CONSTANT = 1e-7


def grow_extra_trees(X_columns, y, weight, counts, seeds, min_samples_leaf, max_features, otherwise=0.5):
    """Grow a tree for each row of `counts`.

    Parameters
    ----------
    X_columns : float32 array (d, n)
        The features, one after the other, without NaN.
    y : bool array (n,)
        The label.
    weight : float64 array (n,)
        Weights of the rows; with whole numbers sums are exact.
    counts : uint8 array (n_trees, n)
        How often each row counts in each tree.
    seeds : int array (n_trees,)
        What is random in each tree.
    min_samples_leaf, max_features : int
        Smallest number of rows in a leaf, and features drawn at a node.
    otherwise : float, default=0.5
        What a tree answers for which nothing counts and weighs anything.

    Returns
    -------
    FlatTrees
        The trees.
    importances : array (d,)
        The sum over the trees of each feature's share of the reduction of impurity.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.solvers import grow_extra_trees
    >>> x, y = np.array([[1, 2, 8, 9]], dtype=np.float32), np.array([False, False, True, True])
    >>> trees, _ = grow_extra_trees(x, y, np.ones(4), np.ones((50, 4), dtype=np.uint8), np.arange(50), 1, 1)
    >>> sums, passed = trees.sum_leaves(np.array([[0], [10]], dtype=np.float32))
    >>> sums / passed
    array([0., 1.])
    """
    seeds = np.asarray(seeds, dtype=np.uint64)
    starts, feature, left, right, value, importances = _grow(
        X_columns, y, weight, counts, seeds, min_samples_leaf, max_features, otherwise
    )
    missing_left = np.zeros(len(feature), dtype=bool)
    return FlatTrees(starts, feature, left, right, value, missing_left, len(X_columns)), importances


@njit(cache=True, nogil=True)
def _grow(X, y, weight, counts, seeds, min_leaf, max_features, otherwise):
    d, n = X.shape
    room = 256
    feature, left, right = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    value = np.empty(room, np.float32)
    starts = np.zeros(len(seeds) + 1, np.int64)
    importances = np.zeros(d)
    rows, w, wy = np.empty(n, np.int64), np.empty(n), np.empty(n)
    features = np.empty(d, np.int64)
    is_constant, constants = np.zeros(d, np.bool_), np.empty(d, np.int64)
    # Of every node that waits: its first row, the one behind its last, its parent and side, and how many
    # features were known to be constant at its parent.
    waiting = np.empty((n + 1, 5), np.int64)
    used = 0
    for tree in range(len(seeds)):
        random = _scramble(seeds[tree])
        for f in range(d):
            features[f] = f
        n_rows, total = 0, 0.0
        for i in range(n):
            w[i] = counts[tree, i] * weight[i]
            wy[i] = w[i] if y[i] else 0.0
            if w[i] > 0.0:
                rows[n_rows] = i
                n_rows += 1
                total += w[i]
        gained = np.zeros(d)
        n_constants = 0
        node, root = 0, used
        waiting[0] = (0, n_rows, -1, 0, 0)
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            first, behind, parent, side, known = waiting[n_waiting]
            while n_constants > known:
                n_constants -= 1
                is_constant[constants[n_constants]] = False
            if used == room:
                room *= 2
                feature, left, right = _widen(feature, room), _widen(left, room), _widen(right, room)
                value = _widen(value, room)
            if parent >= 0:
                if side == 0:
                    left[root + parent] = node
                else:
                    right[root + parent] = node
            weighs, present = 0.0, 0.0
            for k in range(first, behind):
                weighs += w[rows[k]]
                present += wy[rows[k]]
            best, best_feature, best_cut = -1.0, -1, np.float32(0.0)
            best_weighs, best_present = 0.0, 0.0
            if behind - first >= max(2, 2 * min_leaf) and 0.0 < present < weighs:
                drawn, varied = 0, 0
                while drawn < d and (drawn < max_features or varied == 0):
                    random = _advance(random)
                    j = drawn + _below(random, d - drawn)
                    f = features[j]
                    features[j] = features[drawn]
                    features[drawn] = f
                    drawn += 1
                    if is_constant[f]:
                        continue
                    x = X[f]
                    low = high = x[rows[first]]
                    for k in range(first + 1, behind):
                        low, high = min(low, x[rows[k]]), max(high, x[rows[k]])
                    if high <= low + _CONSTANT:
                        is_constant[f] = True
                        constants[n_constants] = f
                        n_constants += 1
                        continue
                    varied += 1
                    random = _advance(random)
                    cut = np.float32(low + _uniform(random) * (np.float64(high) - low))
                    if cut >= high:
                        cut = low
                    n_left, weighs_left, present_left = 0, 0.0, 0.0
                    for k in range(first, behind):
                        if x[rows[k]] <= cut:
                            n_left += 1
                            weighs_left += w[rows[k]]
                            present_left += wy[rows[k]]
                    if n_left < min_leaf or behind - first - n_left < min_leaf:
                        continue
                    present_right, weighs_right = present - present_left, weighs - weighs_left
                    score = present_left**2 / weighs_left + present_right**2 / weighs_right
                    if score > best:
                        best, best_feature, best_cut = score, f, cut
                        best_weighs, best_present = weighs_left, present_left
            feature[used] = best_feature
            if best_feature < 0:
                left[used], right[used] = -1, -1
                value[used] = present / weighs if weighs > 0.0 else otherwise
            else:
                value[used] = best_cut
                other = weighs - best_weighs
                # Variance, half of Gini's impurity, times weight: of the node less that of its children.
                gained[best_feature] += max(
                    best_present**2 / best_weighs
                    + (present - best_present) ** 2 / other
                    - present**2 / weighs,
                    0.0,
                )
                x = X[best_feature]
                middle, last = first, behind
                while middle < last:
                    if x[rows[middle]] <= best_cut:
                        middle += 1
                    else:
                        last -= 1
                        rows[middle], rows[last] = rows[last], rows[middle]
                waiting[n_waiting] = (middle, behind, node, 1, n_constants)
                waiting[n_waiting + 1] = (first, middle, node, 0, n_constants)
                n_waiting += 2
            used += 1
            node += 1
        while n_constants:
            n_constants -= 1
            is_constant[constants[n_constants]] = False
        starts[tree + 1] = used
        if gained.sum() > 0.0:
            importances += gained / gained.sum()
    return starts, feature[:used], left[:used], right[:used], value[:used], importances


@njit(cache=True, nogil=True)
def _widen(array, room):
    wider = np.empty(room, array.dtype)
    wider[: len(array)] = array
    return wider


@njit(cache=True, nogil=True)
def _scramble(seed):
    """A first state of the generator that tells neighbouring seeds apart (splitmix64), never 0."""
    z = seed + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


@njit(cache=True, nogil=True)
def _advance(state):
    """The next state (Marsaglia's xorshift64)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@njit(cache=True, nogil=True)
def _below(state, n):
    """A whole number from 0 to n - 1."""
    return np.int64(_uniform(state) * n)


@njit(cache=True, nogil=True)
def _uniform(state):
    """A number from 0 to below 1."""
    return np.float64((state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) * 2.0**-53
