import numpy as np
import pytest
from sklearn.tree import ExtraTreeClassifier

from mlspl.solvers import grow_extra_trees
from tests.naive import solvers as naive

RANDOM = np.random.RandomState(0)
X = RANDOM.randint(0, 40, (60, 7)).astype(np.float32)
X[:, 3] = 1.0
X[:, 5] = X[:, 5] > 30
Y = X[:, 0] + X[:, 1] + RANDOM.randint(0, 40, 60) > 60
COLUMNS = np.ascontiguousarray(X.T)


@pytest.mark.parametrize(("min_leaf", "max_features"), [(1, 7), (2, 2), (5, 1)])
def test_trees_are_those_of_the_slow_twin(min_leaf, max_features):
    counts = RANDOM.randint(0, 3, (20, 60)).astype(np.uint8)
    weight = RANDOM.randint(0, 9, 60).astype(float)
    trees, _ = grow_extra_trees(COLUMNS, Y, weight, counts, np.arange(20), min_leaf, max_features)
    assert len(trees) == 20
    trees._check_contents()
    for t in range(20):
        slow = naive.extra_tree(X.tolist(), Y, counts[t] * weight, t, min_leaf, max_features)
        answers, _ = trees.part(t, t + 1).sum_leaves(X)
        np.testing.assert_allclose(answers, [naive.descend(slow, x) for x in X.tolist()], atol=1e-6)


def test_trees_are_like_scikit_learns():
    """Of 400 trees each: size, answers and importances agree within what chance makes of them."""
    counts = np.array([np.bincount(RANDOM.randint(60, size=60), minlength=60) for _ in range(400)], np.uint8)
    ours, importances = grow_extra_trees(COLUMNS, Y, np.ones(60), counts, np.arange(400), 2, 2)
    theirs = [
        ExtraTreeClassifier(min_samples_leaf=2, max_features=2, random_state=t).fit(X, Y, sample_weight=count)
        for t, count in enumerate(counts)
    ]
    sizes, their_sizes = np.diff(ours.starts), [tree.tree_.node_count for tree in theirs]
    error = np.hypot(np.std(sizes), np.std(their_sizes)) / 20
    assert abs(np.mean(sizes) - np.mean(their_sizes)) < 4 * error
    sums, passed = ours.sum_leaves(X)
    answers = np.mean([tree.predict_proba(X)[:, 1] for tree in theirs], axis=0)
    # An answer lies between 0 and 1, so the means of 400 differ by a standard error of .035 at most.
    assert np.abs(sums / passed - answers).max() < 4 * 0.035
    shares = np.array([tree.feature_importances_ for tree in theirs])
    errors = np.sqrt(2) * shares.std(axis=0) / 20
    assert (np.abs(importances / 400 - shares.mean(axis=0)) <= 4 * errors).all()


def test_a_tree_of_nothing_answers_what_it_was_told():
    counts = np.zeros((2, 60), dtype=np.uint8)
    trees, importances = grow_extra_trees(COLUMNS, Y, np.ones(60), counts, np.arange(2), 2, 2, otherwise=0.25)
    np.testing.assert_array_equal(trees.sum_leaves(X)[0], np.full(60, 0.5))
    assert not importances.any()
