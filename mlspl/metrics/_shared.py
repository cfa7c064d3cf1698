"""Docstring paragraphs and means that all criteria share."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from mlspl._docs import substitute

NEEDS_BOTH = "no row has both a relevant and an irrelevant label"
NEEDS_ONE = "Y holds no known label"
NEEDS_RELEVANT = "no row has a relevant label"

_Y = """Y : array-like or sparse matrix of shape (n, L)
    True labels; NaN where unknown."""
_F = """F : array-like of shape (n, L)
    Scores, higher for more relevant."""
_P = """P : array-like or sparse matrix of shape (n, L)
    Predicted labels."""
_TOP = f"""{_F}
k : int, default=5
    Number of best labels"""
_SECTION = "Parameters\n----------\n"
_RETURNS = "\n\nReturns\n-------\nfloat"

document = substitute(
    scores=f"{_SECTION}{_Y}\n{_F}{_RETURNS}",
    labels=f"{_SECTION}{_Y}\n{_P}{_RETURNS}",
    both=f"{_SECTION}{_Y}\n{_F}\n{_P}",
    top=f"{_SECTION}{_Y}\n{_TOP}.{_RETURNS}",
    top_or_all=f"{_SECTION}{_Y}\n{_TOP}; None is all.{_RETURNS}",
)
"""Decorator that fills in the parameters of a criterion, such as {scores} or {labels}."""


def document_criterion(function: Callable[..., float], name: str, summary: str, parameters: str) -> Any:
    """Give a made function its name and its docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\n{parameters}"
    return document(function)


def mean(total: float, count: float, criterion: str, need: str, stacklevel: int = 3) -> float:
    """Return total / count; NaN with a warning at the caller's caller if the count is 0."""
    if count:
        return float(total / count)
    message = f"The {criterion} is undefined and NaN, because {need}."
    warnings.warn(message, UndefinedMetricWarning, stacklevel=stacklevel)
    return np.nan
