"""Tables from data sets: categories as text, sparse ones kept sparse, gaps filled."""

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from mlspl import BSVMClassifier, MLkNNClassifier
from mlspl.datasets import Dataset, load_dataset
from mlspl.models.preprocessing import as_table, categories, identifiers, preprocessed

X = np.array([[1.0, 0.0, 2.0, 1.0], [2.0, 1.0, np.nan, 0.0], [np.nan, 0.0, 0.0, np.nan]])
NAMES = ["size", "ill", "colour", "old"]
NOMINAL = {"ill": ("1", "0"), "colour": ("red", "green", "blue"), "old": ("0", "1")}


def dataset(X=X):
    return Dataset(X, np.empty((X.shape[0], 0)), NAMES, [], NOMINAL, "new.csv")


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
