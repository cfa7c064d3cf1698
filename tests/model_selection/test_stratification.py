"""Iterative stratification: the algorithm, the laws of its folds, and the containers users hold."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score

from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.model_selection import IterativeStratification
from tests.naive import model_selection as naive


def folds_of(Y, n_splits=5, random_state=0):
    splitter = IterativeStratification(n_splits, random_state=random_state)
    return [test for _, test in splitter.split(np.zeros(Y.shape[0]), Y)]


def correlated_labels(n, L, density, seed):
    """Labels that depend on three hidden factors, so that rows share and repeat label sets."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 3)) @ rng.standard_normal((3, L)) + rng.standard_normal((n, L))
    return (scores > np.quantile(scores, 1 - density)).astype(int)


def imbalance(Y, folds):
    """How far the folds' label frequencies are from the whole's, over labels and folds."""
    return np.mean([np.abs(Y[fold].mean(axis=0) - Y.mean(axis=0)) for fold in folds])


label_tables = st.tuples(st.integers(2, 30), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
)


@settings(max_examples=100, deadline=None)
@given(label_tables, st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_the_algorithm_equals_its_slow_twin(Y, k, seed):
    if len(Y) < k:
        return
    sizes = np.array([len(rows) for rows in np.array_split(Y, k)])
    fold_of = naive.share_out(Y, np.full(k, 1 / k), sizes, np.random.RandomState(seed))
    for fold, rows in enumerate(folds_of(Y, k, seed)):
        np.testing.assert_array_equal(rows, np.flatnonzero(fold_of == fold))


@settings(max_examples=100, deadline=None)
@given(label_tables, st.integers(2, 10), st.integers(0, 1000))
def test_every_row_is_tested_once_in_folds_of_one_size(Y, k, seed):
    if len(Y) < k:
        return
    splitter = IterativeStratification(k, random_state=seed)
    splits = list(splitter.split(np.zeros(len(Y)), Y))
    assert len(splits) == splitter.get_n_splits() == k
    for train, test in splits:
        np.testing.assert_array_equal(np.sort(np.append(train, test)), np.arange(len(Y)))
    tested = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tested), np.arange(len(Y)))
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=30, deadline=None)
@given(
    st.integers(80, 400),
    st.integers(2, 12),
    st.sampled_from([0.1, 0.3, 0.5]),
    st.integers(2, 8),
    st.integers(0, 99),
)
def test_labels_are_shared_out_better_than_at_random(n, L, density, k, seed):
    Y = correlated_labels(n, L, density, seed)
    rng = np.random.default_rng(seed)
    at_random = [imbalance(Y, np.array_split(rng.permutation(n), k)) for _ in range(10)]
    assert imbalance(Y, folds_of(Y, k, seed)) < np.mean(at_random)


@settings(max_examples=50, deadline=None)
@given(st.integers(10, 60), st.integers(2, 8), st.floats(0, 1), st.integers(0, 99))
def test_a_single_label_differs_by_at_most_one_between_folds(n, k, share, seed):
    """Also where it is rarer than the folds, or on every row."""
    Y = (np.random.default_rng(seed).permutation(n) < share * n).astype(int)[:, None]
    counts = [Y[fold].sum() for fold in folds_of(Y, k, seed)]
    assert max(counts) - min(counts) <= 1


def test_rare_labels_are_spread_over_as_many_folds_as_they_have_rows():
    Y = np.zeros((100, 4), dtype=int)
    for label, rows in enumerate([[3], [10, 11], [20, 21, 22, 23], range(50, 90)]):
        Y[list(rows), label] = 1
    counts = np.array([Y[fold].sum(axis=0) for fold in folds_of(Y, 5)])
    assert counts.max(axis=0).tolist() == [1, 1, 1, 8]
    assert counts.sum(axis=0).tolist() == [1, 2, 4, 40]


def test_rows_without_labels_fill_up_the_folds():
    assert [len(fold) for fold in folds_of(np.zeros((11, 3), dtype=int), 4)] == [3, 3, 3, 2]


def test_a_seed_is_a_promise():
    Y = correlated_labels(60, 4, 0.3, 0)
    first, again, other = (
        folds_of(Y, random_state=1),
        folds_of(Y, random_state=1),
        folds_of(Y, random_state=2),
    )
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    splitter = IterativeStratification(5, random_state=1)
    twice = [[test.tolist() for _, test in splitter.split(np.zeros(60), Y)] for _ in range(2)]
    assert twice[0] == twice[1]


def test_ties_are_broken_by_chance():
    """One row with a label and four folds: over the seeds it is tested in each of them."""
    Y = np.zeros((8, 1), dtype=int)
    Y[5] = 1
    homes = [next(j for j, fold in enumerate(folds_of(Y, 4, seed)) if 5 in fold) for seed in range(40)]
    assert set(homes) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "container",
    [
        lambda Y: Y.astype(bool),
        lambda Y: 2 * Y - 1,
        lambda Y: np.where((Y == 0) & (np.arange(Y.size).reshape(Y.shape) % 7 == 0), np.nan, Y),
        sparse.csr_matrix,
        sparse.coo_array,
        lambda Y: sparse.csc_array(2.0 * Y - 1),
        pd.DataFrame,
        lambda Y: pl.DataFrame(Y, orient="row"),
    ],
    ids=["bool", "±1", "NaN", "csr", "coo", "csc ±1", "pandas", "polars"],
)
def test_one_answer_for_every_container(container):
    Y = correlated_labels(50, 4, 0.3, 0)
    held = container(Y)
    for ours, same in zip(folds_of(held), folds_of(Y), strict=True):
        np.testing.assert_array_equal(ours, same)


def test_the_rare_labels_of_medical_are_shared_out(data_home):
    """978 rows and 45 labels, a dozen of them on one or two rows: ten folds, none of them hit by chance."""
    Y = load_dataset("medical", data_home=data_home).Y
    folds = folds_of(Y, 10)
    assert {len(fold) for fold in folds} == {97, 98}
    counts = np.array([Y[fold].sum(axis=0) for fold in folds])
    rare = Y.sum(axis=0) <= 10
    assert rare.sum() > 12
    assert counts[:, rare].max() <= 2
    at_random = [
        imbalance(Y, np.array_split(np.random.default_rng(seed).permutation(978), 10)) for seed in range(5)
    ]
    assert imbalance(Y, folds) < min(at_random) / 2


def test_scikit_learn_takes_it_for_its_own():
    X, Y = make_multilabel_classification(n_samples=60, random_state=0)
    splitter = IterativeStratification(3, random_state=0)
    assert check_cv(splitter) is splitter
    assert repr(splitter) == "IterativeStratification(n_splits=3, random_state=0)"
    assert len(cross_val_score(RidgeClassifier(), X, Y, cv=splitter)) == 3
    search = GridSearchCV(RidgeClassifier(), {"alpha": [1.0, 100.0]}, cv=splitter).fit(X, Y)
    assert search.n_splits_ == 3


@pytest.mark.parametrize(
    ("Y", "n_splits", "sentence"),
    [
        (np.ones((3, 2)), 5, "cannot fill 5 folds"),
        (np.ones((3, 2)), 1, "n_splits is 1"),
        (None, 2, "needs the labels"),
        (np.full((4, 2), 3), 2, r"Y\[0, 0\] is 3"),
        (np.array([[1, 0], [-1, 1], [0, 1]]), 2, "both 0 and -1"),
        (sparse.csr_matrix([[-1, 0], [1, 1], [0, 1]]), 2, "both 0 and -1"),
        (np.ones(4), 2, "shape"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(Y, n_splits, sentence):
    rows = 4 if Y is None else Y.shape[0]
    with pytest.raises(UserError, match=sentence):
        list(IterativeStratification(n_splits).split(np.zeros(rows), Y))
