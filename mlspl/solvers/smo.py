"""Sequential minimal optimisation of one support vector problem (compiled).

Classification and regression are the same dual problem in signed variables β::

    min ½ βᵀKβ − tᵀβ + ε‖β‖₁   subject to lower ≤ β ≤ upper and Σ β_i = 0

An SVM has t = y, ε = 0 and β_i = y_i α_i between 0 and y_i C_i; ε-SVR has β = α − α* and |β_i| ≤ C_i.

Let g = t − Kβ. `up` holds what ε adds to g where β grows and `low` where it falls, ±_FAR where the bounds
forbid it. A pair (i, j) violates the optimality conditions when g_i + up_i > g_j + low_j; the largest
difference is LIBSVM's stopping criterion. LIBSVM moves one pair after the other (Fan, Chen and Lin 2005).
Here each search returns up to eight leading violators, of different columns of g as a table; pair steps run
on their 8×8 kernel until the violation among them has halved; then one pass over their eight kernel rows
updates g. Sums are never reordered, so that every processor gets the same result.
"""

from typing import NamedTuple

import numpy as np

from mlspl._numba_cache import njit

_COLUMNS = 64
_WORKING_SET = 8
_PROGRESS = 0.5  # pair steps end when the violation in the working set has fallen to this share
_PAIR_STEPS = 100
# First-order rules alone hardly progress on exact duplicates with opposite labels.
_PARTNER_EVERY = 3
# Used in place of infinity, so that sums are never NaN.
_FAR = 1e300
# LIBSVM's τ: the curvature used where duplicates or an indefinite kernel leave none.
_FLAT = 1e-12
# A β this close to a bound, relative to its range, does not count as free for the intercept.
_NEAR = 1e-9

_options = {"cache": True, "nogil": True, "error_model": "numpy"}
# A call passes all arrays of a search, which takes as long as its work does for few rows.
_inlined = njit(**_options, forceinline=True)


class _Search(NamedTuple):
    """One problem and the state of its solution; `g`, `up`, `low` and `gain` are padded to whole rows."""

    K: np.ndarray
    diagonal: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    epsilon: float
    beta: np.ndarray
    g: np.ndarray
    up: np.ndarray
    low: np.ndarray
    gain: np.ndarray
    tables: np.ndarray  # the same four vectors in rows of _COLUMNS
    leaders: np.ndarray  # largest gain of each column
    highest: np.ndarray  # largest g + up of each column
    lowest: np.ndarray  # smallest g + low of each column
    chosen: np.ndarray  # the working set
    step: np.ndarray  # changes of its β


@njit(**_options)
def solve_duals(
    problems, K, diagonal, targets, lower, upper, epsilon, tol, max_iter, stop, betas, fitted, summary
):  # pragma: no cover - compiled
    """Solve these problems, each from a start within the bounds, ``betas[which]``, until ``stop[0]`` is set.

    Writes β, Kβ, and intercept, violation and number of pair steps to `betas`, `fitted` and `summary`.
    """
    n = len(diagonal)
    tables = np.empty((4, (n + _COLUMNS - 1) // _COLUMNS, _COLUMNS))
    vectors = (tables[0].ravel(), tables[1].ravel(), tables[2].ravel(), tables[3].ravel())  # views
    columns = (np.empty(_COLUMNS), np.empty(_COLUMNS), np.empty(_COLUMNS))
    working_set = (np.empty(_WORKING_SET, dtype=np.int64), np.empty(_WORKING_SET))
    for which in problems:
        target = targets[which]
        tables[:] = 0.0
        tables[1], tables[2] = -_FAR, _FAR
        problem = (K, diagonal, lower[which], upper[which], epsilon, betas[which])
        search = _Search(*problem, *vectors, tables, *columns, *working_set)
        _begin(search, target)
        violation, n_steps = _minimise(search, tol, max_iter, stop)
        fitted[which] = target - search.g[:n]
        summary[which, 0] = _find_intercept(search)
        summary[which, 1] = violation
        summary[which, 2] = n_steps


@_inlined
def _minimise(search, tol, max_iter, stop):  # pragma: no cover - compiled
    """Choose working sets of eight and improve them until no pair violates optimality by `tol`."""
    kernel, vectors = np.zeros((_WORKING_SET, _WORKING_SET)), np.empty((6, _WORKING_SET))
    n_steps, n_searches = 0, 0
    while True:
        top, bottom = _find_leaders(search)
        # Written so that NaN ends the search.
        if not top - bottom >= tol or n_steps >= max_iter or stop[0]:
            break
        count = _choose(search, n_searches % _PARTNER_EVERY == 0)
        n_searches += 1
        n_steps += _improve(search, count, kernel, vectors, min(max_iter - n_steps, _PAIR_STEPS))
        moved = np.int64(0)  # 0 would compile `_subtract_rows` a second time, for a constant
        for c in range(count):
            if search.step[c] != 0.0:
                search.chosen[moved], search.step[moved] = search.chosen[c], search.step[c]
                moved += 1
        if moved == 0:
            break
        _subtract_rows(search.g, search.K, search.chosen, search.step, moved)
    return max(top - bottom, 0.0), n_steps


@_inlined
def _begin(search, target):  # pragma: no cover - compiled
    """Set g, `up` and `low` at the start, and make Σβ = 0 by the moves that cost least to first order."""
    beta, count = search.beta, 0
    excess, rounding = 0.0, 0.0
    for k in range(len(beta)):
        search.g[k] = target[k]
    for k in range(len(beta)):
        _set_beta(search, k, beta[k])
        excess += beta[k]
        rounding += 1e-14 * abs(beta[k])
        if beta[k] != 0.0:
            search.chosen[count], search.step[count] = k, beta[k]
            count += 1
        if count == _WORKING_SET or k == len(beta) - 1:
            _subtract_rows(search.g, search.K, search.chosen, search.step, count)
            count = 0
    while abs(excess) > rounding:
        top, bottom = _find_leaders(search)
        if excess > 0.0:
            k = _find_leader(search.lowest, search.g, search.low, bottom, _FAR)
        else:
            k = _find_leader(search.highest, search.g, search.up, top, -_FAR)
        if k < 0:
            break
        before = beta[k]
        _set_beta(search, k, min(max(before - excess, search.lower[k]), search.upper[k]))
        search.chosen[0], search.step[0] = k, beta[k] - before
        excess += search.step[0]
        _subtract_rows(search.g, search.K, search.chosen, search.step, np.int64(1))


@_inlined
def _set_beta(search, k, value):  # pragma: no cover - compiled
    """Set β_k, and where it may still go."""
    search.beta[k] = value
    search.up[k] = _offset(value, search.upper[k], search.epsilon)
    search.low[k] = -_offset(-value, -search.lower[k], search.epsilon)


@_inlined
def _offset(value, upper, epsilon):  # pragma: no cover - compiled
    """What ε and the bound add to g where β grows; a β that falls is −β that grows."""
    if value >= upper:
        return -_FAR
    return -epsilon if value >= 0.0 else epsilon


@_inlined
def _step_length(slope, curvature, b_i, b_j, upper_i, lower_j, epsilon):  # pragma: no cover - compiled
    """The best step that adds to β_i and subtracts from β_j: each β that passes 0 lowers the slope by 2ε."""
    step = slope / curvature
    if epsilon > 0.0:
        kink_i = -b_i if b_i < 0.0 else _FAR
        kink_j = b_j if b_j > 0.0 else _FAR
        first, second = min(kink_i, kink_j), max(kink_i, kink_j)
        if step > first:
            step = max(first, (slope - 2.0 * epsilon) / curvature)
        if step > second:
            step = max(second, (slope - 4.0 * epsilon) / curvature)
    return min(step, upper_i - b_i, b_j - lower_j)


@_inlined
def _subtract_rows(g, K, rows, step, count):  # pragma: no cover - compiled
    """Subtract Σ_c step_c K[rows_c] over the first `count` of the working set from g, in one pass."""
    if count == 0:
        return
    for c in range(count, _WORKING_SET):
        rows[c], step[c] = rows[0], 0.0
    r0, r1, r2, r3, r4, r5, r6, r7 = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]
    s0, s1, s2, s3, s4, s5, s6, s7 = step[0], step[1], step[2], step[3], step[4], step[5], step[6], step[7]
    for k in range(K.shape[1]):
        first = (s0 * K[r0, k] + s1 * K[r1, k]) + (s2 * K[r2, k] + s3 * K[r3, k])
        second = (s4 * K[r4, k] + s5 * K[r5, k]) + (s6 * K[r6, k] + s7 * K[r7, k])
        g[k] -= first + second


@_inlined
def _find_leaders(search):  # pragma: no cover - compiled
    """Largest g + up and smallest g + low, of every column (stored) and overall (returned)."""
    g, up, low = search.tables[0], search.tables[1], search.tables[2]
    highest, lowest = search.highest, search.lowest
    for c in range(len(highest)):
        highest[c], lowest[c] = -_FAR, _FAR
    for r in range(g.shape[0]):
        for c in range(g.shape[1]):
            high, small = g[r, c] + up[r, c], g[r, c] + low[r, c]
            highest[c] = high if high > highest[c] else highest[c]
            lowest[c] = small if small < lowest[c] else lowest[c]
    return _extremes(highest, lowest)


@_inlined
def _extremes(highest, lowest):  # pragma: no cover - compiled
    """The largest of `highest` and the smallest of `lowest`, by several accumulators."""
    top, top2, bottom, bottom2 = highest[0], highest[1], lowest[0], lowest[1]
    for c in range(0, _COLUMNS, 2):
        top = highest[c] if highest[c] > top else top
        top2 = highest[c + 1] if highest[c + 1] > top2 else top2
        bottom = lowest[c] if lowest[c] < bottom else bottom
        bottom2 = lowest[c + 1] if lowest[c + 1] < bottom2 else bottom2
    return max(top, top2), min(bottom, bottom2)


@_inlined
def _find_leader(leaders, g, side, value, closed):  # pragma: no cover - compiled
    """The first k at which g[k] + side[k] is the value; closes its column. −1 if there is none (NaN)."""
    for c in range(len(leaders)):
        if leaders[c] == value:
            leaders[c] = closed
            for k in range(c, len(g), _COLUMNS):
                if g[k] + side[k] == value:
                    return k
    return -1


@_inlined
def _find_partner(search, i, top):  # pragma: no cover - compiled
    """The variable that gains most by falling while β_i grows, bounds aside; −1 if none gains."""
    g, low, row, diagonal, gain = search.g, search.low, search.K[i], search.diagonal, search.gain
    own = diagonal[i]
    for k in range(len(diagonal)):
        gap = top - (g[k] + low[k])
        gap = gap if gap > 0.0 else 0.0
        bend = own + diagonal[k] - 2.0 * row[k]
        bend = bend if bend > _FLAT else _FLAT
        gain[k] = gap * gap / bend
    by_column, leaders = search.tables[3], search.leaders
    leaders[:] = 0.0
    for r in range(by_column.shape[0]):
        for c in range(by_column.shape[1]):
            leaders[c] = by_column[r, c] if by_column[r, c] > leaders[c] else leaders[c]
    best, _ = _extremes(leaders, leaders)
    if best > 0.0:
        for c in range(len(leaders)):
            if leaders[c] == best:
                for k in range(c, len(gain), _COLUMNS):
                    if gain[k] == best:
                        return k
    return -1


@_inlined
def _choose(search, ask_partner):  # pragma: no cover - compiled
    """Fill the working set from both ends, one variable per column and side; the worst pair comes first."""
    chosen, count = search.chosen, 0
    while count + 2 <= _WORKING_SET:
        top, bottom = _extremes(search.highest, search.lowest)
        if not top > bottom:
            break
        count = _append(chosen, count, _find_leader(search.highest, search.g, search.up, top, -_FAR))
        if ask_partner and count == 1:
            count = _append(chosen, count, _find_partner(search, chosen[0], top))
        count = _append(chosen, count, _find_leader(search.lowest, search.g, search.low, bottom, _FAR))
    return count


@_inlined
def _append(chosen, count, k):  # pragma: no cover - compiled
    """Append a variable unless it is −1 or already there; returns the new count."""
    if k < 0:
        return count
    for c in range(count):
        if chosen[c] == k:
            return count
    chosen[count] = k
    return count + 1


@_inlined
def _improve(search, count, kernel, vectors, max_iter):  # pragma: no cover - compiled
    """Pair steps among the chosen β until their largest violation has halved; writes their changes."""
    g, beta, lower, upper, up, low = vectors
    epsilon = search.epsilon
    for c in range(count):
        k = search.chosen[c]
        g[c], beta[c], lower[c], upper[c] = search.g[k], search.beta[k], search.lower[k], search.upper[k]
        up[c], low[c] = search.up[k], search.low[k]
        for d in range(c + 1):
            kernel[c, d] = kernel[d, c] = search.K[k, search.chosen[d]]
    enough, n_steps = 0.0, 0
    while n_steps < max_iter:
        i, top, bottom = 0, -_FAR, _FAR
        for k in range(count):
            if g[k] + up[k] > top:
                i, top = k, g[k] + up[k]
            bottom = min(bottom, g[k] + low[k])
        if n_steps == 0:
            enough = _PROGRESS * (top - bottom)
        if not top - bottom > enough:
            break
        j, best, curvature = i, 0.0, 1.0
        for k in range(count):
            gap = top - (g[k] + low[k])
            if gap > 0.0:
                bend = max(kernel[i, i] + kernel[k, k] - 2.0 * kernel[i, k], _FLAT)
                if gap * gap / bend > best:
                    j, best, curvature = k, gap * gap / bend, bend
        t = _step_length(top - (g[j] + low[j]), curvature, beta[i], beta[j], upper[i], lower[j], epsilon)
        beta[i] = upper[i] if t == upper[i] - beta[i] else beta[i] + t
        beta[j] = lower[j] if t == beta[j] - lower[j] else beta[j] - t
        for k in (i, j):
            up[k], low[k] = _offset(beta[k], upper[k], epsilon), -_offset(-beta[k], -lower[k], epsilon)
        for k in range(count):
            g[k] -= t * (kernel[i, k] - kernel[j, k])
        n_steps += 1
    for c in range(count):
        k = search.chosen[c]
        search.step[c] = beta[c] - search.beta[k]
        _set_beta(search, k, beta[c])
    return n_steps


@_inlined
def _find_intercept(search):  # pragma: no cover - compiled
    """The mean of g ∓ ε over free variables, else the middle of its interval, else the sign of the bounds."""
    total, n_free, top, bottom = 0.0, 0, -np.inf, np.inf
    for k in range(len(search.beta)):
        value = search.beta[k]
        near = _NEAR * (search.upper[k] - search.lower[k])
        grows, falls = search.upper[k] - value > near, value - search.lower[k] > near
        at_up = search.g[k] + (search.epsilon if value < -near else -search.epsilon)
        at_low = search.g[k] + (-search.epsilon if value > near else search.epsilon)
        if grows and falls and at_up == at_low:
            total += at_up
            n_free += 1
        if grows:
            top = max(top, at_up)
        if falls:
            bottom = min(bottom, at_low)
    if n_free:
        return total / n_free
    if top == -np.inf and bottom == np.inf:
        return 0.0
    if top == -np.inf or bottom == np.inf:
        return 1.0 if bottom == np.inf else -1.0
    return (top + bottom) / 2
