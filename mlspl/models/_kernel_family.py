"""Classifiers in a space, with cross-fitted codes, as a family of `MLSPLClassifierCV`."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mlspl._limits import check_memory
from mlspl._parallel import count_workers, parallel_map
from mlspl.models._families import (
    UNPACED,
    Candidate,
    FittedFamily,
    FittedMember,
    PathPoint,
    split_rows,
    visit_points,
)
from mlspl.models._label_blocks import class_costs, one_thread
from mlspl.models.local_correlation import Coding, LocalCorrelationLearner
from mlspl.spaces import Model, Rows, Space, resolve_gamma

__all__ = ["KernelFamily", "visit_paths"]

_CODE_FOLDS = 3  # as in MLSPLClassifier
_N_POINTS = 2  # averaged of the path of a setting
_CLASS_WEIGHT = 0.5  # the exponent of the class balance


class PathStep(NamedTuple):
    """The model of a cost and a point: losses and weights of its pairs, coordinates in the space."""

    C: float
    point: PathPoint
    losses: np.ndarray | None
    label_weights: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray


PointsOf = Mapping[float, Sequence[PathPoint]]


class KernelFamily:
    """Classifiers with an RBF kernel, or linear ones, which have no γ; scores are margins."""

    cut = 0.0
    calibration = "pooled"

    def __init__(
        self,
        name: str,
        space: Space,
        costs,
        gamma_factors,
        points,
        coding: Coding,
        cv: int,
        n_settings: int,
    ) -> None:
        self.name = name
        self.space = space
        self.costs: list[float] = costs
        self.gamma_factors = [1.0] if not space.has_gamma else gamma_factors
        self.points: list[PathPoint] = points
        self.coding = coding
        self.n_settings = n_settings
        self.n_reports = len(self.gamma_factors) * cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of each γ; folds are fitted in parallel."""
        n_scores = len(self.gamma_factors) * len(self.costs) * len(self.points) * Y.shape[0] * Y.shape[1]
        check_memory(
            4.0 * n_scores,
            f"Out-of-fold scores of {n_scores:,} pairs, settings and paces",
            "Use budget='fast', fewer values of C, or MLSPLClassifier.",
        )
        gammas = [self._gamma(factor, X) for factor in self.gamma_factors]
        shared = (self._prepare(X), Y, label_weight, dict.fromkeys(self.costs, self.points))
        parts = parallel_map(_search_fold, shared, [(gamma, fold) for gamma in gammas for fold in folds])
        for gamma in gammas:
            found: dict[tuple[float, PathPoint], np.ndarray] = {}
            for number, (_, test) in enumerate(folds, start=1):
                for step, scores in next(parts):
                    found.setdefault(step, np.empty(Y.shape, np.float32))[test] = scores
                at = "" if gamma is None else f" gamma {gamma:.2g},"
                report(f"{self.name}:{at} fold {number}", complete=number == len(folds))
            yield [Candidate({"gamma": gamma, "C": C}, point, scores) for (C, point), scores in found.items()]

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """The best points of the best settings; settings are compared by the mean of these points.

        Ties up to rounding keep the order in which they were tried.
        """

        def mean(taken) -> float:
            return round(float(np.mean([badness[i] for i in taken])), 9)

        settings: dict[tuple, list[int]] = {}
        for i in sorted(range(len(candidates)), key=lambda i: mean([i])):
            points = settings.setdefault(tuple(candidates[i].setting.values()), [])
            if len(points) < _N_POINTS:
                points.append(i)
        best = sorted(settings.values(), key=mean)[: self.n_settings]
        return sorted((i for taken in best for i in taken), key=lambda i: mean([i]))

    def scores(self, held_out) -> np.ndarray:
        """The margins."""
        return held_out

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> FittedFamily:
        """Fit the members on all rows; those of one γ add up to one model."""
        of_key = {(*member.setting.values(), member.point): member for member in members}
        shared = (self._prepare(X), Y, label_weight, list(of_key))
        fitted_parts = list(parallel_map(_fit_members, shared, dict.fromkeys(gamma for gamma, *_ in of_key)))
        fitted = [FittedMember(of_key[key], *tables) for _, found in fitted_parts for key, *tables in found]
        return FittedFamily([model for model, _ in fitted_parts], fitted)

    def hold_out(
        self, rows, Y, label_weight, train, test, points_of: PointsOf
    ) -> Iterator[tuple[PathStep, np.ndarray]]:
        """Yield every cost and point fitted on the training rows, and its scores of the test rows."""
        weight = None if label_weight is None else label_weight[train]
        inner, score = rows.split(train, test)
        for step in visit_paths(inner, Y[train], weight, self.coding, points_of):
            yield step, score(step.coef, step.intercept)

    def _gamma(self, factor, X) -> float | None:
        return None if not self.space.has_gamma else float(factor) * resolve_gamma("scale", X)

    def _prepare(self, X) -> "_PreparedRows":
        family = copy(self)
        if count_workers() > 1:
            family.space = one_thread(self.space)
        return _PreparedRows(family, X)


class _PreparedRows:
    """The rows of a family in its space, computed once per γ and process."""

    def __init__(self, family: KernelFamily, X) -> None:
        self.family = family
        self._X = X
        self._kept: tuple[float | None, Rows] | None = None

    def at(self, gamma: float | None) -> Rows:
        kept = self._kept
        if kept is None or kept[0] != gamma:
            self._kept = kept = None  # frees its memory for the next
            space: Any = self.family.space  # a dataclass, if it has a γ
            kept = gamma, (space if gamma is None else replace(space, gamma=gamma)).prepare(self._X)
            self._kept = kept
        return kept[1]

    def __getstate__(self):
        return vars(self) | {"_kept": None}


def _search_fold(prepared: _PreparedRows, Y, label_weight, points_of: PointsOf, part) -> list[tuple]:
    """Scores of a fold's test rows for every cost and point of a γ."""
    gamma, (train, test) = part
    steps = prepared.family.hold_out(prepared.at(gamma), Y, label_weight, train, test, points_of)
    return [((step.C, step.point), scores.astype(np.float32)) for step, scores in steps]


def _fit_members(prepared: _PreparedRows, Y, label_weight, members, gamma) -> tuple[Model, list[tuple]]:
    """The sum of the members of a γ on all rows; and the losses and weights of each."""
    points_of: dict[float, list[PathPoint]] = {}
    for of_member, C, point in members:
        if of_member == gamma:
            points_of.setdefault(C, []).append(point)
    rows = prepared.at(gamma)
    coef: Any = 0.0
    intercept = np.zeros(Y.shape[1])
    found = []
    for step in visit_paths(rows, Y, label_weight, prepared.family.coding, points_of, with_losses=True):
        coef = coef + step.coef / len(members)
        intercept += step.intercept / len(members)
        found.append(((gamma, step.C, step.point), np.asarray(step.losses), step.label_weights))
    return rows.make_model(coef, intercept), found


def visit_paths(
    rows: Rows, Y, label_weight, coding: Coding, points_of: PointsOf, *, with_losses=False
) -> Iterator[PathStep]:
    """Fit the model of every cost and point, with warm starts and one cross-fit of the codes.

    The losses that set the weights are those of the unpaced model of each cost, out-of-fold; costs without a
    paced point need none unless asked for.
    """
    learner = LocalCorrelationLearner(rows, Y, coding, split_rows(Y, _CODE_FOLDS, coding.random_state))
    for C, points in points_of.items():
        learner.set_costs(C, class_costs(Y, _CLASS_WEIGHT, label_weight))
        needed = with_losses or any(point != UNPACED for point in points)
        losses = learner.losses() if needed else None
        for point, weights in visit_points(learner.fit_classifiers, losses, points, Y, learner.prior > 0):
            yield PathStep(C, point, losses, weights, *learner.expansion())
