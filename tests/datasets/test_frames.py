"""CSV and Parquet: against the csv module and pandas, and the slips people make."""

import builtins

import numpy as np
import pandas as pd
import pytest

from mlspl.datasets import DataFormatError, days_since_1970, read_dataset, write_dataset
from mlspl.errors import UserError
from tests.frames import codes_of, nominal_of


def read(tmp_path, text, labels=("y",), name="table.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_dataset(path, labels, **options)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,y\n1,2.5,0\n3,,1\n",
        "a;b;y\r\n1;2.5;0\r\n3;?;1\r\n",
        "a\tb\ty\n1\t2.5\t0\n3\tNA\t1",
        '"a","b","y"\n"1","2.5","0"\n\n 3 , nan ,1\n',
        "\ufeffa,b,y\n1,2.5,0\n3,NaN,1\n\n",
    ],
)
def test_numbers_missing_values_and_separators(tmp_path, text):
    dataset = read(tmp_path, text)
    np.testing.assert_array_equal(dataset.X, [[1, 2.5], [3, np.nan]])
    assert (dataset.feature_names, dataset.label_names, dataset.Y.tolist()) == (["a", "b"], ["y"], [[0], [1]])


def test_words_become_categories_in_sorted_order(tmp_path):
    text = 'town,y\n"Rome, Italy",0\nÅrhus,1\n,1\n"said ""no""\nthen yes",0\n'
    dataset = read(tmp_path, text, encode=False)
    assert nominal_of(dataset) == {"town": ("Rome, Italy", 'said "no"\nthen yes', "Århus")}
    np.testing.assert_array_equal(codes_of(dataset.X)[:, 0], [0, 2, np.nan, 1])
    assert read(tmp_path, text).feature_names == [f"town={value}" for value in nominal_of(dataset)["town"]]


def test_labels_may_be_written_in_words(tmp_path):
    text = "a;y;z\n1;Yes;no\n2;no;?\n3;YES;yes\n"
    assert read(tmp_path, text, -2).Y.tolist()[::2] == [[1, 0], [1, 1]]
    assert np.isnan(read(tmp_path, text, -2).Y[1, 1])
    assert read(tmp_path, "a,y\n1,True\n2,False\n3,\n").Y.tolist()[:2] == [[1], [0]]
    arff = "@relation r\n@attribute a numeric\n@attribute y {true,FALSE}\n@data\n1,true\n2,FALSE\n"
    assert read(tmp_path, arff, name="r.arff").Y.tolist() == [[1], [0]]


def test_one_slip_in_a_column_of_numbers_is_an_error_at_its_line(tmp_path):
    with pytest.raises(DataFormatError, match=r"'0\.5x'") as caught:
        read(tmp_path, 'a,y\n1,0\n"2\n",1\n0.5x,1\n3,0\n')
    assert caught.value.line == 5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b,y\n1,2,0\n1,2\n", 3),
        ("a,b,y\n1,2,0\n1,2,3,0\n", 3),
        ("a,a,y\n1,2,0\n", 1),
        ("a,,y\n0,1,0\n", 1),
        ("a,y\n", 1),
        ('a,y\n1,"0\n', 2),
        ("a,y\n1,0\n1,2\n", 3),
        ("a,y\n1,0\n1,maybe\n2,no\n", 3),
        ("a,y\n1,0\ninf,1\n3,1\n", 3),
    ],
)
def test_damaged_tables_are_refused_with_their_line(tmp_path, text, line):
    with pytest.raises(DataFormatError) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_pandas_and_mlspl_read_the_same_numbers(tmp_path):
    X = np.random.RandomState(0).normal(size=(50, 4)) * 10.0 ** np.arange(-3, 1)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.arange(50) % 2)
    frame.to_csv(tmp_path / "pandas.csv", index=False)
    np.testing.assert_array_equal(read_dataset(tmp_path / "pandas.csv", -1).X, X)


def test_a_long_word_in_every_row_of_a_parquet_is_held_once(tmp_path):
    """A file of some hundred bytes, whose text in full would take two gigabytes."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.arange(2000) % 2), ["b" * 10**6, "a"])
    table = pyarrow.table({"word": words, "y": np.arange(2000) % 2})
    path = tmp_path / "words.parquet"
    parquet.write_table(table, path, compression="zstd", store_schema=False)
    before = pyarrow.default_memory_pool().max_memory()
    dataset = read_dataset(path, ["y"], encode=False)
    assert pyarrow.default_memory_pool().max_memory() - before < 1e8
    assert nominal_of(dataset)["word"] == ("a", "b" * 10**6)
    assert codes_of(dataset.X)[:3, 0].tolist() == [1, 0, 1]


def test_parquet_columns_of_every_kind(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({
        "real": [0.5, np.nan, 2.0],
        "whole": pd.array([1, None, 3], dtype="Int64"),
        "flag": [True, False, True],
        "word": ["b", None, "a"],
        "kind": pd.Categorical(["z", "x", None], categories=["z", "y", "x"]),
        "day": pd.to_datetime(["2020-01-01"] * 3),
        "y": [True, False, True],
    })  # fmt: skip
    frame.to_parquet(tmp_path / "table.parquet")
    dataset = read_dataset(tmp_path / "table.parquet", ["y"], encode=False)
    assert dataset.feature_names == ["real", "whole", "flag", "word", "kind", "day"]
    assert [dataset.kind(name) for name in ("real", "word", "day")] == ["numeric", "categorical", "date"]
    assert nominal_of(dataset) == {"word": ("a", "b"), "kind": ("z", "y", "x")}
    nan = np.nan
    expected = [[0.5, 1, 1, 1, 0], [nan, nan, 0, nan, 2], [2, 3, 1, 0, nan]]
    np.testing.assert_array_equal(codes_of(dataset.X.iloc[:, :5]), expected)
    assert days_since_1970(dataset.X["day"]).tolist() == [18262.0] * 3
    assert dataset.Y.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1.0, 2.0], "y": [0, 2]}), "row 2.*label"),
        (pd.DataFrame({"a": [1.0, np.inf], "y": [0, 1]}), "row 2.*infinite"),
        (pd.DataFrame({"a": [[1.5], [2.5]], "y": [0, 1]}), "of type"),
        (pd.DataFrame({"a": [], "y": []}), "no rows"),
    ],
)
def test_parquet_that_cannot_be_data_is_refused(tmp_path, frame, message):
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(DataFormatError, match=message):
        read_dataset(tmp_path / "table.parquet", ["y"])


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    def no_pyarrow(name, *rest, real=builtins.__import__):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    path = tmp_path / "table.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr(builtins, "__import__", no_pyarrow)
    with pytest.raises(UserError, match=r'pip install "mlspl\[parquet\]"'):
        read_dataset(path, ["y"])
    with pytest.raises(UserError, match=r'pip install "mlspl\[parquet\]"'):
        write_dataset(read(tmp_path, "a,y\n1,0\n2,1\n"), tmp_path / "out.parquet")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["table.csv", "table.parquet"]
