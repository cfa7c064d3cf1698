"""The ranking SVM: its optimum against LIBSVM, SLSQP and HiGHS, and a gap that is a proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from mlspl.errors import UserError
from mlspl.solvers import label_pairs, solve_rank_svm
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
    np.testing.assert_allclose(K @ solution.coef + solution.bias, solution.scores, rtol=1e-9, atol=1e-9)
    primal = naive.rank_svm_primal(K, signed_weight, solution.coef, solution.bias)
    assert solution.objective == pytest.approx(primal, rel=1e-9, abs=1e-12)
    assert solution.dual_gap <= tol * solution.objective
    np.testing.assert_allclose(solution.coef.sum(axis=0), 0.0, atol=1e-10 * (1.0 + cost.sum()))
    dual = naive.rank_svm_dual(K, signed_weight, solution.alpha)
    assert primal - dual <= tol * primal + 1e-12 * (1.0 + cost.sum())
    return dual


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 20),
    L=st.integers(1, 7),
    log_C=st.floats(-5, 3),
    kernel=st.sampled_from(["rbf", "linear", "cubic"]),
    d=st.integers(1, 3),
)
def test_the_gap_is_met_and_is_a_proof(seed, n, L, log_C, kernel, d):
    K, signed_weight = problem(seed, n, L, 10.0**log_C, kernel, d)
    check_certificate(K, signed_weight, solve_rank_svm(K, signed_weight, tol=1e-5), tol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_optimum_equals_that_of_a_general_solver(seed):
    K, signed_weight = problem(seed, n=8, L=4, C=10.0)
    solution = solve_rank_svm(K, signed_weight, tol=1e-7)
    assert solution.objective == pytest.approx(naive.rank_svm_optimum(K, signed_weight), rel=1e-6)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_labels_are_an_ordinary_svm_of_twice_the_cost(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    sign = np.where(X[:, 0] + 0.8 * rng.standard_normal(60) > 0.3, 1.0, -1.0)
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=-1) / 3)
    solution = solve_rank_svm(K, np.sqrt(C) * np.column_stack([sign, -sign]), tol=1e-9)
    libsvm = SVC(C=2 * C, kernel="precomputed", tol=1e-9).fit(K, sign)
    np.testing.assert_allclose(
        solution.scores[:, 0] - solution.scores[:, 1], libsvm.decision_function(K), atol=2e-4
    )


def test_no_worse_than_fifty_linear_programs():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 4))
    relevant = X @ rng.standard_normal((4, 5)) + rng.standard_normal((80, 5)) > 0.5
    K = np.exp(-np.sum((X[:, None] - X) ** 2, axis=-1) / 4)
    size = np.maximum(relevant.sum(axis=1) * (~relevant).sum(axis=1), 1)
    signed_weight = np.where(relevant, 1.0, -1.0) / np.sqrt(size)[:, None]
    solution = solve_rank_svm(K, signed_weight, tol=1e-6)
    theirs, gap = naive.rank_svm_frank_wolfe(K, signed_weight)
    dual = naive.rank_svm_dual(K, signed_weight, theirs)
    assert dual <= solution.objective <= dual + gap
    assert solution.dual_gap < gap
    # Our bias is as good as the best bias for our w, which a linear program finds.
    assert solution.objective - best_primal_over_bias(K, signed_weight, solution) <= 1e-6 * solution.objective


def best_primal_over_bias(K, signed_weight, solution):
    from scipy.optimize import linprog

    pairs = naive.rank_svm_pairs(signed_weight)
    L, F = signed_weight.shape[1], K @ solution.coef
    rows = np.zeros((len(pairs), L + len(pairs)))
    for k, (_, p, q, _) in enumerate(pairs):
        rows[k, p], rows[k, q], rows[k, L + k] = -1.0, 1.0, -1.0
    found = linprog(
        np.concatenate([np.zeros(L), [c for *_, c in pairs]]),
        A_ub=rows,
        b_ub=[F[i, p] - F[i, q] - 1.0 for i, p, q, _ in pairs],
        bounds=[(None, None)] * L + [(0, None)] * len(pairs),
    )
    return 0.5 * np.sum(solution.coef * F) + found.fun


def test_a_frequent_label_above_a_rare_one_needs_no_vectors():
    # Always 0 before 1 and 1 before 2: nothing flows back, so the biases alone satisfy every pair.
    signed_weight = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]])
    solution = solve_rank_svm(np.eye(3), signed_weight)
    assert solution.objective == solution.dual_gap == 0.0
    assert not solution.coef.any()
    assert np.all(-np.diff(solution.bias) >= 1.0)
    assert solution.bias.mean() == pytest.approx(0.0, abs=1e-12)


def test_labels_on_no_common_cycle_do_not_disturb_the_others():
    K, signed_weight = problem(10, n=15, L=3)
    assert np.all((signed_weight > 0).any(axis=0) & (signed_weight < 0).any(axis=0))
    always, never = np.ones((15, 1)), -np.ones((15, 1))
    alone = solve_rank_svm(K, signed_weight, tol=1e-8)
    among = solve_rank_svm(K, np.hstack([always, signed_weight, never]), tol=1e-8)
    assert among.objective == pytest.approx(alone.objective, rel=1e-7)
    np.testing.assert_allclose(among.coef[:, 1:-1], alone.coef, atol=1e-3)
    top, middle, bottom = among.scores[:, :1], among.scores[:, 1:-1], among.scores[:, -1:]
    assert np.all((top - middle)[signed_weight < 0] >= 1.0)
    assert np.all((middle - bottom)[signed_weight > 0] >= 1.0)


@pytest.mark.parametrize(("n", "d", "C", "kernel"), [(16, 1, 600.0, "cubic"), (19, 2, 700.0, "linear")])
def test_low_rank_and_high_cost_still_converge(n, d, C, kernel):
    # Sweeps without conjugate gradients need tens of thousands here.
    for seed in range(5):
        K, signed_weight = problem(seed, n, 6, C, kernel, d)
        solution = solve_rank_svm(K, signed_weight, tol=1e-6, max_iter=3000)
        check_certificate(K, signed_weight, solution, tol=1e-6)


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


def test_pairs_are_those_of_the_triple_loop():
    _, signed_weight = problem(2, n=10, L=5)
    pairs = label_pairs(signed_weight)
    assert list(zip(*pairs, strict=True)) == naive.rank_svm_pairs(signed_weight)


def test_costs_too_small_for_a_float_are_no_costs():
    signed_weight = np.array([[1e-200, -1e-200], [-1.0, 1.0], [1.0, -1.0]])
    assert label_pairs(signed_weight).row.tolist() == [1, 2]
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
