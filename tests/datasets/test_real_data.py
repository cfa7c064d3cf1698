"""The field's files: published sizes, and every value as liac-arff reads it."""

import hashlib

import arff as liac
import numpy as np
import pytest
from scipy import sparse

from mlspl.datasets import load_dataset, loading, read_dataset
from mlspl.datasets.arff import read_arff
from mlspl.datasets.labels import read_labels_xml
from tests.frames import codes_of, nominal_of

PUBLISHED = {
    "flags": (194, 19, 7, 3.39),
    "emotions": (593, 72, 6, 1.87),
    "scene": (2407, 294, 6, 1.07),
    "yeast": (2417, 103, 14, 4.24),
    "medical": (978, 1449, 45, 1.25),
    "enron": (1702, 1001, 53, 3.38),
    "bibtex": (7395, 1836, 159, 2.40),
    "delicious": (16105, 500, 983, 19.02),
    "tmc2007-500": (28596, 500, 22, 2.16),
}
DENSE = ("flags", "emotions", "scene", "yeast")


def liac_cells(path, dense):
    """Column names and cells as liac-arff reads them, nominal values as declared positions."""
    with open(path, encoding="utf-8") as stream:
        read = liac.load(stream, encode_nominal=True, return_type=liac.DENSE if dense else liac.COO)
    names = [name for name, _ in read["attributes"]]
    if dense:
        return names, np.array(read["data"], float)
    values, rows, columns = read["data"]
    n_rows = sum(line.startswith("{") for line in path.read_text().splitlines())
    return names, sparse.coo_array((values, (rows, columns)), shape=(n_rows, len(names))).tocsr()


@pytest.mark.parametrize("name", PUBLISHED)
def test_size_cardinality_and_every_value(data_home, name):
    path = data_home / name / f"{name}.arff"
    dataset = load_dataset(name, data_home, encode=False)
    statistics = dataset.describe()
    size = (statistics.n_rows, statistics.n_features, statistics.n_labels, round(statistics.cardinality, 2))
    assert size == PUBLISHED[name]
    entry = loading.find_entry(name)
    assert (entry.n_rows, entry.n_features, entry.n_labels, entry.cardinality) == PUBLISHED[name]
    assert sparse.issparse(dataset.X) == (name not in DENSE)
    if name not in DENSE:
        assert dataset.X.indices.dtype == np.int32, "scikit-learn's trees take no other"

    names, cells = liac_cells(path, name in DENSE)
    labels = set(read_labels_xml(path.with_suffix(".xml")))
    assert dataset.label_names == [column for column in names if column in labels]
    assert dataset.feature_names == [column for column in names if column not in labels]
    is_label = np.array([column in labels for column in names])
    X, Y = cells[:, ~is_label], cells[:, is_label]
    if sparse.issparse(X):
        assert (X != dataset.X).nnz == 0
        np.testing.assert_array_equal(Y.toarray(), dataset.Y.toarray() if name == "delicious" else dataset.Y)
        assert sparse.issparse(dataset.Y) == (name == "delicious")
    else:
        np.testing.assert_array_equal(X, codes_of(dataset.X))
        np.testing.assert_array_equal(Y, dataset.Y)


@pytest.mark.parametrize("name", PUBLISHED)
def test_checksums_are_those_of_the_files(data_home, name):
    for file_name, sha256 in loading.find_entry(name).files.items():
        assert hashlib.sha256((data_home / name / file_name).read_bytes()).hexdigest() == sha256


def test_meka(data_home):
    path = data_home / "music-meka" / "Music.arff"
    dataset = read_dataset(path)
    names, cells = liac_cells(path, dense=True)
    assert (dataset.X.shape, dataset.label_names) == ((592, 71), names[:6])
    np.testing.assert_array_equal(np.hstack([dataset.Y, dataset.X]), cells)


@pytest.mark.parametrize("name", DENSE)
def test_train_and_test_parts_share_the_xml_and_make_up_the_whole(data_home, name):
    parts = [read_dataset(data_home / name / f"{name}-{part}.arff") for part in ("train", "test")]
    whole = load_dataset(name, data_home)
    assert all(part.feature_names == whole.feature_names for part in parts)
    assert sum(len(part.Y) for part in parts) == len(whole.Y)
    np.testing.assert_array_equal(sum(part.Y.sum(axis=0) for part in parts), whole.Y.sum(axis=0))


def test_category_codes_of_flags_become_one_hot_columns(data_home):
    raw, encoded = (load_dataset("flags", data_home, encode=encode) for encode in (False, True))
    many = {name: values for name, values in nominal_of(raw).items() if len(values) > 2}
    assert {name: len(values) for name, values in many.items()} == {
        "landmass": 6, "zone": 4, "language": 10, "religion": 8,
    }  # fmt: skip
    assert encoded.X.shape == (194, 19 - 4 + 6 + 4 + 10 + 8)
    assert nominal_of(encoded) == {}
    for name, values in many.items():
        codes = codes_of(raw.X)[:, raw.feature_names.index(name)]
        for code, value in enumerate(values):
            column = encoded.X[:, encoded.feature_names.index(f"{name}={value}")]
            np.testing.assert_array_equal(column, codes == code)
    for name in set(raw.feature_names) - many.keys():
        np.testing.assert_array_equal(
            codes_of(raw.X)[:, raw.feature_names.index(name)], encoded.X[:, encoded.feature_names.index(name)]
        )


@pytest.mark.parametrize("name", ["yeast", "enron"])
def test_labels_keep_the_order_of_the_arff_where_the_xml_has_another(data_home, name):
    path = data_home / name / f"{name}.arff"
    labels = load_dataset(name, data_home).label_names
    in_file = [name for name in read_arff(path).names if name in set(labels)]
    assert labels == in_file
    assert labels != [*read_labels_xml(path.with_suffix(".xml"))]
