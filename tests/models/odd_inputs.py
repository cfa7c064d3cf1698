"""The estimators that every input is tried on, a small table, and ways to make the same table odd."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression

from mlspl import (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    SelfPacedForestClassifier,
    TRAMClassifier,
    TunedDecisionClassifier,
)
from mlspl.pacing import QuantilePace

TINY_GRID = {
    "budget": "fast", "C": (1.0,), "quantiles": (0.7,), "cv": 2, "n_estimators": 30,
}  # fmt: skip
ESTIMATORS = {
    "bsvm": BSVMClassifier(gamma="scale"),
    "ml-knn": MLkNNClassifier(k=4),
    "tram": TRAMClassifier(k=4),
    "ranksvm": RankSVMClassifier(C=1.0, gamma="scale"),
    "ml-loc": MLLOCClassifier(gamma="scale", max_steps=2, random_state=0),
    "mlspl": MLSPLClassifier(schedule=QuantilePace(0.6, 0.9, 2), random_state=0),
    "mlspl-published": MLSPLClassifier.as_published(gamma="scale", max_steps=2, random_state=0),
    "mlspl-cv": MLSPLClassifierCV(**TINY_GRID, random_state=0),
    "self-paced": SelfPacedClassifier(LogisticRegression(), n_folds=2, random_state=0),
    "forest": SelfPacedForestClassifier(n_estimators=10, random_state=0),
    "tuned": TunedDecisionClassifier(BSVMClassifier(gamma="scale")),
}
KERNELS = {"bsvm", "ranksvm", "ml-loc", "mlspl", "mlspl-published"}

# Nine labels take two bytes; sixteenths are exact in every float type.
X, Y = make_multilabel_classification(n_samples=40, n_features=5, n_classes=9, n_labels=3, random_state=1)
X = np.round(16 * (X - X.mean(axis=0)) / X.std(axis=0)) / 16
X, X_NEW, Y = X[:32], X[32:], Y[:32]
N, D, L = 32, 5, 9
FEATURES, LABELS = list("abcde"), [f"label {number}" for number in range(L)]


def put(table, row, column, value):
    table = np.array(table, dtype=object if isinstance(value, str | complex) else np.float64)
    table[row, column] = value
    return table


def strided(table):
    """The same values with gaps in memory between them."""
    wide = np.full((2 * table.shape[0], 3 * table.shape[1]), 77, dtype=table.dtype)
    wide[::2, ::3] = table
    return wide[::2, ::3]


def messy(table):
    """CSR that stores zeros too, every row in another order."""
    order = np.stack([np.random.RandomState(row).permutation(table.shape[1]) for row in range(len(table))])
    values = np.take_along_axis(table, order, axis=1).ravel().astype(np.float64)
    stored = sparse.csr_matrix((values, order.ravel(), np.arange(0, values.size + 1, table.shape[1])))
    assert not stored.has_sorted_indices
    assert (stored.data == 0).any()
    return stored


def content(table):
    """What must be the same afterwards."""
    if sparse.issparse(table) and table.format in ("csr", "csc"):
        return [part.copy() for part in (table.data, table.indices, table.indptr)]
    if isinstance(table, pd.DataFrame):
        return [table.to_numpy(dtype=np.float64, na_value=np.nan)]
    return [np.array(table.toarray() if sparse.issparse(table) else table)]


def fitted(name, features, labels, **weights):
    """A fit that leaves its input as it was."""
    before = content(features), content(labels)
    model = clone(ESTIMATORS[name]).fit(features, labels, **weights)
    for old, new in zip(before, (content(features), content(labels)), strict=True):
        for left, right in zip(old, new, strict=True):
            np.testing.assert_array_equal(left, right)
    return model


every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
