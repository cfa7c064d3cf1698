"""Growing forests for all labels at once, and what they say of rows they have and have not seen."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import sklearn
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.utils import check_random_state

from mlspl.solvers import FlatTrees

__all__ = ["Bags", "Grown", "as_floats", "flatten_tree", "forest_probabilities", "grow_forests"]

# Trees a task grows: enough to be worth a thread, few enough that one label keeps all threads busy.
_TREES_A_TASK = 32
# Numbers of a sparse X that are made dense at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Bags:
    """The random part of a forest, drawn once: which rows each tree is grown on, and the trees' seeds.

    Attributes
    ----------
    counts : uint8 array (n_trees, n)
        How often each row was drawn; the same rows for all labels.
    seeds : int array (n_labels, n_trees)
        Of the trees.
    """

    counts: np.ndarray
    seeds: np.ndarray

    @classmethod
    def draw(cls, n_trees: int, n_rows: int, n_labels: int, random_state) -> "Bags":
        """Draw n rows with replacement for each tree."""
        random = check_random_state(random_state)
        counts = np.empty((n_trees, n_rows), dtype=np.uint8)
        for row in counts:
            row[:] = np.bincount(random.randint(n_rows, size=n_rows), minlength=n_rows)
        return cls(counts, random.randint(np.iinfo(np.int32).max, size=(n_labels, n_trees)))


class Grown(NamedTuple):
    """The forest of a label, and how much each feature helped to grow it."""

    trees: FlatTrees
    importances: np.ndarray


def as_floats(X):
    """X as the trees read it: float32; values beyond its range become its largest."""
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)
    values = X.data if sparse.issparse(X) else X
    if np.isinf(values).any():
        largest = np.finfo(np.float32).max
        np.clip(values, -largest, largest, out=values)
    return X


def grow_forests(tree, X, Y, weights, frequencies, bags: Bags, labels, n_jobs) -> list[Grown]:
    """Grow a forest for each of some labels, in threads over labels and trees.

    Parameters
    ----------
    tree : DecisionTreeRegressor or ExtraTreeRegressor
        What every tree is like. The variance of a 0/1 label, p(1 − p), is half of Gini's impurity: regressors
        cut as classifiers do, and take half the time, for they need not ask which classes there are.
    X : float32 array or CSR of shape (n, d)
        The rows.
    Y : bool array (n, L)
        The labels.
    weights : float64 array (n, L)
        Weights of the pairs.
    frequencies : array (L,)
        What a tree says that was grown on nothing, because all that was drawn weighs nothing.
    bags : Bags
        Rows and seeds of the trees.
    labels : list of int
        Columns of Y, with both classes in each.
    n_jobs : int or None
        Threads.
    """
    # Trees look for NaN only where they check their input, which for every tree anew takes its time.
    check_input = not sparse.issparse(X) and bool(np.isnan(X).any())
    columns = sparse.csc_matrix(X) if sparse.issparse(X) else X
    n_trees = len(bags.counts)
    starts = range(0, n_trees, _TREES_A_TASK)
    grown = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(_grow)(
            tree,
            columns,
            Y[:, label].astype(np.float64),
            np.ascontiguousarray(weights[:, label]),
            frequencies[label],
            bags.counts[start : start + _TREES_A_TASK],
            bags.seeds[label, start : start + _TREES_A_TASK],
            check_input,
        )
        for label in labels
        for start in starts
    )
    size = len(starts)
    return [_join(grown[i * size : (i + 1) * size]) for i in range(len(labels))]


def _grow(tree, X, y, weight, frequency, counts, seeds, check_input) -> list[tuple[Any, ...]]:
    """Grow some of the trees of one label."""
    grown = []
    parameters = {name: value for name, value in tree.get_params().items() if name != "random_state"}
    # The parameters have been checked; checking them for each tree takes as long as a small tree.
    with sklearn.config_context(skip_parameter_validation=True):
        for count, seed in zip(counts, seeds.tolist(), strict=True):
            sample_weight = count * weight
            if not sample_weight.any():
                grown.append(_stump(frequency, X.shape[1]))
                continue
            one = type(tree)(**parameters, random_state=seed)
            grown.append(flatten_tree(one.fit(X, y, sample_weight=sample_weight, check_input=check_input)))
    return grown


def flatten_tree(tree) -> tuple[Any, ...]:
    """The nodes of a fitted tree as FlatTrees takes them, and its feature importances."""
    nodes = tree.tree_
    leaf = nodes.children_left < 0
    # A float32 x is at most a float64 threshold where it is at most the next float32 below.
    cut = nodes.threshold.astype(np.float32)
    cut = np.where(cut > nodes.threshold, np.nextafter(cut, np.float32(-np.inf)), cut)
    return (
        np.where(leaf, -1, nodes.feature).astype(np.int32),
        nodes.children_left.astype(np.int32),
        nodes.children_right.astype(np.int32),
        np.where(leaf, nodes.value[:, 0, 0], cut).astype(np.float32),
        nodes.missing_go_to_left.astype(bool),
        tree.feature_importances_,
    )


def _stump(value, n_features) -> tuple[Any, ...]:
    leaf = np.full(1, -1, dtype=np.int32)
    return leaf, leaf, leaf, np.full(1, value, dtype=np.float32), np.zeros(1, bool), np.zeros(n_features)


def _join(blocks) -> Grown:
    *nodes, importances = zip(*(tree for block in blocks for tree in block), strict=True)
    starts = np.concatenate([[0], np.cumsum([len(part) for part in nodes[0]])])
    total = np.sum(importances, axis=0)
    trees = FlatTrees(starts, *map(np.concatenate, nodes), len(total))
    return Grown(trees, total / max(total.sum(), np.finfo(float).tiny))


def forest_probabilities(forests, frequencies, X, bags=None, n_jobs=None) -> np.ndarray:
    """Probabilities (n, L) that the rows of X carry the labels: (Σ_t p_t + b)/(T + 1).

    The label's frequency b counts as one more tree, so that labels of which no tree found a trace are ranked
    by it, and it alone answers for labels without a forest and rows without a tree.

    Parameters
    ----------
    forests : mapping from label to FlatTrees
        Labels that are constant have none.
    frequencies : array (L,)
        Of the labels.
    X : float32 array or CSR of shape (n, d)
        The rows.
    bags : Bags, optional
        If X are the training rows: each is seen by the trees only that it was not drawn for.
    n_jobs : int or None
        Threads.
    """
    n = X.shape[0]
    height = max(1, min(n, _BLOCK // X.shape[1])) if sparse.issparse(X) else n
    probabilities = np.tile(frequencies, (n, 1))
    for start in range(0, n, height):
        rows = slice(start, start + height)
        block = X[rows].toarray() if sparse.issparse(X) else np.ascontiguousarray(X[rows])
        drawn = None if bags is None else np.ascontiguousarray(bags.counts[:, rows])
        columns = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(_probability)(trees, frequencies[label], block, drawn) for label, trees in forests.items()
        )
        for label, column in zip(forests, columns, strict=True):
            probabilities[rows, label] = column
    return probabilities


def _probability(trees: FlatTrees, frequency, X, drawn) -> np.ndarray:
    sums, passed = trees.sum_leaves(X, drawn)
    return (sums + frequency) / (passed + 1.0)
