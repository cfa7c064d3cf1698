"""Whether a function is a self-paced function, condition by condition, with a witness for each failure."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from mlspl.pacing.base import FloatArray, SelfPacedFunction
from mlspl.pacing.diversity import Diversity
from mlspl.pacing.numeric import vanishes
from mlspl.pacing.registry import get, names
from mlspl.pacing.report import Check, Report

__all__ = ["verify"]

_LOSSES = np.concatenate([[0.0], np.logspace(-3, 3, 121)])
_PACES = np.array([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0, 2.0, 10.0, 100.0])
_WEIGHTS = np.linspace(0.0, 1.0, 2001)
_TOLERANCE = 1e-7
_CONTRACT = "arrays in, numbers out"


def verify(function: str | SelfPacedFunction) -> Report:
    """Check the conditions of Definition 1 and of Lemma 1, and that weight, inverse and penalty fit together.

    The conditions are tried on a grid of losses, paces and weights; a failure comes with its witness. This
    finds mistakes, it does not prove their absence.

    Parameters
    ----------
    function : str or SelfPacedFunction
        A name, a derived function, or an instance of your own subclass.

    Returns
    -------
    Report
        Print it, or look at ``passed``, ``failed`` and ``checks``.

    Examples
    --------
    >>> from mlspl import pacing
    >>> pacing.verify("sigmoid").passed
    True
    >>> for check in pacing.verify("arctan").failed:
    ...     print(check.source, "|", check.statement, "|", check.witness)
    Definition 1 (3) | v* → 0 as λ → 0 | at l = 1, λ = 1e-100: v* = 0.25
    """
    function = get(function)
    if isinstance(function, Diversity):
        function = replace(function, groups=None)  # the grids below make their own groups
    grid = _Grid(function)
    with np.errstate(all="ignore"):
        contract = _numbers(grid)
        if not contract.passed:
            return Report(function, (contract,), "Mend this first; the other conditions were not tried.")
        checks = (contract, *(check(grid) for check in _CHECKS))
        apart = any(check.source == "Together" and not check.passed for check in checks)
        return Report(function, checks, _mismatch(function) if apart else "")


class _Grid:
    """A function on rows of length one, so that for `Diversity` every point is a group of its own."""

    def __init__(self, function: SelfPacedFunction) -> None:
        self.function = function
        self.paces = np.array([pace for pace in _PACES if pace < function.max_pace])

    def weight(self, loss: FloatArray | float, pace: FloatArray | float) -> FloatArray:
        loss, pace = np.broadcast_arrays(loss, pace)
        return self.function.weight(loss.reshape(1, -1), pace.reshape(1, -1)).reshape(loss.shape)

    def inverse(self, weight: FloatArray | float, pace: FloatArray | float) -> FloatArray:
        weight, pace = np.broadcast_arrays(weight, pace)
        return self.function.inverse(weight.reshape(1, -1), pace.reshape(1, -1)).reshape(weight.shape)

    def penalty(self, weight: FloatArray | float, pace: FloatArray | float) -> FloatArray:
        weight, pace = np.broadcast_arrays(weight, pace)
        return self.function.penalty(weight.reshape(1, -1), pace.reshape(1, -1)).reshape(weight.shape)


def _numbers(grid: _Grid) -> Check:
    """Before anything else: arrays in, arrays of numbers out, without a pace or a weight that gives none."""
    pace = grid.paces[:, None]
    for method, given, letter in (
        ("weight", _LOSSES, "l"),
        ("inverse", _WEIGHTS, "v"),
        ("penalty", _WEIGHTS, "v"),
    ):
        try:
            values = np.asarray(getattr(grid, method)(given, pace), dtype=np.float64)
        except Exception as error:
            return _check("Contract", _CONTRACT, False, f"{method} failed on arrays: {error}")
        if np.any(bad := np.isnan(values)):
            i, j = np.argwhere(bad)[0]
            witness = f"{method} is not a number at {letter} = {given[j]:.4g}, λ = {grid.paces[i]:g}"
            return _check("Contract", _CONTRACT, False, witness)
    return _check("Contract", _CONTRACT, True, "")


def _convex(grid: _Grid) -> Check:
    """On pairs of weights, so that a penalty which couples the weights of a group is seen."""
    random = np.random.default_rng(0)
    first, second = random.uniform(size=(2, 2, 400))
    first[1, :200], second[1, :200] = first[0, :200], second[0, :200]  # half of them along the diagonal
    first[:, -1], second[:, -1] = (1, 0), (0, 1)
    worst, witness = 0.0, ""
    for pace in grid.paces:
        ends = [grid.function.penalty(point, pace).sum(axis=0) for point in (first, second)]
        middle = grid.function.penalty(0.5 * (first + second), pace).sum(axis=0)
        excess = _relative(middle - 0.5 * (ends[0] + ends[1]), *ends, middle)
        i = int(np.argmax(excess))
        if excess[i] > max(worst, _TOLERANCE):
            worst = excess[i]
            a, b = (f"({point[0, i]:.3g}, {point[1, i]:.3g})" for point in (first, second))
            chord = 0.5 * (ends[0][i] + ends[1][i])
            witness = (
                f"at λ = {pace:g}, between v = {a} and {b}: f = {middle[i]:.5g} above the chord's {chord:.5g}"
            )
    return Check("Definition 1 (1)", "f is convex in v", worst == 0, witness)


def _falls_with_loss(grid: _Grid) -> Check:
    weight = grid.weight(_LOSSES[None, :], grid.paces[:, None])
    rise = np.diff(weight, axis=1)
    i, j = np.unravel_index(np.argmax(rise), rise.shape)
    witness = (
        f"at λ = {grid.paces[i]:g}: v* = {weight[i, j]:.5g} at l = {_LOSSES[j]:.4g}, "
        f"{weight[i, j + 1]:.5g} at l = {_LOSSES[j + 1]:.4g}"
    )
    return _check("Definition 1 (2)", "v* falls as l grows", rise[i, j] <= 1e-12, witness)


def _at_most_one(grid: _Grid) -> Check:
    weight = grid.weight(0.0, grid.paces)
    i = int(np.argmax(np.abs(weight - 0.5)))
    witness = f"at l = 0, λ = {grid.paces[i]:g}: v* = {weight[i]:.5g}"
    return _check(
        "Definition 1 (2)", "0 ≤ v* ≤ 1 as l → 0", bool(np.all((weight >= 0) & (weight <= 1))), witness
    )


def _no_weight_at_infinite_loss(grid: _Grid) -> Check:
    far, farther = grid.weight(np.array([[1e50], [1e100]]), grid.paces)
    i = int(np.argmax(farther))
    witness = f"at l = 1e100, λ = {grid.paces[i]:g}: v* = {farther[i]:.5g}"
    return _check("Definition 1 (2)", "v* → 0 as l → ∞", bool(np.all(vanishes(far, farther))), witness)


def _rises_with_pace(grid: _Grid) -> Check:
    weight = grid.weight(_LOSSES[None, :], grid.paces[:, None])
    fall = -np.diff(weight, axis=0)
    i, j = np.unravel_index(np.argmax(fall), fall.shape)
    witness = (
        f"at l = {_LOSSES[j]:.4g}: v* = {weight[i, j]:.5g} at λ = {grid.paces[i]:g}, "
        f"{weight[i + 1, j]:.5g} at λ = {grid.paces[i + 1]:g}"
    )
    return _check("Definition 1 (3)", "v* rises as λ grows", fall[i, j] <= 1e-12, witness)


def _no_weight_at_pace_zero(grid: _Grid) -> Check:
    losses = np.array([1.0, 0.1, 10.0])
    far, farther = grid.weight(losses, np.array([[1e-50], [1e-100]]))
    i = int(np.argmin(vanishes(far, farther)))
    witness = f"at l = {losses[i]:g}, λ = 1e-100: v* = {farther[i]:.5g}"
    return _check("Definition 1 (3)", "v* → 0 as λ → 0", bool(np.all(vanishes(far, farther))), witness)


def _at_most_one_at_infinite_pace(grid: _Grid) -> Check:
    pace = 1e100 if grid.function.max_pace == np.inf else np.nextafter(grid.function.max_pace, 0.0)
    weight = grid.weight(_LOSSES, pace)
    i = int(np.argmax(weight))
    witness = f"at l = {_LOSSES[i]:.4g}, λ = {pace:g}: v* = {weight[i]:.5g}"
    return _check("Definition 1 (3)", "v* ≤ 1 as λ → ∞", bool(np.all(weight <= 1)), witness)


def _inverse_falls(grid: _Grid) -> Check:
    loss = grid.inverse(_WEIGHTS[1:-1], grid.paces[:, None])
    rise = _relative(np.diff(loss, axis=1), loss[:, 1:], loss[:, :-1])
    i, j = np.unravel_index(np.argmax(rise), rise.shape)
    witness = (
        f"at λ = {grid.paces[i]:g}: s = {loss[i, j]:.5g} at v = {_WEIGHTS[j + 1]:.4g}, "
        f"{loss[i, j + 1]:.5g} at v = {_WEIGHTS[j + 2]:.4g}"
    )
    return _check("Lemma 1", "∂s/∂v ≤ 0", rise[i, j] <= _TOLERANCE, witness)


def _penalty_integrates_inverse(grid: _Grid) -> Check:
    """As f(b) − f(a) = −∫ s dv on short intervals: a difference quotient would drown in rounding."""
    nodes, node_weights = np.polynomial.legendre.leggauss(20)
    ends = np.linspace(0.01, 0.99, 50)
    half = 0.5 * np.diff(ends)[:, None]
    points = 0.5 * (ends[1:] + ends[:-1])[:, None] + half * nodes
    loss = grid.inverse(points, grid.paces[:, None, None])
    expected = -(half * node_weights * loss).sum(axis=2)
    change = np.diff(grid.penalty(ends, grid.paces[:, None]), axis=1)
    error = _relative(np.abs(change - expected), change, expected)
    i, j = np.unravel_index(np.argmax(error), error.shape)
    witness = (
        f"at λ = {grid.paces[i]:g}, from v = {ends[j]:.2g} to {ends[j + 1]:.2g}: "
        f"f changes by {change[i, j]:.5g}, −∫ s dv is {expected[i, j]:.5g}"
    )
    return _check("Lemma 1", "∂f/∂v = −s", error[i, j] <= _TOLERANCE, witness)


def _inverse_undoes_weight(grid: _Grid) -> Check:
    loss, pace = np.broadcast_arrays(_LOSSES[1:], grid.paces[:, None])
    weight = grid.weight(loss, pace)
    step = 1e-3 * loss
    slope = grid.weight(loss - step, pace) - grid.weight(loss + step, pace)
    # Where the weight hardly moves, so many losses share it that none can be told from it.
    told = (weight > 1e-9) & (weight < 1 - 1e-6) & (slope > 1e-6 * weight) & (slope < 0.1)
    if not told.any():
        return Check("Together", "s(v*(l)) = l", True, "v* takes no value between 0 and 1")
    back = grid.inverse(np.where(told, weight, 0.5), pace)
    error = np.where(told, _relative(np.abs(back - loss), back, loss), 0.0)
    i, j = np.unravel_index(np.argmax(error), error.shape)
    witness = (
        f"at l = {loss[i, j]:.4g}, λ = {pace[i, j]:g}: v* = {weight[i, j]:.5g}, whose s is {back[i, j]:.5g}"
    )
    return _check("Together", "s(v*(l)) = l", error[i, j] <= 1e-6, witness)


def _weight_minimises(grid: _Grid) -> Check:
    loss, pace = np.broadcast_arrays(_LOSSES[::4], grid.paces[:, None])
    best = grid.weight(loss, pace)
    cost = best * loss + grid.penalty(np.clip(best, 0, 1), pace)
    rival = _WEIGHTS[::5]
    penalty = grid.penalty(rival, grid.paces[:, None])
    costs = rival * loss[..., None] + penalty[:, None, :]
    size = np.where(np.isfinite(penalty), np.abs(penalty), 0.0).max(axis=1)[:, None] + best * loss
    excess = (cost - costs.min(axis=2)) / size
    i, j = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), excess.shape)
    k = int(np.argmin(costs[i, j]))
    witness = (
        f"at l = {loss[i, j]:.4g}, λ = {pace[i, j]:g}: v* = {best[i, j]:.5g} costs {cost[i, j]:.5g}, "
        f"v = {rival[k]:.4g} only {costs[i, j, k]:.5g}"
    )
    return _check("Together", "v* minimises v·l + f(v, λ)", excess[i, j] <= _TOLERANCE, witness)


_CHECKS: tuple[Callable[[_Grid], Check], ...] = (
    _convex,
    _falls_with_loss,
    _at_most_one,
    _no_weight_at_infinite_loss,
    _rises_with_pace,
    _no_weight_at_pace_zero,
    _at_most_one_at_infinite_pace,
    _penalty_integrates_inverse,
    _inverse_falls,
    _inverse_undoes_weight,
    _weight_minimises,
)


def _check(source: str, statement: str, passed: object, witness: str) -> Check:
    """A check whose witness is told only if it failed."""
    return Check(source, statement, bool(passed), "" if passed else witness)


def _relative(excess: FloatArray, *beside: FloatArray) -> FloatArray:
    """An excess in units of the numbers it came from; between infinities there is none."""
    size = np.maximum.reduce([np.abs(each) for each in beside])
    ratio = excess / np.where(size > 0, size, 1.0)
    return np.where(np.isfinite(size), ratio, 0.0)


def _mismatch(function: SelfPacedFunction) -> str:
    """If the parts belong to two different known functions, say to which."""
    losses, weights = np.linspace(0.05, 3.0, 40), np.linspace(0.05, 0.95, 40)

    def owners(same: Callable[[SelfPacedFunction], bool]) -> Iterator[str]:
        return (name for name in names() if same(get(name)))

    weight = next(
        owners(lambda known: np.allclose(known.weight(losses, 0.7), function.weight(losses, 0.7))), None
    )
    inverse = next(
        owners(lambda known: np.allclose(known.inverse(weights, 0.7), function.inverse(weights, 0.7))), None
    )
    steps = np.diff(function.penalty(weights, 0.7))
    penalty = next(owners(lambda known: np.allclose(np.diff(known.penalty(weights, 0.7)), steps)), None)
    known = [
        f"its {part} is that of {name}"
        for part, name in (("weight", weight), ("inverse", inverse), ("penalty", penalty))
        if name
    ]
    return f"The parts do not belong together: {', '.join(known)}." if known else ""
