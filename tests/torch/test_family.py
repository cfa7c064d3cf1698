"""Networks as a family of `MLSPLClassifierCV`."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mlspl import MLSPLClassifierCV, load_model, save_model
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from tests.torch.test_net import X_TEST, Y_TEST, X, Y

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def model():
    settings = {"budget": "fast", "n_estimators": 30, "random_state": 0}
    return MLSPLClassifierCV(families=("joint", "net"), **settings).fit(X, Y)


def test_networks_are_averaged_with_other_families(model):
    assert {row["family"] for row in model.cv_results_} == {"joint", "net"}
    assert "net" in {each.family for each in model.families_}
    assert average_precision(Y_TEST, model.predict_proba(X_TEST)) > 0.85
    tried = [row for row in model.cv_results_ if row["family"] == "net"]
    assert [row["target"] for row in tried] == [1.0, 0.9, 0.8, 0.7]
    assert sum(row["weight"] > 0 for row in tried) == 1


def test_the_same_networks_predict_in_the_search_and_afterwards(model):
    """A network that did not see a row gives the held-out score; the others have a part in the prediction."""
    (net,) = (each for each in model.families_ if each.family == "net")
    assert len(net.models[0].layers[0]["bias"]) == 6  # two networks for each of three folds
    again = MLSPLClassifierCV(families=("net",), budget="fast", random_state=0).fit(X, Y)
    assert_allclose(again.families_[0].models[0].scores(X_TEST), net.models[0].scores(X_TEST))


def test_a_model_file_holds_the_networks(model, tmp_path, monkeypatch):
    path = save_model(model, tmp_path / "cv.skops")
    monkeypatch.setitem(sys.modules, "torch", None)
    assert_array_equal(load_model(path).decision_function(X_TEST), model.decision_function(X_TEST))


def test_a_missing_pytorch_is_named_before_the_search(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "mlspl.torch._training")
    with pytest.raises(UserError, match="pip install"):
        MLSPLClassifierCV(families=("joint", "net")).fit(X, np.asarray(Y))
