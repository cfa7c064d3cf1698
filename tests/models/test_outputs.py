"""Containers of predictions, and what a notebook shows."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlspl import (
    BSVMClassifier,
    MLkNNClassifier,
    TunedDecisionClassifier,
    datasets,
    predict_top,
)
from mlspl.errors import UserError

DIGITS = datasets.load_dataset("digits-traits")
X = pd.DataFrame(DIGITS.X[:120] / 16, columns=DIGITS.feature_names, index=[f"row {i}" for i in range(120)])
Y = pd.DataFrame(DIGITS.Y[:120], columns=DIGITS.label_names)


@pytest.fixture(scope="module")
def machine():
    return BSVMClassifier().fit(X, Y)


def test_notebooks_show_scikit_learns_diagram(machine):
    assert "BSVMClassifier" in machine._repr_html_()
    with config_context(display="text"):
        assert not hasattr(machine, "_repr_html_")


def test_answers_as_frames_have_names_and_rows(machine):
    for method in ("predict", "predict_proba", "decision_function"):
        frame = getattr(machine, method)(X[:5], output="pandas")
        assert list(frame.columns) == DIGITS.label_names
        assert list(frame.index) == list(X.index[:5])
        np.testing.assert_array_equal(frame, getattr(machine, method)(X[:5]))
    assert machine.predict(X[:5], output="pandas").dtypes.eq(Y.dtypes).all()


def test_answers_as_sets_are_what_can_be_fitted(machine):
    sets = machine.predict(X, output="sets")
    table = machine.predict(X)
    assert sets == [[name for name, there in zip(Y, row, strict=True) if there] for row in table.tolist()]
    np.testing.assert_array_equal(machine.predict(X, output="sparse").toarray(), table)
    again = BSVMClassifier().fit(X, sets)
    assert again.label_names_.tolist() == sorted(DIGITS.label_names)
    assert all(isinstance(name, str) for row in again.predict(X, output="sets") for name in row)


def test_pipelines_hand_the_wish_on(machine):
    model = make_pipeline(StandardScaler(), TunedDecisionClassifier(BSVMClassifier())).fit(X, Y)
    assert list(model.predict(X[:2], output="pandas").columns) == DIGITS.label_names
    assert list(model.predict_proba(X[:2], output="pandas").columns) == DIGITS.label_names
    assert len(model.predict(X[:2], output="sets")) == 2


def test_one_dimensional_labels_are_series():
    words = np.where(Y["even"] == 1, "even", "odd")
    model = BSVMClassifier().fit(X, words)
    answer = model.predict(X[:4], output="pandas")
    assert isinstance(answer, pd.Series)
    assert answer.tolist() == model.predict(X[:4]).tolist()
    assert list(model.predict_proba(X[:4], output="pandas").columns) == ["even", "odd"]
    with pytest.raises(UserError, match="one-dimensional"):
        model.predict(X, output="sets")


def test_other_containers_are_refused_by_name(machine):
    with pytest.raises(UserError, match="output is 'arrow'"):
        machine.predict(X, output="arrow")
    with pytest.raises(UserError, match="'array', 'pandas'"):
        machine.predict_proba(X, output="sets")
    assert not sparse.issparse(machine.predict(X))


def test_answers_as_frames_of_polars(machine):
    polars = pytest.importorskip("polars")
    for method in ("predict", "predict_proba", "decision_function"):
        frame = getattr(machine, method)(X[:5], output="polars")
        assert isinstance(frame, polars.DataFrame)
        assert frame.columns == DIGITS.label_names
        np.testing.assert_array_equal(frame.to_numpy(), getattr(machine, method)(X[:5]))


def test_the_best_labels_of_a_pipeline():
    scaler, model = StandardScaler().fit(X), MLkNNClassifier(k=5)
    pipeline = make_pipeline(scaler, model).fit(X, Y)
    labels, scores = predict_top(pipeline, X, 3)
    expected = np.sort(pipeline.decision_function(X), axis=1)[:, :-4:-1]
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(labels, predict_top(pipeline[-1], scaler.transform(X), 3)[0])


def test_texts_get_the_advice_to_use_a_vectorizer():
    with pytest.raises(UserError, match="TfidfVectorizer"):
        MLkNNClassifier().fit(["a song", "another"] * 60, Y)
