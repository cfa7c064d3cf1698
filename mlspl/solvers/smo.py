"""Sequential minimal optimisation of one label's SVM (compiled).

The dual is written in signed variables β_i = y_i α_i, which leaves the labels out of the kernel::

    min ½ βᵀKβ − yᵀβ   subject to β_i between 0 and y_i C_i, and to Σ β_i = 0

Let g = y − Kβ. A pair (i, j) violates the optimality conditions when β_i may grow, β_j may fall and
g_i > g_j; the largest g_i − g_j is LIBSVM's stopping criterion. LIBSVM moves one pair, reads its two kernel
rows to bring g up to date and searches all n variables again (Fan, Chen and Lin 2005); so does this, as long
as the kernel stays in the cache. Beyond, a search returns up to eight leading violators; pair steps run on
their 8×8 kernel until the violation among them has halved; then one pass over the eight rows updates g. More
rows are read in total, but as eight streams at once, which is how memory is fast, and there are less than
half as many searches.

Nothing here may be reordered or fused by the compiler ("fastmath"): every processor gets the same bits, hence
takes the same way to the optimum.
"""

from typing import NamedTuple

import numpy as np

from mlspl._numba_cache import njit
from mlspl.solvers.smo_answer import evaluate, find_intercept
from mlspl.solvers.smo_blocks import BLOCK, block_gain, block_highest, block_lowest, find_gain, find_sum

__all__ = ["solve_label", "solve_labels"]

# `_subtract_rows` is unrolled for eight. Larger sets spend more rows on the same progress, smaller ones more
# searches; so do pair steps that stop earlier or later.
_WORKING_SET = 8
_PROGRESS = 0.5
# Up to here rows stay in the cache, where two are read in no time and the best pair is worth a search.
_PAIRS_UP_TO = 1500
# Three or four pair steps are usual; where rounding leaves no progress to be made they would not end.
_PAIR_STEPS = 100
# The second-order partner of the worst violator costs a row read alone. Without it the search would crawl
# where an exact duplicate has the other label, a pair that no first-order rule finds.
_PARTNER_EVERY = 3
# In place of infinity: g ± _FAR keeps out of every maximum or minimum and never becomes NaN.
_FAR = 1e300
# LIBSVM's τ: the curvature assumed where duplicates or an indefinite kernel leave none.
_FLAT = 1e-12

_compiled = njit(cache=True, nogil=True, error_model="numpy")
# Calls within a search cost as much as what they do, and count references to its arrays.
_inlined = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)


class _Search(NamedTuple):
    """A label's problem and how far its solution has come; n entries each, or what more fills a block."""

    K: np.ndarray
    diagonal: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    beta: np.ndarray
    g: np.ndarray
    up: np.ndarray  # 0 where β may grow, −_FAR where not
    low: np.ndarray  # 0 where β may fall, _FAR where not
    highest: np.ndarray  # per block, the largest g that may grow
    lowest: np.ndarray  # per block, the smallest g that may fall
    chosen: np.ndarray  # the working set
    step: np.ndarray  # how far its β have moved
    kernel: np.ndarray  # among it
    vectors: np.ndarray  # its g, β and bounds, as rows


@_compiled
def solve_label(
    label, K, diagonal, Y, costs, start, tol, max_iter, stop, alpha, decision, summary
):  # pragma: no cover - compiled
    """Solve one row of Y and write its row of `alpha`, `decision` and `summary`.

    `start` is within the costs; `stop[0]` ends the search early when another thread sets it. A row of
    `summary` is bias, primal objective, duality gap, largest violation, number of pair steps.
    """
    y, cost = Y[label], costs[label]
    search = _begin(K, diagonal, y, cost, start[label])
    if len(y) <= _PAIRS_UP_TO:
        violation, n_steps = _move_pairs(search, tol, max_iter, stop)
    else:
        violation, n_steps = _move_sets(search, tol, max_iter, stop)
    summary[label, 0] = find_intercept(search.lower, search.upper, search.beta, search.g)
    summary[label, 3] = violation
    summary[label, 4] = n_steps
    evaluate(y, cost, search.beta, search.g, alpha[label], decision[label], summary[label])


@_compiled
def solve_labels(labels, *arguments):  # pragma: no cover - compiled
    """Solve several rows of Y, one after the other."""
    for label in labels:
        solve_label(label, *arguments)


@_compiled
def _move_pairs(search, tol, max_iter, stop):  # pragma: no cover - compiled
    """LIBSVM's steps to the end: the worst violator and its second-order partner."""
    g, K, diagonal, beta = search.g, search.K, search.diagonal, search.beta
    n_steps = 0
    while True:
        top, bottom = _find_leaders(search)
        # Written so that NaN ends the search.
        if not top - bottom >= tol or n_steps >= max_iter or stop[0]:
            break
        if not _take(search.chosen, 0, search.highest, top, -_FAR, g, search.up):
            break
        i = search.chosen[0]
        j = _partner(i, top, K, diagonal, g, search.low)
        if j < 0:
            break
        row_i, row_j = K[i], K[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], _FLAT)
        room_up, room_down = search.upper[i] - beta[i], beta[j] - search.lower[j]
        t = min((top - g[j]) / curvature, room_up, room_down)
        _put(search, i, search.upper[i] if t == room_up else beta[i] + t)
        _put(search, j, search.lower[j] if t == room_down else beta[j] - t)
        for k in range(len(row_i)):
            g[k] -= t * (row_i[k] - row_j[k])
        n_steps += 1
    return max(top - bottom, 0.0), n_steps


@_compiled
def _move_sets(search, tol, max_iter, stop):  # pragma: no cover - compiled
    """Steps within sets of eight to the end."""
    n_steps, n_searches = 0, 0
    while True:
        top, bottom = _find_leaders(search)
        if not top - bottom >= tol or n_steps >= max_iter or stop[0]:
            break
        count = _choose(search, n_searches % _PARTNER_EVERY == 0)
        n_searches += 1
        n_steps += _improve(search, count, min(max_iter - n_steps, _PAIR_STEPS))
        moved = 0
        for c in range(count):
            if search.step[c] != 0.0:
                search.chosen[moved], search.step[moved] = search.chosen[c], search.step[c]
                moved += 1
        if moved == 0:
            break
        _subtract_rows(search, moved)
    return max(top - bottom, 0.0), n_steps


@_compiled
def _begin(K, diagonal, y, cost, start):  # pragma: no cover - compiled
    """The search at `start`, balanced."""
    n = len(y)
    n_blocks = (n + BLOCK - 1) // BLOCK
    n_leaders = (n_blocks + BLOCK - 1) // BLOCK * BLOCK
    search = _Search(
        K,
        diagonal,
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.zeros(n_blocks * BLOCK),
        np.empty(n_blocks * BLOCK),
        np.empty(n_blocks * BLOCK),
        np.full(n_leaders, -_FAR),
        np.full(n_leaders, _FAR),
        np.empty(_WORKING_SET, dtype=np.int64),
        np.empty(_WORKING_SET),
        np.zeros((_WORKING_SET, _WORKING_SET)),
        np.empty((4, _WORKING_SET)),
    )
    search.up[:] = -_FAR
    search.low[:] = _FAR
    search.g[:n] = y
    count = 0
    for k in range(n):
        search.lower[k], search.upper[k] = min(y[k] * cost[k], 0.0), max(y[k] * cost[k], 0.0)
        _put(search, k, y[k] * start[k])
        if start[k] != 0.0:
            search.chosen[count], search.step[count] = k, search.beta[k]
            count += 1
            if count == _WORKING_SET:
                _subtract_rows(search, count)
                count = 0
    if count:
        _subtract_rows(search, count)
    _balance(search)
    return search


@_compiled
def _balance(search):  # pragma: no cover - compiled
    """Make Σβ = 0, always moving the variable for which that costs least to first order."""
    excess, rounding = 0.0, 0.0
    for k in range(len(search.beta)):
        excess += search.beta[k]
        rounding += 1e-14 * abs(search.beta[k])
    while abs(excess) > rounding:
        count = 0
        while abs(excess) > rounding and count < _WORKING_SET:
            top, bottom = _find_leaders(search)
            if excess > 0.0:
                taken = _take(search.chosen, count, search.lowest, bottom, _FAR, search.g, search.low)
            else:
                taken = _take(search.chosen, count, search.highest, top, -_FAR, search.g, search.up)
            if taken == count:
                break
            k = search.chosen[count]
            before = search.beta[k]
            _put(search, k, min(max(before - excess, search.lower[k]), search.upper[k]))
            search.step[count] = search.beta[k] - before
            excess += search.step[count]
            count += 1
        if count == 0:
            break
        _subtract_rows(search, count)


@_inlined
def _put(search, k, value):  # pragma: no cover - compiled
    """Set β_k and note where it may still go."""
    search.beta[k] = value
    search.up[k] = 0.0 if value < search.upper[k] else -_FAR
    search.low[k] = 0.0 if value > search.lower[k] else _FAR


@_inlined
def _subtract_rows(search, count):  # pragma: no cover - compiled
    """Take Σ_c step_c K[chosen_c] from g, over the first `count` of the working set, in one pass."""
    g, K, rows, step = search.g, search.K, search.chosen, search.step
    for c in range(count, _WORKING_SET):
        rows[c], step[c] = rows[0], 0.0
    row0, row1, row2, row3 = K[rows[0]], K[rows[1]], K[rows[2]], K[rows[3]]
    row4, row5, row6, row7 = K[rows[4]], K[rows[5]], K[rows[6]], K[rows[7]]
    s0, s1, s2, s3, s4, s5, s6, s7 = step[0], step[1], step[2], step[3], step[4], step[5], step[6], step[7]
    for k in range(K.shape[1]):
        first = (s0 * row0[k] + s1 * row1[k]) + (s2 * row2[k] + s3 * row3[k])
        second = (s4 * row4[k] + s5 * row5[k]) + (s6 * row6[k] + s7 * row7[k])
        g[k] -= first + second


@_inlined
def _find_leaders(search):  # pragma: no cover - compiled
    """The largest g that may grow and the smallest that may fall, overall (returned) and in every block."""
    for block in range(len(search.g) // BLOCK):
        search.highest[block] = block_highest(search.g, search.up, block * BLOCK)
        search.lowest[block] = block_lowest(search.g, search.low, block * BLOCK)
    return _extremes(search.highest, search.lowest)


@_inlined
def _extremes(highest, lowest):  # pragma: no cover - compiled
    """The extremes of the block leaders."""
    top, bottom = -_FAR, _FAR
    for first in range(0, len(highest), BLOCK):
        top = max(top, block_highest(highest, None, first))
        bottom = min(bottom, block_lowest(lowest, None, first))
    return top, bottom


@_inlined
def _choose(search, ask_partner):  # pragma: no cover - compiled
    """Fill the working set from both ends, one variable per block and side; the worst pair comes first."""
    count = 0
    while count + 2 <= _WORKING_SET:
        top, bottom = _extremes(search.highest, search.lowest)
        if not top > bottom:
            break
        count = _take(search.chosen, count, search.highest, top, -_FAR, search.g, search.up)
        if ask_partner and count == 1:
            partner = _partner(search.chosen[0], top, search.K, search.diagonal, search.g, search.low)
            if partner >= 0:
                search.chosen[1] = partner
                count = 2
        count = _take(search.chosen, count, search.lowest, bottom, _FAR, search.g, search.low)
    return count


@_inlined
def _take(chosen, count, leaders, leader, closed, g, side):  # pragma: no cover - compiled
    """Append the variable behind a leader, unless it is there for its other side, and close its block."""
    for first in range(0, len(leaders), BLOCK):
        place = find_sum(leaders, None, first, leader)
        if place < BLOCK:
            start = (first + place) * BLOCK
            leaders[first + place] = closed
            place = find_sum(g, side, start, leader)
            if place == BLOCK:  # hidden by NaN
                return count
            for c in range(count):
                if chosen[c] == start + place:
                    return count
            chosen[count] = start + place
            return count + 1
    return count


@_inlined
def _partner(i, top, K, diagonal, g, low):  # pragma: no cover - compiled
    """The variable that gains most by falling while β_i grows, bounds aside; −1 if none gains."""
    row, n = K[i], len(diagonal)
    whole = n // BLOCK * BLOCK
    best, place = 0.0, -1
    for first in range(0, whole, BLOCK):
        gain = block_gain(g, low, row, diagonal, diagonal[i], top, _FLAT, first)
        if gain > best:
            best, place = gain, first
    if place >= 0:
        place += find_gain(g, low, row, diagonal, diagonal[i], top, _FLAT, place, best)
    for k in range(whole, n):
        gap = max(top - (g[k] + low[k]), 0.0)
        gain = gap * gap / max(diagonal[i] + diagonal[k] - 2.0 * row[k], _FLAT)
        if gain > best:
            best, place = gain, k
    return place


@_inlined
def _improve(search, count, max_iter):  # pragma: no cover - compiled
    """Move the chosen β by pair steps among themselves; write how far, return how many steps."""
    kernel, (slope, value, lower, upper) = search.kernel, search.vectors
    for c in range(count):
        k = search.chosen[c]
        slope[c], value[c] = search.g[k], search.beta[k]
        lower[c], upper[c] = search.lower[k], search.upper[k]
        for d in range(c + 1):
            kernel[c, d] = kernel[d, c] = search.K[k, search.chosen[d]]
    n_steps = _pair_steps(kernel, slope, value, lower, upper, count, max_iter)
    for c in range(count):
        k = search.chosen[c]
        search.step[c] = value[c] - search.beta[k]
        _put(search, k, value[c])
    return n_steps


@_inlined
def _pair_steps(kernel, g, beta, lower, upper, size, max_iter):  # pragma: no cover - compiled
    """LIBSVM's steps on a small kernel, until the largest violation has fallen to `_PROGRESS` of itself."""
    enough = 0.0
    for n_steps in range(max_iter):
        i, top, bottom = 0, -_FAR, _FAR
        for k in range(size):
            if beta[k] < upper[k] and g[k] > top:
                i, top = k, g[k]
            if beta[k] > lower[k] and g[k] < bottom:
                bottom = g[k]
        if n_steps == 0:
            enough = _PROGRESS * (top - bottom)
        if not top - bottom > enough:
            return n_steps
        j, best, curvature = i, 0.0, 1.0
        for k in range(size):
            gap = top - g[k]
            if beta[k] > lower[k] and gap > 0.0:
                bend = max(kernel[i, i] + kernel[k, k] - 2.0 * kernel[i, k], _FLAT)
                if gap * gap / bend > best:
                    j, best, curvature = k, gap * gap / bend, bend
        room_up, room_down = upper[i] - beta[i], beta[j] - lower[j]
        t = min((top - g[j]) / curvature, room_up, room_down)
        beta[i] = upper[i] if t == room_up else beta[i] + t
        beta[j] = lower[j] if t == room_down else beta[j] - t
        for k in range(size):
            g[k] -= t * (kernel[i, k] - kernel[j, k])
    return max_iter
