import multiprocessing
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from mlspl.solvers import linear, solve_linear
from tests.naive import solvers as naive

CLASSIFIERS = ("logistic",)
FORMS = {
    "dense": np.ascontiguousarray,
    "csr": sparse.csr_array,
    "float32": lambda X: X.astype(np.float32),
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}


def problem(seed, n=120, d=6, L=11, regression=False):
    """Features a third of which are 0 (exact in float32), targets, and costs a fifth of which are 0."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.3, 0.0, rng.normal(size=(n, d)).astype(np.float32)).astype(np.float64)
    scores = rng.normal(size=(L, d)) @ X.T + rng.normal(size=(L, n))
    targets = scores if regression else np.where(scores > 0.5, 1.0, -1.0)
    costs = np.where(rng.random((L, n)) < 0.2, 0.0, rng.random((L, n)))
    return X, targets, costs


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_the_naive_minimum(loss):
    X, targets, costs = problem(0, n=25, d=3, L=2, regression=loss == "squared")
    solution = solve_linear(X, targets, costs, loss, tol=1e-7)
    for label in range(2):
        least = naive.linear_minimum(X, targets[label], costs[label], loss)
        weights = np.append(solution.coef[label], solution.bias[label])
        reached = naive.linear_objective(X, targets[label], costs[label], loss, weights)
        # BFGS stops at 1e-8 to 1e-6 of the objective.
        np.testing.assert_allclose(solution.objective[label], least, rtol=1e-5)
        np.testing.assert_allclose(solution.objective[label], reached, rtol=1e-10)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_the_optimum_of_liblinear(loss, form):
    X, targets, costs = problem(1)
    solution = solve_linear(FORMS[form](X), targets, 2.0 * costs, loss, tol=1e-5)
    for label in (0, 7):
        if loss == "logistic":
            peer = LogisticRegression(C=2.0, solver="liblinear", tol=1e-9, max_iter=1000)
        else:
            peer = LinearSVC(C=2.0, loss=loss, tol=1e-7, max_iter=10**6, dual=True)
        peer.fit(X, targets[label], sample_weight=costs[label])
        weights = np.append(peer.coef_[0], peer.intercept_)
        least = naive.linear_objective(X, targets[label], 2.0 * costs[label], loss, weights)
        np.testing.assert_allclose(solution.objective[label], least, rtol=2e-5)
        # Strong convexity: ½‖w − w*‖² ≤ objective − minimum.
        found = np.append(solution.coef[label], solution.bias[label])
        assert np.linalg.norm(found - weights) ** 2 / 2 <= 3e-5 * least


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_the_gap_is_a_bound_and_the_tolerance_is_kept(loss):
    X, targets, costs = problem(2, regression=loss == "squared")
    least = solve_linear(X, targets, costs, loss, tol=1e-7).objective
    for tol in (1e-1, 1e-3):
        solution = solve_linear(X, targets, costs, loss, tol=tol)
        assert (solution.gap <= tol * solution.objective).all()
        if loss != "squared":  # whose bias is free, so that the bound is an estimate
            assert (solution.objective - least <= solution.gap + 1e-6 * least).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_codes_are_columns_beside_the_features(loss, form):
    X, targets, costs = problem(3)
    codes = np.random.default_rng(4).random((120, 3)).astype(np.float32).astype(np.float64)
    beside = solve_linear(FORMS[form](X), targets, costs, loss, codes=codes, tol=1e-6)
    joined = solve_linear(np.hstack([X, codes]), targets, costs, loss, tol=1e-6)
    np.testing.assert_allclose(beside.objective, joined.objective, rtol=1e-5)
    scores = beside.coef @ X.T + beside.code_coef @ codes.T + beside.bias[:, None]
    np.testing.assert_allclose(beside.scores, scores, atol=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_cost_of_zero_leaves_a_pair_out(loss):
    X, targets, costs = problem(5, L=2, regression=loss == "squared")
    costs[1] = costs[0]
    whole = solve_linear(X, targets, costs, loss, tol=1e-7)
    kept = costs[0] > 0
    part = solve_linear(X[kept], targets[:, kept], costs[:, kept], loss, tol=1e-7)
    np.testing.assert_allclose(whole.objective, part.objective, rtol=1e-6)
    np.testing.assert_allclose(whole.scores[:, kept], part.scores, atol=0.02)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_warm_start_ends_at_the_same_optimum(loss):
    X, targets, costs = problem(6, regression=loss == "squared")
    first = solve_linear(X, targets, 1.0, loss)
    cold = solve_linear(X, targets, costs, loss, tol=1e-6)
    warm = solve_linear(X, targets, costs, loss, tol=1e-6, start=first)
    np.testing.assert_allclose(warm.objective, cold.objective, rtol=3e-6)
    again = solve_linear(X, targets, costs, loss, tol=1e-5, start=cold)
    np.testing.assert_allclose(again.objective, cold.objective, rtol=2e-5)


@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_one_class_has_a_constant_score_and_no_cost_none(loss):
    X, targets, costs = problem(7, L=3)
    targets[0] = -1.0
    costs[1][targets[1] < 0] = 0.0
    costs[2] = 0.0
    solution = solve_linear(X, targets, costs, loss, tol=1e-8)
    assert not solution.coef.any()
    np.testing.assert_array_equal(np.sign(solution.bias), [-1, 1, 0])
    np.testing.assert_allclose(solution.scores, np.repeat(solution.bias[:, None], 120, axis=1))
    least = naive.linear_minimum(np.zeros((120, 0)), targets[0], costs[0], "logistic")
    if loss == "logistic":
        np.testing.assert_allclose(solution.objective[0], least, rtol=1e-7)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("loss", CLASSIFIERS)
def test_threads_do_not_change_a_bit(loss, form):
    X, targets, costs = problem(8, n=400, L=19)
    one, many = (solve_linear(FORMS[form](X), targets, costs, loss, n_threads=k) for k in (1, 3))
    for ours, theirs in zip(one, many, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("lanes", [1, 16, 45])
def test_groups_of_any_size_have_the_same_optimum(lanes, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 12)).astype(np.float32)
    targets = np.where(rng.normal(size=(45, 500)) + X[:, 0] > 0.5, 1.0, -1.0)
    usual = solve_linear(X, targets, 2.0, tol=1e-6)
    monkeypatch.setattr(linear, "_count_lanes", lambda *_: lanes)
    # Both are within 1e-6 of the least objective.
    wide = solve_linear(X, targets, 2.0, tol=1e-6)
    np.testing.assert_allclose(wide.objective, usual.objective, rtol=2e-6)


def test_many_values_are_worth_more_labels_side_by_side():
    dense, csr = np.broadcast_to(0.0, (90_000, 1000)), sparse.csr_array((90_000, 1000))
    for X, n_labels, lanes in [(dense, 50, 32), (dense, 20, 16), (dense, 3, 8), (dense[:500], 50, 8)]:
        assert linear._count_lanes(X, n_labels) == lanes
    assert linear._count_lanes(csr, 28) == 16


def test_the_ridge_of_scikit_learn():
    X, targets, _ = problem(9, regression=True)
    ridge = solve_linear(X, targets, 0.25, "squared", tol=1e-10)
    peer = Ridge(alpha=2.0).fit(X, targets.T)
    np.testing.assert_allclose(ridge.coef, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(ridge.bias, peer.intercept_, atol=1e-5)


def test_badly_scaled_features_and_bad_orders():
    X, targets, costs = problem(11, n=200)
    order = np.argsort(targets[0])
    X, targets, costs = X[order] * 10.0 ** np.arange(-3, 3), targets[:, order], costs[:, order]
    solution = solve_linear(X, targets, costs, tol=1e-6)
    assert (solution.gap <= 1e-6 * solution.objective).all()


def test_no_models_are_no_mistake():
    nothing = solve_linear(np.eye(3), np.empty((0, 3)))
    assert nothing.coef.shape == (0, 3)
    assert nothing.scores.shape == (0, 3)


def test_inputs_stay_as_they_are_and_may_come_in_any_form():
    X, targets, costs = problem(12)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    kept = [array.copy() for array in (X, targets, costs)]
    for loss in CLASSIFIERS:
        expected = solve_linear(X, targets, costs, loss)
        for form in (X.tolist(), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
            np.testing.assert_array_equal(
                solve_linear(np.asarray(form), targets, costs, loss).coef, expected.coef
            )
        narrow = solve_linear(sparse.csr_array(X), targets, costs, loss)
        for form in (wide, sparse.csc_array(X)):
            np.testing.assert_array_equal(solve_linear(form, targets, costs, loss).coef, narrow.coef)
    for array, before in zip((X, targets, costs), kept, strict=True):
        np.testing.assert_array_equal(array, before)
        array.flags.writeable = False
    solve_linear(X, targets, costs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": np.ones((1, 4))}, r"X has shape"),
        ({"C": -1.0}, "not negative"),
        ({"C": np.nan}, "finite"),
        ({"X": np.full((3, 3), np.nan)}, "NaN"),
    ],
)
def test_mistakes_are_named(change, message):
    arguments = {"X": np.eye(3), "targets": np.array([[1.0, -1.0, 1.0]])} | change
    with pytest.raises(ValueError, match=message):
        solve_linear(**arguments)


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_works_in_a_forked_process():
    X, targets, costs = problem(13)
    here = solve_linear(X, targets, costs, n_threads=2)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(solve_linear, (X, targets, costs), {"n_threads": 2}).get(timeout=60)
    np.testing.assert_array_equal(here.coef, there.coef)
