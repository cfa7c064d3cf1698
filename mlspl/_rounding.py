"""Cutting off the last digits, on which machines disagree, before anything is decided by them.

BLAS, LAPACK and the exponential function differ by about 1e-16 between processors. A solver that compares
numbers would take another way from there, and end elsewhere within its tolerance. So whatever is computed by
them is rounded before a solver sees it; the compiled solvers add and multiply in one order everywhere.
"""

import numpy as np

__all__ = ["on_grid", "significant"]

_GRID = 2.0**26


def on_grid(values) -> np.ndarray:
    """The nearest multiples of 2⁻²⁶: for numbers of the order of 1."""
    return np.round(np.asarray(values) * _GRID) / _GRID


def significant(values) -> np.ndarray:
    """The first 24 binary digits: for positive numbers of any size."""
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.ldexp(np.round(mantissa * 2.0**24) * 2.0**-24, exponent)
