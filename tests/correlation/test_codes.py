import numpy as np
import pytest

from mlspl.correlation import initial_codes, prototype_distances, prototype_means
from mlspl.solvers import solve_codes
from tests.naive import correlation as naive_correlation
from tests.naive import solvers as naive_solvers


def state(seed, n=60, n_labels=8, m=6):
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=(n, n_labels))
    codes, prototypes = initial_codes(signs, m, random_state=seed)
    return {
        "scores": rng.normal(size=(n, n_labels)),
        "signs": signs,
        "code_weights": rng.normal(size=(n_labels, codes.shape[1])),
        "prototypes": prototypes,
        "label_weights": rng.random((n, n_labels)),
    }, codes


def update_codes(scores, signs, code_weights, prototypes, label_weights, beta):
    distances = prototype_distances(signs, prototypes)
    return solve_codes(scores, signs, code_weights, distances, label_weights, beta)


def objective(codes, scores, signs, code_weights, prototypes, label_weights, beta):
    distances = naive_correlation.prototype_distances(signs, prototypes)
    return sum(
        naive_solvers.code_objective(
            codes[i], scores[i], signs[i], code_weights, distances[i], label_weights[i], beta
        )
        for i in range(len(codes))
    )


@pytest.mark.parametrize("beta", [0.0, 0.1, 1.0])
def test_q_and_a_steps_never_raise_the_objective(beta):
    given, codes = state(0)
    value = objective(codes, **given, beta=beta)
    for _ in range(6):
        codes = update_codes(**given, beta=beta)
        after_codes = objective(codes, **given, beta=beta)
        given["prototypes"] = prototype_means(given["signs"], codes, given["prototypes"])
        after_means = objective(codes, **given, beta=beta)
        assert value + 1e-9 >= after_codes >= after_means - 1e-9
        value = after_means


def test_equals_highs():
    given, _ = state(1, n=15)
    codes = update_codes(**given, beta=0.2)
    distances = naive_correlation.prototype_distances(given["signs"], given["prototypes"])
    for i, q in enumerate(codes):
        program = (
            given["scores"][i],
            given["signs"][i],
            given["code_weights"],
            distances[i],
            given["label_weights"][i],
            0.2,
        )
        assert naive_solvers.code_objective(q, *program) == pytest.approx(
            naive_solvers.solve_code(*program), abs=1e-8
        )


def test_with_the_papers_beta_no_code_moves():
    """ALGORITHMS.md §4: at β = 100 every instance stays with its nearest prototype."""
    given, codes = state(2, m=200)
    np.testing.assert_array_equal(update_codes(**given, beta=100.0), codes)
