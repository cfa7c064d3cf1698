import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mlspl.solvers import hinge_simplex
from mlspl.solvers.hinge_simplex import minimise_hinges
from tests.naive import solvers as naive


def scaled(hinges):
    """Drop hinges that are 0 everywhere and scale the others, as the solver asks."""
    heights = np.abs(hinges).max(axis=0)
    return np.ascontiguousarray(hinges[:, heights > 0] / heights[heights > 0]), heights[heights > 0]


@st.composite
def programs(draw):
    """Small integers: ties, parallel hinges and vertices where more constraints meet than are needed."""
    p, r = draw(st.integers(1, 4)), draw(st.integers(0, 5))
    small = st.integers(-2, 2).map(float)
    hinges, heights = scaled(draw(arrays(float, (p, r), elements=small)))
    return draw(arrays(float, p, elements=small)), hinges, heights


@settings(max_examples=150, deadline=None)
@given(programs())
def test_equals_the_best_of_all_vertices(program):
    q, objective, gap, _ = minimise_hinges(*program, 1000)
    assert q.min() >= 0
    assert q.sum() == pytest.approx(1, abs=1e-12)
    cost, hinges, heights = program
    assert objective == pytest.approx(cost @ q + heights @ np.maximum(hinges.T @ q, 0), abs=1e-12)
    assert objective == pytest.approx(naive.minimise_hinges(*program), abs=1e-11)
    assert gap <= 1e-11


@pytest.mark.parametrize(
    "search", [hinge_simplex._search, hinge_simplex._search.py_func], ids=["compiled", "Python"]
)
def test_a_slope_whose_sign_depends_on_the_grouping_ends_the_search(search):
    """(-.3 + .1) + .2 < 0 = -.3 + (.1 + .2) in floating point, and compilers group as they like.

    LLVM 14 met it in test_code_program.py, walked past every hinge, and never came back.
    """
    hinges = np.array([[-0.1, -0.2, -0.3], [0.9, 0.8, 0.7]])
    program = hinge_simplex._Program(np.array([0.1 + 0.2, 0.0]), hinges, np.array([0.1, 0.2, 1.0]))
    corner = hinge_simplex._Vertex(
        held=np.array([1]),
        edges=np.array([[-1.0, 1.0]]),
        q=np.array([1.0, 0.0]),
        bends=hinges[0].copy(),
        sides=np.zeros(3, dtype=np.int8),
        gradient=program.cost.copy(),
    )
    step, entering = search(program, corner, 0, 1.0, -(0.1 + 0.2), np.empty(3))
    assert (step, entering) in [(pytest.approx(0.2), 2 + 1), (pytest.approx(0.3), 2 + 2)]


@pytest.mark.parametrize("seed", range(6))
def test_heavily_degenerate_programs_end_with_a_proof(seed):
    """Entries -1, 0, 1 with many exact ties, where steps of length 0 pile up."""
    rng = np.random.default_rng(seed)
    for p, r in [(30, 400), (60, 40), (15, 150)]:
        hinges, heights = scaled(rng.choice([-1.0, 0.0, 1.0], size=(p, r), p=[0.2, 0.6, 0.2]))
        cost = rng.choice([0.0, 0.25, 0.5], size=p)
        _, _, gap, iterations = minimise_hinges(cost, hinges, heights, 10_000)
        assert iterations < 1000
        assert gap <= 1e-9


def test_steps_never_climb_and_the_gap_bounds_what_is_left():
    rng = np.random.default_rng(0)
    hinges, heights = scaled(rng.normal(size=(12, 60)))
    cost = rng.normal(size=12)
    optimum = minimise_hinges(cost, hinges, heights, 10_000)[1]
    before = np.inf
    for steps in range(12):
        q, objective, gap, iterations = minimise_hinges(cost, hinges, heights, steps)
        assert iterations <= steps
        assert q.min() >= 0
        assert objective <= before + 1e-12
        assert objective - gap <= optimum + 1e-12
        before = objective
    assert minimise_hinges(cost, hinges, heights, 0)[2] > 0.1
