"""Many ε-insensitive regressions on one shared kernel matrix."""

from typing import NamedTuple

import numpy as np

from mlspl._numba_cache import njit
from mlspl.solvers.arrays import read_only
from mlspl.solvers.threads import run_threads

__all__ = ["SVRSolution", "solve_svrs"]

# Extremes may be found several at a time; sums and products stay as written, the same on every processor.
_FAST = {"nsz", "nnan"}
# A coefficient this close to 0 or to its bound, in parts of its cost, counts as there: none may be free by
# rounding, as it would set the intercept.
_NEAR = 1e-9


class SVRSolution(NamedTuple):
    """What `solve_svrs` found, one row per regression.

    Attributes
    ----------
    coef : array (m, n)
        Dual coefficients β; the regression predicts ``K_new @ coef + bias``.
    bias : array (m,)
        Intercepts.
    fitted : array (m, n)
        Predictions for all n rows of the kernel matrix, those of cost 0 included.
    objective : array (m,)
        The dual objective ½βᵀKβ − tᵀβ + ε‖β‖₁, as small as possible.
    violation : array (m,)
        How far the optimality conditions are from holding; at most the tolerance, unless the
        iterations ran out.
    iterations : array of int (m,)
        Number of pairs updated.
    """

    coef: np.ndarray
    bias: np.ndarray
    fitted: np.ndarray
    objective: np.ndarray
    violation: np.ndarray
    iterations: np.ndarray


def solve_svrs(
    K: np.ndarray,
    targets: np.ndarray,
    C: float | np.ndarray = 1.0,
    epsilon: float = 0.1,
    *,
    coef: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
    n_threads: int = 1,
) -> SVRSolution:
    """Fit m ε-support vector regressions that share a kernel matrix.

    Each solves LIBSVM's problem in the difference β = α − α* of its two multipliers,

        min ½βᵀKβ − tᵀβ + ε‖β‖₁   subject to Σβ_i = 0, −C_i ≤ β_i ≤ C_i,

    by sequential minimal optimisation: the most promising pair by second-order information (Fan, Chen
    and Lin, 2005), moved to its exact minimum across the kinks of ‖β‖₁.

    Parameters
    ----------
    K : array (n, n)
        Symmetric kernel matrix.
    targets : array (m, n)
        One row of targets per regression.
    C : float or array broadcastable to (m, n)
        Cost of leaving the tube, per regression and instance. An instance of cost 0 is held out: it does
        not influence the regression, yet `fitted` has its prediction.
    epsilon : float
        Half-width of the tube in which errors are free.
    coef : array (m, n), optional
        Where to start, for instance the solution of a similar problem. It is clipped to the costs.
    tol : float
        Stop when no pair violates the optimality conditions by more (LIBSVM's criterion).
    max_iter : int, optional
        At most this many pairs per regression; by default the larger of 1,000,000 and 100 n.
    n_threads : int
        Regressions solved at the same time. The answer does not depend on it.

    Returns
    -------
    SVRSolution

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(4.0)
    >>> solution = solve_svrs(np.outer(x, x), x[None, :], C=10.0, epsilon=0.0, tol=1e-9)
    >>> np.round(solution.fitted, 6)
    array([[0., 1., 2., 3.]])
    """
    K, targets = read_only(K), read_only(targets)
    m, n = targets.shape
    if K.shape != (n, n):
        raise ValueError(f"K has shape {K.shape}; {n} targets a row need {(n, n)}.")
    if not (np.isfinite(K.sum()) and np.isfinite(targets).all()):
        raise ValueError("K or the targets hold NaN or infinity.")
    costs = read_only(np.broadcast_to(C, (m, n)))
    if not (costs >= 0).all():
        raise ValueError("C must not be negative; 0 holds an instance out.")
    coef = np.zeros((m, n)) if coef is None else _feasible(coef, costs)
    fitted, bias, violation = np.empty((m, n)), np.empty(m), np.empty(m)
    iterations = np.empty(m, dtype=np.int64)
    if max_iter is None:
        max_iter = max(1_000_000, 100 * n)
    problem = (K, read_only(K.diagonal()), targets, costs, float(epsilon), float(tol), max_iter)
    answer = (coef, fitted, bias, violation, iterations)
    run_threads(_solve_svr, [(which, problem, answer) for which in range(m)], n_threads)
    # As Σβ = 0, the intercept in the fitted values adds nothing.
    objective = np.sum(coef * (fitted / 2 - targets), axis=1) + epsilon * np.abs(coef).sum(axis=1)
    return SVRSolution(coef, bias, fitted, objective, violation, iterations)


def _feasible(coef, costs):
    """The given start, clipped to the box, its heavier side scaled down until Σβ = 0."""
    coef = np.clip(np.asarray(coef, dtype=np.float64), -costs, costs)
    up = np.maximum(coef, 0).sum(axis=1, keepdims=True)
    down = -np.minimum(coef, 0).sum(axis=1, keepdims=True)
    common = np.minimum(up, down)
    scale_up = np.divide(common, up, out=np.zeros_like(up), where=up > 0)
    scale_down = np.divide(common, down, out=np.zeros_like(down), where=down > 0)
    return np.ascontiguousarray(coef * np.where(coef > 0, scale_up, scale_down))


@njit(cache=True, nogil=True)
def _up_kink(b, cost, epsilon):  # pragma: no cover - compiled
    """What ε|β| adds to the derivative when β grows; infinite where β may not."""
    if b >= cost:
        return np.inf
    return epsilon if b >= 0.0 else -epsilon


@njit(cache=True, nogil=True)
def _down_kink(b, cost, epsilon):  # pragma: no cover - compiled
    """What ε|β| adds to the derivative when β shrinks; infinite where β may not."""
    if b <= -cost:
        return -np.inf
    return epsilon if b > 0.0 else -epsilon


@njit(cache=True, nogil=True)
def _minimise(slope, curvature, b_i, b_j, cost_i, cost_j, epsilon):  # pragma: no cover - compiled
    """The best step along β_i + step, β_j − step: each coefficient that passes 0 adds 2ε to the slope."""
    kink_i = -b_i if b_i < 0.0 else np.inf
    kink_j = b_j if b_j > 0.0 else np.inf
    first, second = min(kink_i, kink_j), max(kink_i, kink_j)
    step = -slope / curvature
    if step > first:
        step = max(first, -(slope + 2.0 * epsilon) / curvature)
    if step > second:
        step = max(second, -(slope + 4.0 * epsilon) / curvature)
    return min(step, cost_i - b_i, b_j + cost_j)


@njit(cache=True, nogil=True)
def _settle(b, cost):  # pragma: no cover - compiled
    """Put a coefficient that rounding left next to its bound on it."""
    if abs(b) > cost * (1.0 - 1e-13):
        return cost if b > 0.0 else -cost
    return b


@njit(cache=True, nogil=True, fastmath=_FAST)
def _solve_svr(which, problem, answer):  # pragma: no cover - compiled
    """Solve one of the regressions and write its row of the answer."""
    K, diagonal, targets, costs, epsilon, tol, max_iter = problem
    coefs, fitted, bias, violation, iterations = answer
    target, cost, coef = targets[which], costs[which], coefs[which]
    n = target.shape[0]
    # One-sided derivatives of the objective are gradient + up_kink (increasing β) and gradient + down_kink
    # (decreasing it); an infinite kink marks the side that the box closes.
    gradient = -target
    for i in range(n):
        coef[i] = _settle(coef[i], cost[i])
        if coef[i] != 0.0:
            for k in range(n):
                gradient[k] += coef[i] * K[i, k]
    gain = np.empty(n)
    up_kink = np.empty(n)
    down_kink = np.empty(n)
    for k in range(n):
        up_kink[k] = _up_kink(coef[k], cost[k], epsilon)
        down_kink[k] = _down_kink(coef[k], cost[k], epsilon)
    iteration = 0
    while True:
        i, lowest = _argmin_sum(gradient, up_kink)
        row_i = K[i]
        for k in range(n):
            gap = max(gradient[k] + down_kink[k] - lowest, 0.0)
            gain[k] = gap * gap / max(diagonal[i] + diagonal[k] - 2.0 * row_i[k], 1e-12)
        j = _argmax(gain)
        slope = lowest - gradient[j] - down_kink[j]
        if -slope <= tol or iteration == max_iter:
            # The pair of largest gain need not be the one of largest violation.
            highest = -np.inf
            for k in range(n):
                highest = max(highest, gradient[k] + down_kink[k])
            if highest - lowest <= tol or iteration == max_iter:
                break
        iteration += 1
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], 1e-12)
        step = _minimise(slope, curvature, coef[i], coef[j], cost[i], cost[j], epsilon)
        coef[i] = _settle(coef[i] + step, cost[i])
        coef[j] = _settle(coef[j] - step, cost[j])
        row_j = K[j]
        for k in range(n):
            gradient[k] += step * (row_i[k] - row_j[k])
        for k in (i, j):
            up_kink[k] = _up_kink(coef[k], cost[k], epsilon)
            down_kink[k] = _down_kink(coef[k], cost[k], epsilon)
    intercept = _intercept(gradient, coef, cost, epsilon)
    for k in range(n):
        fitted[which, k] = gradient[k] + target[k] + intercept
    bias[which] = intercept
    violation[which] = max(highest - lowest, 0.0)
    iterations[which] = iteration


@njit(cache=True, nogil=True)
def _intercept(gradient, coef, cost, epsilon):  # pragma: no cover - compiled
    """Puts the free coefficients at the edge of the tube; without any, the middle of what is left."""
    n_free, total, lowest, highest = 0, 0.0, np.inf, -np.inf
    for k in range(len(coef)):
        size = abs(coef[k])
        if cost[k] == 0.0:
            continue
        if _NEAR * cost[k] < size < (1.0 - _NEAR) * cost[k]:
            n_free += 1
            total += gradient[k] + (epsilon if coef[k] > 0.0 else -epsilon)
        if coef[k] < (1.0 - _NEAR) * cost[k]:
            at = -epsilon if coef[k] < -_NEAR * cost[k] else epsilon
            lowest = min(lowest, gradient[k] + at)
        if coef[k] > -(1.0 - _NEAR) * cost[k]:
            at = epsilon if coef[k] > _NEAR * cost[k] else -epsilon
            highest = max(highest, gradient[k] + at)
    if n_free > 0:
        return -total / n_free
    return -(lowest + highest) / 2.0 if -np.inf < highest and lowest < np.inf else 0.0


# Finding the extreme value first and its place after it lets the compiler work on several elements at once.
@njit(cache=True, nogil=True, fastmath=_FAST)
def _argmin_sum(a, b):  # pragma: no cover - compiled
    lowest = np.inf
    for k in range(a.shape[0]):
        value = a[k] + b[k]
        lowest = value if value < lowest else lowest
    i = 0
    while i < a.shape[0] - 1 and a[i] + b[i] != lowest:
        i += 1
    return i, lowest


@njit(cache=True, nogil=True, fastmath=_FAST)
def _argmax(a):  # pragma: no cover - compiled
    highest = a[0]
    for k in range(a.shape[0]):
        highest = a[k] if a[k] > highest else highest
    i = 0
    while i < a.shape[0] - 1 and a[i] != highest:
        i += 1
    return i
