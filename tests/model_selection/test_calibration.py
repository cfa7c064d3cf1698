"""Platt's sigmoids against scikit-learn's logistic regression, and the laws of a calibration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from skops.io import dumps, loads

from mlspl.errors import UserError
from mlspl.model_selection import (
    CALIBRATIONS,
    IdentityCalibration,
    PlattCalibration,
    ShrunkCalibration,
    get_calibration,
)


def problem(n=200, L=3, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, L)) * [1.0, 5.0, 0.1] + [0.0, 2.0, -3.0]
    Y = rng.random((n, L)) < expit((F - [0.0, 2.0, -3.0]) / [1.0, 5.0, 0.1] * 2 - 1)
    return F, Y.astype(int)


def logistic_oracle(f, y, w):
    """Unpenalised logistic regression on both classes of every row, weighted by Platt's targets."""
    positives, negatives = w[y == 1].sum(), w[y == 0].sum()
    target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    model.fit(np.tile(f, 2)[:, None], np.repeat([1, 0], len(f)), np.append(w * target, w * (1 - target)))
    return model.coef_[0, 0], model.intercept_[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_the_sigmoid_is_the_maximum_likelihood_one(weighted):
    F, Y = problem()
    weight = np.random.default_rng(1).uniform(0, 3, F.shape) if weighted else np.ones(F.shape)
    calibration = PlattCalibration().fit(F, Y, weight if weighted else None)
    oracle = [logistic_oracle(F[:, label], Y[:, label], weight[:, label]) for label in range(3)]
    # Both stop at a gradient near 1e-10; the Hessian of this problem turns that into 1e-8 of the answer.
    np.testing.assert_allclose(np.c_[calibration.slope_, calibration.offset_], oracle, rtol=1e-6, atol=1e-7)


def test_probabilities_are_those_of_scikit_learns_sigmoid_calibration():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = (X[:, 0] + rng.standard_normal(300) > 0.5).astype(int)
    model = LinearSVC().fit(X[:150], y[:150])
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X[150:], y[150:])
    ours = PlattCalibration().fit(model.decision_function(X[150:])[:, None], y[150:, None])
    probabilities = ours.transform(model.decision_function(X)[:, None])[:, 0]
    # Their L-BFGS stops earlier than our Newton.
    np.testing.assert_allclose(probabilities, theirs.predict_proba(X)[:, 1], atol=1e-4)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(0, 10_000),
    st.sampled_from([1e-9, 1.0, 1e6]),
    st.sampled_from([-1.0, 0.0, 0.5, 5.0]),
)
def test_a_calibration_never_changes_the_order_within_a_label(n, seed, scale, signal):
    """Whatever the scores: pointing the wrong way, saying nothing, or separating perfectly."""
    rng = np.random.default_rng(seed)
    Y = rng.random((n, 2)) < 0.3
    F = scale * (np.round(rng.standard_normal((n, 2)), 1) + signal * Y)
    calibration = PlattCalibration().fit(F, Y)
    assert np.isfinite(calibration.offset_).all()
    assert (calibration.slope_ > 0).all()
    calibrated = calibration.log_odds(F)
    for before, after in zip(F.T, calibrated.T, strict=True):
        order = np.argsort(before, kind="stable")
        rises = np.diff(before[order]) > 1e-9 * np.abs(before).max()
        assert (np.diff(after[order])[rises] > 0).all()
        assert (np.diff(after[order]) >= 0).all()


def test_a_label_that_points_the_wrong_way_gets_its_prior():
    rng = np.random.default_rng(0)
    Y = (rng.random((200, 1)) < 0.3).astype(int)
    F = rng.standard_normal((200, 1)) - 3 * Y
    probabilities = PlattCalibration().fit(F, Y).transform(F)
    np.testing.assert_allclose(probabilities, Y.mean(), atol=0.01)
    assert np.ptp(probabilities) < 1e-4


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("scores", ["varied", "constant"])
def test_a_constant_label_gets_its_smoothed_frequency(value, scores):
    F = np.linspace(-1, 1, 50)[:, None] if scores == "varied" else np.full((50, 1), 0.7)
    probabilities = PlattCalibration().fit(F, np.full((50, 1), value)).transform(F)
    np.testing.assert_allclose(probabilities, 51 / 52 if value else 1 / 52, rtol=1e-4)


@pytest.mark.parametrize(("score", "n"), [(0.7, 50), (0.1, 33), (1e5 / 3, 50)])
def test_scores_that_never_varied_say_nothing_of_others(score, n):
    """Also where their weighted mean is off by a rounding error, as it is in the last two cases."""
    F = np.full((n, 1), score)
    Y = np.arange(n)[:, None] < n / 5
    probabilities = PlattCalibration().fit(F, Y).transform([[score - 9], [score], [score + 9]])
    np.testing.assert_allclose(probabilities, 0.2, atol=0.03)


def test_perfect_separation_stays_finite_and_steep():
    F = np.r_[np.full(30, -2.0), np.full(20, 3.0)][:, None]
    calibration = PlattCalibration().fit(F, F > 0)
    np.testing.assert_allclose(
        calibration.log_odds([[-2.0], [3.0]])[:, 0], logit([1 / 32, 21 / 22]), rtol=1e-6
    )


def test_unknown_pairs_and_pairs_without_weight_are_not_there():
    F, Y = problem()
    gone = np.random.default_rng(2).random(F.shape) < 0.3
    hidden = PlattCalibration().fit(F, np.where(gone, np.nan, Y))
    weightless = PlattCalibration().fit(np.where(gone, 99.0, F), Y, 1.0 - gone)
    np.testing.assert_allclose(hidden.slope_, weightless.slope_, rtol=1e-9)
    for label in range(3):
        rows = ~gone[:, label]
        alone = PlattCalibration().fit(F[rows, label, None], Y[rows, label, None])
        np.testing.assert_allclose(hidden.offset_[label], alone.offset_[0], rtol=1e-7)


def test_a_label_nothing_is_known_of_is_left_even():
    calibration = PlattCalibration().fit([[1.0], [2.0]], [[np.nan], [np.nan]])
    np.testing.assert_allclose(calibration.transform([[5.0]]), 0.5, atol=1e-5)


def test_calibration_makes_scaled_labels_comparable():
    """Scores of one label multiplied by 100: the calibrated ones are as before."""
    F, Y = problem()
    scaled = F * [100.0, 1.0, 1.0]
    np.testing.assert_allclose(
        PlattCalibration().fit(scaled, Y).log_odds(scaled),
        PlattCalibration().fit(F, Y).log_odds(F),
        rtol=1e-6,
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 1.0, 3.0]), st.booleans())
def test_the_shrunk_share_is_half_way_to_the_best_slope(seed, signal, weighted):
    """The slope by a grid, which is the slow way."""
    rng = np.random.default_rng(seed)
    Y = rng.random((60, 3)) < [0.5, 0.2, 0.05]
    F = rng.standard_normal(Y.shape) + signal * (2 * Y - 1)
    weight = rng.random(Y.shape) if weighted else np.ones(Y.shape)
    calibration = ShrunkCalibration().fit(F, Y, weight)
    prior = logit((np.sum(weight * Y, axis=0) + 0.5) / (weight.sum(axis=0) + 1))
    np.testing.assert_allclose(calibration.prior_, prior)
    grid = np.linspace(0, 1, 1001)
    odds = prior + grid[:, None, None] * (F - prior)
    losses = (weight * (np.logaddexp(0, odds) - Y * odds)).sum(axis=(1, 2))
    slope = grid[losses.argmin()]
    # The grid's step is .001, the root's tolerance 1e-6.
    assert abs(calibration.share_ - (1 + slope) / 2) < 1e-3
    np.testing.assert_allclose(calibration.log_odds(F), prior + calibration.share_ * (F - prior))


def test_scores_that_say_nothing_are_drawn_to_the_frequencies_and_good_ones_stay():
    rng = np.random.default_rng(0)
    Y = rng.random((400, 3)) < [0.5, 0.2, 0.05]
    noise = 3 * rng.standard_normal(Y.shape)
    assert ShrunkCalibration().fit(noise, Y).share_ < 0.55
    good = logit(np.array([0.5, 0.2, 0.05])) + 4 * (Y - 0.5)
    np.testing.assert_array_equal(ShrunkCalibration().fit(good, Y).log_odds(good), good)


def test_shrinking_knows_nothing_of_unknown_pairs():
    F, Y = problem()
    gone = np.random.default_rng(2).random(F.shape) < 0.3
    hidden = ShrunkCalibration().fit(F, np.where(gone, np.nan, Y))
    weightless = ShrunkCalibration().fit(np.where(gone, 99.0, F), Y, 1.0 - gone)
    np.testing.assert_array_equal(hidden.prior_, weightless.prior_)
    np.testing.assert_allclose(hidden.share_, weightless.share_, atol=1e-6)


def test_identity_leaves_scores_alone_and_apart():
    F, Y = problem(n=5)
    calibration = IdentityCalibration().fit(F, Y)
    same = calibration.log_odds(F)
    np.testing.assert_array_equal(same, F)
    assert not np.shares_memory(same, F)
    np.testing.assert_array_equal(calibration.transform(F), expit(F))


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_resolved_by_name_cloned_and_saved(name):
    F, Y = problem(n=30)
    calibration = get_calibration(name).fit(F, Y)
    assert get_calibration(calibration) is calibration
    assert repr(clone(calibration)) == repr(get_calibration(name))
    with pytest.raises(NotFittedError):
        clone(calibration).transform(F)
    kind = f"{type(calibration).__module__}.{type(calibration).__name__}"
    again = loads(dumps(calibration), trusted=[kind])
    np.testing.assert_array_equal(again.transform(F), calibration.transform(F))


def test_names():
    assert isinstance(get_calibration(None), IdentityCalibration)
    with pytest.raises(UserError, match="isotonic"):
        get_calibration("isotonic")


@pytest.mark.parametrize(
    ("F", "Y", "weight", "sentence"),
    [
        ([[np.nan, 1]], [[1, 0]], None, r"F\[0, 0\] is nan"),
        ([[np.inf, 1]], [[1, 0]], None, r"F\[0, 0\] is inf"),
        ([[1, 1, 1]], [[1, 0]], None, "shape"),
        ([[1, 1], [1, 1]], [[1, 0]], None, "shape"),
        ([[1, 1]], [[1, 0]], [[1, 1, 1]], r"label_weight has shape"),
        ([[1, 1]], [[1, 0]], [[1, -1]], r"label_weight\[0, 1\] is -1"),
        ([[1, 1]], [[1, 0]], [[1, np.nan]], r"label_weight\[0, 1\] is nan"),
        ([[1, 1]], [[1, 2]], None, r"Y\[0, 1\] is 2"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(F, Y, weight, sentence):
    with pytest.raises(UserError, match=sentence):
        PlattCalibration().fit(F, Y, weight)
