"""Forests as a family: a path of paces, set by out-of-bag losses."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logit
from sklearn.utils import check_random_state

from mlspl.models._families import Candidate, Learned, Visit
from mlspl.models._forest import Bags, as_floats, make_tree, measure_units
from mlspl.models._forest_learner import ForestLearner
from mlspl.models._label_forests import LabelForests, forest_probabilities
from mlspl.models._pace_path import PathPoint, walk_points
from mlspl.solvers import FlatTrees

__all__ = ["ForestFamily"]


class ForestFamily:
    """Extremely randomised trees, a forest per label; what is held out are probabilities.

    Out of bag, paced forests look better than they are: the weights of a row's neighbours come from trees
    that saw its label. So they are judged on folds like the others, with half as many trees.
    """

    name = "forest"
    cut = 0.5
    calibration = "none"
    n_points = None

    def __init__(self, leaves, points, n_estimators: int, cv: int, n_jobs, random_state) -> None:
        self.leaves = leaves
        self.points: list[PathPoint] = points
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_reports = cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of all leaf sizes."""
        X = as_floats(X, measure_units(X))
        n_trees = (self.n_estimators + 1) // 2
        found: dict[tuple[int, PathPoint], np.ndarray] = {}
        for number, (train, test) in enumerate(folds, start=1):
            weight = None if label_weight is None else label_weight[train]
            for leaf in self.leaves:
                for point, learner, _, _ in self._walk(
                    X[train], Y[train], weight, leaf, self.points, n_trees
                ):
                    table = found.setdefault((leaf, point), np.empty(Y.shape, dtype=np.float32))
                    table[test] = forest_probabilities(
                        learner.forests, learner.frequencies, X[test], None, self.n_jobs
                    )
            report(f"forest: fold {number}")
        yield [Candidate({"min_samples_leaf": leaf}, point, table) for (leaf, point), table in found.items()]

    def scores(self, held_out) -> np.ndarray:
        """Log-odds of the probabilities."""
        return logit(held_out)

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> Learned:
        """Grow the members; their trees make up one forest per label."""
        units = measure_units(X)
        X = as_floats(X, units)
        wanted = {(member.setting["min_samples_leaf"], member.point): member for member in members}
        grown: list[dict[int, FlatTrees]] = []
        visits = []
        for leaf in dict.fromkeys(leaf for leaf, _ in wanted):
            points = [point for size, point in wanted if size == leaf]
            for point, learner, losses, weights in self._walk(
                X, Y, label_weight, leaf, points, self.n_estimators
            ):
                grown.append(dict(learner.forests))
                visits.append(Visit(wanted[leaf, point], losses, weights))
        forests = {label: FlatTrees.join([member[label] for member in grown]) for label in grown[0]}
        return Learned([LabelForests(forests, learner.frequencies, units)], visits)

    def _walk(self, X, Y, label_weight, leaf, points, n_trees):
        """Yield each point, the learner fitted there, and the losses and weights that led there."""
        tree = make_tree("extra-trees", leaf, "sqrt", X.shape[1])
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        bags = Bags.draw(n_trees, *Y.shape, check_random_state(self.random_state))
        learner = ForestLearner(tree, X, Y, prior, bags, self.n_jobs)
        learner.fit(np.ones(Y.shape))
        losses = learner.losses()
        for point, weights in walk_points(learner.fit, losses, points, Y, prior > 0):
            yield point, learner, losses, weights
