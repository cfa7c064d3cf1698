"""Machines in a space, with cross-fitted codes, as a family: C, γ and class balance, and paces for each."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from mlspl._spread import count_workers, spread
from mlspl.model_selection import IterativeStratification
from mlspl.models._alternation import Alternation, Coding
from mlspl.models._families import Candidate, Learned, Visit
from mlspl.models._label_blocks import one_thread
from mlspl.models._pace_path import PathPoint, PathStep, Setting, walk_paths
from mlspl.spaces import Linear, Model, Rows, Space, resolve_gamma

__all__ = ["KernelFamily", "split_rows"]

_CODE_FOLDS = 3  # of the cross-fitted codes and losses, as in MLSPLClassifier

Itinerary = dict[Setting, list[PathPoint]]


def split_rows(Y, n_folds, random_state) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds with as even a share of every label as there can be."""
    n_folds = min(n_folds, len(Y))
    return list(IterativeStratification(n_folds, random_state=random_state).split(Y, Y))


class KernelFamily:
    """Machines in the space of an RBF kernel, or a linear one, which has no γ; scores are margins."""

    cut = 0.0
    calibration = "pooled"

    def __init__(
        self,
        name: str,
        space: Space,
        settings,
        gamma_factors,
        points,
        coding: Coding,
        cv: int,
        n_settings: int,
        n_points: int | None,
    ) -> None:
        self.name = name
        self.space = space
        self.settings: list[Setting] = settings
        self.gamma_factors = [1.0] if isinstance(space, Linear) else gamma_factors
        self.points: list[PathPoint] = points
        self.coding = coding
        self.n_settings = n_settings
        self.n_points = n_points
        self.n_reports = len(self.gamma_factors) * cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of one γ after the other; folds go wherever joblib computes."""
        gammas = [self._gamma(factor, X) for factor in self.gamma_factors]
        shared = (self._placed(X), Y, label_weight, dict.fromkeys(self.settings, self.points))
        parts = spread(_search_fold, shared, [(gamma, fold) for gamma in gammas for fold in folds])
        for gamma in gammas:
            found: dict[tuple[Setting, PathPoint], np.ndarray] = {}
            for number, (_, test) in enumerate(folds, start=1):
                for step, scores in next(parts):
                    found.setdefault(step, np.empty(Y.shape, np.float32))[test] = scores
                at = "" if gamma is None else f" gamma {gamma:.2g},"
                report(f"{self.name}:{at} fold {number}")
            yield [
                Candidate({"gamma": gamma, **setting._asdict()}, point, scores)
                for (setting, point), scores in found.items()
            ]

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """The best points of the best settings, which are compared by the points that would be taken.

        What is equal up to rounding goes in the order in which it was tried.
        """

        def mean(taken) -> float:
            return round(float(np.mean([badness[i] for i in taken])), 9)

        settings: dict[tuple, list[int]] = {}
        for i in sorted(range(len(candidates)), key=lambda i: mean([i])):
            points = settings.setdefault(tuple(candidates[i].setting.values()), [])
            if self.n_points is None or len(points) < self.n_points:
                points.append(i)
        best = sorted(settings.values(), key=mean)[: self.n_settings]
        return sorted((i for taken in best for i in taken), key=lambda i: mean([i]))

    def scores(self, held_out) -> np.ndarray:
        """The margins as they are."""
        return held_out

    def weigh(self, members: list[Candidate]) -> np.ndarray:
        """All alike."""
        return np.full(len(members), 1.0 / len(members))

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> Learned:
        """Fit the members; those of one γ add up to one model."""
        of_key = {(member.setting["gamma"], _setting(member), member.point): member for member in members}
        shared = (self._placed(X), Y, label_weight, list(of_key))
        learned = list(spread(_learn_members, shared, dict.fromkeys(gamma for gamma, *_ in of_key)))
        visits = [Visit(of_key[key], *tables) for _, visited in learned for key, *tables in visited]
        return Learned([model for model, _ in learned], visits)

    def walk(self, rows, Y, label_weight, itinerary, *, with_losses=False) -> Iterator[PathStep]:
        """Yield every step of the way over these rows."""
        learner = Alternation(rows, Y, self.coding, split_rows(Y, _CODE_FOLDS, self.coding.random_state))
        return walk_paths(learner, Y, label_weight, itinerary, with_losses=with_losses)

    def hold_out(
        self, rows, Y, label_weight, train, test, itinerary: Itinerary
    ) -> Iterator[tuple[PathStep, np.ndarray]]:
        """Yield every step of the way over the training rows, and its scores of the test rows."""
        weight = None if label_weight is None else label_weight[train]
        inner, held_out = rows.split(train, test)
        for step in self.walk(inner, Y[train], weight, itinerary):
            yield step, held_out.scores(step.coef, step.intercept)

    def _gamma(self, factor, X) -> float | None:
        return None if isinstance(self.space, Linear) else float(factor) * resolve_gamma("scale", X)

    def _placed(self, X) -> "_PlacedRows":
        family = copy(self)
        if count_workers() > 1:
            family.space = one_thread(self.space)
        return _PlacedRows(family, X)


class _PlacedRows:
    """A family's rows in its space: what is computed of one γ is there for all folds in a process."""

    def __init__(self, family: KernelFamily, X) -> None:
        self.family = family
        self._X = X
        self._kept: tuple[float | None, Rows] | None = None

    def at(self, gamma: float | None) -> Rows:
        kept = self._kept
        if kept is None or kept[0] != gamma:
            self._kept = kept = None  # its memory is needed for the next one
            space: Any = self.family.space  # every space with a γ is a dataclass
            kept = gamma, (space if gamma is None else replace(space, gamma=gamma)).place(self._X)
            self._kept = kept
        return kept[1]

    def __getstate__(self):
        return vars(self) | {"_kept": None}


def _search_fold(placed: _PlacedRows, Y, label_weight, itinerary: Itinerary, part) -> list[tuple]:
    """Scores of a fold's test rows at every setting and point of a γ."""
    gamma, (train, test) = part
    steps = placed.family.hold_out(placed.at(gamma), Y, label_weight, train, test, itinerary)
    return [((step.setting, step.point), scores.astype(np.float32)) for step, scores in steps]


def _learn_members(placed: _PlacedRows, Y, label_weight, members, gamma) -> tuple[Model, list[tuple]]:
    """The members of a γ on all rows, which add up to one model; and of each its losses and weights."""
    itinerary: Itinerary = {}
    for of_member, setting, point in members:
        if of_member == gamma:
            itinerary.setdefault(setting, []).append(point)
    rows = placed.at(gamma)
    coef: Any = 0.0
    intercept = np.zeros(Y.shape[1])
    visited = []
    for step in placed.family.walk(rows, Y, label_weight, itinerary, with_losses=True):
        coef = coef + step.coef / len(members)
        intercept += step.intercept / len(members)
        visited.append(((gamma, step.setting, step.point), np.asarray(step.losses), step.label_weights))
    return rows.keep(coef, intercept), visited


def _setting(member: Candidate) -> Setting:
    return Setting(*(member.setting[name] for name in Setting._fields))
