"""A forest per label, and what it says of rows it has and has not seen."""

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.special import logit

from mlspl.models._forest import Bags, as_floats
from mlspl.solvers import FlatTrees
from mlspl.spaces import Model

__all__ = ["ChainedForests", "LabelForests", "forest_probabilities", "see_labels"]

# Numbers of a sparse X that are made dense at a time.
_BLOCK = 1 << 22


class LabelForests(Model):
    """The forests of all labels that vary, in one set of arrays."""

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

    def scores(self, X, n_jobs=None) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return logit(self.probabilities(X, n_jobs))

    def probabilities(self, X, n_jobs=None) -> np.ndarray:
        """Probabilities (n, L) that new rows carry the labels."""
        forests = {}
        if self.trees is not None:
            size = self.n_trees
            forests = {
                label: self.trees.part(i * size, (i + 1) * size) for i, label in enumerate(self.labels)
            }
        return forest_probabilities(forests, self.frequencies, as_floats(X, self.units), None, n_jobs)

    def _check_contents(self) -> None:
        """Refuse forests of labels that there are not; the trees check themselves."""
        n_trees = 0 if self.trees is None else len(self.trees)
        if not all(0 <= label < len(self.frequencies) for label in self.labels):
            raise ValueError("there are forests of labels that there are not")
        if (n_trees % len(self.labels) if self.labels else n_trees) or (self.labels and not n_trees):
            raise ValueError("the trees do not make up a forest for each label")
        if self.trees is not None and self.trees.n_features != len(self.units):
            raise ValueError("the trees are of other features")


class ChainedForests(Model):
    """Forests, and further ones that see what the first say of all labels beside the features.

    The answer is the mean of all trees.
    """

    _contents = {"first": LabelForests, "further": LabelForests}

    def __init__(self, first: LabelForests, further: LabelForests) -> None:
        self.first = first
        self.further = further

    def scores(self, X, n_jobs=None) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        first = self.first.probabilities(X, n_jobs)
        further = self.further.probabilities(see_labels(X, first), n_jobs)
        shares = np.array([self.first.n_trees, self.further.n_trees]) + 1.0
        return logit((shares[0] * first + shares[1] * further) / shares.sum())

    def _check_contents(self) -> None:
        """Refuse further forests of other labels or features than the first; each checks itself."""
        n_labels = len(self.first.frequencies)
        if len(self.further.frequencies) != n_labels:
            raise ValueError("the further forests are of other labels")
        if len(self.further.units) != len(self.first.units) + n_labels:
            raise ValueError("the further forests are of other features")


def see_labels(X, probabilities, copies: int = 1):
    """X with the probabilities of all labels behind its features, so many times."""
    columns = np.tile(probabilities.astype(X.dtype), (1, copies))
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_matrix(columns)], format="csr")
    return np.hstack([X, columns])


def forest_probabilities(forests, frequencies, X, bags: Bags | None = None, n_jobs=None) -> np.ndarray:
    """Probabilities (n, L) that the rows of X carry the labels: (Σ_t p_t + b)/(T + 1).

    The label's frequency b counts as one more tree, so that labels of which no tree found a trace are ranked
    by it, and it alone answers for labels without a forest and rows without a tree.
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
