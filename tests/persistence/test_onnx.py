"""ONNX files, run by onnxruntime, against our own predictions."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from typer.testing import CliRunner

from mlspl import BSVMClassifier, MLkNNClassifier, SelfPacedForestClassifier, save_model
from mlspl.cli.main import app
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.persistence import save_onnx
from mlspl.recipes import Schema, build_pipeline
from mlspl.torch import SelfPacedNetClassifier

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

DIGITS = load_dataset("digits-traits")
X, Y = DIGITS.X[:150], DIGITS.Y[:150]
X_TEST = DIGITS.X[150:400]
# A label that never occurs has no trees of its own.
Y_GAP = np.column_stack([Y, np.zeros(len(Y), dtype=Y.dtype)])


def run(path, inputs):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    answers = session.run(None, inputs)
    return dict(zip([output.name for output in session.get_outputs()], answers, strict=True))


def check_equal(model, path, inputs, rows):
    found = run(save_onnx(model, path, force=True), inputs)
    scores = model.decision_function(rows)
    assert_allclose(found["scores"], scores, rtol=1e-5, atol=1e-5)
    sure = np.abs(scores) > 1e-4
    assert_array_equal(found["labels"][sure], model.predict(rows)[sure])
    if "probabilities" in found:
        assert_allclose(found["probabilities"], model.predict_proba(rows), atol=1e-5)
    return found


@pytest.mark.parametrize(
    "model",
    [
        BSVMClassifier(space="linear"),
        SelfPacedForestClassifier(n_estimators=10, trees="joint", random_state=0),
        SelfPacedForestClassifier(n_estimators=10, trees="per-label", random_state=0),
        SelfPacedForestClassifier(n_estimators=10, random_state=0),
        SelfPacedForestClassifier(n_estimators=10, pace_function=None, prior_weight=0.0, random_state=0),
    ],
    ids=repr,
)
def test_scores_are_equal(model, tmp_path):
    model.fit(X, Y_GAP)
    check_equal(model, tmp_path / "model.onnx", {"X": X_TEST}, X_TEST)


@pytest.mark.parametrize("trees", ["joint", "per-label"])
def test_forests_with_weights_and_missing_values(trees, tmp_path):
    random = np.random.RandomState(0)
    gaps = np.where(random.rand(*X.shape) < 0.1, np.nan, X)
    weight = random.rand(*Y.shape)
    model = SelfPacedForestClassifier(n_estimators=10, trees=trees, random_state=0)
    model.fit(gaps, Y, label_weight=weight)
    rows = np.where(random.rand(*X_TEST.shape) < 0.1, np.nan, X_TEST)
    check_equal(model, tmp_path / "model.onnx", {"X": rows}, rows)


def test_networks(tmp_path):
    pytest.importorskip("torch")
    model = SelfPacedNetClassifier(hidden=(16, 8), n_epochs=3, n_folds=2, random_state=0).fit(X, Y)
    check_equal(model, tmp_path / "net.onnx", {"X": X_TEST}, X_TEST)
    model.fit(sparse.csr_array(X), Y)
    check_equal(model, tmp_path / "net.onnx", {"X": X_TEST}, X_TEST)


def test_tables_with_missing_cells_and_categories(tmp_path):
    random = np.random.RandomState(0)
    table = pd.DataFrame(
        {"a": random.rand(80), "b": random.rand(80) + 2000.0, "kind": random.choice(list("xyz"), 80)}
    )
    table.loc[::7, "a"] = np.nan
    labels = np.column_stack([table["b"] > 2000.5, table["kind"] == "x"]).astype(int)
    model = build_pipeline(Schema.from_frame(table), BSVMClassifier(space="linear"))
    model.fit(table, labels)
    inputs = {name: column.to_numpy()[:, None] for name, column in table.items()}
    inputs["kind"] = inputs["kind"].astype(object)
    inputs["kind"][0] = "other"
    table.loc[0, "kind"] = "other"
    check_equal(model, tmp_path / "table.onnx", inputs, table)


def test_the_command_writes_the_names_of_the_labels(tmp_path):
    model = make_pipeline(StandardScaler(), BSVMClassifier(space="linear")).fit(X, Y)
    save_model(model, tmp_path / "model.skops", label_names=DIGITS.label_names, proba=True)
    done = CliRunner().invoke(app, ["export", str(tmp_path / "model.skops"), "-o", str(tmp_path / "m.onnx")])
    assert done.exit_code == 0
    found = run(tmp_path / "m.onnx", {"X": X_TEST})
    assert_allclose(found["scores"], model.decision_function(X_TEST), atol=1e-5)
    assert_allclose(found["probabilities"], model.predict_proba(X_TEST), atol=1e-5)
    properties = {item.key: item.value for item in onnx.load(tmp_path / "m.onnx").metadata_props}
    assert json.loads(properties["label_names"]) == DIGITS.label_names


@pytest.mark.parametrize(
    "model",
    [
        MLkNNClassifier(),
        BSVMClassifier(),
        make_pipeline(PolynomialFeatures(1), BSVMClassifier(space="linear")),
    ],
    ids=["MLkNNClassifier", "BSVMClassifier", "PolynomialFeatures"],
)
def test_others_are_refused_by_name(model, request, tmp_path):
    name = request.node.callspec.id
    with pytest.raises(UserError, match=name):
        save_onnx(model.fit(X, Y), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())
