"""The pace as a path, from few pairs to all of them, walked with warm starts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Literal, NamedTuple

import numpy as np

from mlspl import pacing
from mlspl.models._alternation import Alternation
from mlspl.models._class_weight import class_costs

__all__ = [
    "UNPACED",
    "PathPoint",
    "PathStep",
    "Setting",
    "list_points",
    "walk_paths",
    "walk_points",
]


class Setting(NamedTuple):
    """What is fixed along a path: the cost of a pair, and the exponent of the class balance."""

    C: float
    class_weight: float


class PathPoint(NamedTuple):
    """A point of a path: self-paced function, whose losses the quantile is taken of, and the quantile.

    With a target of 1 every pair is in play, and the other two say nothing.
    """

    pace_function: str | None
    per: Literal["class", "label", "negatives", "all"] | None
    target: float


UNPACED = PathPoint(None, None, 1.0)


class PathStep(NamedTuple):
    """A model on the way: where it is, losses and weights of its pairs, its coordinates in the space."""

    setting: Setting
    point: PathPoint
    losses: np.ndarray | None
    label_weights: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray


def list_points(pace_functions, per, quantiles) -> list[PathPoint]:
    """List all points: the unpaced end first, then each path from its gentlest point on."""
    if not all(0.0 <= quantile < 1.0 for quantile in quantiles):
        raise ValueError(
            f"quantiles are {tuple(quantiles)}; give numbers from 0 to below 1: 1 is always there."
        )
    paths = product(pace_functions, per, sorted(set(quantiles), reverse=True))
    return [UNPACED, *(PathPoint(*point) for point in paths)]


def walk_paths(
    learner: Alternation,
    Y,
    label_weight,
    itinerary: Mapping[Setting, Sequence[PathPoint]],
    *,
    with_losses: bool = False,
) -> Iterator[PathStep]:
    """Fit the model of every point, each from the solution of the one before.

    Codes are cross-fitted once for all settings, and the losses that set the weights once for all points of
    a setting: those of unpaced machines, out of fold. Settings without a paced point need none, unless asked.
    """
    for setting, points in itinerary.items():
        learner.set_costs(setting.C, class_costs(Y, setting.class_weight, label_weight))
        needed = with_losses or any(point != UNPACED for point in points)
        losses = learner.losses() if needed else None
        for point, weights in walk_points(learner.fit_machines, losses, points, Y, learner.prior > 0):
            yield PathStep(setting, point, losses, weights, *learner.expansion())


def walk_points(fit, losses, points, Y, known) -> Iterator[tuple[PathPoint, np.ndarray]]:
    """Call `fit` with the weights of every point in turn, and yield where it is and its weights.

    The losses stay those of the unpaced model, so that a path depends on no order; they may be None where no
    point is paced.
    """
    learner = _FixedLosses(fit, losses)
    for (name, per), group in groupby(points, key=lambda point: point[:2]):
        path = list(group)
        if name is None:
            weights = np.ones(Y.shape)
            fit(weights)
            yield from ((point, weights) for point in path)
            continue
        schedule = _Quantiles(tuple(point.target for point in path), per)
        walk = pacing.paced(learner, pacing.get(name), schedule, Y, known, target_weight=np.inf)
        visited = 0
        for step in walk:
            visited += 1
            yield path[step.number - 1], step.weights
        # The walk ends early only where the rest of the path is the same model.
        yield from ((point, walk.weights) for point in path[visited:])


@dataclass(frozen=True)
class _Quantiles(pacing.PaceSchedule):
    """Given quantiles in any order, as `QuantilePace` takes them."""

    quantiles: tuple[float, ...]
    per: Literal["class", "label", "negatives", "all"]

    @property
    def targets(self):
        return self.quantiles

    def pace(self, target, losses, Y, known=None):
        return pacing.QuantilePace(per=self.per).pace(target, losses, Y, known)


class _FixedLosses:
    """A learner whose losses do not follow its fits."""

    def __init__(self, fit, losses):
        self.fit = fit
        self._losses = losses

    def losses(self):
        return self._losses
