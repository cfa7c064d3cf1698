"""Schedules: how the pace grows from step to step."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mlspl.errors import UserError
from mlspl.pacing.base import FloatArray, check_number, loss_array

_MAX_STEPS = 10**6  # limits memory for untrusted schedules


class PaceSchedule(ABC):
    """A finite sequence of targets, and the pace of each target for the current losses.

    An infinite pace gives every pair a weight of 1 (or near it): no later step differs.
    """

    _contents: ClassVar[dict[str, Any]] = {}

    @property
    def by_label(self) -> bool:
        """Whether the pace of a label depends on no other label's losses."""
        return False

    @property
    @abstractmethod
    def targets(self) -> tuple[float, ...]:
        """The targets of all steps, in order."""

    @abstractmethod
    def pace(self, target, losses, Y, known=None) -> FloatArray:
        """The pace for a target: a scalar, or an array that broadcasts against the losses (n, L).

        Y (n, L) are the labels. Pairs that are not `known` (n, L) are ignored; by default all are known.
        """

    def __iter__(self) -> Iterator[float]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)


@dataclass(frozen=True)
class GeometricPace(PaceSchedule):
    """The paper's schedule, λ ← μλ (Algorithm 1, line 7): start, start·growth, start·growth², …

    Parameters
    ----------
    start, growth : float, default=0.01 and 1.3
        The first pace λ, and μ ≥ 1. The paper searched 1e-5 to 1e-2 and 1.1 to 1.5.
    steps : int, default=20
        The number of steps.
    """

    start: float = 0.01
    growth: float = 1.3
    steps: int = 20

    by_label = True

    def __post_init__(self) -> None:
        check_number("start", self.start, "a number above 0", 0.0)
        check_number("growth", self.growth, "a number of 1 or more", 1.0, closed=True)
        _check_steps("steps", self.steps)

    @property
    def targets(self) -> tuple[float, ...]:
        with np.errstate(over="ignore"):
            return tuple((self.start * np.power(float(self.growth), np.arange(self.steps))).tolist())

    def pace(self, target, losses=(), Y=(), known=None) -> FloatArray:
        return np.asarray(target, dtype=np.float64)


@dataclass(frozen=True)
class QuantilePace(PaceSchedule):
    """The pace as a quantile of the current losses, so that no scale of λ needs to be known.

    Each group of pairs has its own pace. A quantile must exceed the smallest loss of its group, so that some
    pairs have a weight above 0; otherwise the pace is the next larger loss, or infinite if there is none. The
    target 1 is an infinite pace.

    Parameters
    ----------
    start, stop : float, default=0.5 and 1.0
        The first and the last quantile; the targets are evenly spaced between them.
    steps : int, default=6
        The number of steps.
    per : {"class", "label", "negatives", "all"}, default="class"
        The groups: the positives and the negatives of each label (so that those of a rare label are compared
        with each other), each label, or all pairs. With "negatives", for incomplete labels, every positive
        has an infinite pace.
    """

    start: float = 0.5
    stop: float = 1.0
    steps: int = 6
    per: Literal["class", "label", "negatives", "all"] = "class"

    def __post_init__(self) -> None:
        for name in ("start", "stop"):
            check_number(name, getattr(self, name), "a number from 0 to 1", 0.0, 1.0, closed=True)
        if self.stop < self.start:
            raise UserError(f"stop is {self.stop}, below start, {self.start}: a QuantilePace must grow.")
        _check_steps("steps", self.steps)
        if self.steps == 1 and self.start != self.stop:
            raise UserError(f"start is {self.start}, stop is {self.stop}: with one step they must be equal.")
        if self.per not in ("class", "label", "negatives", "all"):
            raise UserError(f"per is {self.per!r}: choose 'class', 'label', 'negatives' or 'all'.")

    @property
    def by_label(self) -> bool:
        return self.per != "all"

    @property
    def targets(self) -> tuple[float, ...]:
        return tuple(np.linspace(self.start, self.stop, self.steps).tolist())

    def pace(self, target, losses, Y, known=None) -> FloatArray:
        """The target's quantile in each group: (1, L) for labels, (1, 1) for all, otherwise (n, L)."""
        if self.per in ("class", "negatives"):
            positives = target if self.per == "class" else 1.0
            return _class_paces(np.array([[target], [positives]]), losses, Y, known)
        losses, counted = _check_losses(losses, known)
        if self.per == "all":
            losses, counted = losses.reshape(-1, 1), counted.reshape(-1, 1)
        return _quantiles(losses, counted, target)[None, :]


@dataclass(frozen=True)
class NoisePace(PaceSchedule):
    """The pace of each label and class as the quantile 1 − s of its losses; s is its share of wrong labels.

    A group with few wrong labels is not paced. With the true shares, paced forests lost no average precision
    on clean labels, and gained 0.016 to 0.036 with 30 % planted flips (emotions, scene, flags).

    Parameters
    ----------
    shares : float, array-like of shape (2, L) or callable
        Share of wrong labels: one for all, or those among the negatives (first row) and the positives (second
        row) of each label. A callable ``shares(losses, Y, known)`` returns them anew at each step.
    steps : int, default=1
        The number of steps.
    least : float, default=0.03
        The pace is infinite where the share is smaller.
    falling : bool, default=False
        At step t of T, take the quantile 1 − s·t/T. Networks learn right labels before they memorise wrong
        ones, so all pairs count at first (co-teaching: Han et al. 2018).
    """

    shares: ArrayLike | Callable[..., ArrayLike]
    steps: int = 1
    least: float = 0.03
    falling: bool = False

    def __post_init__(self) -> None:
        """Check the parameters, and store an array as tuples, which can be compared and hashed."""
        _check_steps("steps", self.steps)
        check_number("least", self.least, "a number from 0 to 1", 0.0, 1.0, closed=True)
        if not callable(self.shares):
            rows = _check_shares(self.shares).tolist()
            object.__setattr__(self, "shares", tuple(map(tuple, rows)))

    @property
    def targets(self) -> tuple[float, ...]:
        """The numbers of the steps, divided by the last one if falling."""
        return tuple((np.arange(1.0, self.steps + 1.0) / (self.steps if self.falling else 1)).tolist())

    def pace(self, target, losses, Y, known=None) -> FloatArray:
        """The quantile 1 − s of each label and class, (n, L)."""
        shares = self.shares(losses, Y, known) if callable(self.shares) else self.shares
        shares = _check_shares(shares, np.shape(losses)[-1])
        part = np.where(shares < self.least, 0.0, shares) * (target if self.falling else 1.0)
        return _class_paces(1.0 - part, losses, Y, known)


def _check_shares(shares: Any, n_labels: int | None = None) -> FloatArray:
    array = np.asarray(shares, dtype=np.float64)
    if array.size == 1 or array.shape == (2, 1):  # one share for all labels
        array = np.broadcast_to(array, (2, n_labels or 1))
    if array.ndim != 2 or len(array) != 2 or n_labels not in (None, array.shape[1]):
        raise UserError(f"shares has the shape {array.shape}: give a row per class and a column per label.")
    if not np.all((array >= 0) & (array <= 1)):
        raise UserError("shares has values that are no shares: give numbers from 0 to 1.")
    return array


def _check_losses(losses: ArrayLike, known: ArrayLike | None) -> tuple[FloatArray, np.ndarray]:
    losses = loss_array(losses)
    if losses.ndim != 2:
        raise UserError(f"losses has the shape {losses.shape}: give an (n, L) array.")
    return losses, np.broadcast_to(np.asarray(True if known is None else known, dtype=bool), losses.shape)


def _class_paces(targets: FloatArray, losses: ArrayLike, Y: ArrayLike, known: ArrayLike | None) -> FloatArray:
    """The quantiles (2, L) or (2, 1) of the negatives and the positives of each label, as paces (n, L)."""
    losses, counted = _check_losses(losses, known)
    positive = np.asarray(Y) > 0
    if positive.shape != losses.shape:
        raise UserError(f"Y has the shape {positive.shape} and losses {losses.shape}: they must be the same.")
    negatives = _quantiles(losses, counted & ~positive, targets[0])
    return np.where(positive, _quantiles(losses, counted & positive, targets[1]), negatives)


def _quantiles(losses: FloatArray, members: np.ndarray, targets: float | FloatArray) -> FloatArray:
    """The quantile of the members of each column, both (n, L); infinite from a target of 1 on."""
    targets = np.broadcast_to(targets, losses.shape[1:])
    columns = zip(np.ascontiguousarray(losses.T), np.ascontiguousarray(members.T), targets, strict=True)
    return np.array([np.inf if t >= 1.0 else _quantile(column.compress(of), t) for column, of, t in columns])


def _quantile(losses: FloatArray, target: float) -> float:
    """The quantile of a group, or the next loss above the smallest one; infinite if there is none."""
    if not len(losses):
        return np.inf
    rest, place = math.modf(target * (len(losses) - 1))
    k = int(place)
    # A partition and the extremes of its parts take a third of the time of a sort.
    losses = np.partition(losses, k)
    quantile = np.quantile([losses[k], losses[k + 1 :].min(initial=losses.max())], rest)
    smallest = losses[: k + 1].min()
    return quantile if quantile > smallest else losses[losses > smallest].min(initial=np.inf)


def _check_steps(name: str, steps: object) -> None:
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or not 1 <= steps <= _MAX_STEPS:
        raise UserError(f"{name} is {steps!r}: give a whole number from 1 to {_MAX_STEPS:,}.")
