"""Very many labels: CSR labels stay CSR, machines come in blocks of labels, predictions in blocks of rows."""

import tracemalloc

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse

from mlspl import BSVMClassifier, MLkNNClassifier, TRAMClassifier
from mlspl.errors import UserError
from mlspl.models import _label_blocks


def made(n, n_labels, d=30, per_row=3, seed=0):
    """Sparse rows with labels that follow from them."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, density=0.2, format="csr", random_state=0)
    scores = X @ rng.normal(size=(d, n_labels)) + 0.1 * rng.normal(size=(n, n_labels))
    top = np.argsort(-scores, axis=1)[:, :per_row]
    Y = np.zeros((n, n_labels), dtype=np.int8)
    np.put_along_axis(Y, top, 1, axis=1)
    return X, Y


@pytest.fixture(scope="module")
def data():
    return made(300, 40)


def test_sparse_and_dense_labels_give_one_model(data):
    X, Y = data
    dense = BSVMClassifier(space="linear").fit(X, Y)
    csr = BSVMClassifier(space="linear").fit(X, sparse.csr_array(Y))
    np.testing.assert_array_equal(dense.coef_, csr.coef_)
    np.testing.assert_array_equal(dense.predict_proba(X[:5]), csr.predict_proba(X[:5]))
    np.testing.assert_array_equal(
        BSVMClassifier().fit(X, sparse.csr_array(Y)).decision_function(X),
        BSVMClassifier().fit(X, Y).decision_function(X),
    )


def test_blocks_of_labels_are_the_same_machines(data, monkeypatch):
    X, Y = data
    whole = BSVMClassifier(space="linear", class_weight="balanced").fit(X, Y)
    monkeypatch.setattr(_label_blocks, "_PAIRS", 300 * 16)
    assert len(_label_blocks.label_blocks(300, 30, 40)) == 3
    weight = np.random.default_rng(1).random(Y.shape)
    for given in (None, np.ones(Y.shape)):
        blocks = BSVMClassifier(space="linear", class_weight="balanced").fit(X, Y, given)
        # Labels meet other labels in their lanes of eight, and stop where those do.
        np.testing.assert_allclose(blocks.decision_function(X), whole.decision_function(X), atol=0.05)
    with parallel_config("threading", n_jobs=2):
        parallel = BSVMClassifier(space="linear", class_weight="balanced").fit(X, Y, weight)
    alone = BSVMClassifier(space="linear", class_weight="balanced").fit(X, Y, weight)
    np.testing.assert_array_equal(parallel.coef_, alone.coef_)


def test_many_weights_are_kept_sparse(data, monkeypatch):
    X, Y = data
    whole = BSVMClassifier(space="linear").fit(X, Y)
    monkeypatch.setattr(_label_blocks, "_MANY_WEIGHTS", 100)
    pruned = BSVMClassifier(space="linear").fit(X, Y)
    assert sparse.issparse(pruned.coef_)
    assert np.abs(pruned.coef_.data).min() >= 0.01
    # A row holds at most 30 features of at most 1, each off by less than 0.01.
    np.testing.assert_allclose(pruned.decision_function(X), whole.decision_function(X), atol=0.3)


def test_predictions_as_csr_and_as_the_best(data, monkeypatch):
    X, Y = data
    model = BSVMClassifier(space="linear").fit(X, Y)
    scores = model.decision_function(X)
    monkeypatch.setattr("mlspl.models._base._BLOCK_PAIRS", 40 * 7)
    predicted = model.predict(X, output="sparse")
    assert predicted.dtype == bool
    np.testing.assert_array_equal(predicted.toarray(), model.predict(X) == 1)
    labels, best = model.predict_top(X, k=3)
    np.testing.assert_array_equal(labels, np.argsort(-scores, axis=1, kind="stable")[:, :3])
    np.testing.assert_array_equal(best, np.take_along_axis(scores, labels, axis=1))
    with pytest.raises(UserError, match="40 labels"):
        model.predict_top(X, k=41)


def test_transductive_rows_stay_together(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr("mlspl.models._base._BLOCK_PAIRS", 40 * 7)
    for model in (TRAMClassifier(), MLkNNClassifier()):
        model.fit(X[:200], Y[:200])
        expected = model.predict(X[200:]) == 1
        np.testing.assert_array_equal(model.predict(X[200:], output="sparse").toarray(), expected)


@pytest.mark.filterwarnings("ignore:.*predicts no label")
def test_memory_does_not_grow_with_rows_times_labels(monkeypatch):
    monkeypatch.setattr(_label_blocks, "_PAIRS", 2**17)
    X, _ = made(1000, 8)
    rng = np.random.default_rng(0)
    columns = np.stack([rng.integers(0, 20, 1000), rng.integers(20, 40, 1000)], axis=1).ravel() * 50
    Y = sparse.csr_array((np.ones(2000), columns, np.arange(0, 2001, 2)), shape=(1000, 2000))
    model = BSVMClassifier(space="linear", tol=0.1)
    model.fit(X, Y[:, :8])
    tracemalloc.start()
    model.fit(X, Y)
    monkeypatch.setattr("mlspl.models._base._BLOCK_PAIRS", 2**17)
    model.predict_top(X, k=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A float64 table of rows by labels is 16 MB, and without blocks there were more than ten.
    assert peak < 48e6
