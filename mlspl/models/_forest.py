"""Growing forests for all labels at once."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import sklearn
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import check_random_state

from mlspl.solvers import FlatTrees, grow_extra_trees

__all__ = [
    "Bags",
    "Grown",
    "TreeRows",
    "as_floats",
    "count_tried",
    "flatten_tree",
    "grow_forests",
    "make_tree",
    "measure_units",
]

_TREES = {"extra-trees": ExtraTreeRegressor, "random-forest": DecisionTreeRegressor}
# Trees a task grows: enough to be worth a thread, few enough that one label keeps all threads busy.
_TREES_A_TASK = 32
# Numbers of a sparse X that are held dense, for the compiled trees; scikit-learn's take what is larger.
_LARGEST_DENSE = 1 << 28


@dataclass(frozen=True)
class Bags:
    """The random part of a forest, drawn once: which rows each tree is grown on, and the trees' seeds."""

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

    def part(self, start: int, stop: int) -> "Bags":
        """Those of some of the trees."""
        return Bags(self.counts[start:stop], self.seeds[:, start:stop])


class Grown(NamedTuple):
    """The forest of a label, and how much each feature helped to grow it."""

    trees: FlatTrees
    importances: np.ndarray


def measure_units(X) -> np.ndarray:
    """A power of two for each feature that brings its largest value to between ½ and 1.

    Trees read float32: so values keep the digits that it has, whatever unit they are in.
    """
    if sparse.issparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
    else:
        largest = np.fmax.reduce(np.abs(X), axis=0)
    _, exponents = np.frexp(np.where(np.isfinite(largest), largest, 0.0))
    return np.ldexp(1.0, -np.clip(exponents, -1000, 1000))


def as_floats(X, units=None):
    """X as the trees read it: float32, in these units; values beyond its range become its largest."""
    with np.errstate(over="ignore"):
        if units is None:
            X = X.astype(np.float32)
        elif sparse.issparse(X):
            scaled = (X.data * units[X.indices]).astype(np.float32)
            # Copies, for SciPy sorts indices in place, and those of the user are not ours.
            X = sparse.csr_matrix((scaled, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        else:
            X = (X * units).astype(np.float32)
    values = X.data if sparse.issparse(X) else X
    if np.isinf(values).any():
        largest = np.finfo(np.float32).max
        np.clip(values, -largest, largest, out=values)
    return X


def count_tried(n_features: int) -> int:
    """How many features trees look at for each cut: √d, or a tenth of them, for of many most say nothing."""
    return max(int(np.sqrt(n_features)), n_features // 10, 1)


def make_tree(forest, min_samples_leaf, max_features, n_features):
    """What every tree is like; scikit-learn refuses what it cannot be."""
    if isinstance(max_features, str) and max_features == "auto":
        max_features = count_tried(n_features)
    tree = _TREES[forest](min_samples_leaf=min_samples_leaf, max_features=max_features)
    return tree.fit(np.zeros((2, n_features)), [0, 1])


class TreeRows:
    """Rows as trees read them, prepared once for all labels and paces."""

    def __init__(self, X, tree) -> None:
        self.X = X
        self.tree = tree
        self._has_nan = not sparse.issparse(X) and bool(np.isnan(X).any())
        leaf = tree.min_samples_leaf
        self._leaf = int(leaf) if isinstance(leaf, Integral) else int(np.ceil(leaf * X.shape[0]))
        compiled = isinstance(tree, ExtraTreeRegressor) and not self._has_nan
        self._columns = _dense_columns(X) if compiled else None
        self._sparse_columns = sparse.csc_matrix(X) if sparse.issparse(X) and self._columns is None else X

    def grow(self, y, weight, frequency, counts, seeds) -> Grown:
        """Grow some trees of one label, given as booleans; what is drawn weighs count · weight."""
        if self._columns is not None:
            return Grown(
                *grow_extra_trees(
                    self._columns, y, weight, counts, seeds, self._leaf, self.tree.max_features_, frequency
                )
            )
        return self._grow_by_scikit_learn(y, weight, frequency, counts, seeds)

    def _grow_by_scikit_learn(self, y, weight, frequency, counts, seeds) -> Grown:
        """The variance of a 0/1 label is half of Gini's impurity: regressors cut as classifiers do, in half
        the time, for they need not ask which classes there are.
        """
        grown = []
        parameters = {name: value for name, value in self.tree.get_params().items() if name != "random_state"}
        target = y.astype(np.float64)
        # The parameters have been checked; checking them for each tree takes as long as a small tree. Trees
        # look for NaN only where they check their input.
        with sklearn.config_context(skip_parameter_validation=True):
            for count, seed in zip(counts, seeds.tolist(), strict=True):
                sample_weight = count * weight
                if not sample_weight.any():
                    grown.append(_stump(frequency, self.X.shape[1]))
                    continue
                one = type(self.tree)(**parameters, random_state=seed)
                one.fit(self._sparse_columns, target, sample_weight=sample_weight, check_input=self._has_nan)
                grown.append(flatten_tree(one))
        *nodes, importances = zip(*grown, strict=True)
        starts = np.concatenate([[0], np.cumsum([len(part) for part in nodes[0]])])
        feature, left, right, value, missing_left = map(np.concatenate, nodes)
        trees = FlatTrees(starts, feature, left, right, value, missing_left, self.X.shape[1])
        return Grown(trees, np.sum(importances, axis=0))


def _dense_columns(X) -> np.ndarray | None:
    """The features one after the other; None if a sparse X is too large to be made dense."""
    if sparse.issparse(X):
        if X.shape[0] * X.shape[1] > _LARGEST_DENSE:
            return None
        X = X.toarray()
    return np.ascontiguousarray(X.T)


def grow_forests(rows: TreeRows, Y, weights, frequencies, bags: Bags, labels, n_jobs) -> list[Grown]:
    """Grow a forest for each of some labels, in threads over labels and trees."""
    starts = range(0, len(bags.counts), _TREES_A_TASK)
    grown = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(rows.grow)(
            np.ascontiguousarray(Y[:, label]),
            np.ascontiguousarray(weights[:, label]),
            frequencies[label],
            bags.counts[start : start + _TREES_A_TASK],
            bags.seeds[label, start : start + _TREES_A_TASK],
        )
        for label in labels
        for start in starts
    )
    size = len(starts)
    return [_join(grown[i * size : (i + 1) * size]) for i in range(len(labels))]


def _join(blocks: list[Grown]) -> Grown:
    total = np.sum([block.importances for block in blocks], axis=0)
    trees = FlatTrees.join([block.trees for block in blocks])
    return Grown(trees, total / max(total.sum(), np.finfo(float).tiny))


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
