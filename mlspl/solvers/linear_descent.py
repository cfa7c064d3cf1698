"""Dual coordinate descent for linear machines whose loss has kinks: the hinge and the ε-insensitive loss.

Both duals are, in signed variables β with w = Σ β_i x_i::

    min ½‖Σ β_i x_i‖² − tᵀβ + ε‖β‖₁   subject to lower ≤ β ≤ upper

The hinge has ε = 0, t = y and β between 0 and y_i C_i; the ε-insensitive loss has |β| ≤ C_i. One coordinate
is minimised after the other in random order (Hsieh et al. 2008; Ho and Lin 2012). Those that stay at a bound
or at 0 with a clear gradient are left out until the others have settled; then all are looked at, and the
search ends when primal and dual objective have met.
"""

import numpy as np

from mlspl._numba_cache import njit

__all__ = ["descend"]

# The others have settled when no derivative in an epoch violated optimality by more than this; each time
# the objectives have not yet met, it is lowered.
_SETTLED, _LOWER = 0.3, 0.3
# Epochs after which the objectives are compared in any case.
_LOOK_AT = (1, 3, 6, 11, 19, 34, 60, 100)
# Rows that stand together in memory are visited together; the runs come in random order.
_RUN = 16

_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


@_compiled
def _dot(i, data, indices, indptr, dense, beside, w):  # pragma: no cover - compiled
    """⟨w, [x_i, q_i, 1]⟩; a sparse X has no dense columns, a dense one no stored entries."""
    total = 0.0
    for t in range(indptr[i], indptr[i + 1]):
        total += data[t] * w[indices[t]]
    d = len(w) - beside.shape[1]
    for j in range(dense.shape[1]):
        total += dense[i, j] * w[j]
    for j in range(beside.shape[1]):
        total += beside[i, j] * w[d + j]
    return total


@_compiled
def _add(i, factor, data, indices, indptr, dense, beside, w):  # pragma: no cover - compiled
    """Add factor · [x_i, q_i, 1] to w."""
    for t in range(indptr[i], indptr[i + 1]):
        w[indices[t]] += factor * data[t]
    d = len(w) - beside.shape[1]
    for j in range(dense.shape[1]):
        w[j] += factor * dense[i, j]
    for j in range(beside.shape[1]):
        w[d + j] += factor * beside[i, j]


@_compiled
def _square(i, data, indptr, dense, beside):  # pragma: no cover - compiled
    total = 0.0
    for t in range(indptr[i], indptr[i + 1]):
        total += data[t] * data[t]
    for j in range(dense.shape[1]):
        total += dense[i, j] * dense[i, j]
    for j in range(beside.shape[1]):
        total += beside[i, j] * beside[i, j]
    return total


@_compiled
def _random(state, below):  # pragma: no cover - compiled
    """A number from 0 to below − 1 and the generator's next state (xorshift)."""
    state ^= state << np.uint64(13)
    state ^= state >> np.uint64(7)
    state ^= state << np.uint64(17)
    return np.int64(state % np.uint64(below)), state


@_compiled
def descend(
    rows, lower, upper, target, epsilon, seed, tol, max_epochs, beta, w, scores, summary
):  # pragma: no cover - compiled
    """Solve one problem from the start `beta`; write it, `w`, `scores`, objective and gap."""
    data, indices, indptr, dense, beside = rows
    n = len(target)
    # What a step needs of a row stands together: rows come in random order, each from far away.
    table = np.empty((n, 5))
    w[:] = 0.0
    for i in range(n):
        beta[i] = min(max(beta[i], lower[i]), upper[i])
        table[i, 0], table[i, 1], table[i, 2], table[i, 3] = beta[i], lower[i], upper[i], target[i]
        table[i, 4] = _square(i, data, indptr, dense, beside)
        if beta[i] != 0.0:
            _add(i, beta[i], data, indices, indptr, dense, beside, w)
    active, order = np.empty(n, dtype=np.int32), np.empty(n // _RUN + 1, dtype=np.int32)
    settled, shrink_beyond, count = _SETTLED, np.inf, 0
    state = np.uint64(88172645463325252) + np.uint64(seed) * np.uint64(2654435769)
    for epoch in range(max_epochs):
        if count == 0:
            for i in range(n):
                if lower[i] < upper[i]:
                    active[count] = i
                    count += 1
            shrink_beyond = np.inf
        n_runs = (count + _RUN - 1) // _RUN
        for r in range(n_runs):
            order[r] = r
        worst = 0.0
        for r in range(n_runs):
            pick, state = _random(state, n_runs - r)
            run = order[r + pick]
            order[r + pick] = order[r]
            for k in range(run * _RUN, min((run + 1) * _RUN, count)):
                i = active[k]
                row = table[i]
                old = row[0]
                slope = _dot(i, data, indices, indptr, dense, beside, w) - row[3]
                grows = slope + (epsilon if old >= 0.0 else -epsilon)
                falls = slope + (epsilon if old > 0.0 else -epsilon)
                can_grow, can_fall = old < row[2], old > row[1]
                violation = max(-grows if can_grow else 0.0, falls if can_fall else 0.0)
                if violation <= 0.0:
                    if (not can_grow or grows > shrink_beyond) and (not can_fall or falls < -shrink_beyond):
                        active[k] = -1
                elif violation > 1e-12:
                    worst = max(worst, violation)
                    # The minimum of the parabola without ε‖β‖₁, moved towards 0 by what that is worth.
                    new = old - slope / row[4]
                    new = np.copysign(max(abs(new) - epsilon / row[4], 0.0), new)
                    row[0] = min(max(new, row[1]), row[2])
                    _add(i, row[0] - old, data, indices, indptr, dense, beside, w)
        kept = 0
        for k in range(count):
            if active[k] >= 0:
                active[kept] = active[k]
                kept += 1
        count = kept
        shrink_beyond = worst if worst > 0.0 else np.inf
        if worst <= settled or epoch in _LOOK_AT:
            _evaluate(rows, table, epsilon, w, scores, summary)
            if summary[1] <= tol * summary[0]:
                break
            if worst <= settled:
                settled *= _LOWER
                count = 0
    else:
        _evaluate(rows, table, epsilon, w, scores, summary)
    beta[:] = table[:, 0]


@_compiled
def _evaluate(rows, table, epsilon, w, scores, summary):  # pragma: no cover - compiled
    """Scores, primal objective and duality gap."""
    data, indices, indptr, dense, beside = rows
    norm, loss, gain = 0.0, 0.0, 0.0
    for j in range(len(w)):
        norm += w[j] * w[j]
    for i in range(len(table)):
        scores[i] = _dot(i, data, indices, indptr, dense, beside, w)
        beta, lower, upper, target = table[i, 0], table[i, 1], table[i, 2], table[i, 3]
        r = target - scores[i]
        loss += max(max(upper * (r - epsilon), lower * (r + epsilon)), 0.0)
        gain += target * beta - epsilon * abs(beta)
    summary[0] = norm / 2 + loss
    summary[1] = norm + loss - gain
