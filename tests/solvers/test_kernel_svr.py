import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVR

from mlspl.solvers import smo, solve_svrs
from tests.naive import solvers as naive

KERNELS = {
    "rbf": lambda X: rbf_kernel(X, gamma=1 / X.shape[1]),
    "linear": linear_kernel,
    "poly": lambda X: polynomial_kernel(X, degree=3, gamma=1 / X.shape[1]),
}


def problem(seed, n, m, kernel="rbf", d=5):
    """A kernel matrix, and cluster indicators and noise as targets."""
    rng = np.random.default_rng(seed)
    K = KERNELS[kernel](rng.normal(size=(n, d)))
    targets = np.eye(m)[rng.integers(0, m, size=n)].T
    targets[m // 2 :] += rng.normal(size=(m - m // 2, n))
    return K, targets


def libsvm(K, target, C, epsilon, tol, sample_weight=None):
    model = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=tol, cache_size=50)
    model.fit(K, target, sample_weight=sample_weight)
    coef = np.zeros(len(K))
    coef[model.support_] = model.dual_coef_[0]
    return coef, model.predict(K)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_same_optimum_as_libsvm(kernel, C, epsilon):
    # With fewer features than rows, LIBSVM itself does not end on the linear kernel at this tolerance.
    K, targets = problem(0, 50, 4, kernel, d=60)
    tol = 1e-7
    solution = solve_svrs(K, targets, C, epsilon, tol=tol)
    assert solution.violation.max() <= tol
    for j, target in enumerate(targets):
        coef, predicted = libsvm(K, target, C, epsilon, tol)
        optimum = naive.svr_objective(coef, K, target, epsilon)
        ours = naive.svr_objective(solution.coef[j], K, target, epsilon)
        assert ours == pytest.approx(optimum, rel=1e-6, abs=1e-9)
        fitted = K @ solution.coef[j] + solution.bias[j]
        np.testing.assert_allclose(solution.scores[j], fitted, atol=1e-9)
        if kernel == "rbf":
            # A strictly convex problem: the regression itself is unique, not only its objective.
            np.testing.assert_allclose(fitted, predicted, atol=1e-5)


def test_the_default_tolerance_is_libsvms():
    K, targets = problem(1, 200, 6)
    solution = solve_svrs(K, targets)
    for j, target in enumerate(targets):
        _, predicted = libsvm(K, target, 1.0, 0.1, 1e-3)
        assert np.abs(solution.scores[j] - predicted).max() < 5e-3


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 25),
    C=st.sampled_from([0.01, 1.0, 100.0]),
    epsilon=st.sampled_from([0.0, 0.1, 2.0]),
    duplicates=st.booleans(),
)
def test_optimality_conditions_hold(seed, n, C, epsilon, duplicates):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if duplicates:
        X = X[rng.integers(0, n, size=n)]
    K, targets = rbf_kernel(X), np.vstack([rng.normal(size=n), rng.integers(0, 2, size=n), np.ones(n)])
    costs = C * rng.integers(0, 3, size=(3, n))
    solution = solve_svrs(K, targets, costs, epsilon, tol=1e-6)
    assert (np.abs(solution.coef) <= costs).all()
    np.testing.assert_allclose(solution.coef.sum(axis=1), 0, atol=1e-9 * C)
    for coef, target, cost, reported in zip(solution.coef, targets, costs, solution.violation, strict=True):
        violation = naive.svr_violation(coef, K, target, cost, epsilon)
        assert violation <= 1e-6 + 1e-10 * C * n
        assert reported == pytest.approx(violation, abs=1e-10 * C * n)


@settings(max_examples=200, deadline=None)
@given(st.tuples(*[st.floats(-1, 1)] * 3), st.floats(0.05, 4), st.floats(0.001, 0.6), st.floats(0.2, 1))
def test_a_pair_moves_to_its_exact_minimum(values, curvature, epsilon, cost):
    """Compared on a fine grid: the objective along β_i + t, β_j − t, with its kinks where either passes 0."""
    slope, b_i, b_j = values
    b_i, b_j = np.clip([b_i, b_j], -cost, cost)

    def along(t):
        return slope * t + curvature * t**2 / 2 + epsilon * (np.abs(b_i + t) + np.abs(b_j - t))

    grid = np.linspace(0, min(cost - b_i, b_j + cost), 2001)
    # The slope the solver sees is that of all the objective at t = 0, its kinks included.
    right = slope + epsilon * (1 if b_i >= 0 else -1) - epsilon * (1 if b_j > 0 else -1)
    if right < 0:
        step = smo._step_length(-right, curvature, b_i, b_j, cost, -cost, epsilon)
        assert -1e-12 <= step <= grid[-1] + 1e-12
        assert along(step) <= along(grid).min() + 1e-12


def test_costs_per_instance_are_libsvms_sample_weights():
    K, targets = problem(2, 50, 4)
    costs = np.random.default_rng(2).random((4, 50)) + 0.05
    solution = solve_svrs(K, targets, 2.0 * costs, tol=1e-7)
    for j, target in enumerate(targets):
        _, predicted = libsvm(K, target, 2.0, 0.1, 1e-7, sample_weight=costs[j])
        np.testing.assert_allclose(solution.scores[j], predicted, atol=1e-5)


def test_an_instance_of_cost_0_is_held_out_and_predicted():
    K, targets = problem(3, 60, 4)
    train, test = np.arange(0, 45), np.arange(45, 60)
    costs = np.repeat([1.0, 0.0], [45, 15])
    solution = solve_svrs(K, targets, costs, tol=1e-7)
    alone = solve_svrs(K[:45, :45], targets[:, :45], 1.0, tol=1e-7)
    assert not solution.coef[:, test].any()
    np.testing.assert_allclose(solution.coef[:, train], alone.coef, atol=1e-5)
    predicted = alone.coef @ K[np.ix_(train, test)] + alone.bias[:, None]
    np.testing.assert_allclose(solution.scores[:, test], predicted, atol=1e-5)


def test_a_start_at_the_solution_ends_at_once():
    K, targets = problem(4, 120, 5)
    cold = solve_svrs(K, targets, tol=1e-5)
    warm = solve_svrs(K, targets, start=cold.coef, tol=1e-5)
    assert not warm.n_iter.any()
    np.testing.assert_allclose(warm.scores, cold.scores, atol=1e-9)


def test_a_start_nearby_saves_work_and_one_outside_the_box_does_no_harm():
    K, targets = problem(5, 150, 5)
    cold = solve_svrs(K, targets, tol=1e-6)
    near = solve_svrs(K, targets + 0.01, start=cold.coef, tol=1e-6)
    assert near.n_iter.sum() < cold.n_iter.sum() / 2
    start = 100 * np.random.default_rng(5).normal(size=cold.coef.shape)
    wild = solve_svrs(K, targets, start=start, tol=1e-6)
    np.testing.assert_allclose(wild.scores, cold.scores, atol=1e-5)
    np.testing.assert_allclose(wild.coef.sum(axis=1), 0, atol=1e-9)


def test_constant_targets_are_met_by_the_bias():
    K, _ = problem(6, 30, 2)
    solution = solve_svrs(K, np.array([np.ones(30), np.zeros(30), np.full(30, -7.5)]))
    assert not solution.coef.any()
    np.testing.assert_allclose(solution.bias, [1.0, 0.0, -7.5], atol=1e-12)


@pytest.mark.parametrize("K", [np.ones((1, 1)), np.zeros((3, 3)), np.ones((4, 4))])
def test_tiny_and_flat_kernels(K):
    target = np.arange(float(len(K)))
    solution = solve_svrs(K, target[None, :])
    assert solution.violation[0] <= 1e-3
    _, predicted = libsvm(K, target, 1.0, 0.1, 1e-3)
    np.testing.assert_allclose(solution.scores[0], predicted, atol=5e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rounding_makes_no_coefficient_free(sign):
    """Targets that are all 0 leave the intercept anywhere in the tube; the start does not choose."""
    start = sign * np.array([[0.1, 0.2, -0.3]])  # which do not sum to 0
    solution = solve_svrs(np.eye(3), np.zeros((1, 3)), 1.0, 0.1, start=start)
    np.testing.assert_allclose(solution.coef, 0, atol=1e-12)
    np.testing.assert_allclose(solution.bias, 0, atol=1e-12)


def test_nothing_to_learn_from_and_nothing_to_learn():
    K, targets = problem(7, 10, 2)
    solution = solve_svrs(K, targets, C=0.0)
    np.testing.assert_array_equal(solution.scores, 0)
    np.testing.assert_array_equal(solution.violation, 0)
    assert solve_svrs(K, targets[:0]).coef.shape == (0, 10)


def test_running_out_of_steps_is_reported():
    K, targets = problem(8, 100, 3)
    solution = solve_svrs(K, targets, tol=1e-9, max_iter=5)
    assert (solution.n_iter == 5).all()
    assert (solution.violation > 1e-9).all()
    for coef, target, violation in zip(solution.coef, targets, solution.violation, strict=True):
        assert violation == pytest.approx(naive.svr_violation(coef, K, target, np.ones(100), 0.1))


def test_threads_change_nothing_and_inputs_stay():
    K, targets = problem(9, 90, 7)
    start = np.random.default_rng(9).normal(size=targets.shape)
    kept = K.copy(), targets.copy(), start.copy()
    one, three = (solve_svrs(K, targets, start=start, n_threads=t) for t in (1, 3))
    for ours, theirs in zip(one, three, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for array, before in zip((K, targets, start), kept, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda K, T: (K[:-1], T, 1.0), "K has shape"),
        (lambda K, T: (K * np.nan, T, 1.0), "NaN"),
        (lambda K, T: (K, T * np.inf, 1.0), "NaN"),
        (lambda K, T: (K, T, -1.0), "negative"),
        (lambda K, T: (K, T, np.nan), "negative"),
    ],
)
def test_wrong_input_is_refused(change, message):
    K, targets = problem(10, 12, 2)
    with np.errstate(invalid="ignore"):
        K, targets, C = change(K, targets)
    with pytest.raises(ValueError, match=message):
        solve_svrs(K, targets, C)


def test_real_codes_equal_libsvm(data_home):
    from mlspl.correlation import initial_codes
    from mlspl.datasets import load_dataset

    data = load_dataset("emotions", data_home=data_home)
    X = np.asarray(data.X)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    codes, _ = initial_codes(np.where(np.asarray(data.Y) == 1, 1.0, -1.0), 15, random_state=0)
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    solution = solve_svrs(K, codes.T, tol=1e-6, n_threads=2)
    for j, target in enumerate(codes.T):
        coef, predicted = libsvm(K, target, 1.0, 0.1, 1e-6)
        ours, theirs = (naive.svr_objective(c, K, target, 0.1) for c in (solution.coef[j], coef))
        assert ours == pytest.approx(theirs, rel=1e-6)
        np.testing.assert_allclose(solution.scores[j], predicted, atol=1e-5)
