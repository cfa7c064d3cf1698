"""The pace as a path, from few pairs to all of them, walked with warm starts."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from mlspl import pacing
from mlspl.models._class_weight import class_costs
from mlspl.models.alternation import Alternation

__all__ = ["UNPACED", "PathPoint", "Setting", "Stop", "pace_path", "walk_paths"]


class Setting(NamedTuple):
    """What is fixed along a path.

    Attributes
    ----------
    C : float
        Cost of a pair.
    class_weight : float
        Exponent of the class balance, as :func:`mlspl.models._class_weight.class_costs` has it.
    """

    C: float
    class_weight: float


class PathPoint(NamedTuple):
    """A point of a pace path; with a target of 1 every pair is in play and the other two say nothing.

    Attributes
    ----------
    pace_function : str
        Name of the self-paced function.
    per : {"label", "class", "negatives", "all"}
        Whose losses the quantile is taken of.
    target : float
        The quantile.
    """

    pace_function: str | None
    per: Literal["class", "label", "negatives", "all"] | None
    target: float

    def weights(self, losses, Y, known) -> np.ndarray:
        """Weights (n, L) of the pairs with these losses, of which those that are known set the pace."""
        if self.pace_function is None or self.per is None:
            return np.ones(losses.shape)
        schedule = pacing.QuantilePace(self.target, self.target, 1, per=self.per)
        return pacing.get(self.pace_function).weight(losses, schedule.pace(self.target, losses, Y, known))


UNPACED = PathPoint(None, None, 1.0)


class Stop(NamedTuple):
    """A model on the way: the weights of its pairs and its kernel expansion.

    Attributes
    ----------
    setting : Setting
        Where on the way.
    point : PathPoint
        Where on the path.
    label_weights : array (n, L)
        The weights.
    coef, intercept : arrays (L, n) and (L,)
        The expansion.
    """

    setting: Setting
    point: PathPoint
    label_weights: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray


def pace_path(pace_functions, per, quantiles) -> list[PathPoint]:
    """List all points: the unpaced end first, then each path from its gentlest point on.

    Parameters
    ----------
    pace_functions, per : sequences of str
        Self-paced functions, and groups whose quantiles are taken; each combination is a path.
    quantiles : sequence of float
        The points of a path, below 1, which is the unpaced end.

    Examples
    --------
    >>> [point.target for point in pace_path(["huber"], ["label"], [0.5, 0.9])]
    [1.0, 0.9, 0.5]
    """
    if not all(0.0 <= quantile < 1.0 for quantile in quantiles):
        raise ValueError(
            f"quantiles are {tuple(quantiles)}; give numbers from 0 to below 1: 1 is always there."
        )
    paths = product(pace_functions, per, sorted(set(quantiles), reverse=True))
    return [UNPACED, *(PathPoint(*point) for point in paths)]


def walk_paths(
    K, Y, label_weight, itinerary: Mapping[Setting, Sequence[PathPoint]], **parameters
) -> Iterator[Stop]:
    """Fit the model of every point, each from the solution of the one before.

    Codes are cross-fitted once for all settings, and the losses that set the weights once for all points of
    a setting: those of unpaced classifiers, out of fold.

    Parameters
    ----------
    K : array (n, n)
        The kernel of the training rows.
    Y : bool array (n, L)
        The labels.
    label_weight : array (n, L) or None
        Prior weights.
    itinerary : mapping
        The points to visit in each setting.
    **parameters
        Of :class:`Alternation`.
    """
    everything = np.ones(Y.shape)
    state = Alternation(K, Y, everything, C=1.0, **parameters)
    for setting, points in itinerary.items():
        state.C = setting.C
        state.prior = class_costs(Y, setting.class_weight, label_weight)
        losses = state.losses(everything) if any(point != UNPACED for point in points) else everything
        for point in points:
            weights = point.weights(losses, Y, state.prior > 0)
            state.fit_classifiers(weights)
            yield Stop(setting, point, weights, *state.expansion())
