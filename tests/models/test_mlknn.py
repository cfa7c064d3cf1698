from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.special import logit
from sklearn.preprocessing import StandardScaler

from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.metrics import hamming_loss
from mlspl.model_selection import ShrunkCalibration, protocol_split
from mlspl.models import MLkNNClassifier
from tests.models.checks import scikit_learn_checks
from tests.naive import models as naive


@scikit_learn_checks([MLkNNClassifier(k=3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_posterior_worked_by_hand():
    # Neighbours on the line, k = 1: 0→1, 1→0, 4→5, 5→4, so carriers c = 1, 1, 0, 1 for y = 1, 1, 1, 0.
    X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([[1], [1], [1], [0]])
    model = MLkNNClassifier(k=1, prior_weight=0).fit(X, y)
    np.testing.assert_array_equal(model.label_counts_, [[1], [3]])
    np.testing.assert_array_equal(model.neighbour_counts_, [[[0, 1]], [[1, 2]]])
    # prior (1+3)/(2+4) = 2/3; p1 = 2/5, 3/5; p0 = 1/3, 2/3 for c = 0, 1.
    near_a_carrier = (2 / 3 * 3 / 5) / (2 / 3 * 3 / 5 + 1 / 3 * 2 / 3)
    near_none = (2 / 3 * 2 / 5) / (2 / 3 * 2 / 5 + 1 / 3 * 1 / 3)
    np.testing.assert_allclose(
        model.predict_proba(np.array([[0.2], [9.0]])), [[near_a_carrier], [near_none]], rtol=1e-14
    )


problems = st.integers(4, 24).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, (n, 2), elements=st.integers(0, 3)),
        arrays(np.int64, (n, 3), elements=st.integers(0, 1)),
        st.integers(1, n - 1),
        st.sampled_from([1, 2]),
    )
)


def places(values):
    """Where each value stands among the distinct ones."""
    distinct = sorted(set(values))
    return [distinct.index(value) for value in values]


@settings(max_examples=20, deadline=None)
@given(problems, st.booleans())
def test_equals_exact_fractions_in_value_order_ties_and_labels(problem, as_csr):
    X, Y, k, s = problem
    new = np.vstack([X[:4], X[:4] + 1])
    exact = np.array(naive.ml_knn(X.tolist(), Y.tolist(), new.tolist(), k, s))
    container = sparse.csr_matrix if as_csr else np.asarray
    model = MLkNNClassifier(k=k, s=s, prior_weight=0, feature_weights=None).fit(container(X), Y)
    new = container(new)
    np.testing.assert_allclose(model.predict_proba(new), exact.astype(float), rtol=1e-13)
    np.testing.assert_array_equal(model.predict(new), exact >= Fraction(1, 2))
    np.testing.assert_array_equal(model.decision_function(new) > 0, exact >= Fraction(1, 2))
    assert places(model.decision_function(new).ravel().tolist()) == places(exact.ravel().tolist())


def test_equal_posteriors_of_different_counts_are_tied():
    rng = np.random.default_rng(1)
    X, Y = rng.integers(0, 50, (24, 2)), (rng.random((24, 40)) < rng.uniform(0.1, 0.9, 40)).astype(int)
    exact = np.array(naive.ml_knn(X.tolist(), Y.tolist(), X[:6].tolist(), 2, 1)).ravel().tolist()
    scores = MLkNNClassifier(k=2, prior_weight=0).fit(X, Y).decision_function(X[:6])
    assert len(set(exact)) < len(exact) / 2
    assert places(scores.ravel().tolist()) == places(exact)


def test_a_posterior_of_one_half_is_predicted():
    # Mirroring the line swaps the classes, so a row with one neighbour of each cannot tell them apart.
    model = MLkNNClassifier(k=2).fit(np.arange(4.0)[:, None], [[1], [1], [0], [0]])
    assert model.predict([[1.5]]) == 1
    assert 0 < model.decision_function([[1.5]]) < 1e-14
    assert model.predict_proba([[1.5]]).round() == 1
    np.testing.assert_allclose(model.predict_proba([[1.5]]), 0.5, rtol=1e-15)


@settings(max_examples=15, deadline=None)
@given(problems, st.integers(0, 2**32 - 1))
def test_weights_equal_the_twin_s(problem, seed):
    X, Y, k, s = problem
    weight = np.random.default_rng(seed).choice([0.0, 0.25, 0.7, 1.0, 3.0], Y.shape)
    exact = naive.ml_knn(X.tolist(), Y.tolist(), X.tolist(), k, s, weight.tolist())
    model = MLkNNClassifier(k=k, s=s, prior_weight=0).fit(X, Y, label_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X), np.array(exact, dtype=float), rtol=1e-11)


def test_weight_one_changes_nothing_and_weight_zero_is_no_label():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), rng.integers(0, 2, (60, 4))
    known = rng.random(Y.shape) < 0.7
    scores = MLkNNClassifier().fit(X, Y).decision_function(X)
    ones = MLkNNClassifier().fit(X, Y, label_weight=np.ones(Y.shape))
    np.testing.assert_array_equal(ones.decision_function(X), scores)
    with_gaps = MLkNNClassifier().fit(X, np.where(known, Y, np.nan)).decision_function(X)
    for labels in (Y, np.where(known, Y, 1 - Y)):
        weighted = MLkNNClassifier().fit(X, labels, label_weight=known.astype(float))
        np.testing.assert_array_equal(weighted.decision_function(X), with_gaps)
    assert np.any(with_gaps != scores)


def test_where_no_neighbour_has_a_say_the_posterior_is_the_prior():
    X = np.array([[0.0], [1.0], [2.0], [50.0], [51.0], [52.0]])
    Y = np.array([[1.0], [1.0], [0.0], [np.nan], [np.nan], [np.nan]])
    model = MLkNNClassifier(k=2).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba([[51.5]]), [[(1 + 2) / (2 + 3)]])


def test_tiny_smoothing_does_not_saturate_into_false_ties():
    X = np.arange(12.0)[:, None]
    Y = np.column_stack([X[:, 0] < 6, X[:, 0] < 7, X[:, 0] < 4]).astype(int)
    model = MLkNNClassifier(k=2, s=1e-30, prior_weight=0).fit(X, Y)
    scores = model.decision_function([[0.0]])[0]
    assert (model.predict_proba([[0.0]]) == 1.0).any()
    assert len(set(scores)) == len({tuple(column) for column in Y.T})


def test_log_odds_are_drawn_to_the_prior_by_the_weight_that_is_given():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), (rng.random((60, 4)) < [0.1, 0.3, 0.5, 0.8]).astype(int)
    published = MLkNNClassifier(prior_weight=0).fit(X, Y).decision_function(X)
    prior = np.log((1 + Y.sum(axis=0)) / (1 + 60 - Y.sum(axis=0)))
    drawn = MLkNNClassifier(prior_weight=0.3).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(drawn, 0.7 * published + 0.3 * prior, rtol=1e-12)


@settings(max_examples=10, deadline=None)
@given(problems, st.integers(0, 2**32 - 1), st.booleans())
def test_the_weight_of_the_prior_is_what_rows_ask_for_that_are_not_counted(problem, seed, weighted):
    X, Y, k, s = problem
    weight = np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 3.0], Y.shape) if weighted else None
    model = MLkNNClassifier(k=k, s=s).fit(X, Y, label_weight=weight)
    apart = naive.ml_knn(X.tolist(), Y.tolist(), None, k, s, None if weight is None else weight.tolist())
    share = ShrunkCalibration().fit(logit(np.array(apart, dtype=float)), Y, weight).share_
    assert model.prior_weight_ == pytest.approx(1 - share, abs=1e-5)  # the share is searched to 1e-6


def test_what_neighbours_tell_is_kept_and_noise_is_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    assert MLkNNClassifier().fit(X, (X > 0).astype(int)).prior_weight_ == 0
    assert MLkNNClassifier().fit(X, rng.integers(0, 2, (400, 3))).prior_weight_ > 0.3


def test_constant_labels_rows_without_labels_one_label_and_duplicates():
    X = np.repeat(np.arange(4.0), 10)[:, None]
    Y = np.zeros((40, 3), dtype=int)
    Y[:, 1], Y[:10, 2] = 1, 1
    predicted = MLkNNClassifier(k=5).fit(X, Y).predict(X)
    np.testing.assert_array_equal(predicted, Y)
    np.testing.assert_array_equal(MLkNNClassifier(k=5).fit(X, Y[:, 2:]).predict(X), Y[:, 2:])


@pytest.mark.parametrize("coding", [np.int64, bool, np.float64, "pm1", "frame", "csr"])
def test_predictions_come_back_in_the_coding_of_the_labels(coding):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(50, 4)), rng.integers(0, 2, (50, 3))
    expected = MLkNNClassifier().fit(X, Y).predict(X)
    if coding == "pm1":
        np.testing.assert_array_equal(MLkNNClassifier().fit(X, 2 * Y - 1).predict(X), 2 * expected - 1)
    elif coding == "frame":
        model = MLkNNClassifier().fit(
            pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=list("xyz"))
        )
        assert list(model.label_names_) == ["x", "y", "z"]
        np.testing.assert_array_equal(model.predict(pd.DataFrame(X, columns=list("abcd"))), expected)
    else:
        labels = sparse.csr_matrix(Y) if coding == "csr" else Y.astype(coding)
        predicted = MLkNNClassifier().fit(X, labels).predict(X)
        assert predicted.dtype == labels.dtype
        np.testing.assert_array_equal(predicted, expected)


def test_dense_and_sparse_rows_may_be_mixed_and_nothing_is_changed():
    rng = np.random.default_rng(2)
    X, Y = rng.integers(0, 3, (60, 20)).astype(float), rng.integers(0, 2, (60, 3))
    weight = rng.random(Y.shape)
    before = X.copy(), Y.copy(), weight.copy()
    for array in (X, Y, weight):
        array.setflags(write=False)
    scores = MLkNNClassifier().fit(X, Y, label_weight=weight).decision_function(X)
    for fitted, asked in [(sparse.csr_matrix(X), X), (X, sparse.csr_matrix(X))]:
        model = MLkNNClassifier(feature_weights=None).fit(fitted, Y, label_weight=weight)
        np.testing.assert_array_equal(model.decision_function(asked), scores)
    for array, copy in zip((X, Y, weight), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 20}, "k=20 .* n_samples=20"),
        ({"k": 0}, "'k' parameter"),
        ({"k": 2.5}, "'k' parameter"),
        ({"s": 0}, "'s' parameter"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    X, Y = np.arange(20.0)[:, None], np.tile([[0, 1]], (20, 1))
    with pytest.raises(UserError, match=words):
        MLkNNClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "expected", "spread"), [("emotions", 0.222, 0.009), ("scene", 0.100, 0.006)]
)
def test_hamming_loss_of_the_protocol(data_home, name, expected, spread):
    data = load_dataset(name, data_home=data_home)
    losses = []
    for split in range(10):
        train, test = protocol_split(len(data.Y), split)
        scaler = StandardScaler().fit(data.X[train])
        model = MLkNNClassifier().fit(scaler.transform(data.X[train]), data.Y[train])
        losses.append(hamming_loss(data.Y[test], model.predict(scaler.transform(data.X[test]))))
    assert np.mean(losses) == pytest.approx(expected, abs=spread)


def test_a_label_of_which_nothing_is_known_is_not_predicted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y = np.column_stack([X[:, 0] > 0, np.full(60, np.nan)]).astype(float)
    model = MLkNNClassifier().fit(X, Y)
    assert not model.predict(X)[:, 1].any()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 0.5)
