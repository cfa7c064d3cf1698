"""Forests as a family: a path of paces set by out-of-bag losses; half of the trees see the other labels."""

from collections.abc import Iterator

import numpy as np
from scipy.special import logit
from sklearn.utils import check_random_state

from mlspl.models._families import Candidate, Learned, Visit, log_losses
from mlspl.models._forest import Bags, TreeRows, as_floats, count_tried, make_tree, measure_units
from mlspl.models._forest_learner import ForestLearner
from mlspl.models._label_forests import ChainedForests, LabelForests, forest_probabilities, see_labels
from mlspl.models._pace_path import UNPACED, PathPoint, walk_points
from mlspl.solvers import FlatTrees

__all__ = ["ForestFamily", "drop_copies"]

# Of the columns that trees draw from, the share that are labels: enough to be found among many features.
_LABEL_SHARE = 0.25
# One in so many trees is grown to find out how large leaves should be.
_LEAF_TRIAL = 4


class ForestFamily:
    """Extremely randomised trees, a forest per label; what is held out are probabilities.

    How large leaves are to be is told by the log loss out of bag of plain forests. Half of the trees see the
    features alone, and half also what the unpaced ones of the first half say of all labels, out of bag in
    training: so labels that go together help each other. Of each half, half are unpaced, and the paced points
    share the others: their mean is level with the unpaced forests where labels are right, and ahead where
    they are wrong. Only where the unpaced ones alone have a log loss on held-out rows that is smaller by more
    than its standard error do they stand alone.

    Out of bag, paced forests look better than they are, for the weights of a row's neighbours come from trees
    that saw its label. So the path is judged on folds, with half as many trees.
    """

    name = "forest"
    cut = 0.5
    calibration = "none"

    def __init__(self, leaves, points, n_estimators: int, cv: int, n_jobs, random_state) -> None:
        self.leaves = tuple(leaves)
        self.points: list[PathPoint] = points
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.n_reports = cv

    def search(self, X, Y, label_weight, folds, report) -> Iterator[list[Candidate]]:
        """Yield the candidates of the whole path, with leaves of the best size."""
        X = as_floats(X, measure_units(X))
        leaf = self._choose_leaf(X, Y, label_weight)
        found: dict[tuple[bool, PathPoint], np.ndarray] = {}
        for number, (train, test) in enumerate(folds, start=1):
            weight = None if label_weight is None else label_weight[train]
            n_trees = max(4, self.n_estimators // 2)
            rows = X[test]
            for seen, point, learner, _, _ in self._walk(
                X[train], Y[train], weight, leaf, self.points, n_trees
            ):
                table = found.setdefault((seen, point), np.empty(Y.shape, np.float32))
                table[test] = forest_probabilities(
                    learner.forests, learner.frequencies, rows, None, self.n_jobs
                )
                if (seen, point) == (False, UNPACED):
                    rows = see_labels(rows, table[test])
            report(f"forest: fold {number}")
        yield [
            Candidate({"min_samples_leaf": leaf, "sees_labels": seen}, point, table)
            for (seen, point), table in found.items()
        ]

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """All points of the path, or the unpaced ones if these are clearly better."""
        path = list(range(len(candidates)))
        unpaced = [i for i in path if candidates[i].point == UNPACED]

        def losses(taken) -> np.ndarray:
            members = [candidates[i] for i in taken]
            mean = sum(w * m.held_out for w, m in zip(self.weigh(members), members, strict=True))
            return log_losses(self.scores(mean), Y, label_weight)

        gain = losses(path) - losses(unpaced)
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        taken = unpaced if gain.mean() > error + 1e-9 else path
        return sorted(taken, key=lambda i: round(badness[i], 9))

    def weigh(self, members: list[Candidate]) -> np.ndarray:
        """As the trees are shared out."""
        shares = _share_trees(self.n_estimators, list(dict.fromkeys(member.point for member in members)))
        n_trees = [shares[member.point] for member in members]
        return np.array(n_trees) / sum(n_trees)

    def scores(self, held_out) -> np.ndarray:
        """Log-odds of the probabilities."""
        return logit(held_out)

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> Learned:
        """Grow the members; their trees make up one model."""
        units = measure_units(X)
        X = as_floats(X, units)
        at = {(member.setting["sees_labels"], member.point): member for member in members}
        leaf = members[0].setting["min_samples_leaf"]
        points = [point for point in self.points if (True, point) in at]
        further: list[dict[int, FlatTrees]] = []
        visits = []
        for seen, point, learner, losses, weights in self._walk(
            X, Y, label_weight, leaf, points, self.n_estimators
        ):
            if (seen, point) == (False, UNPACED):
                first = LabelForests(learner.forests, learner.frequencies, units)
            else:
                further.append(learner.forests)
            visits.append(Visit(at[seen, point], losses, weights))
        joined = {label: FlatTrees.join([part[label] for part in further]) for label in further[0]}
        all_units = np.concatenate([units, np.ones(Y.shape[1])])
        model = ChainedForests(first, LabelForests(joined, first.frequencies, all_units))
        return Learned([model], visits)

    def _choose_leaf(self, X, Y, label_weight) -> int:
        """The size of leaves whose unpaced forests have the smallest log loss out of bag."""
        if len(self.leaves) == 1:
            return self.leaves[0]
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        n_trees = max(2, self.n_estimators // _LEAF_TRIAL)
        bags = Bags.draw(n_trees, len(Y), Y.shape[1], check_random_state(self.random_state))

        def badness(leaf) -> float:
            learner = ForestLearner(_place(X, leaf, X.shape[1]), Y, prior, bags, self.n_jobs)
            learner.fit(np.ones(Y.shape))
            return round(float(log_losses(logit(learner.probabilities), Y, label_weight).mean()), 9)

        return min(self.leaves, key=badness)

    def _walk(self, X, Y, label_weight, leaf, points, n_trees):
        """Yield whether labels are seen, the point, the learner fitted there, and losses and weights."""
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        n_features, n_labels = X.shape[1], Y.shape[1]
        random = check_random_state(self.random_state)
        shares = _share_trees(n_trees, points)
        plain, sighted = (Bags.draw(sum(shares.values()), len(Y), n_labels, random) for _ in range(2))
        rows = _place(X, leaf, n_features)
        first = ForestLearner(rows, Y, prior, plain.part(0, shares[UNPACED]), self.n_jobs)
        first.fit(np.ones(Y.shape))
        losses = first.losses()
        yield False, UNPACED, first, losses, np.ones(Y.shape)
        weights = dict(walk_points(lambda weights: None, losses, points, Y, prior > 0))
        copies = max(1, round(_LABEL_SHARE / (1.0 - _LABEL_SHARE) * n_features / n_labels))
        for seen, bags in ((False, plain), (True, sighted)):
            if seen:
                rows = _place(see_labels(X, first.probabilities, copies), leaf, n_features)
            start = 0
            for point in points:
                part = bags.part(start, start + shares[point])
                start += shares[point]
                if seen or point != UNPACED:
                    learner = ForestLearner(rows, Y, prior, part, self.n_jobs)
                    learner.fit(weights[point])
                    learner.forests = {
                        label: drop_copies(trees, n_features, n_labels)
                        for label, trees in learner.forests.items()
                    }
                    yield seen, point, learner, losses, weights[point]


def _place(X, leaf, n_features) -> TreeRows:
    """Rows for trees that look at as many columns for each cut as if there were these features alone."""
    return TreeRows(X, make_tree("extra-trees", leaf, count_tried(n_features), X.shape[1]))


def _share_trees(n_trees, points) -> dict[PathPoint, int]:
    """How many trees each point has of those that see labels, and as many of those that do not."""
    n_paced = len(points) - 1
    if not n_paced:
        return {UNPACED: max(1, n_trees // 2)}
    return {point: max(1, n_trees // 4 // (1 if point == UNPACED else n_paced)) for point in points}


def drop_copies(trees: FlatTrees, n_features, n_labels) -> FlatTrees:
    """The same trees where each label is one column behind the features."""
    feature = np.where(
        trees.feature < n_features, trees.feature, n_features + (trees.feature - n_features) % n_labels
    )
    parts = (trees.left, trees.right, trees.value, trees.missing_left)
    return FlatTrees(trees.starts, feature, *parts, n_features + n_labels)
