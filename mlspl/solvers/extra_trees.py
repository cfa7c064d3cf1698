"""Extremely randomised trees (Geurts, Ernst and Wehenkel 2006) for one target or many, dense or sparse rows.

As scikit-learn's ``ExtraTreeRegressor`` grows them: at every node some features are drawn, each is cut at
random between its extremes, and the cut that reduces the variance most, summed over the targets, is made.
The variance of a 0/1 label is half of its Gini impurity, so the same trees serve classification. The side of
missing values (NaN) is drawn for every cut.
"""

import numpy as np
from scipy import sparse

from mlspl._numba_cache import njit
from mlspl.solvers.trees import FlatTrees

# A node whose variance is this small a share of its squared targets is pure: the rest is rounding.
_PURE = 1e-12


class TreeFeatures:
    """Training rows, float32: dense columns (d, n), then rows and columns of a sparse X; others are empty."""

    def __init__(self, X) -> None:
        self.shape = X.shape
        if sparse.issparse(X):
            self.arrays = (np.empty((0, 0), np.float32), _parts(X.tocsr()), _parts(X.tocsc()))
        else:
            empty = np.empty(0, np.float32), np.empty(0, np.int32), np.zeros(1, np.int64)
            self.arrays = (np.ascontiguousarray(X.T), empty, empty)


def _parts(X) -> tuple:
    X.sort_indices()
    return X.data.astype(np.float32, copy=False), X.indices.astype(np.int32), X.indptr.astype(np.int64)


def grow_extra_trees(
    features: TreeFeatures, targets, weight, counts, seeds, min_samples_leaf, max_features, empty_value=0.5
) -> tuple[FlatTrees, np.ndarray]:
    """Grow a tree for each row of `counts`; returns the trees and the sum of their feature importances (d,).

    A leaf answers with the mean of the first of the targets (n, q). A row's weight in a tree is its `weight`
    (n,) times its `counts` (n_trees, n), uint8. A tree none of whose rows has weight answers `empty_value`.
    """
    starts, importances = np.zeros(len(seeds) + 1, np.int64), np.zeros(features.shape[1])
    nodes = _grow(
        *features.arrays,
        np.ascontiguousarray(targets, dtype=np.float64),
        np.ascontiguousarray(weight, dtype=np.float64),
        np.ascontiguousarray(counts),
        np.asarray(seeds, dtype=np.uint64),
        (int(min_samples_leaf), int(max_features), float(empty_value)),
        starts,
        importances,
    )[: starts[-1]].T
    types = np.int32, np.int32, np.int32, np.float32, np.bool_
    return FlatTrees(*[starts, *map(np.ndarray.astype, nodes, types), features.shape[1]]), importances


@njit(cache=True, nogil=True)
def _grow(columns, by_row, by_column, targets, weight, counts, seeds, limits, starts, importances):
    """Write `starts` and add to `importances`; return the arrays of `FlatTrees` as columns of a table.

    Few array expressions and functions of NumPy, because they take seconds to compile.
    """
    min_leaf, max_features, empty_value = limits
    n, q = targets.shape
    is_sparse = columns.size == 0
    _, row_features, row_starts = by_row
    d = len(importances)
    nodes = np.empty((256, 5))  # doubled when it is full
    rows, w = np.empty(n, np.int64), np.empty(n)
    # The values of a feature in a node, and the rows they are of; the place of each row in `rows`.
    values, members, position = np.empty(n, np.float32), np.empty(n, np.int64), np.empty(n, np.int64)
    column_values = np.empty(n if is_sparse else 0, np.float32)
    left = np.empty(n + 1, np.int64)
    row_length, column_length = len(row_features) / n, len(row_features) / d
    features = np.empty(d, np.int64)
    # For sparse rows: the last node in which a feature had a nonzero value.
    nonzero_in = np.empty(d, np.int64)
    weighted = np.empty((n, q))  # targets times weights
    total, sums, gained = np.empty(q), np.empty(q), np.empty(d)
    # Of every waiting node: its first row in `rows`, the end of its rows, its parent, and its side.
    waiting = np.empty((n + 1, 4), np.int64)
    n_nodes = 0
    nonzero_in[:] = -1
    for tree in range(len(seeds)):
        random = _scramble(seeds[tree])
        for f in range(d):
            features[f], gained[f] = f, 0.0
        n_rows = 0
        for i in range(n):
            w[i] = counts[tree, i] * weight[i]
            position[i] = -1
            for t in range(q):
                weighted[i, t] = w[i] * targets[i, t]
            if w[i] > 0.0:
                rows[n_rows] = i
                position[i] = n_rows
                n_rows += 1
        node, root = 0, n_nodes
        waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, n_rows, -1, 0
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            first, end = waiting[n_waiting, 0], waiting[n_waiting, 1]
            parent, side = waiting[n_waiting, 2], waiting[n_waiting, 3]
            if n_nodes == len(nodes):
                nodes = np.concatenate((nodes, nodes))
            if parent >= 0:
                nodes[root + parent, 1 + side] = node
            node_weight, squares = 0.0, 0.0
            total[:] = 0.0
            for k in range(first, end):
                i = rows[k]
                node_weight += w[i]
                members[k - first] = i
                for t in range(q):
                    total[t] += weighted[i, t]
                    squares += w[i] * targets[i, t] ** 2
            parent_score = 0.0
            if node_weight > 0.0:
                for t in range(q):
                    parent_score += total[t] ** 2 / node_weight
            best, best_feature, best_cut, best_nan_left = -1.0, -1, np.float32(0.0), False
            if end - first >= max(2, 2 * min_leaf) and squares - parent_score > _PURE * squares:
                marks_features = is_sparse and (end - first) * row_length < max_features * column_length
                if marks_features:
                    for k in range(first, end):
                        for p in range(row_starts[rows[k]], row_starts[rows[k] + 1]):
                            nonzero_in[row_features[p]] = n_nodes
                n_drawn, n_varied = 0, 0
                while n_drawn < d and (n_drawn < max_features or n_varied == 0):
                    random = _advance(random)
                    j = n_drawn + np.int64(_uniform(random) * (d - n_drawn))
                    f = features[j]
                    features[j] = features[n_drawn]
                    features[n_drawn] = f
                    n_drawn += 1
                    n_values = end - first
                    if is_sparse:
                        n_values = 0
                        if not marks_features or nonzero_in[f] == n_nodes:
                            n_values = _read_column(by_column, f, rows, position, first, end, members, values)
                    else:
                        x = columns[f]
                        for k in range(n_values):
                            values[k] = x[members[k]]
                    # The rows that are not listed have the value 0.
                    zeros = n_values < end - first
                    low, high = np.float32(np.inf), np.float32(-np.inf)
                    if zeros:
                        low = high = np.float32(0.0)
                    has_nan = False
                    for k in range(n_values):
                        value = values[k]
                        low = value if value < low else low
                        high = value if value > high else high
                        has_nan |= value != value
                    # Without a value between the extremes, a cut can still part numbers from NaN.
                    if high < low or (high == low and not has_nan):
                        continue
                    n_varied += 1
                    random = _advance(random)
                    cut = np.float32(low + _uniform(random) * (np.float64(high) - low))
                    if cut >= high:
                        cut = low
                    nan_left = False
                    if has_nan:
                        random = _advance(random)
                        nan_left = bool(high > low) and _uniform(random) < 0.5
                        _send_nan(values, 0, n_values, nan_left)
                    # Sum the side without the zeros; the other side is what is left of the node.
                    zeros_left = zeros and cut >= 0.0
                    # Listed first, because a branch on random numbers takes longer than the sums.
                    n_left = 0
                    for k in range(n_values):
                        left[n_left] = members[k]
                        n_left += (values[k] <= cut) != zeros_left
                    if n_left < min_leaf or end - first - n_left < min_leaf:
                        continue
                    left_weight, first_sum = 0.0, 0.0
                    sums[:] = 0.0
                    for i in left[:n_left]:
                        left_weight += w[i]
                        first_sum += weighted[i, 0]
                        for t in range(1, q):
                            sums[t] += weighted[i, t]
                    sums[0] = first_sum
                    score, right_weight = 0.0, node_weight - left_weight
                    for t in range(q):
                        score += sums[t] ** 2 / left_weight + (total[t] - sums[t]) ** 2 / right_weight
                    if score > best:
                        best, best_feature, best_cut, best_nan_left = score, f, cut, nan_left
            nodes[n_nodes, 0], nodes[n_nodes, 4] = best_feature, best_nan_left
            if best_feature < 0:
                nodes[n_nodes, 1], nodes[n_nodes, 2] = -1, -1
                nodes[n_nodes, 3] = total[0] / node_weight if node_weight > 0.0 else empty_value
            else:
                nodes[n_nodes, 3] = best_cut
                gained[best_feature] += max(best - parent_score, 0.0)
                if is_sparse:
                    values[first:end] = 0.0
                    n_values = _read_column(
                        by_column, best_feature, rows, position, first, end, members, column_values
                    )
                    for k in range(n_values):
                        values[position[members[k]]] = column_values[k]
                else:
                    for k in range(first, end):
                        values[k] = columns[best_feature, rows[k]]
                _send_nan(values, first, end, best_nan_left)
                middle, last = first, end
                while middle < last:
                    if values[middle] <= best_cut:
                        middle += 1
                    else:
                        last -= 1
                        rows[middle], rows[last] = rows[last], rows[middle]
                        values[middle], values[last] = values[last], values[middle]
                for k in range(first, end):
                    position[rows[k]] = k
                for side in range(2):  # the left child is the next
                    waiting[n_waiting, 0] = first if side else middle
                    waiting[n_waiting, 1] = middle if side else end
                    waiting[n_waiting, 2], waiting[n_waiting, 3] = node, 1 - side
                    n_waiting += 1
            n_nodes += 1
            node += 1
        # Nodes of the next tree have other numbers, so `nonzero_in` needs no reset.
        starts[tree + 1] = n_nodes
        gain = 0.0
        for f in range(d):
            gain += gained[f]
        if gain > 0.0:
            for f in range(d):
                importances[f] += gained[f] / gain
    return nodes


@njit(cache=True, nogil=True)
def _read_column(by_column, f, rows, position, first, end, members, values):
    """List the node's rows with a nonzero value of feature f; scans the column or the rows, the shorter."""
    data, column_rows, starts = by_column
    start, stop = starts[f], starts[f + 1]
    length, found = stop - start, 0
    if length <= (end - first) * (np.log2(length + 1) + 1):
        for p in range(start, stop):
            if first <= position[column_rows[p]] < end:
                members[found], values[found] = column_rows[p], data[p]
                found += 1
        return found
    for k in range(first, end):
        p, end_p = start, stop
        while p < end_p:
            middle = (p + end_p) // 2
            if column_rows[middle] < rows[k]:
                p = middle + 1
            else:
                end_p = middle
        if p < stop and column_rows[p] == rows[k]:
            members[found], values[found] = rows[k], data[p]
            found += 1
    return found


@njit(cache=True, nogil=True)
def _send_nan(values, first, end, left):
    """Replace NaN by infinity, so that they go to this side of every cut."""
    for k in range(first, end):
        if np.isnan(values[k]):
            values[k] = -np.inf if left else np.inf


@njit(cache=True, nogil=True)
def _scramble(seed):
    """Return a first state of the generator that differs for neighbouring seeds (splitmix64), never 0."""
    z = seed + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


@njit(cache=True, nogil=True)
def _advance(state):
    """Return the next state (Marsaglia's xorshift64)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    return state ^ (state << np.uint64(17))


@njit(cache=True, nogil=True)
def _uniform(state):
    """Return a number from 0 to below 1."""
    return np.float64((state * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) * 2.0**-53
