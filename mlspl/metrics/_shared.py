"""Docstring paragraphs and means that all criteria share."""

import warnings

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from mlspl._docs import substitute

__all__ = ["NEEDS_BOTH", "NEEDS_ONE", "NEEDS_RELEVANT", "document", "mean", "undefined"]

NEEDS_BOTH = "no row has both a relevant and an irrelevant label"
NEEDS_ONE = "Y holds no known label"
NEEDS_RELEVANT = "no row has a relevant label"

_Y = """Y : array-like or sparse matrix of shape (n, L)
    True labels; NaN where unknown."""
_F = """F : array-like of shape (n, L)
    Scores, higher for more relevant."""
_P = """P : array-like or sparse matrix of shape (n, L)
    Predicted labels."""
_TOP = """F : array-like of shape (n, L), sparse matrix, or array of int of shape (n, m)
    Scores, higher for more relevant; or the best labels of each row, best first. An array of integers
    is read as label indices unless it is as wide as Y."""
_SECTION = "Parameters\n----------\n"
_RETURNS = "\n\nReturns\n-------\nfloat"

document = substitute(
    scores=f"{_SECTION}{_Y}\n{_F}{_RETURNS}",
    labels=f"{_SECTION}{_Y}\n{_P}{_RETURNS}",
    both=f"{_SECTION}{_Y}\n{_F}\n{_P}",
    top=f"{_SECTION}{_Y}\n{_TOP}",
)
"""Fill in the parameters of a criterion: {scores}, {labels}, {both} or {top}."""


def mean(total: float, count: float, criterion: str, need: str, stacklevel: int = 4) -> float:
    """Return total / count; NaN with a warning at the caller's caller if the count is 0."""
    return total / count if count else undefined(criterion, need, stacklevel)


def undefined(criterion: str, need: str, stacklevel: int = 3) -> float:
    """Warn that the criterion is NaN, and why."""
    message = f"The {criterion} is undefined and NaN, because {need}."
    warnings.warn(message, UndefinedMetricWarning, stacklevel=stacklevel)
    return np.nan
