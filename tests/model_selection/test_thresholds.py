"""Thresholds: cuts no other cut beats, counts that are learned, laws all of them keep."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import f1_score
from skops.io import dumps, loads

from mlspl.errors import UserError
from mlspl.model_selection import (
    THRESHOLDS,
    CountThreshold,
    LabelThreshold,
    ZeroThreshold,
    get_threshold,
)
from tests.naive import model_selection as naive


@st.composite
def tables(draw):
    shape = (draw(st.integers(1, 12)), draw(st.integers(1, 3)))
    F = draw(arrays(float, shape, elements=st.sampled_from([-3.0, -1.0, -0.5, 0.0, 1e-300, 0.5, 2.0])))
    Y = draw(arrays(float, shape, elements=st.sampled_from([0.0, 1.0, np.nan])))
    weight = draw(arrays(float, shape, elements=st.sampled_from([0.0, 1.0, 2.5])))
    return F, Y, weight


@example((np.full((2, 1), 1e-300), np.array([[0.0], [1.0]]), np.ones((2, 1))))
@settings(max_examples=100, deadline=None)
@given(tables())
def test_no_cut_is_better_than_the_one_found(table):
    F, Y, weight = table
    threshold = LabelThreshold().fit(F, Y, weight)
    achieved = [
        naive.cut_value(f, y, w, cut) for f, y, w, cut in zip(F.T, Y.T, weight.T, threshold.cut_, strict=True)
    ]
    np.testing.assert_allclose(achieved, naive.best_cuts(F, Y, weight), rtol=1e-12)
    np.testing.assert_array_equal(threshold.apply(F), threshold.cut_ < F)
    at_zero = [naive.cut_value(f, y, w, 0) for f, y, w in zip(F.T, Y.T, weight.T, strict=True)]
    kept = np.isclose(at_zero, achieved, rtol=1e-12)
    assert (threshold.cut_[kept] == 0).all()


def test_unknown_pairs_do_not_move_a_cut():
    rng = np.random.default_rng(0)
    F = rng.standard_normal((60, 2)) - 2
    Y = (rng.random((60, 2)) < 0.3).astype(float)
    gone = rng.random(F.shape) < 0.4
    threshold = LabelThreshold().fit(F, np.where(gone, np.nan, Y))
    for label in range(2):
        rows = ~gone[:, label]
        alone = LabelThreshold().fit(F[rows, label, None], Y[rows, label, None])
        assert threshold.cut_[label] == alone.cut_[0]


def test_a_cut_lies_halfway_and_prefers_zero():
    Y = [[0], [0], [1]]
    assert LabelThreshold().fit([[-4], [-3], [-1]], Y).cut_ == [-2.0]
    assert LabelThreshold().fit([[-4], [-3], [1]], Y).cut_ == [0.0]
    assert LabelThreshold().fit([[1], [1], [1]], [[1]] * 3).cut_ == [0.0]
    assert LabelThreshold().fit([[-1], [-1], [-1]], [[1]] * 3).cut_ == [np.nextafter(-1, -2)]


@pytest.mark.parametrize("weight", [None, 0.1, 1 / 3])
def test_of_equally_good_cuts_the_nearest_to_zero_is_taken(weight):
    """Sums of weights that round must not make one of them the better."""
    rng = np.random.default_rng(0)
    F, Y = rng.choice(np.arange(-6.0, 7.0), (12, 200)), rng.integers(2, size=(12, 200))
    plain = LabelThreshold().fit(F, Y)
    weighted = LabelThreshold().fit(F, Y, None if weight is None else np.full(Y.shape, weight))
    np.testing.assert_array_equal(weighted.cut_, plain.cut_)


def test_neighbouring_floats_are_still_told_apart():
    low, high = 1.0, np.nextafter(1.0, 2.0)
    for first, second in ((low, high), (high, np.nextafter(high, 2.0))):
        threshold = LabelThreshold().fit([[first], [second]], [[0], [1]])
        assert threshold.apply([[first], [second]]).tolist() == [[False], [True]]


def test_label_cuts_raise_macro_f1_over_the_cut_at_zero():
    """A rare label scored too low throughout: what the rule is for."""
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 3)) < [0.05, 0.2, 0.5]).astype(int)
    F = rng.standard_normal(Y.shape) + 2 * Y - [3.5, 3.0, 2.5]
    fitted = LabelThreshold().fit(F[:250], Y[:250])
    test = F[250:], Y[250:]
    at_zero = f1_score(test[1], ZeroThreshold().fit(*test).apply(test[0]), average="macro")
    assert f1_score(test[1], fitted.apply(test[0]), average="macro") > at_zero + 0.05


def test_the_count_is_the_least_squares_one():
    rng = np.random.default_rng(0)
    Y = (rng.random((100, 5)) < 0.4).astype(int)
    F = rng.standard_normal(Y.shape) + Y
    row_weight = rng.uniform(0, 2, 100)
    threshold = CountThreshold().fit(F, Y, np.repeat(row_weight[:, None], 5, axis=1))
    oracle = LinearRegression().fit(-np.sort(-F, axis=1), Y.sum(axis=1), row_weight)
    np.testing.assert_allclose(threshold.coef_, oracle.coef_, rtol=1e-8)
    assert threshold.intercept_ == pytest.approx(oracle.intercept_)
    expected = np.clip(np.rint(oracle.predict(-np.sort(-F, axis=1))), *np.quantile(Y.sum(axis=1), [0, 1]))
    np.testing.assert_array_equal(threshold.apply(F).sum(axis=1), expected)


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(0, 99))
def test_a_count_takes_the_top_of_the_row(table, seed):
    F, Y, _ = table
    if np.isnan(Y).all():
        return
    threshold = CountThreshold().fit(F, Y)
    predicted = threshold.apply(F)
    for f, p in zip(F, predicted, strict=True):
        order = sorted(range(len(f)), key=lambda label: (f[label], label), reverse=True)
        assert p[order].tolist() == sorted(p, reverse=True)
    counts = predicted.sum(axis=1)
    assert threshold.least_ <= counts.min()
    assert counts.max() <= threshold.most_
    shuffled = np.random.default_rng(seed).permutation(F.shape[1])
    np.testing.assert_array_equal(threshold.apply(F[:, shuffled]).sum(axis=1), counts)


def test_rows_that_always_have_a_label_are_never_left_without():
    """Scene's pictures all show something: a cut at zero leaves rows empty, a count does not."""
    rng = np.random.default_rng(0)
    Y = np.eye(4, dtype=int)[rng.integers(0, 4, 80)]
    F = rng.standard_normal(Y.shape) + 2 * Y - 2
    assert not ZeroThreshold().fit(F, Y).apply(F).any(axis=1).all()
    assert (CountThreshold().fit(F, Y).apply(F).sum(axis=1) == 1).all()


def test_the_order_of_labels_does_not_round_the_smallest_number_of_them():
    """Half of the weight of seven labels: 3.5, or a little less if 0.1 + 0.2 are added before 0.3."""
    F, Y = np.arange(14.0).reshape(2, 7), np.full((2, 7), np.nan)
    Y[:, :3], weight = [0, 0, 1], np.tile([0.1, 0.2, 0.3, 1, 1, 1, 1], (2, 1))
    ascending, descending = (
        CountThreshold().fit(F[:, order], Y[:, order], weight[:, order])
        for order in (np.arange(7), np.arange(7)[::-1])
    )
    assert (ascending.least_, ascending.most_) == (descending.least_, descending.most_) == (4, 4)


def test_of_many_tied_labels_the_higher_indices_are_counted_in():
    F = np.random.default_rng(0).integers(0, 3, (20, 60)).astype(float)
    Y = np.zeros(F.shape)
    Y[:, :25] = 1
    predicted = CountThreshold().fit(F, Y).apply(F)
    for f, p in zip(F, predicted, strict=True):
        order = sorted(range(60), key=lambda label: (f[label], label), reverse=True)
        assert np.flatnonzero(p).tolist() == sorted(order[:25])


def test_an_unknown_label_counts_by_the_share_of_the_known():
    """Four labels, half of the known relevant in every row: two are expected everywhere."""
    Y = [[1, 0, np.nan, np.nan], [1, 1, 0, 0], [np.nan, 1, 0, np.nan], [np.nan] * 4]
    threshold = CountThreshold().fit(np.random.default_rng(0).standard_normal((4, 4)), Y)
    assert (threshold.least_, threshold.most_) == (2, 2)


@pytest.mark.parametrize("name", THRESHOLDS)
def test_resolved_by_name_cloned_and_saved(name):
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal((30, 4)), rng.integers(0, 2, (30, 4))
    threshold = get_threshold(name)
    assert threshold.fit(F, 2 * Y - 1) is threshold
    assert get_threshold(threshold) is threshold
    predicted = threshold.apply(F)
    assert predicted.dtype == bool
    assert predicted.shape == F.shape
    with pytest.raises(NotFittedError):
        clone(threshold).apply(F)
    with pytest.raises(UserError, match="columns"):
        threshold.apply(F[:, :2])
    again = loads(dumps(threshold), trusted=[f"{type(threshold).__module__}.{type(threshold).__name__}"])
    np.testing.assert_array_equal(again.apply(F), predicted)


def test_mistakes_are_answered_with_a_sentence():
    with pytest.raises(UserError, match="half"):
        get_threshold("half")
    with pytest.raises(UserError, match="known"):
        CountThreshold().fit([[1.0]], [[np.nan]])
