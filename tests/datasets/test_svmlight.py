"""Multi-label svmlight: against scikit-learn's reader and writer, and the XMC repository's header."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from mlspl.datasets import DataFormatError, Dataset, read_dataset, write_dataset
from mlspl.errors import UserError


def read(tmp_path, text, labels=None):
    path = tmp_path / "rows.svm"
    path.write_text(text)
    return read_dataset(path, labels)


def test_rows_labels_and_comments(tmp_path):
    dataset = read(tmp_path, "# a comment\n3,1 1:0.5 4:-2e0 # more\n\n 2:1\n-7\t1:1_0\n".replace("1_0", "10"))
    assert dataset.label_names == ["-7", "1", "3"]
    assert dataset.Y.tolist() == [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
    assert dataset.feature_names == ["x1", "x2", "x3", "x4"]
    assert dataset.X.toarray().tolist() == [[0.5, 0, 0, -2], [0, 1, 0, 0], [10, 0, 0, 0]]


def test_index_zero_makes_indices_count_from_zero(tmp_path):
    dataset = read(tmp_path, "1 0:5 2:6\n")
    assert dataset.feature_names == ["x0", "x1", "x2"]
    assert dataset.X.toarray().tolist() == [[5, 0, 6]]


def test_the_xmc_header_announces_the_size(tmp_path):
    dataset = read(tmp_path, "2 4 3\n0,2 1:5\n 0:1\n")
    assert (dataset.X.shape, dataset.Y.tolist()) == ((2, 4), [[1, 0, 1], [0, 0, 0]])
    assert dataset.X.toarray().tolist() == [[0, 5, 0, 0], [1, 0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "line"),
    [("3 4 3\n0 1:5\n", 1), ("1 4 3\n0 4:5\n", 2), ("2 4 3\n0 1:5\n\n3 1:5\n", 4), ("1 4 0\n1:5\n", 1)],
)
def test_rows_that_belie_the_xmc_header_are_refused(tmp_path, text, line):
    with pytest.raises(DataFormatError) as caught:
        read(tmp_path, text)
    assert caught.value.line == line


def test_a_list_of_labels_fixes_the_columns_of_y(tmp_path):
    dataset = read(tmp_path, "2 1:1\n5,2 1:2\n", ["5", "9", "2"])
    assert dataset.label_names == ["5", "9", "2"]
    assert dataset.Y.tolist() == [[0, 0, 1], [1, 0, 1]]
    with pytest.raises(DataFormatError, match="'5' is not among"):
        read(tmp_path, "2 1:1\n5,2 1:2\n", ["2"])
    with pytest.raises(UserError, match="labels"):
        read(tmp_path, "2 1:1\n", 1)


cells = st.floats(-1e300, 1e300)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 5), max_size=3), st.lists(cells, min_size=4, max_size=4)), min_size=1
    )
)
def test_what_scikit_learn_writes_is_read_as_scikit_learn_reads_it(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "sklearn.svm"
    X = np.array([features for _, features in rows])
    X[:, 0] = 1.0
    Y = np.array([[label in labels for label in range(6)] for labels, _ in rows], int)
    Y[0, 0] = 1
    for zero_based in (True, False):
        dump_svmlight_file(X, Y, str(path), zero_based=zero_based, multilabel=True)
        X_expected, Y_expected = load_svmlight_file(str(path), multilabel=True, zero_based=zero_based)
        binarizer = MultiLabelBinarizer()
        dataset = read_dataset(path)
        np.testing.assert_array_equal(dataset.Y, binarizer.fit_transform(Y_expected))
        assert dataset.label_names == [str(int(label)) for label in binarizer.classes_]
        np.testing.assert_array_equal(dataset.X.toarray(), X_expected.toarray())


def test_scikit_learn_reads_what_mlspl_writes(tmp_path):
    X = sparse.random_array((30, 8), density=0.2, random_state=0, format="csr")
    Y = (np.random.RandomState(1).uniform(size=(30, 4)) < 0.4).astype(np.int8)
    path = write_dataset(Dataset(X, Y, [f"f{j}" for j in range(8)], list("abcd")), tmp_path / "out.svm")
    X_read, Y_read = load_svmlight_file(str(path), n_features=8, multilabel=True, zero_based=False)
    np.testing.assert_array_equal(X_read.toarray(), X.toarray())
    assert [list(map(int, labels)) for labels in Y_read] == [np.flatnonzero(row).tolist() for row in Y]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1 1:1\n2 3:1 2:1\n", 2),
        ("1 1:1\n2 2:1 2:1\n", 2),
        ("1 1:x\n", 1),
        ("1 1:inf\n", 1),
        ("7" * 400 + " 1:1\n", 1),
        ("1 1:\n", 1),
        ("1 1:1\n1 a:1\n", 2),
        ("1 1000000000000:1\n", 1),
        ("1 99999999999999999999999999:1\n", 1),
        ("1.5 1:1\n", 1),
        ("1,,2 1:1\n", 1),
        ("1, 1:1\n", 1),
        ("999999999999999999999999 1:1\n", 1),
        ("a 1:1\n", 1),
        ("1 2 3 4\n", 1),
        ("1 1:1\n1 -1:1\n", 2),
        ("1:1\n2:1\n", None),
        ("1\n2\n", None),
        ("# only a comment\n", None),
        ('# mlspl {"features": ["a"], "labels": ["b"]}\n0 0:1\n', 2),
        ('# mlspl {"features": ["a"], "labels": ["b"]}\n0 2:1\n', 2),
        ('# mlspl {"features": ["a"], "labels": ["b"]}\n0 1:1\n1 1:1\n', 3),
        ('# mlspl {"features": ["a", "a"], "labels": ["b"]}\n0 1:1\n', 1),
        ('# mlspl {"features": ["a"], "labels": 3}\n0 1:1\n', 1),
        ('# mlspl {"features": \n0 1:1\n', 1),
        ("# mlspl " + "[" * 100_000 + "\n0 1:1\n", 1),
    ],
)
def test_damaged_rows_are_refused_with_their_line(tmp_path, text, line):
    with pytest.raises(DataFormatError) as caught:
        read(tmp_path, text)
    assert caught.value.line == line
