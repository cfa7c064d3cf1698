"""Growing forests: row samples, rows as trees read them, and the two learners that the loop can pace."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import check_random_state

from mlspl._limits import check_memory
from mlspl.models._forest_models import JointForest, LabelForests, MeanForest, find_leaves
from mlspl.solvers import FlatTrees, TreeFeatures, grow_extra_trees

_TREES = {"extra-trees": ExtraTreeRegressor, "random-forest": DecisionTreeRegressor}
# The share of the rows that a tree is grown on, drawn without replacement. Average precision on clean test
# labels is 0.005 to 0.012 higher than with bootstrap samples (joint trees, development splits 100 and 101 of
# emotions, yeast, mirflickr and OPP-115), and a fifth of the trees is left for each row out of sample.
_SAMPLED = 0.8
# Trees a task grows: enough to be worth a thread, few enough that one label keeps all threads busy.
_TREES_A_TASK = 32
# Targets of a joint tree. Of more labels, as many random projections keep the variance approximately (Joly,
# Geurts and Wehenkel 2014), so that the time of a cut does not grow with the labels.
_MOST_TARGETS = 32
# The smallest probability in a loss: no pair is infinitely hard.
_LEAST = 1e-3
# Steps from weight or target 0 to the largest. Sums of whole numbers do not depend on their order; a weight
# below half a step is left out.
_STEPS = 2.0**20


@dataclass(frozen=True)
class RowSamples:
    """The random part of a forest, drawn once: the rows of each tree (n_trees, n), and the trees' seeds."""

    counts: np.ndarray
    seeds: np.ndarray

    @classmethod
    def draw(cls, n_trees: int, n_rows: int, n_forests: int, random_state) -> "RowSamples":
        """Draw four fifths of the rows for each tree, without replacement."""
        random = check_random_state(random_state)
        counts = np.zeros((n_trees, n_rows), dtype=np.uint8)
        for row in counts:
            row[random.permutation(n_rows)[: max(1, int(_SAMPLED * n_rows))]] = 1
        return cls(counts, random.randint(np.iinfo(np.int32).max, size=(n_forests, n_trees)))

    def with_all_rows(self) -> "RowSamples":
        """The same trees, each grown on all rows: none is left for out-of-sample probabilities."""
        return RowSamples(np.ones_like(self.counts), self.seeds)


def make_tree(forest, min_samples_leaf, max_features, n_features):
    """A scikit-learn tree that holds the parameters; it refuses invalid ones."""
    if isinstance(max_features, str) and max_features == "auto":
        max_features = max(int(np.sqrt(n_features)), min(n_features // 10, 1000), 1)
    tree = _TREES[forest](min_samples_leaf=min_samples_leaf, max_features=max_features)
    return tree.fit(np.zeros((2, n_features)), [0, 1])


class TreeRows:
    """Rows as trees read them, prepared once for all labels and paces.

    Extra trees without NaN are grown by compiled code, others by scikit-learn.
    """

    def __init__(self, X, tree) -> None:
        self.X = X
        self.tree = tree
        self._has_nan = not sparse.issparse(X) and bool(np.isnan(X).any())
        leaf = tree.min_samples_leaf
        self._leaf = int(leaf) if isinstance(leaf, Integral) else int(np.ceil(leaf * X.shape[0]))
        compiled = isinstance(tree, ExtraTreeRegressor) and not self._has_nan
        self._features = TreeFeatures(X) if compiled else None
        self._columns = sparse.csc_matrix(X) if sparse.issparse(X) and not compiled else X

    def grow(self, targets, weight, counts, seeds, empty_value=0.5) -> tuple[FlatTrees, np.ndarray]:
        """Grow trees of the targets (n, q) on rows that weigh count · weight; also the importances."""
        if self._features is not None:
            leaf, tried = self._leaf, self.tree.max_features_
            return grow_extra_trees(self._features, targets, weight, counts, seeds, leaf, tried, empty_value)
        grown, importances = [], np.zeros(self.X.shape[1])
        parameters = {name: value for name, value in self.tree.get_params().items() if name != "random_state"}
        # The parameters have been checked; checking them for each tree takes as long as a small tree. Trees
        # look for NaN only where they check their input.
        with sklearn.config_context(skip_parameter_validation=True):
            for count, seed in zip(counts, seeds.tolist(), strict=True):
                sample_weight = count * weight
                if not sample_weight.any():
                    grown.append(FlatTrees([0, 1], [-1], [-1], [-1], [empty_value], [False], self.X.shape[1]))
                    continue
                one = type(self.tree)(**parameters, random_state=seed)
                one.fit(self._columns, targets, sample_weight=sample_weight, check_input=self._has_nan)
                grown.append(flatten_tree(one))
                importances += one.feature_importances_
        return FlatTrees.join(grown), importances


def flatten_tree(tree) -> FlatTrees:
    """A fitted scikit-learn tree as arrays."""
    nodes = tree.tree_
    leaf = nodes.children_left < 0
    # A float32 x is at most a float64 threshold where it is at most the next float32 below.
    cut = nodes.threshold.astype(np.float32)
    cut = np.where(cut > nodes.threshold, np.nextafter(cut, np.float32(-np.inf)), cut)
    feature, value = np.where(leaf, -1, nodes.feature), np.where(leaf, nodes.value[:, 0, 0], cut)
    children = (nodes.children_left, nodes.children_right)
    starts = [0, nodes.node_count]
    return FlatTrees(starts, feature, *children, value, nodes.missing_go_to_left, tree.n_features_in_)


def _tasks(n_trees) -> list[slice]:
    return [slice(start, start + _TREES_A_TASK) for start in range(0, n_trees, _TREES_A_TASK)]


def scale_weights(weights) -> np.ndarray:
    """The weights (n, L) divided by the largest of each label."""
    largest = weights.max(axis=0)
    return weights / np.where(largest > 0, largest, 1.0)


class _ForestLearner:
    """Base of the forests that the loop can pace; a :class:`mlspl.pacing.Learner`.

    It has out-of-sample probabilities (n, L) of the training rows, a label's frequency before the first fit,
    and feature importances (L, d).
    """

    def __init__(self, rows: TreeRows, Y, prior, samples: RowSamples, n_jobs) -> None:
        self.rows, self.Y, self.prior = rows, Y, prior
        self.samples, self.n_jobs = samples, n_jobs
        n_trees, n_rows = samples.counts.shape
        check_memory(
            17.0 * self._count_nodes() * n_trees + n_rows * n_trees,
            f"Forests of {n_trees:,} trees on {n_rows:,} rows and {Y.shape[1]:,} labels",
            "Use fewer trees (n_estimators), trees='joint', a larger min_samples_leaf, or fewer rows.",
        )
        self.frequencies = (0.5 + (prior * Y).sum(axis=0)) / (1.0 + prior.sum(axis=0))
        self.importances = np.zeros((Y.shape[1], rows.X.shape[1]))
        self.probabilities = np.tile(self.frequencies, (len(Y), 1))

    def losses(self) -> np.ndarray:
        """−ln of the out-of-sample probability of the label that each pair was given, at most 6.9."""
        given = np.where(self.Y, self.probabilities, 1.0 - self.probabilities)
        return -np.log(np.clip(given, _LEAST, 1.0))

    def _count_nodes(self) -> float:
        """About the largest number of nodes of a tree, 0.6 per row."""
        return 0.6 * len(self.Y)


class LabelForestLearner(_ForestLearner):
    """A forest per label on the same samples of the rows."""

    def __init__(self, rows: TreeRows, Y, prior, samples: RowSamples, n_jobs) -> None:
        super().__init__(rows, Y, prior, samples, n_jobs)
        known = prior > 0
        varied = (known & Y).any(axis=0) & (known & ~Y).any(axis=0)
        # None until the first fit.
        self.forests: dict[int, Any] = dict.fromkeys(np.flatnonzero(varied).tolist())

    def _count_nodes(self) -> float:
        """A few for each row of a label's rarer class."""
        rarer = np.minimum(self.Y.sum(axis=0), (~self.Y).sum(axis=0))
        return np.minimum(super()._count_nodes(), 5.0 * rarer).sum()

    def fit(self, weights) -> None:
        """Grow the forests of all labels with these weights of the pairs."""
        weights = np.rint(_STEPS * scale_weights(self.prior * weights))
        counts, seeds = self.samples.counts, self.samples.seeds
        tasks = _tasks(len(counts))
        grown = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self.rows.grow)(
                self.Y[:, [i]], weights[:, i], counts[task], seeds[i, task], self.frequencies[i]
            )
            for i in self.forests
            for task in tasks
        )
        for number, label in enumerate(self.forests):
            parts = grown[number * len(tasks) : (number + 1) * len(tasks)]
            self.forests[label] = FlatTrees.join([trees for trees, _ in parts])
            total = np.sum([importances for _, importances in parts], axis=0)
            self.importances[label] = total / max(total.sum(), np.finfo(float).tiny)
        self.probabilities = self.model().probabilities(self.rows.X, self.n_jobs, self.samples.counts)

    def model(self) -> LabelForests:
        """The forests."""
        return LabelForests(self.forests, self.frequencies)


class JointForestLearner(_ForestLearner):
    """One forest for all labels, whose cuts reduce the impurity summed over the labels.

    The target of a pair is w (y − f), with the pair's weight w and the label's frequency f: an unknown pair
    counts as an average one in the cuts, and not at all in the leaves. A leaf answers with the weighted share
    of its rows that carry each label. The importances are the same for all labels.
    """

    def fit(self, weights) -> None:
        """Grow the forest with these weights of the pairs; of each label only their ratios matter."""
        self._weights = weights = scale_weights(self.prior * weights)
        weighs = weights.sum(axis=0)
        frequencies = (weights * self.Y).sum(axis=0) / np.where(weighs > 0, weighs, 1.0)
        targets = weights * (self.Y - frequencies)
        row_weight = (self.prior > 0).any(axis=1).astype(float)
        counts, seeds = self.samples.counts, self.samples.seeds[0]
        parts = Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(self._grow)(targets, row_weight, counts[task], seeds[task]) for task in _tasks(len(seeds))
        )
        self._trees = FlatTrees.join([trees for trees, _, _ in parts])
        self._leaves = np.vstack([leaves for _, _, leaves in parts])
        total = np.sum([importances for _, importances, _ in parts], axis=0)
        self.importances[:] = total / max(total.sum(), np.finfo(float).tiny)
        self.probabilities = self.model().training_probabilities(self.n_jobs)

    def reweight(self, weights) -> None:
        """Change the weights in the leaves only: a fraction of the time of a fit, and nearly its forest."""
        self._weights = scale_weights(self.prior * weights)

    def _grow(self, targets, row_weight, counts, seeds):
        if targets.shape[1] > _MOST_TARGETS:
            random = np.random.RandomState(seeds[0] % 2**32)
            targets = targets @ random.standard_normal((targets.shape[1], _MOST_TARGETS))
        targets = np.rint(_STEPS * targets)
        trees, importances = self.rows.grow(targets, row_weight, counts, seeds)
        leaves = find_leaves(trees, self.rows.X)
        return trees, importances, np.where(counts * row_weight > 0, leaves, -1 - leaves)

    def model(self) -> JointForest:
        """The forest."""
        return JointForest(self._trees, self._leaves, self.Y, self._weights, self.frequencies)


class MeanForestLearner(_ForestLearner):
    """A joint forest and a forest per label; probabilities and importances are their mean."""

    def __init__(self, rows: TreeRows, Y, prior, samples: RowSamples, n_jobs) -> None:
        super().__init__(rows, Y, prior, samples, n_jobs)
        self.joint = JointForestLearner(rows, Y, prior, samples, n_jobs)
        self.per_label = LabelForestLearner(rows, Y, prior, samples, n_jobs)

    def fit(self, weights) -> None:
        """Grow both with these weights of the pairs."""
        self.joint.fit(weights)
        self.per_label.fit(weights)
        self.probabilities = (self.joint.probabilities + self.per_label.probabilities) / 2
        self.importances = (self.joint.importances + self.per_label.importances) / 2

    def model(self) -> MeanForest:
        """Both."""
        return MeanForest(self.joint.model(), self.per_label.model())


LEARNERS: dict[str, Any] = {
    "joint": JointForestLearner,
    "per-label": LabelForestLearner,
    "mean": MeanForestLearner,
}
