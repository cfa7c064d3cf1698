"""Samples of rows in linear machines: they make the way shorter and leave its end where it is."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from mlspl.solvers import linear_newton, solve_linear
from mlspl.solvers.linear_rows import LANES, Rows
from mlspl.solvers.linear_samples import draw_rows, make_tickets
from tests.naive import solvers as naive


def rare_labels(n=3000, d=40, L=11, seed=0):
    """Sparse rows and labels of some .5 to 20 % of them, with costs that differ from pair to pair."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, d), density=0.2, format="csr", rng=rng)
    scores = X @ rng.normal(size=(d, L)) + 0.5 * rng.normal(size=(n, L))
    shares = np.geomspace(0.005, 0.2, L)
    targets = np.where(
        scores > [np.quantile(s, 1 - p) for s, p in zip(scores.T, shares, strict=True)], 1.0, -1.0
    )
    return X, targets.T, rng.uniform(0.5, 1.5, size=(L, n))


@pytest.fixture
def samples(monkeypatch):
    """Samples of a few hundred rows; the sizes of those that are taken."""
    monkeypatch.setattr(linear_newton, "_FEW_ROWS", 200)
    sizes, take = [], Rows.take
    monkeypatch.setattr(Rows, "take", lambda rows, numbers: sizes.append(len(numbers)) or take(rows, numbers))
    return sizes


@pytest.mark.parametrize(
    "form", [sparse.csr_array, lambda X: X.toarray(), lambda X: X.toarray().astype("f4")]
)
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_the_optimum_is_that_of_all_rows(loss, form, samples):
    X, targets, costs = rare_labels()
    solution = solve_linear(form(X), targets, 5.0 * costs, loss, tol=1e-5)
    assert bool(samples) == sparse.issparse(form(X))
    assert (solution.gap <= 1e-5 * solution.objective).all()
    X = form(X).astype(np.float64)
    for label in (0, 5, 10):
        if loss == "logistic":
            peer = LogisticRegression(C=5.0, solver="liblinear", tol=1e-9, max_iter=1000)
        else:
            peer = LinearSVC(C=5.0, loss=loss, tol=1e-8, max_iter=10**6, dual=False)
        peer.fit(X, targets[label], sample_weight=costs[label])
        weights = np.append(peer.coef_[0], peer.intercept_)
        least = naive.linear_objective(X, targets[label], 5.0 * costs[label], loss, weights)
        np.testing.assert_allclose(solution.objective[label], least, rtol=2e-5)


def test_a_start_far_away_ends_there_too(samples):
    X, targets, costs = rare_labels()
    cold = solve_linear(X, targets, costs, tol=1e-6)
    far = cold._replace(coef=-cold.coef, bias=cold.bias + 3.0)
    np.testing.assert_allclose(
        solve_linear(X, targets, costs, start=far, tol=1e-6).objective, cold.objective, rtol=2e-6
    )


def test_machines_do_not_depend_on_the_labels_beside_them(samples):
    """Bit for bit: a fit in blocks of labels, wherever they are solved, is the fit of all."""
    X, targets, costs = rare_labels()
    together = solve_linear(X, targets, 5.0 * costs)
    assert samples
    for labels in ([3], [10, 0, 6]):
        alone = solve_linear(X, targets[labels], 5.0 * costs[labels])
        np.testing.assert_array_equal(alone.coef, together.coef[labels])
        np.testing.assert_array_equal(alone.scores, together.scores[labels])


def test_draws_follow_the_sizes_and_count_for_the_others():
    rng = np.random.default_rng(0)
    sizes = rng.exponential(size=(20_000, LANES)) * (rng.random((20_000, LANES)) < 0.9)
    sizes[:5] = 1000.0
    drawn, chances, sure = draw_rows(sizes, np.full(LANES, 2000.0), make_tickets(20_000, LANES))
    expected = np.minimum(2000.0 * sizes / sizes.sum(axis=0), 1.0)
    taken = chances > 0
    np.testing.assert_allclose(chances[taken], expected[drawn][taken])
    assert np.array_equal(drawn[:5], np.arange(5))
    assert chances[:5].min() == 1.0
    np.testing.assert_allclose(sure, np.sum(sizes, axis=0, where=expected == 1.0) / sizes.sum(axis=0))
    # Independent draws would have a deviation of the square root of 1,600 at most, even tickets have less.
    np.testing.assert_allclose(taken.sum(axis=0), expected.sum(axis=0), atol=120)
    stands_for = np.divide(sizes[drawn], chances, out=np.zeros_like(chances), where=taken).sum(axis=0)
    np.testing.assert_allclose(stands_for, sizes.sum(axis=0), rtol=0.08)


def test_lanes_draw_for_themselves():
    rng = np.random.default_rng(1)
    sizes, tickets = rng.random((500, LANES)), make_tickets(500, LANES)
    drawn, chances, _ = draw_rows(-sizes, np.full(LANES, 50.0), tickets)
    only = np.zeros_like(sizes)
    only[:, 2] = sizes[:, 2]
    alone, chances_alone, _ = draw_rows(only, np.full(LANES, 50.0), tickets)
    np.testing.assert_array_equal(alone, drawn[chances[:, 2] > 0])
    np.testing.assert_array_equal(chances_alone[:, 2], chances[chances[:, 2] > 0, 2])
    assert not chances_alone[:, [0, 1, 3]].any()
