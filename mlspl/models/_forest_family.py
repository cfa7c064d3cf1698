"""Forests as a family: a path of paces, set by out-of-bag losses."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logit
from sklearn.utils import check_random_state

from mlspl.models._families import Candidate, Learned, Visit
from mlspl.models._forest import Bags, TreeRows, as_floats, make_tree, measure_units
from mlspl.models._forest_learner import ForestLearner
from mlspl.models._label_forests import LabelForests, forest_probabilities
from mlspl.models._pace_path import UNPACED, PathPoint, walk_points
from mlspl.solvers import FlatTrees

__all__ = ["ForestFamily"]


class ForestFamily:
    """Extremely randomised trees, a forest per label; what is held out are probabilities.

    Half of the trees are unpaced, the paced points share the others: the mean of all trees is level with the
    unpaced forest where labels are right, and ahead where they are wrong. Out of bag, paced forests look
    better than they are, for the weights of a row's neighbours come from trees that saw its label. So they
    are judged on folds like the others, with half as many trees.
    """

    name = "forest"
    cut = 0.5
    calibration = "none"
    n_points: int | None = None

    def __init__(self, min_samples_leaf, points, n_estimators: int, cv: int, n_jobs, random_state) -> None:
        self.min_samples_leaf = min_samples_leaf
        self.points: list[PathPoint] = points
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_reports = cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of the whole path."""
        X = as_floats(X, measure_units(X))
        n_trees = max(2, self.n_estimators // 2)
        found: dict[PathPoint, np.ndarray] = {}
        for number, (train, test) in enumerate(folds, start=1):
            weight = None if label_weight is None else label_weight[train]
            for point, learner, _, _ in self._walk(X[train], Y[train], weight, self.points, n_trees):
                found.setdefault(point, np.empty(Y.shape, np.float32))[test] = forest_probabilities(
                    learner.forests, learner.frequencies, X[test], None, self.n_jobs
                )
            report(f"forest: fold {number}")
        setting = {"min_samples_leaf": self.min_samples_leaf}
        yield [Candidate(setting, point, table) for point, table in found.items()]

    def scores(self, held_out) -> np.ndarray:
        """Log-odds of the probabilities."""
        return logit(held_out)

    def weigh(self, members: list[Candidate]) -> np.ndarray:
        """As the trees are shared out."""
        n_trees = [self._share(self.n_estimators, member.point, len(members)) for member in members]
        return np.array(n_trees) / sum(n_trees)

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> Learned:
        """Grow the members; their trees make up one forest per label."""
        units = measure_units(X)
        X = as_floats(X, units)
        at = {member.point: member for member in members}
        grown: list[dict[int, FlatTrees]] = []
        visits = []
        for point, learner, losses, weights in self._walk(X, Y, label_weight, list(at), self.n_estimators):
            grown.append(dict(learner.forests))
            visits.append(Visit(at[point], losses, weights))
        forests = {label: FlatTrees.join([member[label] for member in grown]) for label in grown[0]}
        return Learned([LabelForests(forests, learner.frequencies, units)], visits)

    def _share(self, n_trees, point, n_points) -> int:
        if n_points == 1:
            return n_trees
        return n_trees // 2 if point == UNPACED else max(1, n_trees // 2 // (n_points - 1))

    def _walk(self, X, Y, label_weight, points, n_trees):
        """Yield each point, the learner fitted there, and the losses and weights that led there."""
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        rows = TreeRows(X, make_tree("extra-trees", self.min_samples_leaf, "sqrt", X.shape[1]))
        bags = Bags.draw(n_trees, len(Y), Y.shape[1], check_random_state(self.random_state))
        shares = {point: self._share(n_trees, point, len(points)) for point in points}
        unpaced = ForestLearner(rows, Y, prior, bags.first(shares[UNPACED]), self.n_jobs)
        unpaced.fit(np.ones(Y.shape))
        losses = unpaced.losses()
        yield UNPACED, unpaced, losses, np.ones(Y.shape)
        paced = [point for point in points if point != UNPACED]
        learner = ForestLearner(rows, Y, prior, bags.first(min(shares.values())), self.n_jobs)
        for point, weights in walk_points(learner.fit, losses, paced, Y, prior > 0):
            yield point, learner, losses, weights
