"""The families of `MLSPLClassifierCV`: classifiers in a space with cross-fitted codes, and forests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from mlspl._limits import check_memory
from mlspl._parallel import count_workers, parallel_map
from mlspl.models._families import UNPACED, Budget, Candidate, Point, split_rows, visit_points
from mlspl.models._forest import ForestLearner, RowSamples, TreeRows, count_tried
from mlspl.models._forest_models import as_floats
from mlspl.models._label_blocks import class_costs, one_thread
from mlspl.models.local_correlation import Coding, LocalCorrelationLearner
from mlspl.spaces import Model, Rows, Space, resolve_gamma

_CODE_FOLDS = 3  # as in MLSPLClassifier
_CLASS_WEIGHT = 0.5  # the exponent of the class balance
_LEAF = 2  # smallest number of rows in a leaf
_TREES = {"joint": "joint", "forest": "per-label"}

PointsOf = Mapping[float, Sequence[Point]]
Tables = list[tuple[np.ndarray, np.ndarray]]


class KernelFamily:
    """Classifiers with an RBF kernel, or linear ones, which have no γ; scores are margins."""

    calibration = "pooled"

    def __init__(self, name, space: Space, costs, points, coding: Coding, budget: Budget) -> None:
        self.name, self.space, self.coding = name, space, coding
        self.costs: list[float] = costs
        self.gamma_factors = budget.gamma_factors if hasattr(space, "gamma") else (1.0,)
        self.points: list[Point] = points
        self.n_settings = budget.n_settings
        self.n_reports = len(self.gamma_factors) * budget.cv

    def search(self, X, Y, label_weight, folds) -> Iterator[tuple[str, list[Candidate]]]:
        """Yield the candidates of each γ; folds are fitted in parallel."""
        n_scores = len(self.gamma_factors) * len(self.costs) * len(self.points) * Y.shape[0] * Y.shape[1]
        check_memory(
            4.0 * n_scores,
            f"Out-of-fold scores of {n_scores:,} pairs, settings and paces",
            "Use budget='fast', fewer values of C, or MLSPLClassifier.",
        )
        for factor in self.gamma_factors:
            gamma = float(factor) * resolve_gamma("scale", X) if hasattr(self.space, "gamma") else None
            points_of = dict.fromkeys(self.costs, self.points)
            shared = (self._prepare(gamma, X), Y, label_weight, self.coding, points_of)
            found: dict[tuple[float, Point], np.ndarray] = {}
            parts = zip(folds, parallel_map(_hold_out, shared, folds), strict=True)
            for number, ((_, test), part) in enumerate(parts, start=1):
                for key, scores in part.items():
                    found.setdefault(key, np.empty(Y.shape, np.float32))[test] = scores
                note = f"{self.name}:{'' if gamma is None else f' gamma {gamma:.2g},'} fold {number}"
                done = found.items() if number == len(folds) else ()
                yield note, [Candidate({"gamma": gamma, "C": C}, point, held) for (C, point), held in done]

    def _prepare(self, gamma, X) -> Rows:
        space: Any = one_thread(self.space) if count_workers() > 1 else self.space
        return (space if gamma is None else replace(space, gamma=gamma)).prepare(X)

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> tuple[list[Model], Tables]:
        """Fit the members on all rows; those of one γ add up to one model."""
        gammas = dict.fromkeys(member.setting["gamma"] for member in members)
        shared = (self._prepare, X, Y, label_weight, self.coding, members)
        models, found = zip(*parallel_map(_fit_members, shared, gammas), strict=True)
        tables = {key: each for part in found for key, each in part.items()}
        return list(models), [tables[*member.setting.values(), member.point] for member in members]


def _hold_out(rows: Rows, Y, label_weight, coding: Coding, points_of: PointsOf, fold) -> dict:
    """Scores of a fold's test rows by every cost and point, fitted on its training rows."""
    train, test = fold
    weight = None if label_weight is None else label_weight[train]
    inner, score = rows.split(train, test)
    paths = _visit_paths(inner, Y[train], weight, coding, points_of)
    return {key: score(*function) for key, _, function in paths}


def _fit_members(prepare, X, Y, label_weight, coding: Coding, members, gamma) -> tuple[Model, dict]:
    """The sum of the members of a γ on all rows; and the losses and weights of each."""
    points_of: dict[float, list[Point]] = {}
    for setting, point, _ in members:
        if setting["gamma"] == gamma:
            points_of.setdefault(setting["C"], []).append(point)
    rows = prepare(gamma, X)
    coefs, intercepts, found = [], [], {}
    paths = _visit_paths(rows, Y, label_weight, coding, points_of, with_losses=True)
    for key, tables, (coef, intercept) in paths:
        found[gamma, *key] = tables
        coefs.append(coef)
        intercepts.append(intercept)
    return rows.make_model(sum(coefs) / len(members), sum(intercepts) / len(members)), found


def _visit_paths(rows: Rows, Y, label_weight, coding: Coding, points_of: PointsOf, *, with_losses=False):
    """Fit the model of every cost and point, with warm starts and one cross-fit of the codes.

    Yields (cost, point), out-of-fold losses of the unpaced model, if needed or asked for, with the weights
    that they give, and the coordinates in the space.
    """
    learner = LocalCorrelationLearner(rows, Y, coding, split_rows(Y, _CODE_FOLDS, coding.random_state))
    for C, points in points_of.items():
        learner.set_costs(C, class_costs(Y, _CLASS_WEIGHT, label_weight))
        needed = with_losses or any(point != UNPACED for point in points)
        losses = learner.losses() if needed else None
        for point, weights in visit_points(learner.fit_classifiers, losses, points, Y, learner.prior > 0):
            yield (C, point), (losses, weights), learner.expansion()


class ForestFamily:
    """Extremely randomised trees; scores are log-odds. In a fold a third of the trees is grown.

    √d features are tried, too: the more, the better on clean labels of texts, and the worse on noisy ones.
    """

    calibration = "none"
    n_settings = 1

    def __init__(self, name, points, n_estimators: int, cv: int, n_jobs, random_state) -> None:
        self.name, self.n_estimators, self.n_reports = name, n_estimators, cv
        self.points: list[Point] = points
        self.n_jobs, self.random_state = n_jobs, random_state

    def search(self, X, Y, label_weight, folds) -> Iterator[tuple[str, list[Candidate]]]:
        """Yield the candidates of all points; those of joint trees differ in the weights of leaves only."""
        X = as_floats(X)
        widths = {count_tried(each, X.shape[1]) for each in ("auto", "sqrt")}
        tried = product(sorted(widths, reverse=True), self.points)
        found = {each: np.empty(Y.shape, np.float32) for each in tried}
        n_trees = max(4, self.n_estimators // 3)
        for number, (train, test) in enumerate(folds, start=1):
            weight = None if label_weight is None else label_weight[train]
            for max_features in widths:
                learner = self._grow(X[train], Y[train], weight, max_features, n_trees)
                fit = learner.reweight if self.name == "joint" else learner.fit
                known = learner.prior > 0
                for point, _ in visit_points(fit, learner.losses(), self.points, Y[train], known):
                    found[max_features, point][test] = learner.models[0].scores(X[test], self.n_jobs)
            done = found.items() if number == len(folds) else ()
            candidates = [Candidate({"max_features": width}, point, held) for (width, point), held in done]
            yield f"{self.name}: fold {number}", candidates

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> tuple[list[Any], Tables]:
        """Grow the forest on all rows (precision is 0.003 higher), with the weights by samples of them."""
        (member,) = members
        learner = self._grow(as_floats(X), Y, label_weight, member.setting["max_features"], self.n_estimators)
        losses = learner.losses()
        learner.samples.counts[:] = 1
        ((_, weights),) = visit_points(learner.fit, losses, [member.point], Y, learner.prior > 0)
        return learner.models, [(losses, weights)]

    def _grow(self, X, Y, label_weight, max_features, n_trees) -> Any:
        """The unpaced forest."""
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        rows = TreeRows(X, _LEAF, max_features)
        samples = RowSamples.draw(n_trees, len(Y), Y.shape[1], self.random_state)
        learner = ForestLearner(rows, Y, prior, samples, (_TREES[self.name],), self.n_jobs)
        learner.fit(np.ones(Y.shape))
        return learner
