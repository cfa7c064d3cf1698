"""MLSPL and ML-LOC with very many labels: sparse Y, blocks of labels, workers. The dense fit is the twin."""

import tracemalloc

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone

from mlspl import MLLOCClassifier, MLSPLClassifier, load_model, pacing, save_model
from mlspl._parallel import count_workers
from mlspl.models import _label_blocks, _space_classifier
from tests.models.test_label_blocks import made

N, L = 240, 40
MODELS = {
    "mlspl": MLSPLClassifier(space="linear", random_state=0),
    "mlspl, balanced, geometric": MLSPLClassifier(
        space="linear", random_state=0, class_weight="balanced", schedule=pacing.GeometricPace(0.5, 1.5, 3)
    ),
    "mlspl, nystroem": MLSPLClassifier(space="nystroem", n_landmarks=50, random_state=0),
    "ml-loc": MLLOCClassifier(space="linear", regressor="ridge", random_state=0),
}


@pytest.fixture(scope="module")
def data():
    return made(N, L)


def in_blocks(monkeypatch, n_labels=16):
    monkeypatch.setattr(_label_blocks, "_PAIRS", N * n_labels)


def same_fit(ours, theirs, X):
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(ours.codes_, theirs.codes_)
    np.testing.assert_array_equal(ours.prototypes_, theirs.prototypes_)
    np.testing.assert_array_equal(ours.label_weights_, theirs.label_weights_)
    assert ours.trace_.n_steps == theirs.trace_.n_steps
    for name in ("entered", "last_loss", "mean_loss"):
        np.testing.assert_array_equal(getattr(ours.trace_, name), getattr(theirs.trace_, name))
    assert (ours.stop_reason_, ours.n_iter_) == (theirs.stop_reason_, theirs.n_iter_)
    # With several blocks, the history is that of one.
    assert [step["pace"] for step in ours.history_] == [step["pace"] for step in theirs.history_]


@pytest.mark.parametrize("name", MODELS)
def test_sparse_labels_in_blocks_are_the_dense_fit_in_one(name, data, monkeypatch):
    X, Y = data
    model = MODELS[name]
    whole = clone(model).fit(X, Y)
    in_blocks(monkeypatch)
    blocks = clone(model).fit(X, sparse.csr_array(Y))
    same_fit(blocks, whole, X)
    np.testing.assert_allclose(blocks.predict_proba(X[:9]), whole.predict_proba(X[:9]), atol=1e-9)


def test_codes_of_many_rows_are_predicted_by_ridge_unless_said(data):
    X, Y = data
    for space, regressor in (("gram", "svr"), ("linear", "ridge")):
        ours = MLLOCClassifier(space=space, random_state=0).fit(X[:80], Y[:80, :4])
        said = MLLOCClassifier(space=space, regressor=regressor, random_state=0).fit(X[:80], Y[:80, :4])
        np.testing.assert_array_equal(ours.decision_function(X), said.decision_function(X))


def test_weights_and_unknown_labels_in_blocks(data, monkeypatch):
    X, Y = data
    rng = np.random.default_rng(0)
    weight = rng.random(Y.shape) * (rng.random(Y.shape) < 0.9)
    whole = MLSPLClassifier(space="linear", random_state=0).fit(X, Y, weight)
    in_blocks(monkeypatch)
    same_fit(MLSPLClassifier(space="linear", random_state=0).fit(X, Y, weight), whole, X)


def test_what_couples_labels_is_fitted_in_one_block(data, monkeypatch):
    X, Y = data
    settings = {"schedule": pacing.QuantilePace(0.5, 0.9, 2, per="all")}
    whole = MLSPLClassifier(space="linear", random_state=0, **settings).fit(X, Y)
    in_blocks(monkeypatch)
    csr = MLSPLClassifier(space="linear", random_state=0, **settings).fit(X, sparse.csr_array(Y))
    np.testing.assert_array_equal(csr.decision_function(X), whole.decision_function(X))


def test_of_too_many_pairs_nothing_is_remembered_and_some_rows_judge(data, monkeypatch, tmp_path):
    X, Y = data
    whole = MLSPLClassifier(space="linear", random_state=0).fit(X, Y)
    in_blocks(monkeypatch)
    monkeypatch.setattr(_space_classifier, "_KEPT_PAIRS", 100)
    monkeypatch.setattr(_space_classifier, "_EVALUATED_PAIRS", N * L // 3)
    model = MLSPLClassifier(space="linear", random_state=0).fit(X, sparse.csr_array(Y))
    assert model.label_weights_ is None
    assert model.trace_ is None
    assert len(model.history_) == len(whole.history_)
    # The classifiers are the same; a third of the rows calibrates them.
    assert type(model.calibration_) is type(whole.calibration_)
    np.testing.assert_allclose(model.model_.scores(X), whole.model_.scores(X), atol=1e-9)
    assert np.corrcoef(model.decision_function(X).ravel(), whole.decision_function(X).ravel())[0, 1] > 0.9
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_top(X, 3)[0], model.predict_top(X, 3)[0])


def test_many_weights_are_kept_sparse_unless_they_are_of_landmarks(data, monkeypatch):
    X, Y = data
    monkeypatch.setattr(_label_blocks, "_MANY_WEIGHTS", 100)
    in_blocks(monkeypatch)
    for name, pruned in (("mlspl", True), ("mlspl, nystroem", False)):
        model = clone(MODELS[name]).fit(X, Y)
        assert sparse.issparse(model.model_.coef) == pruned
        assert model.predict(X, output="sparse").shape == Y.shape


@pytest.mark.filterwarnings("ignore:.*predicts no label")
def test_memory_does_not_grow_with_rows_times_labels(monkeypatch):
    n, n_labels = 600, 400
    for name, pairs in (("_KEPT_PAIRS", 2**14), ("_EVALUATED_PAIRS", 2**14)):
        monkeypatch.setattr(_space_classifier, name, pairs)
    monkeypatch.setattr(_label_blocks, "_PAIRS", 2**14)
    X, _ = made(n, 8)
    rng = np.random.default_rng(0)
    columns = np.stack([rng.integers(0, 20, n), rng.integers(20, 40, n)], axis=1).ravel() * 10
    Y = sparse.csr_array((np.ones(2 * n), columns, np.arange(0, 2 * n + 1, 2)), shape=(n, n_labels))
    model = MLSPLClassifier(space="linear", tol=0.1, random_state=0)
    model.fit(X, Y[:, :8])
    tracemalloc.start()
    model.fit(X, Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A float64 table of rows by labels is 1.9 MB, and without blocks there were some thirty.
    assert peak < 16e6


def test_on_one_machine_there_is_one_block_and_threads_of_its_own():
    assert count_workers() == 1
    with parallel_config("threading", n_jobs=3):
        assert count_workers() == 3


@pytest.mark.parametrize("name", ["mlspl", "ml-loc"])
def test_other_workers_give_the_same_fit(name, data):
    X, Y = data
    here = clone(MODELS[name]).fit(X, Y)
    with parallel_config("threading", n_jobs=2):
        there = clone(MODELS[name]).fit(X, Y)
    same_fit(there, here, X)
