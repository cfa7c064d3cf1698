"""Labels, scores and weights in every container people hold become the same arrays, or one sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from mlspl import BSVMClassifier, _validation, metrics
from mlspl._label_sets import is_label_sets, label_sets
from mlspl._validation import check_label_weight, check_labels, check_scores
from mlspl.errors import UserError

Y = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 0], [0, 1, 1]])
GAPS = np.array([[1, 0, np.nan], [0, 0, 0], [1, 1, 0], [np.nan, 1, 1]])
SETS = [["a", "c"], [], ["b", "a"], ("c", "b")]

CONTAINERS = {
    "int": Y,
    "bool": Y == 1,
    "float32": Y.astype(np.float32),
    "uint8, Fortran": np.asfortranarray(Y.astype(np.uint8)),
    "plus and minus one": 2 * Y - 1,
    "objects": Y.astype(object),
    "lists": Y.tolist(),
    "pandas": pd.DataFrame(Y, columns=list("abc")),
    "pandas, nullable": pd.DataFrame(Y, columns=list("abc")).astype("boolean"),
    "polars": pl.DataFrame(Y, schema=list("abc")),
    "masked, nothing hidden": np.ma.masked_array(Y),
    "CSR": sparse.csr_array(Y),
    "CSC matrix": sparse.csc_matrix(Y),
    "COO bool": sparse.coo_array(Y == 1),
    "CSR, all of it ±1": sparse.csr_array(2 * Y - 1),
    "sets": SETS,
    "sets of numbers": [{1, 3}, set(), {2, 1}, {3, 2}],
    "ragged numbers": [[1, 3], [], [2, 1], [3, 2]],
    "a column of lists": pd.Series(SETS, index=[7, 5, 3, 1]),
    "an array of sets": np.array([set(row) for row in SETS], dtype=object),
    "polars' lists": pl.Series([list(row) for row in SETS]),
}


@pytest.mark.parametrize("case", CONTAINERS)
def test_every_container_gives_the_same_labels(case):
    labels = check_labels(CONTAINERS[case])
    assert labels.unknown is None
    np.testing.assert_array_equal(labels.dense().relevant, Y == 1)
    assert labels.negative == (-1 if "minus one" in case or "±1" in case else 0)
    assert labels.names in (None, ["a", "b", "c"], ["1", "2", "3"])


UNKNOWN = {
    "float": GAPS,
    "masked": np.ma.masked_array(np.nan_to_num(GAPS).astype(int), np.isnan(GAPS)),
    "pandas, nullable": pd.DataFrame(GAPS).astype("Int64"),
    "polars": pl.DataFrame(GAPS, nan_to_null=True),
    "CSR": sparse.csr_array(GAPS),
    "plus and minus one": 2 * GAPS - 1,
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_labels_are_told_apart(case, monkeypatch):
    for block in (1, _validation.BLOCK):
        monkeypatch.setattr(_validation, "BLOCK", block)
        labels = check_labels(UNKNOWN[case])
        np.testing.assert_array_equal(labels.dense().relevant, GAPS == 1)
        np.testing.assert_array_equal(labels.known, ~np.isnan(GAPS))
        codes = np.concatenate([codes for _, codes in labels.blocks()])
        np.testing.assert_array_equal(codes, np.nan_to_num(GAPS, nan=-1))


def test_sparse_labels_stay_sparse_however_many_there_are():
    wide = sparse.csr_array(([1, 1, np.nan], ([0, 2, 2], [5, 10**9, 3])), shape=(3, 2 * 10**9))
    labels = check_labels(wide)
    assert sparse.issparse(labels.relevant)
    assert labels.relevant.nnz == 2
    assert labels.unknown.nnz == 1
    assert wide.nnz == 3


def test_explicit_zeros_and_duplicates_are_summed_without_touching_the_input():
    messy = sparse.csr_array(
        (np.array([0.5, 0.5, 0.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    labels = check_labels(messy)
    np.testing.assert_array_equal(labels.relevant.toarray(), [[False, True], [False, False]])
    assert labels.relevant.nnz == 1
    assert messy.nnz == 3


def test_label_sets_agree_with_scikit_learn_and_come_back():
    rows = [["tag 2", "x"], (), {"tag 10"}, ["x", "x"]]
    oracle = MultiLabelBinarizer()
    labels = check_labels(rows)
    np.testing.assert_array_equal(labels.dense().relevant, oracle.fit_transform(rows))
    assert labels.names == oracle.classes_.tolist()
    assert [set(row) for row in label_sets(labels.relevant, labels.names)] == [set(row) for row in rows]


def test_a_missing_set_is_unknown_and_an_empty_one_is_none():
    labels = check_labels(pd.Series([["a"], None, [], ["b"], np.nan]))
    np.testing.assert_array_equal(labels.known.all(axis=1), [True, False, True, True, False])
    assert not labels.dense().relevant[2].any()


def test_what_is_a_table_is_not_taken_for_sets():
    assert not is_label_sets([[1, 0], [0, 1]])
    assert not is_label_sets(["yes", "no"])
    assert not is_label_sets(pd.Series(["a|b", "c"]))
    assert not is_label_sets(np.array([["a", "b"]]))
    assert not is_label_sets(pl.DataFrame({"a": [1], "b": [0]}))
    assert is_label_sets([["yes"], ["no"]])


def test_sets_are_placed_by_the_names_of_the_scores():
    F = pd.DataFrame([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]], columns=["c", "a", "b"])
    assert metrics.average_precision([["c"], ["b"]], F) == 1
    with pytest.raises(UserError, match=r"'z'"):
        metrics.average_precision([["c"], ["z"]], F)


def test_a_column_of_lists_may_stand_in_a_frame_and_words_are_told_the_way():
    sets = pd.Series([["a"], ["a", "b"], [], ["b"]])
    for column in (sets, sets.to_frame("tags")):
        labels = check_labels(column).dense()
        assert list(labels.names) == ["a", "b"]
        assert labels.relevant.tolist() == [[1, 0], [1, 1], [0, 0], [0, 1]]
    with pytest.raises(ValueError, match=r"y\.str\.split"):
        BSVMClassifier().fit(np.eye(4), ["a", "a|b", "b", "c"])


def test_an_estimator_learns_label_sets_and_scores_them():
    X = np.repeat(np.eye(3), 8, axis=0)
    rows = [["b", "a"]] * 8 + [["c"]] * 8 + [[]] * 8
    model = BSVMClassifier(C=10.0, gamma=1.0).fit(X, rows)
    assert model.label_names_.tolist() == ["a", "b", "c"]
    assert label_sets(model.predict(X), model.label_names_) == [["a", "b"]] * 8 + rows[8:]
    assert model.score(X, rows) == 1
    assert model.score(X[:2], [["a", "b"], ["a"]]) == 0.5


WEIGHTS = [np.arange(12.0).reshape(4, 3), np.arange(4), [[0], [1], [2], [3]], pd.Series([0.5, 1, 2, 0])]


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_of_pairs_and_of_rows(weight):
    given = np.array(weight, dtype=float)
    expected = np.broadcast_to(given if given.ndim == 2 else given[:, None], (4, 3))
    np.testing.assert_array_equal(check_label_weight(weight, check_labels(Y)), expected)
    gaps = check_label_weight(weight, check_labels(GAPS))
    np.testing.assert_array_equal(gaps, np.where(np.isnan(GAPS), 0, expected))
    assert check_label_weight(None, check_labels(Y)) is None


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (None, "Y is None"),
        ([[0, 1], [2, 0]], r"Y\[1, 0\] is 2"),
        (sparse.csr_array([[0, 1], [0.5, 0]]), r"Y\[1, 0\] is 0.5"),
        ([[0, 1], [-1, 0]], r"Y\[1, 0\] is -1 .*Y\[0, 0\]"),
        (sparse.csr_array([[-1, 1], [-1, 0]]), r"Y\[0, 0\] is -1"),
        (np.array([["a", "b"]]), r"Y\[0, 0\] is 'a'"),
        (np.ones((2, 0)), "at least one"),
        (np.ones((2, 2, 2)), r"\(2, 2, 2\)"),
        ([["a"], ["b", None]], r"Y\[1\] holds None"),
        ([["a"], [["b"], "c"]], r"Y\[1\] holds \['b'\]"),
        ([set(), set()], "no label"),
        (pd.DataFrame([[1, 0]], columns=["a", "a"]), "two columns named 'a'"),
    ],
)
def test_mistakes_in_labels_are_said_with_their_place(labels, sentence):
    with pytest.raises(UserError, match=sentence):
        check_labels(labels)


def test_scores_keep_their_type_and_are_not_copied():
    F = np.ones((4, 3), dtype=np.float32)
    assert check_scores(F, (4, 3)) is F
    assert check_scores(F, (None, 3)) is F
    with pytest.raises(UserError, match=r"3 columns"):
        check_scores(F, (None, 2))
    F = np.full((4, 3), np.inf)
    assert check_scores(F, (4, 3), infinite=True) is F
    with pytest.raises(UserError, match=r"F\[0, 0\] is inf"):
        check_scores(F, (4, 3))
