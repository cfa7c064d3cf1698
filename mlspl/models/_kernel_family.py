"""Machines in a space, with cross-fitted codes, as a family: C, γ and class balance, and paces for each."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mlspl.model_selection import IterativeStratification
from mlspl.models._alternation import Alternation, Coding
from mlspl.models._families import Candidate, Learned, Visit
from mlspl.models._pace_path import PathPoint, PathStep, Setting, walk_paths
from mlspl.spaces import Linear, Space, resolve_gamma

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
        self, name: str, space: Space, settings, gamma_factors, points, n_points, coding: Coding, cv: int
    ) -> None:
        self.name = name
        self.space = space
        self.settings: list[Setting] = settings
        self.gamma_factors = [1.0] if isinstance(space, Linear) else gamma_factors
        self.points: list[PathPoint] = points
        self.n_points: int | None = n_points
        self.coding = coding
        self.n_reports = len(self.gamma_factors) * cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of one γ after the other."""
        everything: Itinerary = dict.fromkeys(self.settings, self.points)
        for factor in self.gamma_factors:
            gamma = None if isinstance(self.space, Linear) else float(factor) * resolve_gamma("scale", X)
            rows = self._place(X, gamma)
            found: dict[tuple[Setting, PathPoint], np.ndarray] = {}
            for number, (train, test) in enumerate(folds, start=1):
                for step, scores in self.hold_out(rows, Y, label_weight, train, test, everything):
                    table = found.setdefault((step.setting, step.point), np.empty(Y.shape, np.float32))
                    table[test] = scores
                at = "" if gamma is None else f" gamma {gamma:.2g},"
                report(f"{self.name}:{at} fold {number}")
            yield [
                Candidate({"gamma": gamma, **setting._asdict()}, point, scores)
                for (setting, point), scores in found.items()
            ]

    def scores(self, held_out) -> np.ndarray:
        """The margins as they are."""
        return held_out

    def weigh(self, members: list[Candidate]) -> np.ndarray:
        """All alike."""
        return np.full(len(members), 1.0 / len(members))

    def hold_out(
        self, rows, Y, label_weight, train, test, itinerary: Itinerary
    ) -> Iterator[tuple[PathStep, np.ndarray]]:
        """Yield every step of the way over the training rows, and its scores of the test rows."""
        weight = None if label_weight is None else label_weight[train]
        inner, held_out = rows.split(train, test)
        for step in self._walk(inner, Y[train], weight, itinerary):
            yield step, held_out.scores(step.coef, step.intercept)

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> Learned:
        """Fit the members; those of one γ add up to one model."""
        models, visits = [], []
        for gamma in dict.fromkeys(member.setting["gamma"] for member in members):
            of_gamma = {
                (_setting(member), member.point): member
                for member in members
                if member.setting["gamma"] == gamma
            }
            itinerary: Itinerary = {}
            for setting, point in of_gamma:
                itinerary.setdefault(setting, []).append(point)
            rows = self._place(X, gamma)
            coef: Any = 0.0
            intercept = np.zeros(Y.shape[1])
            for step in self._walk(rows, Y, label_weight, itinerary, with_losses=True):
                coef = coef + step.coef / len(members)
                intercept += step.intercept / len(members)
                member = of_gamma[step.setting, step.point]
                visits.append(Visit(member, np.asarray(step.losses), step.label_weights))
            models.append(rows.keep(coef, intercept))
        return Learned(models, visits)

    def _place(self, X, gamma):
        space: Any = self.space  # every space with a γ is a dataclass
        return (space if gamma is None else replace(space, gamma=gamma)).place(X)

    def _walk(self, rows, Y, label_weight, itinerary, *, with_losses=False) -> Iterator[PathStep]:
        learner = Alternation(rows, Y, self.coding, split_rows(Y, _CODE_FOLDS, self.coding.random_state))
        return walk_paths(learner, Y, label_weight, itinerary, with_losses=with_losses)


def _setting(member: Candidate) -> Setting:
    return Setting(*(member.setting[name] for name in Setting._fields))
