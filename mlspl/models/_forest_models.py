"""Fitted forests: a forest per label, a joint forest, and the mean of both."""

from collections.abc import Iterator

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from scipy.special import logit

from mlspl.solvers import FlatTrees, average_leaf_labels
from mlspl.spaces import Model

# Numbers of a sparse X that are made dense at a time.
_BLOCK = 1 << 22


def as_floats(X):
    """X as the trees read it: float32; values beyond its range become its largest."""
    with np.errstate(over="ignore"):
        X = X.astype(np.float32)
    largest = np.finfo(np.float32).max
    values = X.data if sparse.issparse(X) else X
    np.clip(values, -largest, largest, out=values)
    return X


class _Forest(Model):
    """Base of the fitted forests, which give probabilities."""

    def scores(self, X, n_jobs=None) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return logit(self.probabilities(X, n_jobs))  # type: ignore[attr-defined]


class LabelForests(_Forest):
    """The forests of all labels that vary, in one set of arrays.

    A probability is (Σ_t p_t + f)/(T + 1): the label's frequency f counts as one more tree, so that it ranks
    labels of which no tree found a trace, and answers alone for labels that do not vary.
    """

    _contents = {"trees": (FlatTrees, None), "labels": ["int"], "frequencies": "float (labels)"}

    def __init__(self, forests, frequencies) -> None:
        self.trees = FlatTrees.join(list(forests.values())) if forests else None
        self.labels = list(forests)
        self.frequencies = frequencies

    def probabilities(self, X, n_jobs=None, in_sample=None) -> np.ndarray:
        """Probabilities (n, L); trees are left out for rows where `in_sample` (n_trees, n) is not 0."""
        X = as_floats(X)
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
    }

    def __init__(self, trees, leaves, labels, weights, frequencies) -> None:
        self.trees, self.leaves, self.labels, self.frequencies = trees, leaves, labels, frequencies
        self.weights = None if (weights == 1.0).all() else weights

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) of new rows."""
        X = as_floats(X)
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
        training = np.ascontiguousarray(self.leaves), np.diff(self.trees.starts), weighted, weights
        sums = np.tile(self.frequencies.astype(float), (n_rows, 1))
        counts = np.ones(sums.shape)

        def fill(rows):
            average_leaf_labels(*training, np.ascontiguousarray(find(rows)), sums[rows], counts[rows])

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


class MeanForest(_Forest):
    """The mean of a joint forest's probabilities and those of a forest per label."""

    _contents = {"joint": JointForest, "per_label": LabelForests}

    def __init__(self, joint: JointForest, per_label: LabelForests) -> None:
        self.joint, self.per_label = joint, per_label

    frequencies = property(lambda self: self.joint.frequencies)

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """The mean of both."""
        return (self.joint.probabilities(X, n_jobs) + self.per_label.probabilities(X, n_jobs)) / 2

    def _check_contents(self) -> None:
        """Refuse forests of different labels; each checks itself."""
        if len(self.joint.frequencies) != len(self.per_label.frequencies):
            raise ValueError("the joint forest and those of the labels differ in labels")


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
