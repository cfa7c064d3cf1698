"""What is told of a solved SVM: intercept, scores, objective and duality gap (compiled)."""

import numpy as np

from mlspl._numba_cache import njit

__all__ = ["evaluate", "find_intercept"]

# A β this close to a bound, in parts of its cost, counts as there: none may be free by rounding, as it would
# set the intercept.
_NEAR = 1e-9

_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def find_intercept(lower, upper, beta, g):  # pragma: no cover - compiled
    """The mean of g over the free variables, else the middle of its interval, else the class that is left."""
    total, n_free = 0.0, 0
    top, bottom = -np.inf, np.inf
    for k in range(len(beta)):
        near = _NEAR * (upper[k] - lower[k])
        grows, falls = upper[k] - beta[k] > near, beta[k] - lower[k] > near
        if grows and falls:
            total += g[k]
            n_free += 1
        if grows:
            top = max(top, g[k])
        if falls:
            bottom = min(bottom, g[k])
    if n_free:
        return total / n_free
    nothing_grows, nothing_falls = top == -np.inf, bottom == np.inf
    if nothing_grows and nothing_falls:
        return 0.0
    if nothing_grows or nothing_falls:
        return 1.0 if nothing_falls else -1.0
    return (top + bottom) / 2


@_compiled
def evaluate(y, cost, beta, g, alpha, decision, summary):  # pragma: no cover - compiled
    """Multipliers, training scores Kβ + b = y − g + b, primal objective and duality gap."""
    squared_norm, loss, total = 0.0, 0.0, 0.0
    for k in range(len(y)):
        fitted = y[k] - g[k]
        alpha[k] = abs(beta[k])
        decision[k] = fitted + summary[0]
        squared_norm += beta[k] * fitted
        loss += cost[k] * max(0.0, 1.0 - y[k] * decision[k])
        total += alpha[k]
    summary[1] = squared_norm / 2 + loss
    summary[2] = squared_norm + loss - total
