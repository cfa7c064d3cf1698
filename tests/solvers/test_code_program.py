import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlspl.solvers import solve_codes
from tests.naive import solvers as naive


def instances(rng, n, n_labels, m, **changes):
    """Programs whose answer is rarely a single prototype."""
    program = {
        "scores": rng.normal(size=(n, n_labels)),
        "targets": rng.choice([-1.0, 1.0], size=(n, n_labels)),
        "code_weights": rng.normal(size=(n_labels, m)),
        "distances": rng.random((n, m)),
        "label_weights": rng.random((n, n_labels)),
        "beta": 1.0,
    }
    return program | changes


def row(program, i):
    shared = {"code_weights", "beta"}
    return {name: value if name in shared else value[i] for name, value in program.items()}


def check_against_highs(program, rows=None):
    solution = solve_codes(**program)
    n, m = program["distances"].shape
    assert solution.codes.shape == (n, m)
    assert solution.codes.min() >= 0
    np.testing.assert_allclose(solution.codes.sum(axis=1), 1, atol=1e-12)
    for i in range(n) if rows is None else rows:
        reached = naive.code_objective(solution.codes[i], **row(program, i))
        expected = naive.solve_code(**row(program, i))
        assert reached == pytest.approx(expected, rel=1e-8, abs=1e-8)
        assert solution.objective[i] == pytest.approx(reached, rel=1e-10, abs=1e-10)
        assert solution.gap[i] <= 1e-9 * (1 + abs(expected))
    return solution


@pytest.mark.parametrize(
    ("n_labels", "m"), [(1, 1), (1, 6), (6, 1), (6, 15), (14, 15), (3, 40), (120, 20), (300, 5)]
)
@pytest.mark.parametrize("beta", [0.0, 0.3, 5.0])
def test_random_programs_equal_highs(n_labels, m, beta):
    rng = np.random.default_rng([n_labels, m])
    solution = check_against_highs(instances(rng, 6, n_labels, m, beta=beta))
    if beta == 0.3 and n_labels >= 6 and m >= 15:
        assert solution.iterations.max() > 0


def test_a_huge_beta_gives_the_nearest_prototype():
    program = instances(np.random.default_rng(0), 20, 6, 15, beta=1e6)
    solution = check_against_highs(program)
    np.testing.assert_array_equal(solution.codes.argmax(axis=1), program["distances"].argmin(axis=1))
    assert not solution.iterations.any()


def test_a_huge_beta_between_prototypes_at_equal_distance_lets_the_labels_decide():
    rng = np.random.default_rng(1)
    distances = rng.integers(0, 2, size=(20, 15)).astype(float)
    solution = check_against_highs(instances(rng, 20, 14, 15, distances=distances, beta=1e6))
    assert solution.iterations.max() > 0
    assert np.sum(solution.codes * distances) == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda rng, s: {"label_weights": np.zeros((8, 9))},
        lambda rng, s: {"label_weights": rng.integers(0, 2, size=(8, 9)).astype(float)},
        lambda rng, s: {"label_weights": 10.0 ** rng.integers(-12, 3, size=(8, 9))},
        lambda rng, s: {"code_weights": np.zeros((9, 7))},
        lambda rng, s: {"code_weights": np.repeat(rng.normal(size=(9, 1)), 7, axis=1)},
        lambda rng, s: {
            "code_weights": rng.integers(-1, 2, size=(9, 7)).astype(float),
            "scores": s["targets"],
        },
        lambda rng, s: {"distances": np.zeros((8, 7))},
        lambda rng, s: {"scores": s["targets"] * 1e3},
        lambda rng, s: {"scores": -s["targets"] * 1e3},
        # Where the margin is 1 at a vertex but for the tolerance of the SVM before.
        lambda rng, s: {"scores": s["targets"] - s["code_weights"][:, 0] + 1e-6 * rng.normal(size=(8, 9))},
    ],
    ids=["v=0", "v01", "v-spread", "w=0", "w-equal", "ties", "d=0", "easy", "hard", "margin-1"],
)
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_degenerate_programs_equal_highs(change, beta):
    rng = np.random.default_rng(3)
    program = instances(rng, 8, 9, 7, beta=beta)
    check_against_highs(program | change(rng, program))


def test_steps_of_length_zero_do_not_cycle():
    """Taking the steepest edge and nothing else, some of these programs go round in circles."""
    rng = np.random.default_rng(0)
    targets = rng.choice([-1.0, 1.0], size=(100, 400))
    program = {
        "targets": targets,
        "code_weights": rng.choice([-1.0, 0.0, 1.0], size=(400, 30), p=[0.2, 0.6, 0.2]),
        "distances": rng.choice([0.0, 0.25, 0.5], size=(100, 30)),
        "scores": targets * rng.choice([0.0, 1.0, 2.0], size=targets.shape),
        "label_weights": np.ones_like(targets),
        "beta": 1.0,
    }
    solution = solve_codes(**program)
    assert solution.iterations.max() < 1000
    assert solution.gap.max() <= 1e-9
    check_against_highs(program, rows=[solution.iterations.argmax()])


@pytest.mark.parametrize("exponent", range(-17, 1))
def test_ties_but_for_a_little_noise(exponent):
    """Margins of 1 up to noise of any size, as an SVM leaves them: hinges tie, or nearly do, at a corner."""
    rng = np.random.default_rng(exponent + 20)
    for n_labels, m in [(6, 8), (40, 15), (150, 8)]:
        program = instances(rng, 100, n_labels, m, beta=rng.choice([0.0, 1e-6, 1.0]))
        program["distances"] = rng.integers(0, 3, size=(100, m)) * 4.0
        if n_labels == 40:
            program["code_weights"] = np.round(program["code_weights"])
        noise = 10.0**exponent * rng.normal(size=(100, n_labels))
        program["scores"] = program["targets"] - program["code_weights"][:, 0] + noise
        solution = solve_codes(**program)
        assert solution.iterations.max() < 1000
        assert solution.gap.max() <= 1e-9 * n_labels


def test_a_slope_that_rounds_to_zero_ends_the_search():
    """Found by trying millions: whole-numbered hinges whose sums depend on their order in the last bit."""
    for seed in range(120, 180):
        rng = np.random.default_rng(seed)
        program = instances(rng, 200, 150, 2, beta=0.0, label_weights=np.ones((200, 150)))
        program["code_weights"] = rng.integers(-2, 3, size=(150, 2)).astype(float)
        assert solve_codes(**program).gap.max() <= 1e-9


def test_duplicate_prototypes_share_nothing_they_should_not():
    program = instances(np.random.default_rng(4), 10, 6, 5)
    twice = program | {
        "code_weights": np.tile(program["code_weights"], (1, 2)),
        "distances": np.tile(program["distances"], (1, 2)),
    }
    doubled = check_against_highs(twice)
    np.testing.assert_allclose(doubled.objective, solve_codes(**program).objective, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.0, 0.25, 3.0]))
def test_laws(seed, n_labels, m, beta):
    """The optimum ignores the prototypes' order and scales with the weights; no other point beats it."""
    rng = np.random.default_rng(seed)
    program = instances(rng, 3, n_labels, m, beta=beta)
    program["code_weights"] = np.round(program["code_weights"])
    program["distances"] = np.round(4 * program["distances"])
    solution = solve_codes(**program)
    assert solution.gap.max() <= 1e-10
    order = rng.permutation(m)
    shuffled = {
        "code_weights": program["code_weights"][:, order],
        "distances": program["distances"][:, order],
    }
    np.testing.assert_allclose(solve_codes(**program | shuffled).objective, solution.objective, atol=1e-9)
    scaled = {"label_weights": 7 * program["label_weights"], "beta": 7 * beta}
    np.testing.assert_allclose(solve_codes(**program | scaled).objective, 7 * solution.objective, atol=1e-9)
    for i in range(3):
        for q in [*np.eye(m), *rng.dirichlet(np.ones(m), size=5)]:
            assert solution.objective[i] <= naive.code_objective(q, **row(program, i)) + 1e-10


def test_running_out_of_steps_is_reported():
    program = instances(np.random.default_rng(5), 40, 30, 12, beta=0.1)
    full, cut = solve_codes(**program), solve_codes(**program, max_iter=1)
    unfinished = full.iterations > 1
    assert unfinished.sum() > 20
    assert (cut.iterations <= 1).all()
    assert (cut.gap[unfinished] > 1e-6).any()
    # What is reported is true: the code is feasible and at most `gap` above the optimum.
    np.testing.assert_allclose(cut.codes.sum(axis=1), 1, atol=1e-12)
    assert cut.codes.min() >= 0
    assert (cut.objective - full.objective >= -1e-12).all()
    assert (cut.objective - full.objective <= cut.gap + 1e-12).all()


def test_threads_and_chunks_change_nothing():
    program = instances(np.random.default_rng(6), 500, 20, 12)
    kept = {name: np.copy(value) for name, value in program.items()}
    one = solve_codes(**program)
    for n_threads in (2, 3):
        for a, b in zip(one, solve_codes(**program, n_threads=n_threads), strict=True):
            np.testing.assert_array_equal(a, b)
    for name, value in program.items():
        np.testing.assert_array_equal(value, kept[name])
    single = [solve_codes(**row(program, slice(i, i + 1))).codes[0] for i in range(50)]
    np.testing.assert_array_equal(single, one.codes[:50])


def test_no_rows():
    program = instances(np.random.default_rng(7), 0, 3, 2)
    assert solve_codes(**program).codes.shape == (0, 2)


def test_memory_order_and_type_of_the_input_do_not_matter():
    program = instances(np.random.default_rng(8), 30, 5, 4)
    other = {name: np.asfortranarray(value) for name, value in program.items() if name != "beta"}
    other["targets"] = program["targets"].astype(int)
    np.testing.assert_array_equal(solve_codes(**other, beta=1).codes, solve_codes(**program).codes)


@pytest.mark.parametrize("name", ["targets", "code_weights", "distances", "label_weights"])
def test_wrong_shapes_are_named(name):
    program = instances(np.random.default_rng(9), 4, 3, 2)
    with pytest.raises(ValueError, match=name):
        solve_codes(**program | {name: program[name][:-1]})


@pytest.mark.parametrize("name", ["scores", "targets", "code_weights", "distances", "label_weights"])
def test_missing_values_are_named(name):
    program = instances(np.random.default_rng(9), 4, 3, 2)
    program[name][1, 1] = np.nan
    with pytest.raises(ValueError, match=f"{name} holds NaN"):
        solve_codes(**program)


@pytest.mark.parametrize(
    "change", [{"label_weights": -np.ones((4, 3))}, {"beta": -1.0}, {"beta": np.nan}, {"beta": np.inf}]
)
def test_what_would_not_be_convex_or_bounded_is_refused(change):
    with pytest.raises(ValueError, match="negative"):
        solve_codes(**instances(np.random.default_rng(9), 4, 3, 2) | change)


@pytest.mark.parametrize("name", ["scene", "yeast", "emotions"])
def test_real_programs_equal_highs(data_home, name):
    """The Q step of ML-LOC's first iteration on real data, for β down to where codes do move."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    from mlspl.correlation import initial_codes, prototype_distances
    from mlspl.datasets import load_dataset

    data = load_dataset(name, data_home=data_home)
    rows = np.random.RandomState(0).permutation(len(data.Y))[:150]
    X, signs = np.asarray(data.X)[rows], np.where(np.asarray(data.Y)[rows] == 1, 1.0, -1.0)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    codes, prototypes = initial_codes(signs, 15, random_state=0)
    scores, code_weights = np.empty_like(signs), np.zeros((signs.shape[1], codes.shape[1]))
    for label, y in enumerate(signs.T):
        if abs(y.sum()) == len(y):
            scores[:, label] = y
            continue
        svm = SVC(C=0.5, kernel="precomputed").fit(K + codes @ codes.T, y)
        coef = svm.dual_coef_[0]
        code_weights[label] = coef @ codes[svm.support_]
        scores[:, label] = coef @ K[svm.support_] + svm.intercept_
    program = {
        "scores": scores,
        "targets": signs,
        "code_weights": code_weights,
        "distances": prototype_distances(signs, prototypes),
        "label_weights": np.ones_like(signs),
    }
    moved = 0
    for beta in (0.0, 0.01, 1.0, 100.0):
        solution = solve_codes(**program, beta=beta)
        assert solution.gap.max() <= 1e-9
        interesting = np.argsort(solution.iterations)[-8:]
        moved += solution.iterations.max()
        check_against_highs(program | {"beta": beta}, rows=interesting)
    assert moved > 0
