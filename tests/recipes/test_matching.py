"""New rows find the columns of a model by name, in the kind they were learnt in."""

import numpy as np
import pytest
from scipy import sparse

from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.recipes import Schema
from tests.frames import coded_frame


def plain(X, names):
    return Dataset(X, np.empty((X.shape[0], 0)), names, [])


def test_columns_keep_the_kind_they_were_learnt_in():
    schema = Schema(["a", "b"], 2, {"a": "categorical"}, {"a": ["2.5", "3"]})
    frame = coded_frame([[2.5, 1.0], [3.0, 0.0]], ["a", "b"], {"b": ("7", "8")})
    rows = Dataset(frame, np.empty((2, 0)), ["a", "b"], [])
    table, extra = schema.match(rows)
    assert table["a"].tolist() == ["2.5", "3"]
    assert table["b"].tolist() == [8.0, 7.0]
    assert extra == []


def test_words_for_numbers_are_named():
    frame = coded_frame([[0.0], [1.0]], ["a"], {"a": ("7", "seven")})
    rows = Dataset(frame, np.empty((2, 0)), ["a"], [], "new.csv")
    with pytest.raises(UserError, match=r"column 'a' .*'seven'"):
        Schema(["a"], 1).match(rows)


def test_missing_columns_are_listed_and_dropped_ones_are_not_missed():
    schema = Schema(["a", "b"], 2, dropped=["title"])
    with pytest.raises(UserError, match="lacks a column"):
        schema.match(plain(np.zeros((1, 2)), ["a", "title"]))
    assert schema.match(plain(np.zeros((1, 4)), ["c", "a", "title", "b"]))[1] == ["c"]


@pytest.mark.parametrize("layout", ["dense", "sparse", "any"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_model_of_arrays_gets_its_columns_in_its_order(layout, container):
    rows = plain(container(np.array([[1.0, 2.0, 3.0]])), ["c", "b", "a"])
    table, extra = Schema(["a", "b"], 2, layout=layout).match(rows)
    given = sparse.issparse(rows.X)
    assert sparse.issparse(table) == {"dense": False, "sparse": True, "any": given}[layout]
    assert (table.toarray() if sparse.issparse(table) else table).tolist() == [[3.0, 2.0]]
    assert extra == ["c"]


def test_numbered_features_that_are_not_mentioned_are_zero():
    rows = plain(sparse.csr_array(np.array([[5.0, 7.0]])), ["x1", "x2"])
    table, extra = Schema(["x0", "x1", "x2"], 3, layout="dense").match(rows)
    assert (table.tolist(), extra) == ([[0.0, 5.0, 7.0]], [])
    table, _ = Schema(["size", "age", "colour"], 3, layout="dense").match(rows)
    assert table.tolist() == [[5.0, 7.0, 0.0]]
    table, _ = Schema(["x0", "x1", "x2"], 3).match(rows)
    assert table.to_numpy().tolist() == [[0.0, 5.0, 7.0]]


def test_without_names_the_number_of_columns_must_agree():
    schema = Schema(None, 3, layout="dense")
    assert schema.match(plain(np.ones((1, 3)), list("abc")))[0].tolist() == [[1.0, 1.0, 1.0]]
    with pytest.raises(UserError, match="2 features"):
        schema.match(plain(np.ones((1, 2)), list("ab")))
