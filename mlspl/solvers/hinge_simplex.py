"""A simplex method for a sum of hinges on the probability simplex, compiled."""

from typing import NamedTuple

import numpy as np

from mlspl._numba_cache import njit

__all__ = ["minimise_hinges"]

_BELOW, _ABOVE, _HELD = 0, 1, 2
# Codes sum to 1 and hinges are scaled to largest entry 1: a bend this small is 0 but for rounding,
_ROUNDING = 1e-14
# a rate this small, beside the largest of its edge, is none to divide by,
_PARALLEL = 1e-10
# and so far are values moved that tie at 0: well above rounding, well below what matters.
_SHIFT = 1e-11
_REFACTOR_EVERY = 64
_FAST = {"contract", "reassoc", "nsz", "nnan"}


class _Program(NamedTuple):
    cost: np.ndarray  # (p,)
    hinges: np.ndarray  # (p, r)
    heights: np.ndarray  # (r,)


class _Vertex(NamedTuple):
    """A point q where p - 1 constraints hold: q_a = 0 (named a) or bend b is 0 (named p + b)."""

    held: np.ndarray  # (p - 1,) names of the constraints
    edges: np.ndarray  # (p - 1, p) row s: where constraint s grows at rate 1 and the others hold
    q: np.ndarray  # (p,)
    bends: np.ndarray  # (r,) Σ_a q_a hinges_ab
    sides: np.ndarray  # (r,) _BELOW, _ABOVE or _HELD
    gradient: np.ndarray  # (p,) cost plus the hinges that are above 0


@njit(cache=True, nogil=True, fastmath=_FAST)
def minimise_hinges(cost, hinges, heights, max_iter):  # pragma: no cover - compiled
    """Minimise ⟨cost, q⟩ + Σ_b heights_b max(0, Σ_a q_a hinges_ab) over q ≥ 0, Σ q = 1.

    From the corner q = (1, 0, …, 0), the walk follows the steepest of the edges on which the objective is
    linear between bends, and goes down each to its lowest point, however many hinges bend on the way. When
    steps of length 0 pile up, as they can for ever, the hinges and corners that tie are moved apart by a hair
    until the minimum is found, and then put back.
    """
    p, r = cost.shape[0], heights.shape[0]
    program = _Program(cost, hinges, heights)
    held, edges, sides = np.arange(1, p), np.empty((p - 1, p)), np.zeros(r, dtype=np.int8)
    vertex = _Vertex(held, edges, np.empty(p), np.empty(r), sides, np.empty(p))
    rates = np.empty(r)
    scale = _dot(heights, np.ones(r))
    for a in range(p):
        scale = max(scale, abs(cost[a]))
    _factor(program, vertex)
    _place(program, vertex)
    stalled, age, iteration = 0, 0, 0
    exact, shifted = True, False
    while True:
        slot, sign, slope = _descend(program, vertex, 1e-13 * scale)
        if slot < 0 or iteration == max_iter:
            q, objective, gap = _certify(program, vertex)
            if gap <= 1e-13 * scale or exact or iteration == max_iter:
                return q, objective, gap, iteration
        if slot < 0 or age == _REFACTOR_EVERY:
            _factor(program, vertex)
            age = 0
            if slot < 0 or not shifted:
                _place(program, vertex)
                exact, shifted = True, False
            continue
        if stalled > p:
            _shift(program, vertex, iteration)
            stalled, shifted = 0, True
        step, entering = _search(program, vertex, slot, sign, slope, rates)
        _pivot(program, vertex, slot, sign, step, entering, rates)
        stalled = stalled + 1 if -slope * step <= 1e-15 * scale else 0
        exact = False
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
    """Compute the edges anew from the constraints held."""
    p = program.cost.shape[0]
    held, edges = vertex.held, vertex.edges
    wanted = held.copy()
    # The corner of prototype 0 holds q_a = 0 for a > 0; exchange what is not wanted for what is.
    free = np.ones(p - 1, dtype=np.bool_)
    for s in range(p - 1):
        for a in range(p):
            edges[s, a] = 0.0
        edges[s, 0] = -1.0
        edges[s, s + 1] = 1.0
        held[s] = s + 1
    for name in wanted:
        if 0 < name < p:
            free[name - 1] = False
    for name in wanted:
        if name == 0 or name >= p:
            constraint = _constraint(program, name)
            slot, largest = -1, 0.0
            for s in range(p - 1):
                reach = abs(_dot(edges[s], constraint))
                if free[s] and reach > largest:
                    slot, largest = s, reach
            if slot >= 0:
                _exchange(edges, slot, constraint)
                held[slot] = name
                free[slot] = False


@njit(cache=True, nogil=True, fastmath=_FAST)
def _place(program, vertex):  # pragma: no cover - compiled
    """Compute the point and everything that depends on it from the edges, and undo shifts."""
    p, r = program.cost.shape[0], program.heights.shape[0]
    for a in range(p):
        vertex.gradient[a] = program.cost[a]
        vertex.q[a] = 0.0
    # Along the edges, from the corner of prototype 0 to where every held constraint is 0.
    vertex.q[0] = 1.0
    for s in range(p - 1):
        name = vertex.held[s]
        value = program.hinges[0, name - p] if name >= p else 1.0 * (name == 0)
        for a in range(p):
            vertex.q[a] -= value * vertex.edges[s, a]
    _bends(program, vertex.q, vertex.bends)
    for b in range(r):
        if abs(vertex.bends[b]) < _ROUNDING:
            vertex.bends[b] = 0.0
        above = vertex.bends[b] > 0.0 or (vertex.bends[b] == 0.0 and vertex.sides[b] == _ABOVE)
        vertex.sides[b] = _BELOW
        if above:
            _flip(program, vertex, b)
    for name in vertex.held:
        if name < p:
            vertex.q[name] = 0.0
        else:
            if vertex.sides[name - p] == _ABOVE:
                _flip(program, vertex, name - p)
            vertex.sides[name - p] = _HELD
            vertex.bends[name - p] = 0.0


@njit(cache=True, nogil=True)
def _shift(program, vertex, iteration):  # pragma: no cover - compiled
    """Move what is 0 without being held a little into its side, each by another amount."""
    p, r = program.cost.shape[0], program.heights.shape[0]
    basic = np.ones(p, dtype=np.bool_)
    for name in vertex.held:
        if name < p:
            basic[name] = False
    for a in range(p):
        if basic[a] and vertex.q[a] < _SHIFT:
            vertex.q[a] = _SHIFT * (1.0 + 0.6180339887498949 * (a + iteration) % 1.0)
    for b in range(r):
        if vertex.sides[b] != _HELD and abs(vertex.bends[b]) < _SHIFT:
            amount = _SHIFT * (1.0 + 0.6180339887498949 * (p + b + iteration) % 1.0)
            vertex.bends[b] = amount if vertex.sides[b] == _ABOVE else -amount


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
    """Hold the given constraint in place of the one in this slot."""
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
def _flip(program, vertex, b):  # pragma: no cover - compiled
    """Put hinge b on its other side."""
    rises = vertex.sides[b] == _BELOW
    vertex.sides[b] = _ABOVE if rises else _BELOW
    height = program.heights[b] if rises else -program.heights[b]
    for a in range(program.cost.shape[0]):
        vertex.gradient[a] += height * program.hinges[a, b]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _descend(program, vertex, tol):  # pragma: no cover - compiled
    """The steepest descending edge: slot (-1 if none), sign, slope."""
    p = program.cost.shape[0]
    slot, sign, slope, steepest = -1, 1.0, 0.0, 0.0
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
            if steepness > steepest:
                slot, sign, slope, steepest = s, 1.0 if up <= down else -1.0, lower, steepness
    return slot, sign, slope


@njit(cache=True, nogil=True, fastmath=_FAST)
def _search(program, vertex, slot, sign, slope, rates):  # pragma: no cover - compiled
    """How far the lowest point along an edge is, and the constraint met there. Hinges passed are flipped."""
    p, r = program.cost.shape[0], program.heights.shape[0]
    edge = vertex.edges[slot]
    tiny = 0.0
    for a in range(p):
        tiny = max(tiny, _PARALLEL * abs(edge[a]))
    step, entering = np.inf, -1
    for a in range(p):
        if sign * edge[a] < -tiny:
            time = max(0.0, vertex.q[a] / (-sign * edge[a]))
            if time < step:
                step, entering = time, a
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
        # Sums differ by how the compiler groups them: a slope taken for negative can be 0 here, and then
        # the first hinge left is the end.
        if slope + before >= 0.0 and less > low:
            high = less
        elif slope + before + at < 0.0 and (more < high or high == count):
            # Once an end is known to be in the range, rounding must not let the last one pass.
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
    for a in range(p):
        vertex.q[a] += step * sign * vertex.edges[slot, a]
    for b in range(r):
        bend = vertex.bends[b] + step * rates[b]
        vertex.bends[b] = bend if abs(bend) > _ROUNDING else 0.0
    left = vertex.held[slot] - p
    if left >= 0:
        vertex.sides[left] = _BELOW
        if sign > 0.0:
            _flip(program, vertex, left)
    if entering < p:
        vertex.q[entering] = 0.0
    else:
        if vertex.sides[entering - p] == _ABOVE:
            _flip(program, vertex, entering - p)
        vertex.sides[entering - p] = _HELD
        vertex.bends[entering - p] = 0.0
    vertex.held[slot] = entering
    _exchange(vertex.edges, slot, _constraint(program, entering))


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
    q = vertex.q.copy()
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
