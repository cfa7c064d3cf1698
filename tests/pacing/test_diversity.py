from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlspl import pacing
from tests.naive import pacing as naive

numbers = st.floats(0.0, 3.0)


@settings(max_examples=60, deadline=None)
@given(
    pairs=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=7),
    gamma=st.floats(0.0, 2.0),
)
def test_weights_are_the_cheapest_of_all_choices(pairs, gamma):
    loss, pace = (list(each) for each in zip(*pairs, strict=True))
    groups = [0] * len(loss)
    chosen = pacing.Diversity(gamma).weight(loss, pace)
    cost = naive.diversity_cost(chosen, loss, pace, gamma, groups)
    best = min(naive.diversity_cost(v, loss, pace, gamma, groups) for v in product((0, 1), repeat=len(loss)))
    assert cost <= best + 1e-12


def test_nothing_between_in_and_out_is_cheaper():
    random = np.random.default_rng(0)
    loss, groups = random.uniform(0, 2, size=6), [0] * 6
    chosen = pacing.Diversity(0.8).weight(loss, 0.6)
    cost = naive.diversity_cost(chosen, loss, [0.6] * 6, 0.8, groups)
    assert {0.0, 1.0} == set(chosen)
    for v in random.uniform(size=(2000, 6)):
        assert cost <= naive.diversity_cost(v, loss, [0.6] * 6, 0.8, groups)


def test_a_column_is_a_group_():
    random = np.random.default_rng(1)
    loss = random.exponential(size=(50, 4))
    whole = pacing.Diversity(0.7).weight(loss, 0.5)
    for column in range(4):
        assert np.array_equal(whole[:, column], pacing.Diversity(0.7).weight(loss[:, column], 0.5))


def test_without_diversity_it_is_hard():
    random = np.random.default_rng(2)
    loss, pace = random.exponential(size=(30, 3)), random.exponential(size=(1, 3))
    assert np.array_equal(pacing.Diversity(0.0).weight(loss, pace), pacing.Hard().weight(loss, pace))


def test_penalty_adds_up_to_the_regulariser_and_inverse_is_minus_its_slope():
    random = np.random.default_rng(3)
    function, v, pace = pacing.Diversity(0.9), random.uniform(size=(5, 2)), 0.4
    norms = np.sqrt((v**2).sum(axis=0))
    assert function.penalty(v, pace).sum() == pytest.approx(-pace * v.sum() - 0.9 * norms.sum(), rel=1e-14)
    step = np.zeros((5, 2))
    step[3, 1] = 1e-6
    slope = (function.penalty(v + step, pace).sum() - function.penalty(v - step, pace).sum()) / 2e-6
    assert slope == pytest.approx(-function.inverse(v, pace)[3, 1], rel=1e-8)


def test_a_group_that_is_out_has_no_penalty():
    assert pacing.Diversity().penalty(np.zeros((3, 2)), 1.0).tolist() == [[0, 0]] * 3
