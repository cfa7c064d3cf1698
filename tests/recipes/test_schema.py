"""Schemas from data sets, frames and models: kinds, categories, and the pipelines they make."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from mlspl import BSVMClassifier, MLkNNClassifier
from mlspl.datasets import Dataset, load_dataset
from mlspl.recipes import Schema, build_pipeline
from tests.frames import coded_frame

X = np.array([[1.0, 0.0, 2.0, 1.0], [2.0, 1.0, np.nan, 0.0], [np.nan, 0.0, 0.0, np.nan]])
NAMES = ["size", "ill", "colour", "old"]
NOMINAL = {"ill": ("1", "0"), "colour": ("red", "green", "blue"), "old": ("0", "1")}
Y = np.array([[1, 0], [0, 1], [1, 1]])


def dataset(X=X):
    return Dataset(coded_frame(X, NAMES, NOMINAL), np.empty((X.shape[0], 0)), NAMES, [], "new.csv")


def test_categories_are_text_and_yes_no_stays_a_number():
    schema = Schema.from_dataset(dataset())
    assert list(schema.names) == NAMES
    assert schema.kinds == {"colour": "categorical"}
    assert schema.to_json()["categories"] == {"colour": ["red", "green", "blue", None]}
    table, _ = schema.match(dataset())
    assert table["colour"].tolist()[0] == "blue"
    assert table["ill"].tolist() == [1.0, 0.0, 1.0]
    assert table["old"].tolist()[:2] == [1.0, 0.0]
    assert table.isna().sum().tolist() == [1, 0, 1, 1]


def test_sparse_features_stay_sparse():
    rows = Dataset(sparse.csr_array(np.eye(3, 4)), np.empty((3, 0)), NAMES, [])
    schema = Schema.from_dataset(rows)
    assert (list(schema.names), schema.layout, schema.kinds) == (NAMES, "sparse", {})
    table, _ = schema.match(rows)
    assert sparse.issparse(table)


def test_text_that_tells_rows_apart_is_dropped():
    titles = tuple(f"song {i}" for i in range(50))
    X = np.column_stack([np.arange(50.0), np.arange(50) % 2.0])
    frame = coded_frame(X, ["title", "key"], {"title": titles, "key": ("C", "F")})
    songs = Dataset(frame, np.zeros((50, 1)), ["title", "key"], ["happy"])
    schema = Schema.from_dataset(songs)
    assert (schema.names, schema.dropped) == (("key",), ("title",))


def test_numbers_alone_are_scaled_to_the_last_bit_as_scikit_learn_would():
    digits = load_dataset("digits-traits")
    schema = Schema.from_dataset(digits)
    table, _ = schema.match(digits)
    rows = np.random.default_rng(0).permutation(len(table))[:100]
    ours = build_pipeline(schema, MLkNNClassifier())[:-1].fit_transform(table.iloc[rows])
    np.testing.assert_array_equal(ours, StandardScaler().fit_transform(digits.X[rows]))


def test_the_median_fills_and_an_unknown_category_counts_as_none():
    frame = pd.DataFrame({"a": [1.0, 2.0, 100.0, np.nan], "c": ["x", "y", None, "y"]})
    steps = build_pipeline(Schema.from_frame(frame), MLkNNClassifier(k=1))[:-1].fit(frame)
    parts = steps.named_steps["columns"].named_transformers_
    assert parts["numeric"].named_steps["fill"].statistics_.tolist() == [2.0]
    new = pd.DataFrame({"c": ["z", None, "x"], "a": [5.0, 5.0, np.nan]})
    encoded = parts["categorical"].named_steps["encode"].transform(new[["c"]])
    assert encoded.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert steps.transform(new).shape == (3, 4)


def test_categories_that_the_training_rows_lack_have_their_column():
    """So that a model of one split has the columns of a model of another."""
    songs = Dataset(
        coded_frame(np.arange(3.0)[:, None], ["key"], {"key": ("C", "F", "a")}),
        np.zeros((3, 1)),
        ["key"],
        ["y"],
    )
    schema = Schema.from_dataset(songs)
    table, _ = schema.match(songs)
    steps = build_pipeline(schema, MLkNNClassifier())[:-1].fit(table[:2])
    assert steps.transform(table).shape == (3, 3)


def test_many_categories_make_a_sparse_table():
    frame = pd.DataFrame({"word": [f"w{i % 4000}" for i in range(8000)], "a": np.arange(8000.0)})
    transformed = build_pipeline(Schema.from_frame(frame), BSVMClassifier())[:-1].fit_transform(frame)
    assert sparse.issparse(transformed)
    assert transformed.shape == (8000, 4001)


def test_missing_values_of_sparse_rows_are_zero():
    rows = sparse.csr_array(np.array([[1.0, 0.0], [np.nan, 2.0], [3.0, 0.0]]))
    schema = Schema(None, 2, layout="sparse")
    filled = build_pipeline(schema, MLkNNClassifier())[:1].fit_transform(rows)
    assert filled.toarray().tolist() == [[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]


def test_a_model_of_python_shows_its_columns_and_categories():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "c": ["x", "y", "x"], "d": ["u", None, "u"]})
    columns = make_column_transformer(
        (make_pipeline(OrdinalEncoder(encoded_missing_value=-1)), ["d"]),
        (OneHotEncoder(), ["c"]),
        ("drop", []),
        remainder="passthrough",
    )
    model = make_pipeline(columns, MLkNNClassifier(k=1)).fit(frame, Y)
    schema = Schema.from_model(model)
    assert (list(schema.names), schema.layout) == (["a", "c", "d"], "frame")
    assert schema.categories == {"d": ("u", None), "c": ("x", "y")}
    arrays = MLkNNClassifier(k=1).fit(X[:, 1:2], Y)
    assert Schema.from_model(arrays).layout == "any"
    assert Schema.from_model(make_pipeline(StandardScaler(), arrays).fit(X[:, 1:2], Y)).layout == "dense"


@pytest.mark.parametrize(
    "change",
    [
        {"names": ["a", "a"]},
        {"names": "ab"},
        {"n_features": 4},
        {"n_features": True},
        {"kinds": {"b": "code"}},
        {"kinds": {"z": "categorical"}},
        {"kinds": {"b": ["categorical"]}},
        {"categories": {"a": ["x"]}},
        {"categories": {"b": [1]}},
        {"layout": "pickle"},
        {"layout": ["frame"]},
        {"n_rows": "3"},
        {"dropped": [3]},
        {"more": 1},
    ],
)
def test_a_schema_from_a_file_is_checked(change):
    kinds = {"b": "categorical", "c": "date"}
    schema = Schema(["a", "b", "c"], 3, kinds, {"b": ["x", np.nan]}, n_rows=3)
    told = json.loads(json.dumps(schema.to_json()))
    assert Schema.from_json(told).to_json() == told
    with pytest.raises(ValueError, match="it"):
        Schema.from_json(told | change)
