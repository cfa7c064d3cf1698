import multiprocessing
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.preprocessing import StandardScaler

from mlspl.datasets import load_dataset
from mlspl.solvers import solve_svms
from tests.naive import solvers as naive

KERNELS = {
    "rbf": lambda X: rbf_kernel(X, gamma=1 / X.shape[1]),
    "linear": linear_kernel,
    "poly": lambda X: polynomial_kernel(X, degree=3, gamma=1 / X.shape[1]),
}


def problem(seed, n, n_labels, kernel="rbf", d=6):
    """Labels that a linear rule explains in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = np.where(X @ rng.normal(size=(d, n_labels)) + rng.normal(size=(n, n_labels)) > 0.5, 1.0, -1.0)
    return KERNELS[kernel](X), np.ascontiguousarray(Y.T)


@st.composite
def any_problem(draw):
    """Small problems of every kind: duplicates, kernel rows of zeros, costs of zero, constant labels."""
    n, n_labels, d = draw(st.integers(1, 70)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(-2, 3, size=(n, d)) * draw(st.sampled_from([0.1, 1.0, 3.0]))
    Y = np.where(rng.random((n_labels, n)) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])), 1.0, -1.0)
    costs = rng.random((n_labels, n)) * draw(st.sampled_from([0.01, 1.0, 50.0]))
    costs[rng.random(costs.shape) < draw(st.sampled_from([0.0, 0.5, 0.9]))] = 0.0
    kernel = draw(st.sampled_from(list(KERNELS)))
    return KERNELS[kernel](X), Y, costs


@settings(max_examples=150, deadline=None)
@given(any_problem())
def test_solution_meets_the_optimality_conditions(drawn):
    K, Y, costs = drawn
    tol = 1e-5
    solution = solve_svms(K, Y, costs, tol=tol)
    assert (solution.violation <= tol).all()
    size = 1 + np.abs(K).max() * costs.sum()
    for label, (y, cost, alpha) in enumerate(zip(Y, costs, Y * solution.coef, strict=True)):
        assert ((alpha >= 0) & (alpha <= cost)).all()
        assert abs(alpha @ y) <= 1e-12 * (1 + alpha.sum())
        if len(np.unique(y[cost > 0])) < 2:
            continue
        np.testing.assert_allclose(
            solution.scores[label], K @ (alpha * y) + solution.bias[label], atol=1e-13 * size
        )
        _, breach = naive.svm_primal(K, y, cost, alpha, solution.bias[label])
        assert breach <= tol + 1e-13 * size


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_same_optimum_as_a_general_purpose_optimiser(kernel):
    K, Y = problem(1, 20, 3, kernel)
    costs = np.random.default_rng(2).choice([0.0, 0.1, 1.0, 10.0], size=Y.shape)
    solution = solve_svms(K, Y, costs, tol=1e-9)
    expected = [naive.svm_dual(K, y, cost) for y, cost in zip(Y, costs, strict=True)]
    primal, dual = naive.svm_objectives(K, Y, costs, solution)
    np.testing.assert_allclose(dual, expected, rtol=1e-8)
    np.testing.assert_allclose(primal, expected, rtol=1e-6)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_same_optimum_as_libsvm(kernel, C):
    # More features than rows: else LIBSVM itself takes very long on the linear kernel.
    K, Y = problem(3, 90, 4, kernel, d=120)
    costs = C * np.random.default_rng(4).random(Y.shape)
    costs[:, ::7] = 0.0
    ours, theirs = solve_svms(K, Y, costs, tol=1e-7), naive.svm_libsvm(K, Y, costs, tol=1e-7)
    (primal, dual), (their_primal, their_dual) = (
        naive.svm_objectives(K, Y, costs, each) for each in (ours, theirs)
    )
    np.testing.assert_allclose(dual, their_dual, rtol=1e-6)
    # LIBSVM keeps its kernel in single precision, so its own primal objective and scores are less exact.
    assert (primal <= their_primal * (1 + 1e-6)).all()
    assert (primal - dual <= 1e-7 * costs.sum(axis=1)).all()
    np.testing.assert_allclose(ours.scores, theirs.scores, atol=2e-5)


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_as_close_to_libsvm_as_the_tolerance_asked(kernel):
    K, Y = problem(5, 150, 5, kernel, d=200)
    ours, theirs = solve_svms(K, Y, 1.0, tol=1e-3), naive.svm_libsvm(K, Y, 1.0, tol=1e-3)
    assert ours.violation.max() <= 1e-3
    np.testing.assert_allclose(ours.scores, theirs.scores, atol=3e-3)
    duals = [naive.svm_objectives(K, Y, 1.0, each)[1] for each in (ours, theirs)]
    np.testing.assert_allclose(*duals, rtol=1e-4)


@pytest.mark.parametrize(("name", "share"), [("scene", 0.3), ("emotions", 0.5), ("flags", 0.5)])
def test_same_optimum_as_libsvm_on_real_data(data_home, name, share):
    data = load_dataset(name, data_home=data_home)
    rows = np.random.RandomState(0).permutation(len(data.Y))[: int(share * len(data.Y))]
    X = StandardScaler().fit_transform(data.X[rows])
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    Y = np.where(np.asarray(data.Y)[rows].T == 1, 1.0, -1.0)
    for C in (0.1, 10.0):
        ours, theirs = solve_svms(K, Y, C, tol=1e-6), naive.svm_libsvm(K, Y, C, tol=1e-6)
        duals = [naive.svm_objectives(K, Y, C, each)[1] for each in (ours, theirs)]
        np.testing.assert_allclose(*duals, rtol=1e-6)
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=2e-5)


def test_costs_of_zero_are_the_same_as_rows_left_out():
    K, Y = problem(6, 80, 3)
    costs = np.where(np.arange(80) % 3 == 0, 0.0, 2.0)
    kept = np.flatnonzero(costs)
    whole = solve_svms(K, Y, costs, tol=1e-9)
    part = solve_svms(K[np.ix_(kept, kept)], Y[:, kept], 2.0, tol=1e-9)
    np.testing.assert_allclose(whole.scores[:, kept], part.scores, atol=1e-7)
    assert not whole.coef[:, costs == 0].any()


def test_a_missing_class_gives_the_other_and_no_weight_gives_zero():
    K, Y = problem(7, 30, 5)
    Y[0], Y[1] = 1.0, -1.0
    costs = np.ones(Y.shape)
    costs[2][Y[2] > 0] = 0.0
    costs[3][Y[3] < 0] = 0.0
    costs[4] = 0.0
    # A start that the new costs forbid must not linger.
    solution = solve_svms(K, Y, costs, start=Y * np.inf)
    assert not solution.coef.any()
    np.testing.assert_array_equal(solution.bias, [1, -1, -1, 1, 0])
    np.testing.assert_array_equal(solution.scores, np.repeat(solution.bias[:, None], 30, axis=1))
    for zero in (solution.violation, solution.n_iter):
        np.testing.assert_array_equal(zero, 0)


def test_rounding_makes_no_variable_free():
    """0.1 + 0.2 is not 0.3: the rest, 5e-17, is no free variable that would set the intercept."""
    costs = np.array([[0.1, 0.2, 0.3]])
    Y = np.array([[1.0, 1.0, -1.0]])
    for start in (None, Y * costs, Y * costs * (1 - 1e-16)):
        solution = solve_svms(np.eye(3), Y, costs, start=start)
        np.testing.assert_allclose(solution.coef, Y * costs, rtol=1e-12)
        # Scores within the margins leave the intercept between -0.7 and 0.8.
        np.testing.assert_allclose(solution.bias, 0.05, atol=1e-12)


def test_smallest_problems():
    one = solve_svms(np.zeros((1, 1)), np.array([[-1.0]]))
    assert one.bias[0] == one.scores[0, 0] == -1
    nothing_to_learn_from = solve_svms(np.zeros((2, 2)), np.array([[1.0, -1.0]]), C=3.0)
    np.testing.assert_array_equal(nothing_to_learn_from.coef, [[3, -3]])
    assert solve_svms(np.eye(3), np.empty((0, 3))).coef.shape == (0, 3)
    assert solve_svms(np.empty((0, 0)), np.empty((2, 0))).bias.tolist() == [0, 0]


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_contradicting_duplicates_cost_little(C):
    # Only a second-order rule sees that a duplicate with the other label is the partner to move with.
    rng = np.random.default_rng(8)
    X = np.repeat(rng.normal(size=(50, 5)), 4, axis=0)
    Y = np.where(rng.random((3, 200)) < 0.5, 1.0, -1.0)
    K = rbf_kernel(X, gamma=0.2)
    ours, theirs = solve_svms(K, Y, C), naive.svm_libsvm(K, Y, C)
    assert (ours.violation <= 1e-3).all()
    duals = [naive.svm_objectives(K, Y, C, each)[1] for each in (ours, theirs)]
    np.testing.assert_allclose(*duals, rtol=1e-5)
    assert (ours.n_iter <= 6 * theirs.n_iter).all()


def test_indefinite_kernels_reach_a_stationary_point():
    rng = np.random.default_rng(9)
    K = sigmoid_kernel(rng.normal(size=(60, 5)), gamma=1.0, coef0=-1.0)
    assert np.linalg.eigvalsh(K)[0] < -1
    Y = np.where(rng.random((4, 60)) < 0.5, 1.0, -1.0)
    solution = solve_svms(K, Y, 10.0)
    assert (solution.violation <= 1e-3).all()
    assert ((Y * solution.coef >= 0) & (Y * solution.coef <= 10)).all()


def test_a_warm_start_changes_the_way_not_the_end():
    K, Y = problem(10, 120, 3)
    rng = np.random.default_rng(11)
    first = solve_svms(K, Y, 1.0)
    costs = rng.random(Y.shape) * 2
    costs[:, :10] = 0.0
    cold = solve_svms(K, Y, costs, tol=1e-9)
    starts = [first.coef, cold.coef, rng.normal(size=Y.shape), Y * np.inf]
    for start in starts:
        warm = solve_svms(K, Y, costs, start=start, tol=1e-9)
        np.testing.assert_allclose(warm.scores, cold.scores, atol=1e-7)
        assert np.abs(warm.coef.sum(axis=1)).max() < 1e-12
    assert solve_svms(K, Y, costs, start=cold.coef, tol=1e-8).n_iter.sum() == 0


def test_a_warm_start_saves_steps():
    K, Y = problem(12, 300, 4)
    first = solve_svms(K, Y, 1.0)
    weights = 2 / (1 + np.exp(np.maximum(0, 1 - Y * first.scores)))
    cold = solve_svms(K, Y, weights)
    warm = solve_svms(K, Y, weights, start=np.where(np.abs(first.coef) == 1.0, Y * np.inf, first.coef))
    assert warm.n_iter.sum() < 0.75 * cold.n_iter.sum()


def test_threads_do_not_change_a_bit():
    K, Y = problem(13, 300, 9)  # more rows than are solved without threads
    costs = np.random.default_rng(14).random(Y.shape) * 5
    one = solve_svms(K, Y, costs, n_threads=1)
    for n_threads in (2, 5):
        many = solve_svms(K, Y, costs, n_threads=n_threads)
        for ours, theirs in zip(one, many, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_inputs_stay_as_they_are_and_may_come_in_any_form():
    K, Y = problem(15, 60, 3)
    costs = np.random.default_rng(16).random(Y.shape)
    start = Y * np.inf
    kept = [array.copy() for array in (K, Y, costs, start)]
    expected = solve_svms(K, Y, costs, start=start)
    for array, before in zip((K, Y, costs, start), kept, strict=True):
        np.testing.assert_array_equal(array, before)
        assert array.flags.writeable
        array.flags.writeable = False
    for given_K, given_Y, given_costs in [
        (K, Y, costs),
        (np.asfortranarray(K), Y.astype(np.int8), np.asfortranarray(costs)),
        (np.repeat(K, 2, axis=1)[:, ::2], Y.tolist(), costs.tolist()),
    ]:
        solution = solve_svms(given_K, given_Y, given_costs, start=start)
        np.testing.assert_array_equal(solution.coef, expected.coef)
    np.testing.assert_array_equal(
        solve_svms(K, Y, np.ones((3, 1)) * 2).coef, solve_svms(K, Y, np.full(60, 2.0)).coef
    )


def test_running_out_of_steps_is_reported():
    K, Y = problem(17, 100, 2)
    solution = solve_svms(K, Y, 10.0, tol=1e-6, max_iter=20)
    assert (solution.n_iter <= 20).all()
    assert (solution.violation > 1e-3).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [(3, 3), (3, slice(None))])
def test_kernels_that_are_not_finite_are_refused(bad, where):
    K, Y = problem(18, 40, 2)
    K[where] = bad
    with pytest.raises(ValueError, match="NaN or infinite"):
        solve_svms(np.maximum(K, K.T) if bad > 0 else np.minimum(K, K.T), Y, 10.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": np.eye(4)}, "K has shape"),
        ({"Y": np.array([1.0, -1.0, 1.0])}, "one row"),
        ({"C": -1.0}, "not negative"),
        ({"C": np.inf}, "finite"),
        ({"C": [[1.0, np.nan, 1.0]]}, "finite"),
    ],
)
def test_mistakes_are_named(change, message):
    arguments = {"K": np.eye(3), "Y": np.array([[1.0, -1.0, 1.0]])} | change
    with pytest.raises(ValueError, match=message):
        solve_svms(**arguments)


@pytest.mark.skipif(sys.platform != "linux", reason="forks")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_works_in_a_forked_process():
    K, Y = problem(19, 300, 4)
    here = solve_svms(K, Y, n_threads=2)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        there = pool.apply_async(solve_svms, (K, Y), {"n_threads": 2}).get(timeout=60)
    np.testing.assert_array_equal(here.coef, there.coef)


ENDLESS = """
import threading
import numpy as np
from mlspl.solvers import solve_svms
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 3))
Y = np.where(rng.random((2, 600)) < 0.5, 1.0, -1.0)
solve_svms(np.eye(2), np.array([[1.0, -1.0]]))
for n_threads in (1, 2):
    print("ready", flush=True)
    try:
        solve_svms(X @ X.T, Y, 1e12, tol=1e-9, max_iter=10**15, n_threads=n_threads)
    except KeyboardInterrupt:
        print("stopped", threading.active_count(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_the_search_and_leaves_no_thread():
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as process:
        try:
            for _ in range(2):
                assert process.stdout.readline() == "ready\n"
                with pytest.raises(subprocess.TimeoutExpired):
                    process.wait(timeout=0.5)
                process.send_signal(signal.SIGINT)
                assert process.stdout.readline() == "stopped 1\n"
        finally:
            process.kill()
