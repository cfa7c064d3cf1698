"""Fitted forests: a forest per label, and a joint forest."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from scipy.special import logit
from sklearn.utils import gen_batches

from mlspl.solvers import FlatTrees, average_leaves
from mlspl.spaces import Model

# Numbers of a sparse X that are made dense at a time, and leaves that are looked up at a time.
_BLOCK, _LEAVES = 1 << 22, 1 << 24


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

    trees: Any  # FlatTrees, or None
    frequencies: np.ndarray
    _answer: Any  # makes a function of leaves (n_trees, m) that turns frequencies (m, L) into probabilities

    def scores(self, X, n_jobs=None) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return logit(self.probabilities(X, n_jobs))

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) of new rows."""
        X = as_floats(X)
        return self._average(lambda rows: find_leaves(self.trees, X[rows]), X.shape[0], n_jobs)

    def _average(self, find, n_rows, n_jobs) -> np.ndarray:
        """Probabilities by the leaves that `find` gives for a slice of the rows, negative to leave out."""
        probabilities = np.tile(self.frequencies.astype(float), (n_rows, 1))
        if self.trees is not None:
            answer = self._answer()
            height = max(1, min(-(-n_rows // effective_n_jobs(n_jobs)), _LEAVES // len(self.trees)))
            Parallel(n_jobs=n_jobs, require="sharedmem")(
                delayed(lambda rows: answer(find(rows), probabilities[rows]))(rows)
                for rows in gen_batches(n_rows, height)
            )
        return probabilities


class LabelForests(_Forest):
    """The forests of all labels that vary, in one set of arrays.

    A probability is (Σ_t p_t + f)/(T + 1), with the label's frequency f.
    """

    _contents = {"trees": (FlatTrees, None), "labels": ["int"], "frequencies": "float (labels)"}

    def __init__(self, forests, frequencies) -> None:
        self.trees = FlatTrees.join(list(forests.values())) if forests else None
        self.labels = list(forests)
        self.frequencies = frequencies

    def out_of_sample(self, X, in_sample, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) by the trees of each label where `in_sample` (n_trees, n) is 0."""
        is_out = in_sample == 0

        def find(rows):
            leaves = find_leaves(self.trees, X[rows])
            return np.where(np.tile(is_out[:, rows], (len(self.labels), 1)), leaves, -1)

        return self._average(find, X.shape[0], n_jobs)

    def _answer(self):
        starts, value = self.trees.starts[:-1, None], self.trees.value

        def answer(leaves, probabilities):
            used = leaves >= 0
            values = np.where(used, value[starts + leaves], 0.0)
            of_labels = (len(self.labels), -1, leaves.shape[1])
            sums, counts = (each.reshape(of_labels).sum(axis=1, dtype=float).T for each in (values, used))
            probabilities[:, self.labels] = (probabilities[:, self.labels] + sums) / (counts + 1.0)

        return answer

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
    of the training rows in the leaf, and the label's frequency f.
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

    def out_of_sample(self, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) of the training rows, by the trees not grown on them."""
        return self._average(lambda rows: -1 - self.leaves[:, rows], self.leaves.shape[1], n_jobs)

    def _answer(self):
        n, n_labels = self.labels.shape
        weights = np.ones((n, 1)) if self.weights is None else self.weights
        values = np.hstack([self.labels * weights, weights])
        training = np.ascontiguousarray(self.leaves), np.diff(self.trees.starts).max(), values

        def answer(leaves, probabilities):
            sums = np.zeros((len(probabilities), values.shape[1]))
            average_leaves(*training, np.ascontiguousarray(leaves), sums)
            probabilities += sums[:, :n_labels]
            probabilities /= 1.0 + sums[:, n_labels:]

        return answer

    def _check_contents(self) -> None:
        """Refuse leaves outside their tree; the trees check themselves."""
        sizes = np.diff(self.trees.starts)[:, None]
        if self.leaves.shape[0] != len(sizes) or len(self.labels) != self.leaves.shape[1]:
            raise ValueError("the leaves have another number of trees or rows")
        if (self.leaves >= sizes).any() or (self.leaves < -sizes).any():
            raise ValueError("a row lies in a leaf outside its tree")
        if self.weights is not None and not (self.weights >= 0).all():
            raise ValueError("a weight is negative")


def check_forests(forests, model) -> None:
    """Refuse forests of other labels or features than the model's; they check themselves."""
    if not forests or any(len(each.frequencies) != len(model.label_names_) for each in forests):
        raise ValueError("the forests are of other labels")
    if any(each.trees is not None and each.trees.n_features != model.n_features_in_ for each in forests):
        raise ValueError("the forests are of other features")


def find_leaves(trees: FlatTrees, X) -> np.ndarray:
    """The leaf of each row of X, dense or sparse, in each tree: (n_trees, n)."""
    if not sparse.issparse(X):
        return trees.find_leaves(np.ascontiguousarray(X))
    blocks = gen_batches(X.shape[0], max(1, _BLOCK // X.shape[1]))
    return np.hstack([trees.find_leaves(X[rows].toarray()) for rows in blocks])
