import numpy as np
import pytest
from scipy import sparse
from sklearn.tree import ExtraTreeClassifier

from mlspl.solvers import TreeFeatures, grow_extra_trees
from tests.naive import solvers as naive

RANDOM = np.random.RandomState(0)
X = RANDOM.randint(0, 40, (60, 7)).astype(np.float32)
X[:, 3] = 1.0
X[:, 5] = X[:, 5] > 30
Y = X[:, 0] + X[:, 1] + RANDOM.randint(0, 40, 60) > 60
FEATURES = TreeFeatures(X)


def _answers(trees, X):
    return trees.value[trees.starts[:-1, None] + trees.find_leaves(X)]


@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize(("min_leaf", "max_features"), [(1, 7), (2, 2), (5, 1)])
def test_trees_are_those_of_the_slow_twin(min_leaf, max_features, n_targets):
    counts = RANDOM.randint(0, 3, (20, 60)).astype(np.uint8)
    weight = RANDOM.randint(0, 9, 60).astype(float)
    targets = np.column_stack([Y, RANDOM.randint(0, 2, (60, 2))])[:, :n_targets].astype(float)
    trees, _ = grow_extra_trees(FEATURES, targets, weight, counts, np.arange(20), min_leaf, max_features)
    assert len(trees) == 20
    trees._check_contents()
    for t in range(20):
        w = counts[t] * weight
        slow = naive.extra_tree(X.tolist(), targets, w, t, min_leaf, max_features)
        leaves = [naive.descend(slow, x) for x in X.tolist()]
        answers = _answers(trees, X)[t]
        means = [np.average(targets[leaf, 0], weights=w[leaf]) for leaf in leaves]
        np.testing.assert_allclose(answers, means, atol=1e-6)
        found = trees.find_leaves(X)[t]
        assert all((found[leaf] == found[leaf[0]]).all() for leaf in leaves)


@pytest.mark.parametrize("density", [0.05, 0.6])
def test_sparse_rows_grow_the_same_trees(density):
    """Columns shorter and longer than nodes are read in two ways; both agree with dense columns."""
    random = np.random.RandomState(1)
    dense = np.where(random.rand(200, 40) < density, random.randn(200, 40), 0).astype(np.float32)
    targets = random.randint(0, 2, (200, 3)).astype(float)
    counts = random.randint(0, 2, (8, 200)).astype(np.uint8)
    both = [
        grow_extra_trees(TreeFeatures(x), targets, np.ones(200), counts, np.arange(8), 2, 6)
        for x in (dense, sparse.csr_matrix(dense))
    ]
    for name in ("starts", "feature", "left", "right", "value"):
        np.testing.assert_array_equal(*(getattr(trees, name) for trees, _ in both))
    np.testing.assert_array_equal(both[0][1], both[1][1])


def test_trees_are_like_scikit_learns():
    """Of 400 trees each: size, answers and importances agree within what chance makes of them."""
    counts = np.array([np.bincount(RANDOM.randint(60, size=60), minlength=60) for _ in range(400)], np.uint8)
    ours, importances = grow_extra_trees(FEATURES, Y[:, None], np.ones(60), counts, np.arange(400), 2, 2)
    theirs = [
        ExtraTreeClassifier(min_samples_leaf=2, max_features=2, random_state=t).fit(X, Y, sample_weight=count)
        for t, count in enumerate(counts)
    ]
    sizes, their_sizes = np.diff(ours.starts), [tree.tree_.node_count for tree in theirs]
    error = np.hypot(np.std(sizes), np.std(their_sizes)) / 20
    assert abs(np.mean(sizes) - np.mean(their_sizes)) < 4 * error
    answers = np.mean([tree.predict_proba(X)[:, 1] for tree in theirs], axis=0)
    # An answer lies between 0 and 1, so the means of 400 differ by a standard error of .035 at most.
    assert np.abs(_answers(ours, X).mean(axis=0) - answers).max() < 4 * 0.035
    shares = np.array([tree.feature_importances_ for tree in theirs])
    errors = np.sqrt(2) * shares.std(axis=0) / 20
    assert (np.abs(importances / 400 - shares.mean(axis=0)) <= 4 * errors).all()


def test_a_tree_of_nothing_answers_what_it_was_told():
    counts = np.zeros((2, 60), dtype=np.uint8)
    trees, importances = grow_extra_trees(
        FEATURES, Y[:, None], np.ones(60), counts, np.arange(2), 2, 2, empty_value=0.25
    )
    np.testing.assert_array_equal(_answers(trees, X), np.full((2, 60), 0.25))
    assert not importances.any()


def test_missing_values_go_to_one_side_of_a_cut_and_may_be_all_that_it_parts():
    missing = np.where(RANDOM.rand(60, 7) < 0.3, np.nan, X).astype(np.float32)
    missing[:, 3] = np.where(Y, np.nan, 1.0)
    trees, importances = grow_extra_trees(
        TreeFeatures(missing), Y[:, None], np.ones(60), np.ones((50, 60), np.uint8), np.arange(50), 2, 7
    )
    assert importances[3] > 0.9 * importances.sum()
    np.testing.assert_array_equal(_answers(trees, missing) > 0.5, np.tile(Y, (50, 1)))
    others = TreeFeatures(missing[:, :3])
    trees, _ = grow_extra_trees(others, Y[:, None], np.ones(60), np.ones((9, 60), np.uint8), range(9), 2, 3)
    assert 0 < trees.missing_left[trees.feature >= 0].mean() < 1
