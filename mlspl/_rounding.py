"""Rounding of numbers that differ between processors in their last digits.

BLAS, LAPACK and exponentials differ by about 1e-16 between processors, and solvers amplify that: without
rounding, scores of SVMs differ by up to 4e-3. So kernels, costs and losses are rounded before they are used.
"""

import numpy as np

_GRID = 2.0**26


def on_grid(values) -> np.ndarray:
    """The nearest multiples of 2⁻²⁶: for numbers of the order of 1."""
    return np.round(np.asarray(values) * _GRID) / _GRID


def significant(values) -> np.ndarray:
    """The first 24 binary digits: for positive numbers of any size."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(np.round(mantissa * 2.0**24) * 2.0**-24, exponent)
