"""Check the conditions of a self-paced function one by one, with a counterexample for each failure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from mlspl.pacing.base import FloatArray, SelfPacedFunction
from mlspl.pacing.literature import get
from mlspl.pacing.numeric import vanishes

_LOSSES = np.concatenate([[0.0], np.logspace(-3, 3, 121)])
_PACES = np.array([0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0, 2.0, 10.0, 100.0])
_WEIGHTS = np.linspace(0.0, 1.0, 2001)
_TOLERANCE = 1e-7


@dataclass(frozen=True)
class Check:
    """One condition: its source, its statement, whether it holds, and a counterexample if it does not."""

    source: str
    statement: str
    passed: bool
    witness: str


@dataclass(frozen=True)
class Report:
    """The result of `verify`. Its text is a table; `passed` is whether every condition holds."""

    function: SelfPacedFunction
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The conditions that do not hold."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def passed(self) -> bool:
        """Whether every condition holds."""
        return not self.failed

    @property
    def verdict(self) -> str:
        """The result in a phrase."""
        if self.passed:
            return "a self-paced function; every condition holds."
        count = len(self.failed)
        return f"{count} of {len(self.checks)} conditions {'fails' if count == 1 else 'fail'}."

    def __str__(self) -> str:
        """The report as a table in plain text."""
        width = max(len(check.statement) for check in self.checks)
        rows = [
            f"{c.source:16}  {c.statement:{width}}  {'holds' if c.passed else 'FAILS'}  {c.witness}".rstrip()
            for c in self.checks
        ]
        return "\n".join([f"{self.function!r}: {self.verdict}", *rows])


def verify(function: str | SelfPacedFunction) -> Report:
    """Check the conditions of Definition 1 and of Lemma 1, and that weight, inverse and penalty fit together.

    The conditions are checked on a grid of losses, paces and weights. This finds mistakes; it is no proof.

    Parameters
    ----------
    function : str or SelfPacedFunction
        A name, a derived function, or an instance of your own subclass.

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
    with np.errstate(all="ignore"):
        paces = _PACES[function.max_pace > _PACES]
        numbers = _check_numbers(function, paces)
        if not numbers.passed:
            return Report(function, (numbers,))
        checks = (
            numbers,
            *_definition_1(function, paces),
            *_lemma_1(function, paces),
            *_together(function, paces),
        )
        return Report(function, checks)


def _evaluate(method: Callable[..., FloatArray], values, pace) -> FloatArray:
    """A method on rows of length one, so that for `Diversity` every point is a group of its own."""
    values, pace = np.broadcast_arrays(values, pace)
    return np.asarray(method(values.reshape(1, -1), pace.reshape(1, -1)), dtype=np.float64).reshape(
        values.shape
    )


def _check(
    source: str, statement: str, excess: FloatArray, tolerance: float, describe: Callable[..., str]
) -> Check:
    """Pass if no excess is above the tolerance; otherwise describe the largest one by its indices."""
    worst = np.unravel_index(np.argmax(np.nan_to_num(excess, nan=np.inf)), excess.shape)
    passed = bool(excess[worst] <= tolerance)
    return Check(source, statement, passed, "" if passed else describe(*worst))


def _relative(excess: FloatArray, *terms: FloatArray) -> FloatArray:
    """An excess in units of the terms it came from; 0 if one of them is infinite."""
    size = np.maximum.reduce([np.abs(term) for term in terms])
    return np.where(np.isfinite(size), excess / np.where(size > 0, size, 1.0), 0.0)


def _check_numbers(function: SelfPacedFunction, paces: FloatArray) -> Check:
    witness = ""
    for method, given, letter in (
        ("weight", _LOSSES, "l"),
        ("inverse", _WEIGHTS, "v"),
        ("penalty", _WEIGHTS, "v"),
    ):
        try:
            bad = np.isnan(_evaluate(getattr(function, method), given, paces[:, None]))
        except Exception as error:
            witness = f"{method} failed on arrays: {error}"
            break
        if bad.any():
            i, j = np.argwhere(bad)[0]
            witness = f"{method} is not a number at {letter} = {given[j]:.4g}, λ = {paces[i]:g}"
            break
    return Check("Contract", "arrays in, numbers out", not witness, witness)


def _definition_1(function: SelfPacedFunction, paces: FloatArray) -> Iterator[Check]:
    weigh, losses = partial(_evaluate, function.weight), _LOSSES
    # Convexity on pairs of weights, because a penalty may couple the weights of a group.
    first, second = np.random.default_rng(0).uniform(size=(2, 2, 400))
    first[1, :200], second[1, :200] = first[0, :200], second[0, :200]  # half of them on the diagonal
    first[:, -1], second[:, -1] = (1, 0), (0, 1)
    start, end, middle = (
        np.array([function.penalty(point, pace).sum(axis=0) for pace in paces])
        for point in (first, second, 0.5 * (first + second))
    )
    chord = 0.5 * (start + end)
    yield _check(
        "Definition 1 (1)", "f is convex in v", _relative(middle - chord, start, end, middle), _TOLERANCE,
        lambda i, j: f"at λ = {paces[i]:g}, between v = ({first[0, j]:.3g}, {first[1, j]:.3g}) and "
        f"({second[0, j]:.3g}, {second[1, j]:.3g}): f = {middle[i, j]:.5g}, the chord {chord[i, j]:.5g}",
    )  # fmt: skip

    weight = weigh(losses, paces[:, None])
    yield _check(
        "Definition 1 (2)", "v* falls as l grows", np.diff(weight, axis=1), 1e-12,
        lambda i, j: f"at λ = {paces[i]:g}: v* = {weight[i, j]:.5g} at l = {losses[j]:.4g}, "
        f"{weight[i, j + 1]:.5g} at l = {losses[j + 1]:.4g}",
    )  # fmt: skip
    yield _check(
        "Definition 1 (2)", "0 ≤ v* ≤ 1 as l → 0", np.abs(weight[:, 0] - 0.5), 0.5,
        lambda i: f"at l = 0, λ = {paces[i]:g}: v* = {weight[i, 0]:.5g}",
    )  # fmt: skip
    far, farther = weigh(np.array([[1e50], [1e100]]), paces)
    yield _check(
        "Definition 1 (2)", "v* → 0 as l → ∞", np.where(vanishes(far, farther), 0.0, farther), 0.0,
        lambda i: f"at l = 1e100, λ = {paces[i]:g}: v* = {farther[i]:.5g}",
    )  # fmt: skip

    yield _check(
        "Definition 1 (3)", "v* rises as λ grows", -np.diff(weight, axis=0), 1e-12,
        lambda i, j: f"at l = {losses[j]:.4g}: v* = {weight[i, j]:.5g} at λ = {paces[i]:g}, "
        f"{weight[i + 1, j]:.5g} at λ = {paces[i + 1]:g}",
    )  # fmt: skip
    some = np.array([1.0, 0.1, 10.0])
    near, nearer = weigh(some, np.array([[1e-50], [1e-100]]))
    yield _check(
        "Definition 1 (3)", "v* → 0 as λ → 0", ~vanishes(near, nearer), 0.0,
        lambda i: f"at l = {some[i]:g}, λ = 1e-100: v* = {nearer[i]:.5g}",
    )  # fmt: skip
    largest = 1e100 if function.max_pace == np.inf else np.nextafter(function.max_pace, 0.0)
    last = weigh(losses, largest)
    yield _check(
        "Definition 1 (3)", "v* ≤ 1 as λ → ∞", last, 1.0,
        lambda i: f"at l = {losses[i]:.4g}, λ = {largest:g}: v* = {last[i]:.5g}",
    )  # fmt: skip


def _lemma_1(function: SelfPacedFunction, paces: FloatArray) -> Iterator[Check]:
    # f(b) − f(a) = −∫ s dv on short intervals; a difference quotient would be dominated by rounding.
    nodes, node_weights = np.polynomial.legendre.leggauss(20)
    ends = np.linspace(0.01, 0.99, 50)
    half = 0.5 * np.diff(ends)[:, None]
    points = 0.5 * (ends[1:] + ends[:-1])[:, None] + half * nodes
    slopes = _evaluate(function.inverse, points, paces[:, None, None])
    expected = -(half * node_weights * slopes).sum(axis=2)
    change = np.diff(_evaluate(function.penalty, ends, paces[:, None]), axis=1)
    yield _check(
        "Lemma 1", "∂f/∂v = −s", _relative(np.abs(change - expected), change, expected), _TOLERANCE,
        lambda i, j: f"at λ = {paces[i]:g}, from v = {ends[j]:.2g} to {ends[j + 1]:.2g}: "
        f"f changes by {change[i, j]:.5g}, −∫ s dv is {expected[i, j]:.5g}",
    )  # fmt: skip
    inner = _WEIGHTS[1:-1]
    loss = _evaluate(function.inverse, inner, paces[:, None])
    yield _check(
        "Lemma 1", "∂s/∂v ≤ 0", _relative(np.diff(loss, axis=1), loss[:, 1:], loss[:, :-1]), _TOLERANCE,
        lambda i, j: f"at λ = {paces[i]:g}: s = {loss[i, j]:.5g} at v = {inner[j]:.4g}, "
        f"{loss[i, j + 1]:.5g} at v = {inner[j + 1]:.4g}",
    )  # fmt: skip


def _together(function: SelfPacedFunction, paces: FloatArray) -> Iterator[Check]:
    weigh, column = partial(_evaluate, function.weight), paces[:, None]
    loss, pace = np.broadcast_arrays(_LOSSES[1:], column)
    weight = weigh(loss, pace)
    slope = weigh(0.999 * loss, pace) - weigh(1.001 * loss, pace)
    # Where the weight is nearly constant, the loss cannot be recovered from it.
    invertible = (weight > 1e-9) & (weight < 1 - 1e-6) & (slope > 1e-6 * weight) & (slope < 0.1)
    back = _evaluate(function.inverse, np.where(invertible, weight, 0.5), pace)
    error = np.where(invertible, _relative(np.abs(back - loss), back, loss), 0.0)
    yield _check(
        "Together", "s(v*(l)) = l", error, 1e-6,
        lambda i, j: f"at l = {loss[i, j]:.4g}, λ = {pace[i, j]:g}: v* = {weight[i, j]:.5g}, whose s is "
        f"{back[i, j]:.5g}",
    )  # fmt: skip

    some, others = _LOSSES[::4], _WEIGHTS[::5]
    best = weigh(some, column)
    cost = best * some + _evaluate(function.penalty, np.clip(best, 0, 1), column)
    penalty = _evaluate(function.penalty, others, column)
    costs = others * some[:, None] + penalty[:, None, :]
    size = np.where(np.isfinite(penalty), np.abs(penalty), 0.0).max(axis=1)[:, None] + best * some
    cheapest = costs.min(axis=2)
    yield _check(
        "Together", "v* minimises v·l + f(v, λ)", (cost - cheapest) / size, _TOLERANCE,
        lambda i, j: f"at l = {some[j]:.4g}, λ = {paces[i]:g}: v* = {best[i, j]:.5g} costs "
        f"{cost[i, j]:.5g}, v = {others[np.argmin(costs[i, j])]:.4g} only {cheapest[i, j]:.5g}",
    )  # fmt: skip
