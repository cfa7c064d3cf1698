"""One-hot columns: against the slow twin and scikit-learn's encoder."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from mlspl.datasets import DataFormatError, one_hot
from tests.frames import coded_frame
from tests.naive import datasets as naive

HERE = Path("somewhere.arff")
VALUES = [None, (), ("a",), ("0", "1"), ("no", "yes"), ("1", "0"), ("a", "b", "c"), tuple("abcdefg")]


@st.composite
def tables(draw):
    nominal = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=6))
    n_rows = draw(st.integers(1, 5))
    columns = []
    for values in nominal:
        if values is None:
            cell = st.sampled_from([0.0, 1.0, -2.5, np.nan])
        else:
            cell = st.sampled_from([np.nan, *map(float, range(len(values)))])
        columns.append(draw(st.lists(cell, min_size=n_rows, max_size=n_rows)))
    return np.array(columns).T, nominal


@settings(deadline=None)
@given(tables())
def test_cells_are_those_of_the_slow_twin(table):
    X, nominal = table
    names = [f"f{j}" for j in range(X.shape[1])]
    declared = {name: values for name, values in zip(names, nominal, strict=True) if values is not None}
    dense, new_names = one_hot(coded_frame(X, names, declared), HERE)
    np.testing.assert_array_equal(dense, np.array(naive.one_hot(X.tolist(), nominal)).reshape(len(X), -1))
    assert len(new_names) == dense.shape[1]


def test_columns_are_named_in_place():
    X = np.array([[1.0, 2.0, 0.0, 5.0]])
    nominal = {"zone": ("N", "E", "S"), "sea": ("no", "yes")}
    assert one_hot(coded_frame(X, ["area", "zone", "sea", "people"], nominal), HERE)[1] == [
        "area", "zone=N", "zone=E", "zone=S", "sea", "people",
    ]  # fmt: skip


def test_scikit_learn_agrees():
    codes = np.random.RandomState(0).randint(0, 5, size=(40, 3)).astype(float)
    values = tuple("abcde")
    names = ["f", "g", "h"]
    expected = OneHotEncoder(categories=[np.arange(5.0)] * 3, sparse_output=False).fit_transform(codes)
    np.testing.assert_array_equal(
        one_hot(coded_frame(codes, names, dict.fromkeys(names, values)), HERE)[0], expected
    )


def test_a_feature_of_very_many_values_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setenv("MLSPL_MEMORY", "2e8")
    n = 10_000
    ids = {"id": tuple(map(str, range(n)))}
    with pytest.raises(DataFormatError, match="MLSPL_MEMORY"):
        one_hot(coded_frame(np.arange(n, dtype=float)[:, None], ["id"], ids), HERE)


def test_what_would_fill_the_memory_is_refused(tmp_path):
    path = tmp_path / "small.arff"
    path.write_text("")
    many = {"f": tuple(map(str, range(20_000)))}
    with pytest.raises(DataFormatError, match="MLSPL_MEMORY"):
        one_hot(coded_frame(np.full((1000, 1), np.nan), ["f"], many), path)


def test_a_name_that_is_taken_is_refused():
    with pytest.raises(DataFormatError, match="Rename"):
        one_hot(coded_frame(np.zeros((1, 2)), ["f", "f=a"], {"f": tuple("abc")}), HERE)
