"""Fitted forests: a forest per label, a joint forest, and the mean of both."""

from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from scipy.special import logit

from mlspl.solvers import FlatTrees, average_leaf_labels
from mlspl.spaces import Model

__all__ = [
    "JointForest",
    "LabelForests",
    "MeanForest",
    "as_floats",
    "find_leaves",
    "measure_units",
]

# Numbers of a sparse X that are made dense at a time.
_BLOCK = 1 << 22


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
            # Copies, for SciPy sorts indices in place, and X belongs to the caller.
            X = sparse.csr_matrix((scaled, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        else:
            X = (X * units).astype(np.float32)
    values = X.data if sparse.issparse(X) else X
    if np.isinf(values).any():
        largest = np.finfo(np.float32).max
        np.clip(values, -largest, largest, out=values)
    return X


class _Forest(Model):
    """Base of the fitted forests, which give probabilities."""

    def scores(self, X, n_jobs=None) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return logit(self.probabilities(X, n_jobs))

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) of new rows."""
        raise NotImplementedError


class LabelForests(_Forest):
    """The forests of all labels that vary, in one set of arrays.

    A probability is (Σ_t p_t + f)/(T + 1): the label's frequency f counts as one more tree, so that it ranks
    labels of which no tree found a trace, and answers alone for labels that do not vary.
    """

    _contents = {
        "trees": (FlatTrees, None),
        "labels": ["int"],
        "frequencies": "float (labels)",
        "units": "float (features)",
    }

    def __init__(self, forests, frequencies, units) -> None:
        self.trees = FlatTrees.join(list(forests.values())) if forests else None
        self.labels = list(forests)
        self.frequencies = frequencies
        self.units = units

    @property
    def n_trees(self) -> int:
        """Trees a label."""
        return len(self.trees) // len(self.labels) if self.trees is not None else 0

    def probabilities(self, X, n_jobs=None, in_sample=None) -> np.ndarray:
        """Probabilities (n, L); trees are left out for rows where `in_sample` (n_trees, n) is not 0."""
        X = as_floats(X, self.units)
        probabilities = np.tile(self.frequencies, (X.shape[0], 1))
        trees = self.trees
        if trees is None:
            return probabilities
        frequencies = self.frequencies[self.labels]

        def fill(rows, block):
            used = None if in_sample is None else np.ascontiguousarray(in_sample[:, rows])
            sums, counts = trees.sum_leaves(block, used, len(self.labels))
            probabilities[rows, self.labels] = (sums + frequencies) / (counts + 1.0)

        Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(fill)(rows, block) for rows, block in _dense_blocks(X, effective_n_jobs(n_jobs))
        )
        return probabilities

    def _check_contents(self) -> None:
        """Refuse forests of labels that do not exist; the trees check themselves."""
        n_trees = 0 if self.trees is None else len(self.trees)
        if not all(0 <= label < len(self.frequencies) for label in self.labels):
            raise ValueError("a forest belongs to a label that does not exist")
        if len(set(self.labels)) < len(self.labels):
            raise ValueError("a label has two forests")
        if (n_trees % len(self.labels) if self.labels else n_trees) or (self.labels and not n_trees):
            raise ValueError("the trees cannot be shared out among the labels")
        if self.trees is not None and self.trees.n_features != len(self.units):
            raise ValueError("the trees have another number of features")


class JointForest(_Forest):
    """One forest for all labels. It keeps which training rows share a leaf, and the rows' labels.

    A probability is (Σ_t s_t + f)/(Σ_t w_t + 1), with s_t and w_t the mean weighted label and the mean weight
    of the training rows in the leaf, and the label's frequency f. With weights of 1 this is the usual mean of
    the trees. Trees take 17 bytes a node, the leaves 4 bytes for each tree and training row, labels and
    weights 9 bytes for each training pair.
    """

    _contents = {
        "trees": FlatTrees,
        "leaves": "int32 (trees, rows)",
        "labels": "bool (rows, labels)",
        "weights": "float (rows, labels)?",
        "frequencies": "float (labels)",
        "units": "float (features)",
    }

    def __init__(self, trees, leaves, labels, weights, frequencies, units) -> None:
        self.trees, self.leaves, self.labels = trees, leaves, labels
        self.weights = None if (weights == 1.0).all() else weights
        self.frequencies, self.units = frequencies, units

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) of new rows."""
        X = as_floats(X, self.units)
        return self._average(lambda rows: find_leaves(self.trees, X[rows]), X.shape[0], n_jobs)

    def training_probabilities(self, n_jobs=None) -> np.ndarray:
        """Out-of-sample probabilities (n, L) of the training rows, by the trees not grown on them."""
        return self._average(lambda rows: -1 - self.leaves[:, rows], self.leaves.shape[1], n_jobs)

    def _average(self, find, n_rows, n_jobs) -> np.ndarray:
        weighted = self.labels.astype(float, order="C")
        weights = np.empty((0, weighted.shape[1]))
        if self.weights is not None:
            weights = self.weights.astype(float, order="C")
            weighted *= weights
        n_nodes = np.diff(self.trees.starts)
        sums = np.tile(self.frequencies.astype(float), (n_rows, 1))
        counts = np.ones(sums.shape)

        def fill(rows):
            average_leaf_labels(
                np.ascontiguousarray(self.leaves),
                n_nodes,
                weighted,
                weights,
                np.ascontiguousarray(find(rows)),
                sums[rows],
                counts[rows],
            )

        height = max(1, min(-(-n_rows // effective_n_jobs(n_jobs)), (1 << 26) // len(self.trees)))
        Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(fill)(slice(start, start + height)) for start in range(0, n_rows, height)
        )
        return sums / counts

    def _check_contents(self) -> None:
        """Refuse leaves outside their tree; the trees check themselves."""
        sizes = np.diff(self.trees.starts)[:, None]
        if self.leaves.shape[0] != len(sizes) or len(self.labels) != self.leaves.shape[1]:
            raise ValueError("the leaves have another number of trees or rows")
        if (self.leaves >= sizes).any() or (self.leaves < -sizes).any():
            raise ValueError("a row lies in a leaf outside its tree")
        if self.weights is not None and not (self.weights >= 0).all():
            raise ValueError("a weight is negative")
        if self.trees.n_features != len(self.units):
            raise ValueError("the trees have another number of features")


class MeanForest(_Forest):
    """The mean of a joint forest's probabilities and those of a forest per label."""

    _contents = {"joint": JointForest, "per_label": LabelForests}

    def __init__(self, joint: JointForest, per_label: LabelForests) -> None:
        self.joint, self.per_label = joint, per_label

    frequencies = property(lambda self: self.joint.frequencies)
    units = property(lambda self: self.joint.units)

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """The mean of both."""
        return (self.joint.probabilities(X, n_jobs) + self.per_label.probabilities(X, n_jobs)) / 2

    def _check_contents(self) -> None:
        """Refuse forests of different labels or features; each checks itself."""
        joint, apart = self.joint, self.per_label
        if len(joint.frequencies) != len(apart.frequencies) or len(joint.units) != len(apart.units):
            raise ValueError("the joint forest and those of the labels differ in labels or features")


def find_leaves(trees: FlatTrees, X) -> np.ndarray:
    """The leaf of each row of X, dense or sparse, in each tree: (n_trees, n)."""
    return np.hstack([trees.find_leaves(block) for _, block in _dense_blocks(X, 1)])


def _dense_blocks(X, n_blocks) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows of X at a time, dense, in at least `n_blocks` blocks if there are so many rows."""
    n = X.shape[0]
    height = -(-n // n_blocks)
    if sparse.issparse(X):
        height = min(height, _BLOCK // X.shape[1])
    height = max(1, height)
    for start in range(0, n, height):
        rows = slice(start, start + height)
        yield rows, X[rows].toarray() if sparse.issparse(X) else np.ascontiguousarray(X[rows])
