import pickle
import sys
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mlspl import load_model, save_model
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from mlspl.pacing import QuantilePace
from mlspl.torch import SelfPacedNetClassifier
from mlspl.torch.net import _find_pieces
from tests.models.checks import scikit_learn_checks

torch = pytest.importorskip("torch")

DIGITS = load_dataset("digits-traits")
X, Y = DIGITS.X[:200], DIGITS.Y[:200]
X_TEST, Y_TEST = DIGITS.X[200:], DIGITS.Y[200:]
Small = partial(
    SelfPacedNetClassifier, hidden=(32,), n_epochs=12, n_folds=2, learning_rate=0.01, random_state=0
)


@scikit_learn_checks([SelfPacedNetClassifier(hidden=(8,), n_epochs=20, n_folds=2, learning_rate=0.05)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def model():
    return Small(schedule=QuantilePace(0.7, 0.7, 1)).fit(X, Y)


def test_it_learns(model):
    assert average_precision(Y_TEST, model.predict_proba(X_TEST)) > 0.85
    assert average_precision(Y, model.oof_probabilities_) > 0.85
    assert len(model.n_epochs_) == 2
    assert (model.label_weights_.min() < 0.5) == model.is_paced_
    assert model.trace_.n_steps == 1


def test_a_seed_gives_one_result_and_copies_agree(model):
    scores = model.decision_function(X_TEST)
    assert_array_equal(clone(model).fit(X, Y).decision_function(X_TEST), scores)
    assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(X_TEST), scores)


def test_numpy_and_torch_agree(model):
    """The prediction against the same layers of torch."""
    fitted = model.networks_
    column, start, width, low, high = (
        fitted.pieces[name] for name in ("column", "start", "width", "low", "high")
    )
    encoded = np.clip((X_TEST[:, column] - start) / width, low, high)
    x = torch.tensor((np.hstack([X_TEST, encoded]) - fitted.center) / fitted.spread).clamp(-100, 100)
    outputs = []
    for k in range(len(fitted.layers[0]["bias"])):
        first, last = ({name: torch.tensor(v[k]).double() for name, v in la.items()} for la in fitted.layers)
        h = x @ first["weight"] + first["bias"]
        h = torch.nn.functional.layer_norm(h, (32,), first["scale"], first["shift"])
        outputs.append(torch.relu(h) @ last["weight"] + last["bias"])
    assert_allclose(model.decision_function(X_TEST), torch.stack(outputs).mean(0), rtol=1e-9, atol=1e-9)


def test_networks_do_not_see_their_fold(model):
    """If the labels are random, the held-out rows of each network are at chance."""
    random = np.random.RandomState(0).rand(200, 2) < 0.5
    fitted = Small(pace_function=None, n_epochs=30, patience=30).fit(X, random)
    right = (fitted.oof_probabilities_ > 0.5) == random
    assert abs(right.mean() - 0.5) < 0.1


def test_unknown_pairs_and_pairs_of_weight_0_are_one():
    gap = np.random.RandomState(0).rand(*Y.shape) < 0.3
    expected = Small().fit(X, np.where(gap, np.nan, Y)).decision_function(X_TEST)
    weighted = Small().fit(X, np.where(gap, 1 - Y, Y), label_weight=(~gap).astype(float))
    assert_array_equal(weighted.decision_function(X_TEST), expected)


def test_pieces_are_linear_between_quantiles():
    """Their lengths sum up to the feature between its extremes; a binary feature needs no pieces."""
    feature = np.random.RandomState(0).gamma(1.0, size=99)
    values = np.column_stack([feature, feature > 1, np.zeros(99)])
    pieces = _find_pieces(values)
    assert_array_equal(pieces["column"], [0, 0, 0])
    assert_allclose(pieces["start"], np.quantile(feature, [0, 1 / 3, 2 / 3], method="lower"))
    z = np.clip((feature[:, None] - pieces["start"]) / pieces["width"], pieces["low"], pieces["high"])
    assert_allclose(z @ pieces["width"] + feature.min(), feature)


def test_sparse_features():
    model = Small(pace_function=None).fit(sparse.csr_array(X), Y)
    assert_allclose(
        model.decision_function(sparse.csr_array(X_TEST)), model.decision_function(X_TEST), rtol=1e-9
    )
    assert average_precision(Y_TEST, model.predict_proba(X_TEST)) > 0.8


def test_the_unit_and_the_container_of_the_features_do_not_matter(model):
    scores = model.decision_function(X)
    assert_allclose(model.decision_function(sparse.csr_array(X)), scores)
    shifted = clone(model).fit(4.0 * X + 4096.0, Y)  # exact in floating point
    assert_allclose(shifted.decision_function(4.0 * X + 4096.0), scores, rtol=1e-3, atol=1e-3)


def test_without_noise_there_is_one_round():
    clean = (X[:, :3] > X[:, :3].mean(axis=0)).astype(int)
    model = Small(n_epochs=30).fit(X[:, :3], clean)
    assert model.stop_reason_ in ("infinite_pace", "max_steps")
    assert model.label_weights_.mean() > 0.8


def test_model_files_hold_arrays_and_need_no_torch(model, tmp_path, monkeypatch):
    path = save_model(model, tmp_path / "net.skops")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(load_model(path).decision_function(X_TEST), model.decision_function(X_TEST))
    monkeypatch.delitem(sys.modules, "mlspl.torch._training")
    with pytest.raises(UserError, match="pip install"):
        Small().fit(X, Y)


def own_module(n_features, n_labels):
    return torch.nn.Sequential(
        torch.nn.Linear(n_features, 16),
        torch.nn.BatchNorm1d(16),
        torch.nn.ReLU(),
        torch.nn.Linear(16, n_labels),
    )


def test_own_modules_are_trained_and_not_saved(tmp_path):
    model = Small(module=own_module, n_epochs=20, pace_function=None).fit(X, Y)
    assert len(model.modules_) == 2
    assert average_precision(Y_TEST, model.predict_proba(X_TEST)) > 0.8
    with pytest.raises(UserError, match="state_dict"):
        save_model(model, tmp_path / "net.skops")


def test_wrong_layers_of_a_file_are_refused(model):
    broken = pickle.loads(pickle.dumps(model))
    layers = broken.networks_.layers
    layers[0]["bias"] = layers[0]["bias"][:, 1:]
    with pytest.raises(ValueError, match="shapes"):
        broken.networks_._check_contents()
    del layers[1]
    with pytest.raises(ValueError, match="labels"):
        broken._check_contents()


def test_a_round_that_does_not_help_is_left_out(monkeypatch):
    """The second round learns nothing if every weight is 0, so it must not be part of the model."""
    plain = Small(pace_function=None).fit(X, Y)
    harmed = Small(pace_function="hard", schedule=QuantilePace(0.02, 0.02, 1)).fit(X, Y)
    assert len(harmed.n_epochs_) == 2
    assert not harmed.is_paced_
    assert_array_equal(harmed.decision_function(X_TEST), plain.decision_function(X_TEST))
