"""New rows find the columns of a model by name, in the kind they were learnt in."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mlspl import MLkNNClassifier
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.persistence import ModelInfo, match_table

Y = np.array([[1, 0], [0, 1], [1, 1]])


def plain(X, names):
    return Dataset(X, np.empty((X.shape[0], 0)), names, [])


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
    rows = plain(np.array([[1.0, 2.0, 3.0]]), ["c", "b", "a"])
    table, extra = match_table(rows, ModelInfo(["y", "z"], ["a", "b"]), model)
    assert table.tolist() == [[3.0, 2.0]]
    assert extra == ["c"]
    table, _ = match_table(rows, ModelInfo(["y", "z"], ["a", "b"], summary={"sparse": True}), model)
    assert sparse.issparse(table)
    assert table.toarray().tolist() == [[3.0, 2.0]]


def test_numbered_features_that_are_not_mentioned_are_zero():
    model = MLkNNClassifier(k=1).fit(np.arange(9.0).reshape(3, 3), Y)
    rows = plain(sparse.csr_array(np.array([[5.0, 7.0]])), ["x1", "x2"])
    table, extra = match_table(rows, ModelInfo(["y", "z"], ["x0", "x1", "x2"]), model)
    assert (table.tolist(), extra) == ([[0.0, 5.0, 7.0]], [])
    table, _ = match_table(rows, ModelInfo(["y", "z"], ["size", "age", "colour"]), model)
    assert table.tolist() == [[5.0, 7.0, 0.0]]
