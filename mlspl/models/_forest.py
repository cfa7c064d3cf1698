"""Growing forests: row samples, rows as trees read them, and the learner that the loop can pace."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state, gen_batches

from mlspl._limits import check_memory
from mlspl.models._forest_models import JointForest, LabelForests, find_leaves
from mlspl.solvers import FlatTrees, TreeFeatures, grow_extra_trees

# The share of the rows that a tree is grown on, drawn without replacement. Average precision on clean test
# labels is 0.005 to 0.012 higher than with bootstrap samples (development splits of four sets).
_SAMPLED = 0.8
# Trees a task grows: enough to be worth a thread, few enough that one label keeps all threads busy.
_TREES_A_TASK = 32
# Targets of a joint tree: of more labels, random projections (Joly, Geurts and Wehenkel 2014).
_MOST_TARGETS = 32
# The smallest probability in a loss: no pair is infinitely hard.
_LEAST = 1e-3
# Steps from weight or target 0 to the largest: sums of whole numbers do not depend on their order.
_STEPS = 2.0**20


@dataclass
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


def count_tried(max_features, n_features) -> int:
    """How many features are tried for a cut."""
    root = int(np.sqrt(n_features))
    if max_features == "auto":
        return max(root, min(n_features // 10, 1000))
    if max_features == "sqrt":
        return root
    count = int(max_features * n_features) if isinstance(max_features, float) else max_features
    return min(max(count, 1), n_features)


class TreeRows:
    """Rows as trees read them, prepared once for all labels and paces, and how trees are grown on them."""

    def __init__(self, X, min_samples_leaf, max_features) -> None:
        self.X = X
        self.limits = min_samples_leaf, count_tried(max_features, X.shape[1])
        self.features = TreeFeatures(X)

    def select(self, rows) -> "TreeRows":
        """Some of the rows."""
        return TreeRows(self.X[rows], *self.limits)


class ForestLearner:
    """Forests of one or more kinds, "joint" and "per-label", that the loop can pace."""

    # Of each kind: the forest, out-of-sample probabilities (n, L), and feature importances (L, d).
    models: list[JointForest | LabelForests]
    probabilities: list[np.ndarray]
    importances: list[np.ndarray]

    def __init__(self, rows: TreeRows, Y, prior, samples: RowSamples, kinds: Sequence[str], n_jobs) -> None:
        self.rows, self.Y, self.prior = rows, Y, prior
        self.samples, self.kinds, self.n_jobs = samples, kinds, n_jobs
        n_trees, n_rows = samples.counts.shape
        # About 0.6 nodes per row, and in the tree of a label not more than a few per row of its rarer class.
        rarer = np.minimum(Y.sum(axis=0), (~Y).sum(axis=0))
        nodes = {"joint": 0.6 * n_rows, "per-label": np.minimum(0.6 * n_rows, 5.0 * rarer).sum()}
        check_memory(
            17.0 * n_trees * sum(nodes[kind] for kind in kinds) + n_rows * n_trees,
            f"Forests of {n_trees:,} trees on {n_rows:,} rows and {Y.shape[1]:,} labels",
            "Use fewer trees (n_estimators), trees='joint', a larger min_samples_leaf, or fewer rows.",
        )
        self.frequencies = (0.5 + (prior * Y).sum(axis=0)) / (1.0 + prior.sum(axis=0))

    def fit(self, weights) -> None:
        """Grow the forests with these weights of the pairs; of each label only their ratios matter."""
        weights = self._scale(weights)
        grown = [(self._grow_joint if kind == "joint" else self._grow_labels)(weights) for kind in self.kinds]
        self.models, self.probabilities, self.importances = map(list, zip(*grown, strict=True))

    def reweight(self, weights) -> None:
        """Change the weights in the leaves of a joint forest; its trees stay."""
        model: Any = self.models[0]
        weights = self._scale(weights)
        self.models = [JointForest(model.trees, model.leaves, self.Y, weights, self.frequencies)]

    def losses(self) -> np.ndarray:
        """−ln of the out-of-sample probability of the label that each pair was given, at most 6.9."""
        probabilities = np.mean(self.probabilities, axis=0)
        given = np.where(self.Y, probabilities, 1.0 - probabilities)
        return -np.log(np.clip(given, _LEAST, 1.0))

    def _scale(self, weights) -> np.ndarray:
        """Weights times prior weights, divided by the largest of each label."""
        weights = self.prior * weights
        largest = weights.max(axis=0)
        return weights / np.where(largest > 0, largest, 1.0)

    def _grow_labels(self, weights) -> tuple[LabelForests, np.ndarray, np.ndarray]:
        """A forest per label on the same samples of the rows."""
        known, weights = self.prior > 0, np.rint(_STEPS * weights)
        varied = np.flatnonzero((known & self.Y).any(axis=0) & (known & ~self.Y).any(axis=0)).tolist()
        tasks = self._tasks()
        grow, limits = partial(grow_extra_trees, self.rows.features), self.rows.limits
        grown = self._in_parallel(
            (grow, self.Y[:, [i]], weights[:, i], *self._draws(task, i), *limits, self.frequencies[i])
            for i in varied
            for task in tasks
        )
        importances, forests = np.zeros((len(self.frequencies), self.rows.X.shape[1])), {}
        for number, label in enumerate(varied):
            trees, shares = zip(*grown[number * len(tasks) : (number + 1) * len(tasks)], strict=True)
            forests[label], importances[label] = FlatTrees.join(trees), _normalise(shares)
        model = LabelForests(forests, self.frequencies)
        return model, model.out_of_sample(self.rows.X, self.samples.counts, self.n_jobs), importances

    def _grow_joint(self, weights) -> tuple[JointForest, np.ndarray, np.ndarray]:
        """One forest for all labels, whose cuts reduce the impurity summed over the labels.

        The target of a pair is w (y − f), with the pair's weight w and the label's frequency f: an unknown
        pair counts as an average one in the cuts, and not at all in the leaves.
        """
        weighs = weights.sum(axis=0)
        targets = weights * (self.Y - (weights * self.Y).sum(axis=0) / np.where(weighs > 0, weighs, 1.0))
        row_weight = (self.prior > 0).any(axis=1).astype(float)
        grown = self._in_parallel(
            (self._grow_projected, targets, row_weight, *self._draws(task, 0)) for task in self._tasks()
        )
        trees, shares, leaves = zip(*grown, strict=True)
        model = JointForest(FlatTrees.join(trees), np.vstack(leaves), self.Y, weights, self.frequencies)
        importances = np.tile(_normalise(shares), (len(self.frequencies), 1))
        return model, model.out_of_sample(self.n_jobs), importances

    def _grow_projected(self, targets, row_weight, counts, seeds):
        if targets.shape[1] > _MOST_TARGETS:
            random = np.random.RandomState(seeds[0] % 2**32)
            targets = targets @ random.standard_normal((targets.shape[1], _MOST_TARGETS))
        drawn = np.rint(_STEPS * targets), row_weight, counts, seeds
        trees, importances = grow_extra_trees(self.rows.features, *drawn, *self.rows.limits)
        leaves = find_leaves(trees, self.rows.X)
        return trees, importances, np.where(counts * row_weight > 0, leaves, -1 - leaves)

    def _tasks(self) -> list[slice]:
        return list(gen_batches(len(self.samples.counts), _TREES_A_TASK))

    def _draws(self, task, forest) -> tuple[np.ndarray, np.ndarray]:
        return self.samples.counts[task], self.samples.seeds[forest, task]

    def _in_parallel(self, calls) -> list[Any]:
        return Parallel(n_jobs=self.n_jobs, require="sharedmem")(
            delayed(work)(*arguments) for work, *arguments in calls
        )


def _normalise(shares) -> np.ndarray:
    total = np.sum(shares, axis=0)
    return total / max(total.sum(), np.finfo(float).tiny)
