"""How the pace grows from step to step."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from mlspl.errors import UserError
from mlspl.pacing.arrays import check_number, loss_array
from mlspl.pacing.base import FloatArray

__all__ = ["GeometricPace", "PaceSchedule", "QuantilePace", "UntilInPlay"]

_MOST_STEPS = 10**6


class PaceSchedule(ABC):
    """A finite path of targets, and the pace each target means for the losses of the moment.

    An estimator walks it so::

        for target in schedule:
            pace = schedule.pace(target, losses, Y)
            weights = function.weight(losses, pace)
            ...
            if np.isposinf(pace).all():
                break

    An infinite pace puts every pair in play: no later step differs from it.
    """

    _contents: ClassVar[dict[str, Any]] = {}

    @property
    def by_label(self) -> bool:
        """Whether the pace of a label depends on no other label's losses; then labels can be paced apart."""
        return False

    @property
    @abstractmethod
    def targets(self) -> tuple[float, ...]:
        """The targets of all steps, in order."""

    @abstractmethod
    def pace(
        self, target: float, losses: ArrayLike, Y: ArrayLike, known: ArrayLike | None = None
    ) -> FloatArray:
        """The pace for a target: a scalar, or an array that broadcasts against the losses (n, L).

        Parameters
        ----------
        target : float
            One of the targets.
        losses : array (n, L)
            Losses of the pairs.
        Y : array (n, L)
            The labels.
        known : bool array (n, L), optional
            The pairs that count; all by default. The losses of pairs of unknown label say nothing.
        """

    def __iter__(self) -> Iterator[float]:
        """Iterate over the targets."""
        return iter(self.targets)

    def __len__(self) -> int:
        """The number of steps, at most."""
        return len(self.targets)

    def __str__(self) -> str:
        """The parameters and the targets."""
        targets = [f"{target:.4g}" for target in self.targets]
        if len(targets) > 8:
            targets[4:-3] = ["…"]
        return f"{self!r}: {', '.join(targets)}"


@dataclass(frozen=True)
class GeometricPace(PaceSchedule):
    """The paper's schedule, λ ← μλ (Algorithm 1, line 7): start, start·growth, start·growth², …

    Parameters
    ----------
    start : float, default=0.01
        The first pace, λ. The paper searched 1e-5 to 1e-2.
    growth : float, default=1.3
        μ ≥ 1. The paper searched 1.1 to 1.5.
    steps : int, default=20
        The number of steps.

    Examples
    --------
    >>> from mlspl.pacing import GeometricPace
    >>> list(GeometricPace(start=1.0, growth=2.0, steps=4))
    [1.0, 2.0, 4.0, 8.0]
    >>> print(GeometricPace())
    GeometricPace(start=0.01, growth=1.3, steps=20): 0.01, 0.013, 0.0169, 0.02197, …, 0.865, 1.125, 1.462
    """

    start: float = 0.01
    growth: float = 1.3
    steps: int = 20

    def __post_init__(self) -> None:
        """Refuse a pace that is not positive or does not grow."""
        _check_growth(self.start, self.growth)
        _check_steps("steps", self.steps)

    @property
    def by_label(self) -> bool:
        """It depends on no loss at all."""
        return True

    @property
    def targets(self) -> tuple[float, ...]:
        """start·growth^k."""
        return _geometric(self.start, self.growth, self.steps)

    def pace(
        self, target: float, losses: ArrayLike = (), Y: ArrayLike = (), known: ArrayLike | None = None
    ) -> FloatArray:
        """The target itself, whatever the losses."""
        return np.asarray(target, dtype=np.float64)


@dataclass(frozen=True)
class UntilInPlay(PaceSchedule):
    """λ ← μλ until every pair is in play: once λ exceeds every loss it is infinite, and the path ends.

    The last of `max_steps` is infinite in any case, so the path always ends with the unpaced model.

    Parameters
    ----------
    start : float, default=0.01
        The first pace.
    growth : float, default=1.3
        The factor from step to step, above 1.
    max_steps : int, default=50
        The largest number of steps.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.pacing import UntilInPlay
    >>> schedule = UntilInPlay(start=0.5, growth=2.0)
    >>> losses, Y = np.array([[0.2, 1.4], [0.9, 0.1]]), np.array([[1, 0], [0, 1]])
    >>> for target in schedule:
    ...     pace = schedule.pace(target, losses, Y)
    ...     print(pace)
    ...     if np.isposinf(pace).all():
    ...         break
    0.5
    1.0
    inf
    """

    start: float = 0.01
    growth: float = 1.3
    max_steps: int = 50

    def __post_init__(self) -> None:
        """Refuse a pace that never gets anywhere."""
        _check_growth(self.start, self.growth, above=True)
        _check_steps("max_steps", self.max_steps)

    @property
    def targets(self) -> tuple[float, ...]:
        """start·growth^k, and infinity last."""
        return (*_geometric(self.start, self.growth, self.max_steps - 1), np.inf)

    def pace(
        self, target: float, losses: ArrayLike, Y: ArrayLike = (), known: ArrayLike | None = None
    ) -> FloatArray:
        """The target, or infinity once it exceeds every loss."""
        hard = loss_array(losses) >= target
        if known is not None:
            hard &= np.asarray(known, dtype=bool)
        return np.asarray(target if np.any(hard) else np.inf, dtype=np.float64)


@dataclass(frozen=True)
class QuantilePace(PaceSchedule):
    """The pace as a quantile of the losses of the moment, so that no scale of λ needs to be known.

    Each group of pairs gets its own pace. With ``per="class"``, the default, the positives of a rare label
    are compared with each other and are not all put off as hard. No group is starved: a quantile that is no
    larger than the smallest loss of its group gives way to the next larger loss, or to infinity if there is
    none; but with "label" or "all" a class that is harder than the rest of its group can be left with next to
    nothing. The target 1 means an infinite pace, which puts every pair in play.

    Parameters
    ----------
    start, stop : float, default=0.5 and 1.0
        The first and the last quantile; the targets lie evenly between.
    steps : int, default=6
        The number of steps.
    per : {"class", "label", "negatives", "all"}, default="class"
        What a group is: the positives or the negatives of a label, a label, or everything. With "negatives",
        those of each label are paced and every positive is in play: for incomplete labels, where what is
        present can be trusted and what is absent may only be unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.pacing import QuantilePace
    >>> schedule = QuantilePace(0.5, 1.0, 3, per="label")
    >>> print(schedule)
    QuantilePace(start=0.5, stop=1.0, steps=3, per='label'): 0.5, 0.75, 1
    >>> losses, Y = np.array([[0.1, 2.0], [0.3, 1.0], [0.7, 0.5]]), np.array([[1, 0], [0, 1], [1, 1]])
    >>> for target in schedule:
    ...     print(schedule.pace(target, losses, Y))
    [[0.3 1. ]]
    [[0.5 1.5]]
    [[inf inf]]
    """

    start: float = 0.5
    stop: float = 1.0
    steps: int = 6
    per: Literal["class", "label", "negatives", "all"] = "class"

    def __post_init__(self) -> None:
        """Refuse what are no quantiles, or a path that goes back."""
        for name in ("start", "stop"):
            check_number(
                f"{name} of a QuantilePace", getattr(self, name), "between 0 and 1", 0.0, 1.0, closed=True
            )
        if self.stop < self.start:
            raise UserError(
                f"a QuantilePace grows: its stop, {self.stop}, must not lie below its start, {self.start}."
            )
        _check_steps("steps", self.steps)
        if self.steps == 1 and self.start != self.stop:
            raise UserError(
                f"a QuantilePace of one step cannot both start at {self.start} and stop at {self.stop}: "
                "make them equal, or give more steps."
            )
        if self.per not in ("class", "label", "negatives", "all"):
            raise UserError(
                f"per of a QuantilePace is 'class', 'label', 'negatives' or 'all', and {self.per!r} is not."
            )

    @property
    def by_label(self) -> bool:
        """Unless all losses are one group."""
        return self.per != "all"

    @property
    def targets(self) -> tuple[float, ...]:
        """Evenly spaced quantiles."""
        return tuple(np.linspace(self.start, self.stop, self.steps).tolist())

    def pace(
        self, target: float, losses: ArrayLike, Y: ArrayLike, known: ArrayLike | None = None
    ) -> FloatArray:
        """The target's quantile in each group: (1, L) for labels, (1, 1) for all, otherwise (n, L)."""
        losses = loss_array(losses)
        if losses.ndim != 2:
            raise UserError(
                f"the losses of a QuantilePace are an (n, L) array, and these have the shape {losses.shape}."
            )
        counted = np.broadcast_to(np.asarray(True if known is None else known, dtype=bool), losses.shape)
        if self.per == "all":
            return _group_quantiles(losses.reshape(1, -1), counted.reshape(1, -1), target)
        of_label, counted = np.ascontiguousarray(losses.T), np.ascontiguousarray(counted.T)
        if self.per == "label":
            return _group_quantiles(of_label, counted, target)
        positive = np.asarray(Y) > 0
        if positive.shape != losses.shape:
            raise UserError(
                f"Y has the shape {positive.shape}, and the losses {losses.shape}: they must be alike."
            )
        has_label = np.ascontiguousarray(positive.T)
        of_negatives = _group_quantiles(of_label, counted & ~has_label, target)
        if self.per == "negatives":
            return np.where(positive, np.inf, of_negatives)
        return np.where(positive, _group_quantiles(of_label, counted & has_label, target), of_negatives)


def _group_quantiles(losses: FloatArray, member: np.ndarray, target: float) -> FloatArray:
    """Of each row (L, n), the quantile of the members' losses, as in `QuantilePace`, as a (1, L) array."""
    if target >= 1.0 or not losses.size:
        return np.full((1, len(losses)), np.inf)
    return np.array([[_quantile(row[of], target) for row, of in zip(losses, member, strict=True)]])


def _quantile(losses: FloatArray, target: float) -> float:
    """Of a group, without sorting it; above its smallest loss, and infinite where nothing is."""
    if not len(losses):
        return np.inf
    position = target * (len(losses) - 1)
    below = int(position)
    above = min(below + 1, len(losses) - 1)
    ranked = np.partition(losses, (below, above))
    low, high, smallest = ranked[below], ranked[above], losses.min()
    quantile = low + (position - below) * (high - low) if position > below else low
    return quantile if quantile > smallest else np.min(losses, where=losses > smallest, initial=np.inf)


def _geometric(start: float, growth: float, steps: int) -> tuple[float, ...]:
    with np.errstate(over="ignore"):
        return tuple((start * np.power(float(growth), np.arange(steps))).tolist())


def _check_growth(start: object, growth: object, *, above: bool = False) -> None:
    check_number("the start of a pace", start, "a number above 0", 0.0)
    rule = "a number above 1" if above else "a number, 1 or more"
    check_number("the growth of a pace", growth, rule, 1.0, closed=not above)


def _check_steps(name: str, steps: object) -> None:
    # Every step costs a fit. A bound lets a stranger's schedule be looked at without hunger.
    if not isinstance(steps, int | np.integer) or isinstance(steps, bool) or not 1 <= steps <= _MOST_STEPS:
        raise UserError(
            f"{name} of a pace schedule is a whole number from 1 to {_MOST_STEPS:,}, and {steps!r} is not."
        )
