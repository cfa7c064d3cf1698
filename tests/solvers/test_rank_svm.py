"""The ranking SVM: its optimum against SLSQP and a bias-free SVM, and a gap that is a proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from mlspl.errors import UserError
from mlspl.solvers import solve_rank_svm
from tests.naive import solvers as naive


def problem(seed, n=12, L=4, C=1.0, kernel="rbf", d=2):
    """Rows in d dimensions, labels of all frequencies, costs of all sizes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    squares = np.sum((X[:, None] - X) ** 2, axis=-1)
    K = {"rbf": np.exp(-squares), "linear": X @ X.T, "cubic": (X @ X.T + 1.0) ** 3}[kernel]
    relevant = rng.random((n, L)) < rng.random(L)
    weight = np.sqrt(C) * rng.random((n, L)) * (rng.random((n, L)) < 0.9)
    return K, np.where(relevant, weight, -weight)


def check_certificate(K, signed_weight, solution, tol):
    """Everything the solver claims, recomputed pair by pair; returns the dual value."""
    pairs = naive.rank_svm_pairs(signed_weight)
    cost = np.array([pair[3] for pair in pairs])
    assert np.all(solution.alpha >= 0)
    assert np.all(solution.alpha <= cost)
    np.testing.assert_allclose(naive.rank_svm_coef(signed_weight, solution.alpha), solution.coef, atol=1e-12)
    np.testing.assert_allclose(K @ solution.coef + solution.bias, solution.scores, rtol=1e-9, atol=1e-8)
    biased = with_bias(K)
    np.testing.assert_allclose(biased @ solution.coef, solution.scores, rtol=1e-9, atol=1e-8)
    primal = naive.rank_svm_primal(biased, signed_weight, solution.coef)
    assert solution.objective == pytest.approx(primal, rel=1e-9, abs=1e-12)
    assert solution.dual_gap <= tol * solution.objective
    dual = naive.rank_svm_dual(biased, signed_weight, solution.alpha)
    assert primal - dual <= tol * primal + 1e-12 * (1.0 + cost.sum())


def with_bias(K):
    """The kernel with a constant feature, whose weight is the bias."""
    return K + np.median(K.diagonal())


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 20),
    L=st.integers(1, 7),
    log_C=st.floats(-5, 2),
    kernel=st.sampled_from(["rbf", "linear", "cubic"]),
    d=st.integers(1, 3),
)
def test_the_gap_is_met_and_is_a_proof(seed, n, L, log_C, kernel, d):
    K, signed_weight = problem(seed, n, L, 10.0**log_C, kernel, d)
    solution = solve_rank_svm(K, signed_weight, tol=1e-4, max_iter=200_000)
    check_certificate(K, signed_weight, solution, tol=1e-4)


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # of SciPy 1.14
@pytest.mark.parametrize("seed", range(8))
def test_optimum_equals_that_of_a_general_solver(seed):
    K, signed_weight = problem(seed, n=8, L=4, C=10.0)
    solution = solve_rank_svm(K, signed_weight, tol=1e-7)
    assert solution.objective == pytest.approx(naive.rank_svm_optimum(with_bias(K), signed_weight), rel=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_labels_are_a_linear_svm_of_twice_the_cost(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    sign = np.where(X[:, 0] + 0.8 * rng.standard_normal(60) > 0.3, 1.0, -1.0)
    K = X @ X.T
    solution = solve_rank_svm(K, np.sqrt(C) * np.column_stack([sign, -sign]), tol=1e-9, max_iter=10**6)
    # LIBLINEAR's bias is the weight of a constant feature, too.
    scale = np.sqrt(np.median(K.diagonal()))
    liblinear = LinearSVC(
        C=2 * C, loss="hinge", intercept_scaling=scale, tol=1e-9, max_iter=10**6, random_state=0
    ).fit(X, sign)
    np.testing.assert_allclose(
        solution.scores[:, 0] - solution.scores[:, 1], liblinear.decision_function(X), atol=2e-4
    )


def test_no_worse_than_fifty_linear_programs():
    """Frank-Wolfe has free biases, so its optimum, which lies between its dual and dual + gap, is lower."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 4))
    relevant = X @ rng.standard_normal((4, 5)) + rng.standard_normal((80, 5)) > 0.5
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=-1) / 4)
    size = np.maximum(relevant.sum(axis=1) * (~relevant).sum(axis=1), 1)
    signed_weight = np.where(relevant, 1.0, -1.0) / np.sqrt(size)[:, None]
    solution = solve_rank_svm(K, signed_weight, tol=1e-6)
    theirs, gap = naive.rank_svm_frank_wolfe(K, signed_weight)
    dual = naive.rank_svm_dual(K, signed_weight, theirs)
    half_squared_bias = np.sum(solution.bias**2) / 2
    assert dual <= solution.objective - half_squared_bias
    assert solution.objective <= dual + gap + half_squared_bias + 0.02 * solution.objective


def test_stopped_early_the_gap_still_bounds_the_distance():
    K, signed_weight = problem(5, n=20, L=5, C=50.0)
    optimum = solve_rank_svm(K, signed_weight, tol=1e-8).objective
    for max_iter in (1, 3, 10):
        early = solve_rank_svm(K, signed_weight, tol=1e-12, max_iter=max_iter)
        assert early.n_iter == max_iter
        assert optimum * (1 - 1e-7) <= early.objective <= optimum + early.dual_gap


def test_renaming_labels_and_rows_changes_nothing_else():
    K, signed_weight = problem(7, n=15, L=5)
    rows, labels = np.random.default_rng(0).permutation(15), np.array([3, 1, 4, 0, 2])
    plain = solve_rank_svm(K, signed_weight, tol=1e-9)
    renamed = solve_rank_svm(K[np.ix_(rows, rows)], signed_weight[np.ix_(rows, labels)], tol=1e-9)
    np.testing.assert_allclose(renamed.coef, plain.coef[np.ix_(rows, labels)], atol=1e-3)
    assert renamed.objective == pytest.approx(plain.objective, rel=1e-8)


def test_costs_too_small_for_a_float_are_no_costs():
    signed_weight = np.array([[1e-200, -1e-200], [-1.0, 1.0], [1.0, -1.0]])
    assert np.isfinite(solve_rank_svm(np.eye(3), signed_weight).scores).all()


def test_inputs_may_be_read_only_and_stay_as_they_are():
    K, signed_weight = problem(0)
    before = K.copy(), signed_weight.copy()
    K.setflags(write=False)
    signed_weight.setflags(write=False)
    solve_rank_svm(K, signed_weight)
    solve_rank_svm(np.asfortranarray(K), signed_weight)
    np.testing.assert_array_equal(K, before[0])
    np.testing.assert_array_equal(signed_weight, before[1])


def test_too_many_pairs_are_refused_before_they_are_listed():
    signed_weight = np.tile(np.where(np.arange(10_000) < 100, 1.0, -1.0), (50, 1))
    with pytest.raises(UserError, match="pairs"):
        solve_rank_svm(np.eye(50), signed_weight)
