"""The one paced loop: losses, pace, weights, fit, and again (Algorithm 1 of the paper, for any learner)."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mlspl._rounding import on_grid
from mlspl.pacing.base import FloatArray, SelfPacedFunction
from mlspl.pacing.schedules import PaceSchedule
from mlspl.pacing.trace import Trace

__all__ = ["Learner", "Paced", "Step", "paced"]


class Learner(Protocol):
    """What can be paced: anything that is fitted with a weight for every (instance, label) pair."""

    def fit(self, weights: FloatArray) -> object:
        """Fit with weights (n, L) from 0 to 1.

        Return something true if fitting once more with the same weights would give another model, because the
        learner moved something of its own (codes, say); otherwise None.
        """

    def losses(self) -> FloatArray:
        """Losses (n, L), 0 or more, under the weights of the last fit, or unpaced before the first.

        They should be of rows that the model has not seen (out of fold, out of bag): a model that has seen
        them finds everything easy.
        """


@dataclass
class Step:
    """One turn of the loop, for whoever walks it.

    Attributes
    ----------
    number : int
        From 1 on.
    target : float
        The schedule's target.
    pace : array
        What the target meant for these losses, λ; broadcasts against (n, L).
    losses, weights : arrays (n, L)
        The losses that set the pace, and the weights that were fitted.
    moved : object
        What the learner's fit returned.
    record : dict
        The step's entry in the history; the walker may add to it.
    """

    number: int
    target: float
    pace: NDArray[Any]
    losses: FloatArray | None
    weights: FloatArray
    moved: object
    record: dict[str, Any] = field(default_factory=dict)


class Paced:
    """A walk along a schedule; iterate over it to take the steps.

    Attributes
    ----------
    weights : array (n, L)
        The weights of the last step.
    history : list of dict
        A record of every step: ``step``, ``pace`` (the target), ``mean_loss``, ``mean_weight``, ``in_play``
        (the share of each label's known pairs with a weight of ½ or more), ``seconds``, and what the walker
        added.
    trace : Trace
        What is remembered of every pair.
    stop_reason : str
        "max_steps" (the schedule ended), "infinite_pace" (every pair is in play), "target_weight", "settled"
        (no later step would differ) or "callback" (somebody asked).
    """

    def __init__(
        self,
        learner: Learner,
        function: SelfPacedFunction | None,
        schedule: PaceSchedule | Iterable[float],
        Y: NDArray[Any],
        known: NDArray[np.bool_] | None = None,
        target_weight: float = 1.0,
    ) -> None:
        self.learner = learner
        self.function = function
        self.schedule = schedule
        self.Y = Y
        self.known = np.ones(Y.shape, dtype=bool) if known is None else known
        self._n_known = self.known.sum(axis=0)
        self._all_known = bool(self.known.all())
        self.target_weight = target_weight
        self.weights = np.ones(Y.shape)
        self.history: list[dict[str, Any]] = []
        self.trace = Trace(Y.shape)
        self.stop_reason = "max_steps"
        self._asked = False

    def stop(self) -> None:
        """Ask that the present step be the last."""
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
                self.weights = self.function.weight(losses, pace)
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
            elif self.function is not None and self._least() >= self.target_weight:
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

    def _least(self) -> float:
        return float(self.weights.min(where=self.known, initial=1.0))

    def _mean(self, values: FloatArray) -> float:
        """Over the known pairs."""
        return float(values.mean() if self._all_known else values.mean(where=self.known))

    def _record(self, step: Step, seconds: float) -> dict[str, Any]:
        n_known = self._n_known
        in_play = ((step.weights >= 0.5) & self.known).sum(axis=0) / np.maximum(n_known, 1)
        pace, mean_loss = None, None
        if step.losses is not None:
            pace = float(step.target) if np.isfinite(step.target) else None
            mean_loss = self._mean(step.losses) if n_known.any() else None
        return {
            "step": step.number,
            "pace": pace,
            "mean_loss": mean_loss,
            "mean_weight": self._mean(step.weights) if n_known.any() else 1.0,
            "in_play": np.where(n_known > 0, in_play, 1.0).tolist(),
            "seconds": seconds,
        }


def paced(
    learner: Learner,
    function: SelfPacedFunction | None,
    schedule: PaceSchedule | Iterable[float],
    Y: NDArray[Any],
    known: NDArray[np.bool_] | None = None,
    *,
    target_weight: float = 1.0,
) -> Paced:
    """Pace a learner: at every step its losses set the pace, the pace the weights, and it is fitted anew.

    Parameters
    ----------
    learner : Learner
        With ``fit(weights)`` and ``losses()``.
    function : SelfPacedFunction or None
        The self-paced function. None paces nothing: every step fits with weights of 1, for learners that have
        something of their own to alternate.
    schedule : PaceSchedule
        How the pace grows; without a function, anything with as many items as there are steps at most.
    Y : array (n, L)
        The labels; present where positive.
    known : bool array (n, L), optional
        The pairs whose label is known; the others set no pace. All by default.
    target_weight : float, default=1.0
        Stop as soon as every known pair weighs at least this much; infinite for a schedule that goes back.

    Returns
    -------
    Paced
        To be iterated over; its ``stop()`` ends the walk.

    Examples
    --------
    A learner that predicts every label's weighted mean:

    >>> import numpy as np
    >>> from mlspl import pacing
    >>> class Means:
    ...     def __init__(self, Y):
    ...         self.Y, self.mean = Y, Y.mean(axis=0)
    ...     def fit(self, weights):
    ...         self.mean = np.average(self.Y, axis=0, weights=weights)
    ...     def losses(self):
    ...         return (self.Y - self.mean) ** 2
    >>> Y = np.array([[1, 0], [1, 0], [1, 0], [0, 1]])
    >>> walk = pacing.paced(Means(Y), pacing.Hard(), pacing.QuantilePace(0.5, 1.0, 3, per="label"), Y)
    >>> for step in walk:
    ...     print(step.number, step.weights.mean(), walk.learner.mean)
    1 0.75 [1. 0.]
    2 0.75 [1. 0.]
    3 1.0 [0.75 0.25]
    >>> walk.stop_reason, walk.trace.entered.tolist()
    ('infinite_pace', [[1, 1], [1, 1], [1, 1], [3, 3]])
    """
    return Paced(learner, function, schedule, Y, known, target_weight)
