"""Smooth losses of linear machines: value, slope and curvature in the score, some labels side by side."""

import numpy as np

from mlspl._numba_cache import njit
from mlspl.solvers.linear_rows import LANES

__all__ = ["LOGISTIC", "SQUARED", "SQUARED_HINGE", "loss_derivatives"]

LOGISTIC, SQUARED_HINGE, SQUARED = range(3)
_BLOCK_ROWS = 1024

_compiled = njit(cache=True, nogil=True, error_model="numpy")


def loss_derivatives(kind, scores, targets, costs, slope, curvature) -> np.ndarray:
    """Write slope and curvature of every pair's loss, all arrays (n, lanes); the losses' sum per lane."""
    total = np.zeros(scores.shape[1])
    if kind == SQUARED_HINGE:
        _squared_hinge_derivatives(scores, targets, costs, slope, curvature, total)
    elif kind == SQUARED:
        _squared_derivatives(scores, targets, costs, slope, curvature, total)
    else:
        for start in range(0, len(scores), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            # NumPy's exponential and logarithm work on several numbers at once, those in loops on one.
            e = np.exp(-np.abs(scores[rows]))
            _logistic_derivatives(
                scores[rows], e, np.log1p(e), targets[rows], costs[rows], slope[rows], curvature[rows], total
            )
    return total


@_compiled
def _logistic_derivatives(
    scores, e, log, targets, costs, slope, curvature, total
):  # pragma: no cover - compiled
    for i in range(scores.shape[0]):
        for first in range(0, scores.shape[1], LANES):
            for b in range(first, first + LANES):
                cost, margin = costs[i, b], targets[i, b] * scores[i, b]
                right = 1.0 / (1.0 + e[i, b])
                wrong = right * e[i, b]
                slope[i, b] = -cost * targets[i, b] * (wrong if margin > 0 else right)
                curvature[i, b] = cost * right * wrong
                total[b] += cost * (max(-margin, 0.0) + log[i, b])


@_compiled
def _squared_hinge_derivatives(
    scores, targets, costs, slope, curvature, total
):  # pragma: no cover - compiled
    for i in range(scores.shape[0]):
        for first in range(0, scores.shape[1], LANES):
            for b in range(first, first + LANES):
                cost, slack = costs[i, b], max(0.0, 1.0 - targets[i, b] * scores[i, b])
                slope[i, b] = -2.0 * cost * targets[i, b] * slack
                curvature[i, b] = 2.0 * cost * (slack > 0.0)
                total[b] += cost * slack * slack


@_compiled
def _squared_derivatives(scores, targets, costs, slope, curvature, total):  # pragma: no cover - compiled
    for i in range(scores.shape[0]):
        for first in range(0, scores.shape[1], LANES):
            for b in range(first, first + LANES):
                cost, rest = costs[i, b], targets[i, b] - scores[i, b]
                slope[i, b] = -2.0 * cost * rest
                curvature[i, b] = 2.0 * cost
                total[b] += cost * rest * rest
