"""Means over the rows that can speak for a criterion; NaN with a warning where there are none."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

__all__ = ["NEEDS_BOTH", "NEEDS_ONE", "NEEDS_RELEVANT", "mean", "spoken", "undefined"]

NEEDS_BOTH = "no row has both a relevant and an irrelevant label"
NEEDS_ONE = "Y holds no known label"
NEEDS_RELEVANT = "no row has a relevant label"


def spoken(values: NDArray[np.float64]) -> tuple[float, int]:
    """Return the sum of the rows that are not left out (NaN), and their number."""
    values = values[~np.isnan(values)]
    return float(values.sum()), len(values)


def mean(total: float, count: float, criterion: str, need: str) -> float:
    """Return total / count; the warning that there is nothing to divide points at the caller's caller."""
    return total / count if count else undefined(criterion, need, stacklevel=4)


def undefined(criterion: str, need: str, stacklevel: int = 3) -> float:
    """Warn that the criterion is NaN, and why."""
    message = f"The {criterion} is undefined and NaN, because {need}."
    warnings.warn(message, UndefinedMetricWarning, stacklevel=stacklevel)
    return float("nan")
