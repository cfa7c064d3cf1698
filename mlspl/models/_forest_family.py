"""Forests as a family of `MLSPLClassifierCV`: joint trees, or a forest per label."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logit

from mlspl.models._families import (
    UNPACED,
    Candidate,
    FittedFamily,
    FittedMember,
    PathPoint,
    choose_point,
    visit_points,
)
from mlspl.models._forest import RowSamples, TreeRows, make_learner, make_tree
from mlspl.models._forest_models import as_floats, measure_units

__all__ = ["ForestFamily"]

_LEAF = 2  # smallest number of rows in a leaf
_TREES = {"joint": "joint", "forest": "per-label"}


class ForestFamily:
    """Extremely randomised trees; held-out scores are probabilities.

    The pace is chosen by the log loss of held-out rows, with a third of the trees. A ranking criterion tells
    paces apart less well: every pair counts in the log loss.
    """

    cut = 0.5
    calibration = "none"

    def __init__(self, name, points, n_estimators: int, cv: int, n_jobs, random_state) -> None:
        self.name = name
        self.points: list[PathPoint] = points
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_reports = cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of all points."""
        X = as_floats(X, measure_units(X))
        found = {point: np.empty(Y.shape, np.float32) for point in self.points}
        for number, (train, test) in enumerate(folds, start=1):
            weight = None if label_weight is None else label_weight[train]
            n_trees = max(4, self.n_estimators // 3)
            steps = self._visit(X[train], Y[train], weight, self.points, n_trees, regrow=False)
            for point, learner, _, _ in steps:
                found[point][test] = learner.model().probabilities(X[test], self.n_jobs)
            report(f"{self.name}: fold {number}", complete=number == len(folds))
        yield [Candidate({}, point, scores) for point, scores in found.items()]

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """The point with the smallest log loss; the unpaced one comes first and wins ties."""
        odds = [logit(each.held_out) for each in candidates]
        return [choose_point(odds, Y, label_weight, n_errors=0.0)]

    def scores(self, held_out) -> np.ndarray:
        """Log-odds of the probabilities."""
        return logit(held_out)

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> FittedFamily:
        """Grow the forest of the chosen point."""
        units = measure_units(X)
        (member,) = members
        steps = self._visit(as_floats(X, units), Y, label_weight, [member.point], self.n_estimators)
        ((_, learner, losses, weights),) = steps
        return FittedFamily([learner.model(units)], [FittedMember(member, losses, weights)])

    def _visit(self, X, Y, label_weight, points, n_trees, *, regrow=True) -> Iterator[tuple]:
        """Yield each point, the learner fitted there, the unpaced losses and the weights.

        Without `regrow`, the points of joint trees differ in the weights of their leaves only.
        """
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        rows = TreeRows(X, make_tree("extra-trees", _LEAF, "auto", X.shape[1]))
        samples = RowSamples.draw(n_trees, len(Y), Y.shape[1], self.random_state)
        learner = make_learner(_TREES[self.name], rows, Y, prior, samples, self.n_jobs)
        learner.fit(np.ones(Y.shape))
        losses = learner.losses()
        fit = learner.fit if regrow or self.name == "forest" else learner.reweight
        for point, weights in visit_points(lambda _: None, losses, points, Y, prior > 0):
            if point != UNPACED:
                fit(weights)
            yield point, learner, losses, weights
