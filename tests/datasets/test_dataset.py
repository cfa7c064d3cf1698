"""`Dataset`: its statistics by hand, its fingerprint, and what it refuses to hold."""

import numpy as np
import pytest
from scipy import sparse

from mlspl.datasets import Dataset
from mlspl.errors import UserError

X = np.array([[0.0, 1.0], [2.0, np.nan], [0.0, 3.0], [4.0, 0.0]])
Y = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]], np.int8)


def make(X=X, Y=Y, **change):
    names = {"feature_names": ["a", "b"], "label_names": ["p", "q", "r"]}
    return Dataset(X, Y, **(names | change))


def test_statistics_by_hand():
    statistics, labels = make().describe(), make().describe_labels()
    assert (statistics.n_rows, statistics.n_features, statistics.n_labels) == (4, 2, 3)
    assert (statistics.cardinality, statistics.density) == (1.0, 1 / 3)
    assert (statistics.label_sets, statistics.unlabelled_rows) == (3, 1)
    assert (statistics.missing_features, statistics.missing_labels) == (1, 0)
    assert labels["positives"].tolist() == [3, 1, 0]
    assert labels["share"].tolist() == [0.75, 0.25, 0]
    assert labels["imbalance"].tolist() == [1, 3, np.inf]
    assert statistics.mean_imbalance == np.inf


def test_unknown_labels_are_left_out_of_the_counts():
    unknown = Y.astype(float)
    unknown[0, 1] = unknown[3, 0] = np.nan
    statistics, labels = make(Y=unknown).describe(), make(Y=unknown).describe_labels()
    assert labels["positives"].tolist() == [3, 0, 0]
    assert labels["share"].tolist() == [1, 0, 0]
    assert (statistics.density, statistics.missing_labels, statistics.label_sets) == (0.3, 2, 3)


def test_a_dataset_tells_what_it_is():
    assert repr(make(name="toy")) == "Dataset 'toy': 4 rows × 2 features (dense), 3 labels, 1.00 labels a row"
    assert "(sparse)" in repr(make(sparse.csr_array(X)))


def test_the_fingerprint_is_that_of_the_content():
    fingerprint = make().fingerprint()
    assert (
        fingerprint == make(X.copy(), Y.astype(float), name="other", feature_names=["c", "d"]).fingerprint()
    )
    assert fingerprint == make(np.asfortranarray(X)).fingerprint()
    assert fingerprint == make(np.where(X == 0, -0.0, np.where(np.isnan(X), -np.nan, X))).fingerprint()
    changed = X.copy()
    changed[0, 0] = 1e-300
    others = [make(changed), make(Y=1 - Y), make(X[:, ::-1]), make(sparse.csr_array(X))]
    assert len({fingerprint, *(other.fingerprint() for other in others)}) == 5
    stored_zero = sparse.csr_array(([0.0, 1.0], ([0, 1], [0, 1])), shape=(4, 2))
    bare = sparse.csr_array(([1.0], ([1], [1])), shape=(4, 2))
    assert make(stored_zero).fingerprint() == make(bare).fingerprint()
    assert stored_zero.nnz == 2


@pytest.mark.parametrize(
    "change",
    [
        {"X": X[:3]},
        {"X": X[0]},
        {"Y": Y[:, 0]},
        {"feature_names": ["a"]},
        {"label_names": ["p"]},
    ],
)
def test_parts_that_do_not_fit_are_refused(change):
    with pytest.raises(UserError):
        make(**change)
