"""Blocks of 32 in vector instructions, against NumPy number by number: the same bits."""

import numpy as np
import pytest
from numba import njit

from mlspl.solvers.smo_blocks import BLOCK, block_gain, block_highest, block_lowest, find_gain, find_sum


@njit
def _look(a, b, first, value):
    return block_highest(a, b, first), block_lowest(a, b, first), find_sum(a, b, first, value)


@njit
def _look_for_partner(g, low, row, diagonal, own, top, flat, first):
    best = block_gain(g, low, row, diagonal, own, top, flat, first)
    return best, find_gain(g, low, row, diagonal, own, top, flat, first, best)


@pytest.fixture
def numbers():
    return np.random.default_rng(0).normal(size=(5, 3 * BLOCK + 7))


@pytest.mark.parametrize("first", [0, BLOCK, 2 * BLOCK + 3])
def test_extremes_of_sums_and_where_they_are(numbers, first):
    a, b = numbers[:2]
    a[first + 9], b[first + 9] = a[first + 5], b[first + 5]  # of what ties, the first
    sums = (a + b)[first : first + BLOCK]
    assert _look(a, b, first, sums[9]) == (sums.max(), sums.min(), 5)
    assert _look(a, None, first, a[first + 31])[:2] == (
        a[first : first + BLOCK].max(),
        a[first : first + BLOCK].min(),
    )
    assert _look(a, b, first, 99.0)[2] == BLOCK


def test_gains_of_partners(numbers):
    g, low, row, diagonal, _ = numbers
    low[:] = np.where(low > 0, 0.0, 1e300)
    block, top, flat = slice(BLOCK, 2 * BLOCK), 0.5, 0.1
    gap = np.maximum(top - (g + low), 0.0)
    gains = (gap * gap / np.maximum(2.0 + diagonal - 2.0 * row, flat))[block]
    found, place = _look_for_partner(g, low, row, diagonal, 2.0, top, flat, BLOCK)
    assert (found, place) == (gains.max(), gains.argmax())
