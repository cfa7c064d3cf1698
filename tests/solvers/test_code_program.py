import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlspl.solvers import code_program, solve_codes
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
    codes = solve_codes(**program)
    n, m = program["distances"].shape
    assert codes.shape == (n, m)
    assert codes.min() >= 0
    np.testing.assert_allclose(codes.sum(axis=1), 1, atol=1e-8)
    for i in range(n) if rows is None else rows:
        reached = naive.code_objective(codes[i], **row(program, i))
        assert reached == pytest.approx(naive.solve_code(**row(program, i)), rel=1e-8, abs=1e-8)
    return codes


def objectives(program):
    codes = solve_codes(**program)
    return np.array([naive.code_objective(q, **row(program, i)) for i, q in enumerate(codes)])


def is_vertex(codes):
    return codes.max(axis=1) == 1.0


@pytest.mark.parametrize(
    ("n_labels", "m"), [(1, 1), (1, 6), (6, 1), (6, 15), (14, 15), (3, 40), (120, 20), (300, 5)]
)
@pytest.mark.parametrize("beta", [0.0, 0.3, 5.0])
def test_random_programs_equal_highs(n_labels, m, beta):
    rng = np.random.default_rng([n_labels, m])
    codes = check_against_highs(instances(rng, 6, n_labels, m, beta=beta))
    if beta == 0.3 and n_labels >= 6 and m >= 15:
        assert not is_vertex(codes).all()


@pytest.mark.parametrize("seed", range(15))
def test_small_programs_equal_the_best_of_all_vertices(seed):
    """An oracle without a linear program: the best point where hinges and sides of the simplex meet."""
    rng = np.random.default_rng(seed)
    program = instances(rng, 1, rng.integers(1, 6), rng.integers(2, 5), beta=rng.choice([0.0, 0.2, 1.0]))
    one = row(program, 0)
    losses = (1.0 - one["targets"] * (one["scores"] + one["code_weights"].T)) * one["label_weights"]
    expected = naive.minimise_hinges(one["beta"] * one["distances"], losses, np.ones(losses.shape[1]))
    assert objectives(program)[0] == pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_a_huge_beta_gives_the_nearest_prototype(monkeypatch):
    program = instances(np.random.default_rng(0), 20, 6, 15, beta=1e6)
    monkeypatch.delattr(code_program, "linprog")  # settled without a program
    codes = check_against_highs(program)
    np.testing.assert_array_equal(codes, np.eye(15)[program["distances"].argmin(axis=1)])


def test_with_a_huge_beta_labels_decide_between_prototypes_at_equal_distance():
    rng = np.random.default_rng(1)
    distances = rng.integers(0, 2, size=(20, 15)).astype(float)
    codes = check_against_highs(instances(rng, 20, 14, 15, distances=distances, beta=1e6))
    assert not is_vertex(codes).all()
    assert np.sum(codes * distances) <= 1e-9


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


@pytest.mark.parametrize("exponent", range(-17, 1, 4))
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
        check_against_highs(program, rows=range(0, 100, 20))


def test_duplicate_prototypes_share_nothing_they_should_not():
    program = instances(np.random.default_rng(4), 10, 6, 5)
    twice = program | {
        "code_weights": np.tile(program["code_weights"], (1, 2)),
        "distances": np.tile(program["distances"], (1, 2)),
    }
    np.testing.assert_allclose(objectives(twice), objectives(program), atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 8), st.sampled_from([0.0, 0.25, 3.0]))
def test_laws(seed, n_labels, m, beta):
    """The optimum ignores the prototypes' order and scales with the weights; no other point beats it."""
    rng = np.random.default_rng(seed)
    program = instances(rng, 3, n_labels, m, beta=beta)
    program["code_weights"] = np.round(program["code_weights"])
    program["distances"] = np.round(4 * program["distances"])
    best = objectives(program)
    order = rng.permutation(m)
    shuffled = {
        "code_weights": program["code_weights"][:, order],
        "distances": program["distances"][:, order],
    }
    np.testing.assert_allclose(objectives(program | shuffled), best, atol=1e-8)
    scaled = {"label_weights": 7 * program["label_weights"], "beta": 7 * beta}
    np.testing.assert_allclose(objectives(program | scaled), 7 * best, atol=1e-8)
    for i in range(3):
        for q in [*np.eye(m), *rng.dirichlet(np.ones(m), size=5)]:
            assert best[i] <= naive.code_objective(q, **row(program, i)) + 1e-8


def test_chunks_change_no_objective_and_inputs_stay(monkeypatch):
    program = instances(np.random.default_rng(6), 200, 20, 12)
    kept = {name: np.copy(value) for name, value in program.items()}
    best = objectives(program)
    for name, value in program.items():
        np.testing.assert_array_equal(value, kept[name])
    monkeypatch.setattr(code_program, "_CHUNK_HINGES", 60)
    np.testing.assert_allclose(objectives(program), best, rtol=1e-8)


def test_no_rows():
    program = instances(np.random.default_rng(7), 0, 3, 2)
    assert solve_codes(**program).shape == (0, 2)


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
        codes = solve_codes(**program, beta=beta)
        interesting = np.argsort(codes.max(axis=1))[:8]
        moved += np.sum(~is_vertex(codes))
        check_against_highs(program | {"beta": beta}, rows=interesting)
    assert moved > 0
