import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mlspl._rounding import on_grid, significant


@given(st.floats(-1e3, 1e3))
def test_numbers_move_by_half_a_step_at_most_and_stay_when_on_the_grid(value):
    rounded = on_grid(value)
    assert abs(rounded - value) <= 2.0**-27
    assert on_grid(rounded) == rounded


@given(st.floats(0, 1e300, allow_subnormal=False))
def test_significant_digits_are_kept_whatever_the_size(value):
    rounded = significant(value)
    assert abs(rounded - value) <= 2.0**-24 * value
    assert significant(rounded) == rounded
    assert (rounded == 0) == (value == 0)


def test_what_differs_by_rounding_becomes_equal():
    values = np.random.default_rng(0).random(10_000)
    noisy = values * (1 + 2e-16)
    np.testing.assert_array_equal(on_grid(noisy), on_grid(values))
    np.testing.assert_array_equal(significant(noisy), significant(values))
