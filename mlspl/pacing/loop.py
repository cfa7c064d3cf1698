"""The paced loop (Algorithm 1 of the paper, for any learner): losses, pace, weights, fit, repeat."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mlspl._rounding import on_grid
from mlspl.errors import UserError
from mlspl.pacing.base import FloatArray, SelfPacedFunction, weight_array
from mlspl.pacing.schedules import PaceSchedule

_LATEST = np.iinfo(np.int16).max


class Trace:
    """Summary of the paced steps for every pair: when it entered, its last loss and its mean loss.

    A pair enters at the first step that gives it a weight of at least ½.

    Parameters
    ----------
    shape : tuple (n, L)
        Rows and labels.

    Attributes
    ----------
    n_steps : int
        Number of steps.
    entered : int16 array (n, L)
        The step, from 1 on, at which a pair entered; 0 if it never did.
    last_loss, mean_loss : float32 arrays (n, L)
        The last loss and the mean loss; NaN before the first step.
    """

    _contents = {
        "n_steps": "int",
        "entered": "int (rows, labels)",
        "last_loss": "float (rows, labels)",
        "mean_loss": "float (rows, labels)",
    }

    def __init__(self, shape: tuple[int, int]) -> None:
        self.n_steps = 0
        self.entered = np.zeros(shape, dtype=np.int16)
        self.last_loss = np.full(shape, np.nan, dtype=np.float32)
        self.mean_loss = np.full(shape, np.nan, dtype=np.float32)

    def add(self, losses: NDArray[Any], weights: NDArray[Any]) -> None:
        """Add a step by its losses and weights (n, L)."""
        self.n_steps += 1
        fresh = (self.entered == 0) & (weights >= 0.5)
        self.entered[fresh] = min(self.n_steps, _LATEST)
        losses = np.asarray(losses, dtype=np.float32)
        before = losses if self.n_steps == 1 else self.mean_loss
        self.mean_loss = before + (losses - before) / np.float32(self.n_steps)
        self.last_loss = losses

    def fill(self, labels: slice, part: "Trace") -> None:
        """Copy the trace of some labels into this one."""
        self.n_steps = max(self.n_steps, part.n_steps)
        for name in ("entered", "last_loss", "mean_loss"):
            getattr(self, name)[:, labels] = getattr(part, name)

    @property
    def lateness(self) -> NDArray[np.float64]:
        """When each pair entered, from 0 (the first step) to 1 (never), of shape (n, L)."""
        when = np.where(self.entered > 0, self.entered - 1.0, self.n_steps)
        return when / max(self.n_steps, 1)


class Learner(Protocol):
    """What can be paced: a model that is fitted with a weight for every (instance, label) pair."""

    def fit(self, weights: FloatArray) -> object:
        """Fit with weights (n, L); return a true value if fitting again would give another model."""

    def losses(self) -> FloatArray:
        """Losses (n, L) of the last fit, of the unpaced model before the first; out of sample if possible."""


@dataclass
class Step:
    """One step of the loop, counted from 1: the schedule's target, the pace, and the losses that set it.

    `moved` is the return value of the learner's fit, `record` the step's entry in the history.
    """

    number: int
    target: float
    pace: NDArray[Any]
    losses: FloatArray | None
    weights: FloatArray
    moved: object
    record: dict[str, Any] = field(default_factory=dict)


class Paced:
    """A learner in the paced loop: losses set the pace, the pace sets the weights, the learner is fitted.

    Iterate over it to take the steps.

    Parameters
    ----------
    learner : Learner
        With ``fit(weights)`` and ``losses()``.
    function : SelfPacedFunction or None
        The self-paced function. With None, every step fits with weights of 1.
    schedule : PaceSchedule
        How the pace grows; without a function, any iterable with one item per step.
    Y, known : arrays (n, L)
        The labels, present where positive, and the pairs whose label is known, by default all.
    target_weight : float, default=1.0
        Stop when every known pair has at least this weight; infinite to never stop for this reason.

    Attributes
    ----------
    weights : array (n, L)
        The weights of the last step.
    history : list of dict
        A record of every step: ``step``, ``pace`` (the target), ``mean_loss``, ``mean_weight``, ``in_play``
        (the share of each label's known pairs with a weight of ½ or more) and ``seconds``.
    trace : Trace
        Summary of the losses and weights of every pair.
    stop_reason : str
        "max_steps" (the schedule ended), "infinite_pace" (every weight is 1), "target_weight", "settled" (no
        later step would differ) or "callback" (`stop` was called).
    """

    def __init__(
        self,
        learner: Learner,
        function: SelfPacedFunction | None,
        schedule: PaceSchedule | Iterable[float],
        Y: NDArray[Any],
        known: NDArray[np.bool_] | None = None,
        *,
        target_weight: float = 1.0,
    ) -> None:
        self.learner = learner
        self.function = function
        self.schedule = schedule
        self.Y = Y
        self.known = np.ones(Y.shape, dtype=bool) if known is None else known
        self.target_weight = target_weight
        self.weights = np.ones(Y.shape)
        self.history: list[dict[str, Any]] = []
        self.trace = Trace(Y.shape)
        self.stop_reason = "max_steps"
        self._asked = False

    def stop(self) -> None:
        """Make the present step the last."""
        self._asked = True

    def __iter__(self) -> Iterator[Step]:
        """Take the steps one by one."""
        targets = list(self.schedule)
        pace = np.asarray(0.0)
        for number, target in enumerate(targets, start=1):
            start = time.perf_counter()
            before, pace_before, losses = self.weights, pace, None
            if self.function is not None:
                losses = on_grid(self.learner.losses())
                pace = self._pace(target, losses)
                self.weights = check_weights(self.function.weight(losses, pace), losses.shape, self.function)
                self.trace.add(losses, self.weights)
            moved = self.learner.fit(self.weights)
            step = Step(number, target, pace, losses, self.weights, moved)
            step.record = self._record(step, time.perf_counter() - start)
            self.history.append(step.record)
            yield step
            if self._asked:
                self.stop_reason = "callback"
            elif np.isposinf(pace).all():
                self.stop_reason = "infinite_pace"
            elif moved:
                continue
            elif losses is not None and self.weights.min(where=self.known, initial=1.0) >= self.target_weight:
                self.stop_reason = "target_weight"
            elif (
                np.array_equal(self.weights, before)
                and np.array_equal(pace, pace_before)
                and (
                    losses is None
                    or all(np.array_equal(self._pace(t, losses), pace) for t in targets[number:])
                )
            ):
                self.stop_reason = "settled"
            else:
                continue
            return

    def _pace(self, target: float, losses: FloatArray) -> FloatArray:
        assert isinstance(self.schedule, PaceSchedule)
        return self.schedule.pace(target, losses, self.Y, self.known)

    def _record(self, step: Step, seconds: float) -> dict[str, Any]:
        n_known = self.known.sum(axis=0)
        in_play = ((step.weights >= 0.5) & self.known).sum(axis=0) / np.maximum(n_known, 1)
        losses, any_known = step.losses, bool(n_known.any())
        return {
            "step": step.number,
            "pace": float(step.target) if losses is not None and np.isfinite(step.target) else None,
            "mean_loss": float(losses.mean(where=self.known)) if losses is not None and any_known else None,
            "mean_weight": float(step.weights.mean(where=self.known)) if any_known else 1.0,
            "in_play": np.where(n_known > 0, in_play, 1.0).tolist(),
            "seconds": seconds,
        }


def check_weights(weights: FloatArray, shape: tuple[int, ...], function: SelfPacedFunction) -> FloatArray:
    """Check the weights of a user's function."""
    if np.shape(weights) != shape:
        raise UserError(
            f"{function!r} returned {np.shape(weights)} weights for {shape} losses; give one each."
        )
    return weight_array(weights, f"a weight from {function!r}")


paced = Paced
"""Pace a learner; see `Paced`."""
