"""Tables from data sets: categories as text, sparse ones kept sparse, columns of new rows matched by name."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from mlspl import BSVMClassifier, MLkNNClassifier
from mlspl.datasets import Dataset, load_dataset
from mlspl.errors import UserError
from mlspl.models import ModelInfo
from mlspl.models.preprocessing import as_table, categories, identifiers, match_table, preprocessed

X = np.array([[1.0, 0.0, 2.0, 1.0], [2.0, 1.0, np.nan, 0.0], [np.nan, 0.0, 0.0, np.nan]])
NAMES = ["size", "ill", "colour", "old"]
NOMINAL = {"ill": ("1", "0"), "colour": ("red", "green", "blue"), "old": ("0", "1")}
Y = np.array([[1, 0], [0, 1], [1, 1]])


def dataset(X=X, names=NAMES, nominal=NOMINAL):
    return Dataset(X, np.empty((X.shape[0], 0)), names, [], nominal, "new.csv")


def test_categories_are_text_and_yes_no_stays_a_number():
    table, names = as_table(dataset())
    assert names == NAMES
    assert categories(table) == ["colour"]
    assert table["colour"].tolist()[0] == "blue"
    assert table["ill"].tolist() == [1.0, 0.0, 1.0]
    assert table["old"].tolist()[:2] == [1.0, 0.0]
    assert table.isna().sum().tolist() == [1, 0, 1, 1]


def test_sparse_categories_are_encoded_and_stay_sparse():
    table, names = as_table(dataset(sparse.csr_array(X)))
    assert sparse.issparse(table)
    assert names == ["size", "ill", "colour=red", "colour=green", "colour=blue", "old"]
    assert categories(table) == identifiers(table) == []


def test_numbers_alone_are_imputed_and_scaled_as_scikit_learn_would():
    digits = load_dataset("digits-traits")
    rows = Dataset(digits.X[:100], digits.Y[:100], digits.feature_names, digits.label_names)
    table, _ = as_table(rows)
    ours = preprocessed(MLkNNClassifier(), table)[:-1].fit_transform(table)
    np.testing.assert_allclose(ours, StandardScaler().fit_transform(rows.X), atol=1e-12)


def test_the_median_fills_and_an_unknown_category_counts_as_none():
    frame = pd.DataFrame({"a": [1.0, 2.0, 100.0, np.nan], "c": ["x", "y", None, "y"]})
    steps = preprocessed(MLkNNClassifier(k=1), frame)[:-1].fit(frame)
    assert steps.named_steps["columns"].named_transformers_["numbers"].statistics_.tolist() == [2.0]
    encoded = steps.named_steps["columns"].transform(
        pd.DataFrame({"c": ["z", None, "x"], "a": [5.0, 5.0, np.nan]})
    )
    assert encoded.tolist() == [[5.0, 0.0, 0.0, 0.0], [5.0, 0.0, 0.0, 1.0], [2.0, 1.0, 0.0, 0.0]]


def test_many_categories_make_a_sparse_table():
    frame = pd.DataFrame({"word": [f"w{i % 4000}" for i in range(8000)], "a": np.arange(8000.0)})
    transformed = preprocessed(BSVMClassifier(), frame)[:-1].fit_transform(frame)
    assert sparse.issparse(transformed)
    assert transformed.shape == (8000, 4001)


def fitted(frame):
    return MLkNNClassifier(k=1).fit(frame, Y)


def test_columns_keep_the_kind_they_were_learnt_in():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    info = ModelInfo(["y", "z"], ["a", "b"], nominal=["a"])
    rows = Dataset(np.array([[2.5, 1.0], [3.0, 0.0]]), np.empty((2, 0)), ["a", "b"], [], {"b": ("7", "8")})
    table, extra = match_table(rows, info, fitted(frame))
    assert table["a"].tolist() == ["2.5", "3"]
    assert table["b"].tolist() == [8.0, 7.0]
    assert extra == []


def test_words_for_numbers_are_named():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    rows = Dataset(np.array([[0.0], [1.0]]), np.empty((2, 0)), ["a"], [], {"a": ("7", "seven")}, "new.csv")
    with pytest.raises(UserError, match=r"new\.csv: column 'a' holds text, such as 'seven'"):
        match_table(rows, ModelInfo(["y", "z"], ["a"], nominal=[]), fitted(frame))


def test_a_model_of_names_without_a_frame_takes_arrays_in_its_order():
    model = MLkNNClassifier(k=1).fit(np.arange(6.0).reshape(3, 2), Y)
    rows = dataset(np.array([[1.0, 2.0, 3.0]]), ["c", "b", "a"], {})
    table, extra = match_table(rows, ModelInfo(["y", "z"], ["a", "b"]), model)
    assert table.tolist() == [[3.0, 2.0]]
    assert extra == ["c"]
    table, _ = match_table(rows, ModelInfo(["y", "z"], ["a", "b"], summary={"sparse": True}), model)
    assert sparse.issparse(table)
    assert table.toarray().tolist() == [[3.0, 2.0]]


def test_numbered_features_that_are_not_mentioned_are_zero():
    model = MLkNNClassifier(k=1).fit(np.arange(9.0).reshape(3, 3), Y)
    rows = dataset(sparse.csr_array(np.array([[5.0, 7.0]])), ["x1", "x2"], {})
    table, extra = match_table(rows, ModelInfo(["y", "z"], ["x0", "x1", "x2"]), model)
    assert (table.tolist(), extra) == ([[0.0, 5.0, 7.0]], [])
    table, _ = match_table(rows, ModelInfo(["y", "z"], ["size", "age", "colour"]), model)
    assert table.tolist() == [[5.0, 7.0, 0.0]]
