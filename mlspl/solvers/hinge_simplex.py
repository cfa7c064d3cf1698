"""A simplex method for a sum of hinges on the probability simplex, compiled."""

from typing import NamedTuple

import numpy as np
from numba import njit

__all__ = ["minimise_hinges"]

_BELOW, _ABOVE, _HELD = 0, 1, 2
# Below this a number is 0 but for rounding: codes sum to 1 and hinges are scaled to largest entry 1.
_TINY = 1e-12
_REFACTOR_EVERY = 64
_FAST = {"contract", "reassoc", "nsz", "nnan"}


class _Program(NamedTuple):
    cost: np.ndarray  # (p,)
    hinges: np.ndarray  # (p, r)
    heights: np.ndarray  # (r,)


class _Vertex(NamedTuple):
    """A point q where p - 1 constraints hold: q_a = 0 (named a) or bend b is 0 (named p + b)."""

    held: np.ndarray  # (p - 1,) names of the constraints
    edges: np.ndarray  # (p, p) row s: where constraint s grows at rate 1 and the others hold; last row: q
    bends: np.ndarray  # (r,) Σ_a q_a hinges_ab
    sides: np.ndarray  # (r,) _BELOW, _ABOVE or _HELD
    gradient: np.ndarray  # (p,) cost plus the hinges that are above 0


@njit(cache=True, nogil=True, fastmath=_FAST)
def minimise_hinges(cost, hinges, heights, max_iter):  # pragma: no cover - compiled
    """Minimise ⟨cost, q⟩ + Σ_b heights_b max(0, Σ_a q_a hinges_ab) over q ≥ 0, Σ q = 1.

    From the corner q = (1, 0, …, 0), the walk follows the steepest of the edges on which the objective is
    linear between bends, and goes down each to its lowest point, however many hinges bend on the way. When
    steps of length 0 pile up, Bland's rule takes over, which cannot cycle.

    Parameters
    ----------
    cost : array (p,)
        Any numbers.
    hinges : array (p, r)
        Every column's largest absolute value is 1.
    heights : array (r,)
        Positive.
    max_iter : int
        At most this many edges.

    Returns
    -------
    q : array (p,)
        The minimiser.
    objective : float
        Its value.
    gap : float
        How far the value is above a lower bound from the dual program: 0 up to rounding, unless
        `max_iter` was reached.
    iterations : int
        Number of edges walked.

    Examples
    --------
    >>> import numpy as np
    >>> q, objective, gap, _ = minimise_hinges(
    ...     np.zeros(2), np.array([[1.0, -1.0], [-1.0, 1.0]]), np.ones(2), 100)
    >>> q, objective, gap
    (array([0.5, 0.5]), 0.0, 0.0)
    """
    p, r = cost.shape[0], heights.shape[0]
    program = _Program(cost, hinges, heights)
    vertex = _Vertex(np.arange(1, p), np.empty((p, p)), np.empty(r), np.zeros(r, dtype=np.int8), np.empty(p))
    scale = 0.0
    for a in range(p):
        scale = max(scale, abs(cost[a]))
    for b in range(r):
        scale += heights[b]
    _factor(program, vertex)
    rates = np.empty(r)
    stalled, age, iteration = 0, 0, 0
    while True:
        bland = stalled > 2 * p
        slot, sign, slope = _descend(program, vertex, 1e-13 * scale, bland)
        if slot < 0 or iteration == max_iter:
            q, objective, gap = _certify(program, vertex)
            if gap <= 1e-13 * scale or age == 0 or iteration == max_iter:
                return q, objective, gap, iteration
        if slot < 0 or age == _REFACTOR_EVERY:
            _factor(program, vertex)
            age = 0
            continue
        step, entering = _search(program, vertex, slot, sign, slope, bland, rates)
        _pivot(program, vertex, slot, sign, step, entering, rates)
        stalled = stalled + 1 if -slope * step <= 1e-14 * scale else 0
        iteration += 1
        age += 1


@njit(cache=True, nogil=True, fastmath=_FAST)
def _dot(a, b):  # pragma: no cover - compiled
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _bends(program, direction, out):  # pragma: no cover - compiled
    """Σ_a direction_a hinges_ab for every hinge b."""
    for b in range(out.shape[0]):
        out[b] = 0.0
    for a in range(direction.shape[0]):
        if direction[a] != 0.0:
            for b in range(out.shape[0]):
                out[b] += direction[a] * program.hinges[a, b]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _factor(program, vertex):  # pragma: no cover - compiled
    """Compute everything about the vertex anew from the constraints it holds."""
    p, r = program.cost.shape[0], program.heights.shape[0]
    held, edges = vertex.held, vertex.edges
    wanted = held.copy()
    # The corner of prototype 0 holds q_a = 0 for a > 0; exchange what is not wanted for what is.
    free = np.ones(p - 1, dtype=np.bool_)
    for s in range(p):
        for a in range(p):
            edges[s, a] = 0.0
        edges[s, 0] = -1.0
    edges[p - 1, 0] = 1.0
    for s in range(p - 1):
        edges[s, s + 1] = 1.0
        held[s] = s + 1
    for name in wanted:
        if 0 < name < p:
            free[name - 1] = False
    for name in wanted:
        if name == 0 or name >= p:
            constraint = _constraint(program, name)
            slot, largest = -1, _TINY
            for s in range(p - 1):
                reach = abs(_dot(edges[s], constraint))
                if free[s] and reach > largest:
                    slot, largest = s, reach
            if slot >= 0:
                _exchange(edges, slot, constraint)
                held[slot] = name
                free[slot] = False
    for name in wanted:
        if name >= p:
            vertex.sides[name - p] = _BELOW
    for a in range(p):
        vertex.gradient[a] = program.cost[a]
    _clear_rounding(edges[p - 1])
    _bends(program, edges[p - 1], vertex.bends)
    for b in range(r):
        if abs(vertex.bends[b]) < _TINY:
            vertex.bends[b] = 0.0
        # At 0 the side stays as it was: Bland's rule counts on it.
        above = vertex.bends[b] > 0.0 or (vertex.bends[b] == 0.0 and vertex.sides[b] == _ABOVE)
        vertex.sides[b] = _BELOW
        if above:
            _flip(program, vertex, b)
    for name in held:
        if name >= p:
            vertex.sides[name - p] = _HELD


@njit(cache=True, nogil=True)
def _constraint(program, name):  # pragma: no cover - compiled
    """The coefficients of the constraint of this name."""
    p = program.cost.shape[0]
    if name >= p:
        return program.hinges[:, name - p].copy()
    unit = np.zeros(p)
    unit[name] = 1.0
    return unit


@njit(cache=True, nogil=True, fastmath=_FAST)
def _exchange(edges, slot, constraint):  # pragma: no cover - compiled
    """Hold the given constraint in place of the one in this slot; q moves along the slot's edge."""
    edge = edges[slot]
    pivot = _dot(edge, constraint)
    for a in range(edge.shape[0]):
        edge[a] /= pivot
    for s in range(edges.shape[0]):
        if s != slot:
            reach = _dot(edges[s], constraint)
            if reach != 0.0:
                for a in range(edge.shape[0]):
                    edges[s, a] -= reach * edge[a]


@njit(cache=True, nogil=True)
def _clear_rounding(q):  # pragma: no cover - compiled
    """Set to 0 what is 0 but for rounding, or below it."""
    for a in range(q.shape[0]):
        if q[a] < _TINY:
            q[a] = 0.0


@njit(cache=True, nogil=True)
def _flip(program, vertex, b):  # pragma: no cover - compiled
    """Put hinge b on its other side."""
    rises = vertex.sides[b] == _BELOW
    vertex.sides[b] = _ABOVE if rises else _BELOW
    height = program.heights[b] if rises else -program.heights[b]
    for a in range(program.cost.shape[0]):
        vertex.gradient[a] += height * program.hinges[a, b]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _descend(program, vertex, tol, bland):  # pragma: no cover - compiled
    """The steepest descending edge, or by Bland's rule the first by name: slot (-1 if none), sign, slope."""
    p = program.cost.shape[0]
    slot, sign, slope, steepest, first = -1, 1.0, 0.0, 0.0, p + program.heights.shape[0]
    for s in range(p - 1):
        name = vertex.held[s]
        up = _dot(vertex.gradient, vertex.edges[s])
        down = np.inf
        if name >= p:
            # A held hinge can be left to either side; its slopes sum to its height, so one at most descends.
            down = -up
            up += program.heights[name - p]
        lower = min(up, down)
        if lower < -tol:
            steepness = lower * lower / _dot(vertex.edges[s], vertex.edges[s])
            if name < first if bland else steepness > steepest:
                steepest, first = steepness, name
                slot, sign, slope = s, 1.0 if up <= down else -1.0, lower
    return slot, sign, slope


@njit(cache=True, nogil=True, fastmath=_FAST)
def _search(program, vertex, slot, sign, slope, bland, rates):  # pragma: no cover - compiled
    """How far the lowest point along an edge is, and the constraint met there. Hinges passed are flipped."""
    p, r = program.cost.shape[0], program.heights.shape[0]
    edge, q = vertex.edges[slot], vertex.edges[p - 1]
    tiny = 0.0
    for a in range(p):
        tiny = max(tiny, _TINY * abs(edge[a]))
    step, entering = np.inf, -1
    for a in range(p):
        if sign * edge[a] < -tiny and q[a] < step * (-sign * edge[a]):
            step, entering = q[a] / (-sign * edge[a]), a
    times = np.empty(r)
    met = np.empty(r, dtype=np.int64)
    count = 0
    _bends(program, edge, rates)
    for b in range(r):
        rates[b] *= sign
        if (vertex.sides[b] == _ABOVE and rates[b] < -tiny) or (
            vertex.sides[b] == _BELOW and rates[b] > tiny
        ):
            time = max(0.0, -vertex.bends[b] / rates[b])
            if time < step:
                times[count], met[count] = time, b
                count += 1
    if bland:
        for c in range(count):
            if times[c] < step or (times[c] == step and p <= entering and p + met[c] < entering):
                step, entering = times[c], p + met[c]
        return step, entering
    # Quickselect for the first time at which the slope, which every hinge passed raises, is not negative.
    low, high, passed = 0, count, count
    while low < high:
        pivot = times[(low + high) // 2]
        less, c, more = low, low, high
        before, at = 0.0, 0.0
        while c < more:
            bend = program.heights[met[c]] * abs(rates[met[c]])
            if times[c] > pivot:
                more -= 1
                times[c], times[more] = times[more], times[c]
                met[c], met[more] = met[more], met[c]
            elif times[c] < pivot:
                before += bend
                times[c], times[less] = times[less], times[c]
                met[c], met[less] = met[less], met[c]
                less += 1
                c += 1
            else:
                at += bend
                c += 1
        if slope + before >= 0.0:
            high = less
        elif slope + before + at < 0.0:
            slope += before + at
            low = more
        else:
            # Of the hinges met together, the one met most squarely is the safest to divide by.
            squarest = less
            for c in range(less, more):
                if abs(rates[met[c]]) > abs(rates[met[squarest]]):
                    squarest = c
            step, entering = pivot, p + met[squarest]
            met[squarest] = met[less]
            slope += before
            passed = less
            for c in range(less + 1, more):
                slope += program.heights[met[c]] * abs(rates[met[c]])
                if slope < 0.0:
                    met[passed] = met[c]
                    passed += 1
            break
    for c in range(passed):
        _flip(program, vertex, met[c])
    return step, entering


@njit(cache=True, nogil=True, fastmath=_FAST)
def _pivot(program, vertex, slot, sign, step, entering, rates):  # pragma: no cover - compiled
    """Move to the end of the step and hold the constraint met there instead of the one left."""
    p, r = program.cost.shape[0], program.heights.shape[0]
    for b in range(r):
        bend = vertex.bends[b] + step * rates[b]
        vertex.bends[b] = bend if abs(bend) > _TINY else 0.0
    left = vertex.held[slot] - p
    if left >= 0:
        vertex.sides[left] = _BELOW
        if sign > 0.0:
            _flip(program, vertex, left)
    if entering >= p:
        if vertex.sides[entering - p] == _ABOVE:
            _flip(program, vertex, entering - p)
        vertex.sides[entering - p] = _HELD
        vertex.bends[entering - p] = 0.0
    vertex.held[slot] = entering
    _exchange(vertex.edges, slot, _constraint(program, entering))
    _clear_rounding(vertex.edges[p - 1])


@njit(cache=True, nogil=True, fastmath=_FAST)
def _certify(program, vertex):  # pragma: no cover - compiled
    """The point, its objective, and how far that is above a bound from the dual program.

    Any slopes 0 ≤ u_b ≤ heights_b prove that no point has less than min_a (cost_a + Σ_b u_b hinges_ab).
    """
    p, r = program.cost.shape[0], program.heights.shape[0]
    slopes = np.zeros(r)
    for b in range(r):
        if vertex.sides[b] == _ABOVE:
            slopes[b] = program.heights[b]
    for s in range(p - 1):
        b = vertex.held[s] - p
        if b >= 0:
            slopes[b] = min(max(-_dot(vertex.gradient, vertex.edges[s]), 0.0), program.heights[b])
    q = vertex.edges[p - 1].copy()
    total = 0.0
    for a in range(p):
        q[a] = max(q[a], 0.0)
        total += q[a]
    for a in range(p):
        q[a] /= total
    bends = np.empty(r)
    _bends(program, q, bends)
    objective, bound = _dot(program.cost, q), np.inf
    for b in range(r):
        objective += program.heights[b] * max(0.0, bends[b])
    for a in range(p):
        bound = min(bound, program.cost[a] + _dot(slopes, program.hinges[a]))
    return q, objective, max(0.0, objective - bound)
