"""Defaults for text, warnings about data and models, and sparse matrices that are corrupt."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mlspl import BSVMClassifier, MLkNNClassifier, RankSVMClassifier, SelfPacedForestClassifier
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from tests.models.odd_inputs import ESTIMATORS, X, Y


def unit_rows(n=120, d=800, seed=0):
    """Sparse rows of length 1, as TF-IDF makes them: four labels, each with ten words of its own."""
    rng = np.random.RandomState(seed)
    Y = rng.rand(n, 4) < 0.3
    counts = rng.rand(n, d) < 0.02
    for label in range(4):
        counts[:, 10 * label : 10 * label + 10] |= Y[:, [label]] & (rng.rand(n, 10) < 0.4)
    X = sparse.csr_matrix(counts, dtype=float)
    return sparse.csr_matrix(X.multiply(1 / np.maximum(np.sqrt(X.sum(axis=1)), 1))), Y


def test_defaults_learn_text_in_a_linear_space():
    X, Y = unit_rows(400)
    model = BSVMClassifier().fit(X[:300], Y[:300])
    assert model.space_.startswith("linear")
    kernel = BSVMClassifier(gamma="scale", space="gram").fit(X[:300], Y[:300])
    reached = [average_precision(Y[300:], fitted.decision_function(X[300:])) for fitted in (model, kernel)]
    assert reached[0] > reached[1] - 0.02
    assert reached[0] > 0.8


@pytest.mark.parametrize(
    "estimator", [BSVMClassifier(gamma="auto", space="gram"), RankSVMClassifier(gamma="auto")]
)
def test_a_constant_kernel_gets_a_warning_with_a_remedy(estimator):
    X, Y = unit_rows()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, Y)
    assert any("nearly constant" in str(each.message) and "'scale'" in str(each.message) for each in caught)


@pytest.mark.parametrize("estimator", [BSVMClassifier(), MLkNNClassifier(k=4)])
def test_columns_of_wildly_different_scale_get_a_warning(estimator):
    wild = X.copy()
    wild[:, 0] *= 1e5
    with pytest.warns(UserWarning, match="StandardScaler"):
        clone(estimator).fit(wild, Y)
    SelfPacedForestClassifier(5).fit(wild, Y)  # trees take any scale


def test_a_model_without_predictions_gets_a_warning():
    X, Y = unit_rows()
    with pytest.warns(UserWarning, match="no label for .*balanced"):
        BSVMClassifier(C=1e-6).fit(X, Y)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("part", ["indices", "indptr", "last", "negative", "coo"])
def test_corrupt_sparse_matrices_are_refused(name, part):
    bad = sparse.coo_matrix(X) if part == "coo" else sparse.csr_matrix(X)
    if part == "coo":
        bad.col[3] = 10_000_000
    elif part == "indptr":
        bad.indptr[2] = bad.indptr[-1] + 10_000_000
    elif part == "last":
        bad.indptr[-1] = 0  # SciPy's own check then skips the others
    else:
        bad.indices[3] = 10_000_000 if part == "indices" else -10_000_000
    with pytest.raises(UserError, match="corrupt"):
        clone(ESTIMATORS[name]).fit(bad, Y)
    fitted = clone(ESTIMATORS["ml-knn"]).fit(X, Y)
    with pytest.raises(UserError, match="corrupt"):
        fitted.predict(bad)
    labels = sparse.csr_matrix(Y)
    labels.indices[0] = -5
    with pytest.raises(UserError, match="Y is a corrupt"):
        clone(ESTIMATORS["ml-knn"]).fit(X, labels)
