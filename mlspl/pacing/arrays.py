"""Valid numbers and float64 arrays in; formulas evaluated a cache-sized block at a time."""

from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from mlspl.errors import UserError
from mlspl.pacing.base import FloatArray

__all__ = ["blockwise", "check_number", "loss_array", "pace_array", "product", "weight_array"]

BLOCK = 2**16  # half a megabyte of float64: the temporaries of a formula stay in the second-level cache


def check_number(
    what: str, value: object, rule: str, low: float, high: float = np.inf, *, closed: bool = False
) -> None:
    """Refuse a parameter that is no number between `low` and `high`; `closed` lets finite ends in."""
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if low < number < high or (closed and number in (low, high) and np.isfinite(number)):
            return
    raise UserError(f"{what} is {rule}, and {value!r} is not.")


def loss_array(loss: ArrayLike) -> FloatArray:
    """Losses as float64, all of them 0 or more."""
    return _within(loss, 0.0, np.inf, "a loss", "is 0 or more")


def weight_array(weight: ArrayLike) -> FloatArray:
    """Weights as float64, all of them in [0, 1]."""
    return _within(weight, 0.0, 1.0, "a weight", "lies between 0 and 1")


def pace_array(pace: ArrayLike, max_pace: float = np.inf) -> FloatArray:
    """Paces as float64, from 0 up to but not reaching `max_pace`, or infinite."""
    array = _within(pace, 0.0, np.inf, "a pace", "is 0 or more (infinity puts every pair in play)")
    if max_pace < np.inf and np.any(beyond := (array >= max_pace) & (array < np.inf)):
        raise UserError(
            f"this self-paced function takes a pace below {max_pace:g}, or infinity, and one is "
            f"{array[beyond].flat[0]:g}. Divide losses and pace by one number, or choose another function."
        )
    return array


def _within(values: ArrayLike, low: float, high: float, what: str, rule: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    # NaN fails both comparisons, so it is found in the same pass.
    if array.size and not (array.min() >= low and (high == np.inf or array.max() <= high)):
        wrong = ~((array >= low) & (array <= high))
        index = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))
        where = f" at index {index if len(index) > 1 else index[0]}" if array.ndim else ""
        raise UserError(f"{what} {rule}, and the one{where} is {np.atleast_1d(array)[index]:g}.")
    return array


def product(first: FloatArray, second: FloatArray) -> FloatArray:
    """``first * second`` with 0·∞ = 0, the limit that a pace of 0 or infinity needs."""
    result = np.asarray(first * second)
    return np.where(np.isnan(result), 0.0, result)


def blockwise(
    formula: Callable[[FloatArray, FloatArray], FloatArray], values: FloatArray, pace: FloatArray
) -> FloatArray:
    """Evaluate an elementwise formula of (values, pace), broadcast, without large temporaries.

    Overflow to infinity and 1/0 are silent: the formulas are written so that they give the right limit.
    """
    with np.errstate(all="ignore"):
        shape = np.broadcast_shapes(values.shape, pace.shape)
        size = int(np.prod(shape))
        if size <= BLOCK:
            return np.asarray(formula(values, pace), dtype=np.float64)[()]
        if pace.size == 1 and values.flags.c_contiguous:
            result, values, pace = np.empty(size), values.reshape(-1), pace.reshape(())
        else:
            result = np.empty(shape)
        rows = max(1, BLOCK * len(result) // size)
        for start in range(0, len(result), rows):
            some = slice(start, start + rows)
            # What is the same in every row stays so: a part that depends on the pace alone is computed once.
            parts = (
                each[some] if each.ndim == result.ndim and len(each) > 1 else each for each in (values, pace)
            )
            result[some] = formula(*parts)
        return result.reshape(shape)
