"""Writers: what was written is read back, by others too; a failure leaves everything as it was."""

import arff as liac
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from mlspl._text import safe_cell
from mlspl.datasets import Dataset, load_dataset, read_dataset, write_dataset
from mlspl.errors import UserError
from tests.frames import coded_frame, codes_of, nominal_of

TABLES = [".arff", ".csv", ".tsv", ".parquet"]
SVMLIGHT = [".svm", ".svmlight", ".libsvm"]

names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), min_size=1
).map(str.strip)
numbers = st.one_of(st.floats(allow_infinity=False, allow_nan=False), st.sampled_from([0.0, 1.0, -3.0]))


@st.composite
def datasets(draw, nominal=False, missing=True):
    n_rows, n_features, n_labels = (draw(st.integers(1, size)) for size in (5, 4, 3))
    unique = st.lists(
        names.filter(bool), min_size=n_features + n_labels, max_size=n_features + n_labels, unique=True
    )
    all_names = draw(unique)
    cell = st.one_of(numbers, st.just(np.nan)) if missing else numbers
    columns, values_of = [], {}
    for j in range(n_features):
        if nominal and draw(st.booleans()):
            values = draw(st.lists(names, min_size=1, max_size=4, unique=True))
            values_of[all_names[j]] = tuple(values)
            codes = st.sampled_from([np.nan, *map(float, range(len(values)))])
            columns.append(draw(st.lists(codes, min_size=n_rows, max_size=n_rows)))
        else:
            columns.append(draw(st.lists(cell, min_size=n_rows, max_size=n_rows)))
    label = st.sampled_from([0, 1, np.nan] if missing else [0, 1])
    Y = np.array([draw(st.lists(label, min_size=n_labels, max_size=n_labels)) for _ in range(n_rows)])
    Y = Y if np.isnan(Y).any() else Y.astype(np.int64)
    X = np.array(columns, float).T
    if draw(st.booleans()):
        X = sparse.csr_array(X)
        X.eliminate_zeros()
    table = X if sparse.issparse(X) else coded_frame(X, all_names[:n_features], values_of)
    return Dataset(table, Y, all_names[:n_features], all_names[n_features:])


def assert_same(read, written, dense=False):
    X = written.X.toarray() if dense and sparse.issparse(written.X) else codes_of(written.X)
    assert sparse.issparse(read.X) == sparse.issparse(X)
    if sparse.issparse(X):
        np.testing.assert_array_equal(read.X.toarray(), X.toarray())
    else:
        np.testing.assert_array_equal(codes_of(read.X), X)
    np.testing.assert_array_equal(read.Y, written.Y)
    assert read.Y.dtype == written.Y.dtype
    assert (read.feature_names, read.label_names) == (written.feature_names, written.label_names)
    assert nominal_of(read) == nominal_of(written)


def clean(folder):
    for file in folder.iterdir():
        file.unlink()
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@settings(deadline=None)
@given(datasets(nominal=True))
def test_arff_keeps_everything(folder, dataset):
    assert_same(read_dataset(write_dataset(dataset, clean(folder) / "d.arff"), encode=False), dataset)


@settings(deadline=None)
@given(datasets(nominal=True))
def test_parquet_keeps_everything_but_sparsity(folder, dataset):
    pytest.importorskip("pyarrow")
    assert_same(
        read_dataset(write_dataset(dataset, clean(folder) / "d.parquet"), encode=False), dataset, dense=True
    )


@settings(deadline=None)
@given(datasets(), st.sampled_from([".csv", ".tsv"]))
def test_csv_keeps_numbers_and_names(folder, dataset, suffix):
    names = [safe_cell(name) for name in (*dataset.feature_names, *dataset.label_names)]
    assume(len(set(names)) == len(names) and not all(name.strip().isdecimal() for name in names))
    read = read_dataset(write_dataset(dataset, clean(folder) / f"d{suffix}"))
    assert [*read.feature_names, *read.label_names] == names
    written = Dataset(
        getattr(dataset.X, "to_numpy", lambda: dataset.X)(), dataset.Y, read.feature_names, read.label_names
    )
    assert_same(read, written, dense=True)


@settings(deadline=None)
@given(datasets(missing=False))
def test_svmlight_keeps_numbers_and_names(folder, dataset):
    read = read_dataset(write_dataset(dataset, clean(folder) / "d.svm"))
    np.testing.assert_array_equal(read.X.toarray(), sparse.csr_array(dataset.X).toarray())
    np.testing.assert_array_equal(read.Y, dataset.Y)
    assert (read.feature_names, read.label_names) == (dataset.feature_names, dataset.label_names)


def test_categories_in_csv_come_back_as_the_same_words(tmp_path):
    X = np.array([[0.0], [1.0], [np.nan]])
    dataset = Dataset(
        coded_frame(X, ["c"], {"c": ("a b", "c,d")}), np.array([[0], [1], [1]], np.int64), ["c"], ["y"]
    )
    assert_same(read_dataset(write_dataset(dataset, tmp_path / "d.csv"), encode=False), dataset)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_liac_arff_reads_what_mlspl_writes(tmp_path, as_sparse):
    X = np.array([[0.0, 1.5, 2.0], [1.0, -2.0, 0.0]])
    nominal = {"with blank": ("a", "b c", "d'e")}
    dataset = Dataset(
        sparse.csr_array(X) if as_sparse else coded_frame(X, ["p", "q%", "with blank"], nominal),
        np.array([[0], [1]], np.int64),
        ["p", "q%", "with blank"],
        ["y"],
    )
    text = write_dataset(dataset, tmp_path / "d.arff").read_text()
    read = liac.loads(text, return_type=liac.LOD if as_sparse else liac.DENSE)
    assert [name for name, _ in read["attributes"]] == ["p", "q%", "with blank", "y"]
    if as_sparse:
        assert read["data"] == [{1: 1.5, 2: 2.0}, {0: 1.0, 1: -2.0, 3: "1"}]
    else:
        assert read["data"] == [[0.0, 1.5, "d'e", "0"], [1.0, -2.0, "a", "1"]]


@pytest.mark.parametrize("suffix", [*TABLES, *SVMLIGHT])
def test_every_suffix_that_is_written_is_read(tmp_path, suffix):
    digits = load_dataset("digits-traits")
    read = read_dataset(write_dataset(digits, tmp_path / f"digits{suffix}"))
    np.testing.assert_array_equal(read.X.toarray() if sparse.issparse(read.X) else read.X, digits.X)
    np.testing.assert_array_equal(read.Y, digits.Y)


@pytest.mark.parametrize("suffix", [*TABLES, ".svm"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"d{suffix}"
    path.write_text("precious")

    def replace_in_vain(source, target):
        assert source.stat().st_size > 1000
        raise PermissionError(f"{target} is open in another program")

    monkeypatch.setattr("mlspl._files.os.replace", replace_in_vain)
    with pytest.raises(PermissionError):
        write_dataset(load_dataset("digits-traits"), path, force=True)
    assert path.read_text() == "precious"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_an_xml_of_other_labels_is_not_touched_and_one_of_the_same_is_kept(tmp_path):
    digits = load_dataset("digits-traits")
    xml = tmp_path / "d.xml"
    xml.write_text('<labels><label name="other"/></labels>')
    with pytest.raises(UserError, match="names other labels"):
        write_dataset(digits, tmp_path / "d.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["d.xml"]
    nested = "<labels><label name='even'>" + "".join(f"<label name='{n}'/>" for n in digits.label_names[1:])
    xml.write_text(nested + "</label></labels>")
    write_dataset(digits, tmp_path / "d.csv")
    assert xml.read_text().startswith(nested)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.array([[np.inf]])}, "infinite"),
        ({"Y": np.array([[2]])}, "other than 0, 1"),
        ({"feature_names": ["y"]}, "twice"),
        ({"feature_names": ["a\x01"]}, "character"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path, change, message):
    parts = {"X": np.array([[1.0]]), "Y": np.array([[1]]), "feature_names": ["x"], "label_names": ["y"]}
    with pytest.raises(UserError, match=message):
        write_dataset(Dataset(**(parts | change)), tmp_path / "d.arff")
    assert not [*tmp_path.iterdir()]


def test_svmlight_refuses_what_it_cannot_hold(tmp_path):
    X, names = np.array([[1.0]]), (["x"], ["y"])
    with pytest.raises(UserError, match="encode=True"):
        write_dataset(
            Dataset(coded_frame(X, ["x"], {"x": ("a", "b")}), np.array([[1]]), *names), tmp_path / "d.svm"
        )
    with pytest.raises(UserError, match="unknown label"):
        write_dataset(Dataset(X, np.array([[np.nan]]), *names), tmp_path / "d.svm")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["d.xlsx", "d", "missing/d.csv"])
def test_a_path_that_cannot_be_written_is_refused(tmp_path, name):
    with pytest.raises(UserError, match=r"suffix|folder"):
        write_dataset(load_dataset("digits-traits"), tmp_path / name)
