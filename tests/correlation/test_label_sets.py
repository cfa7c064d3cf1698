"""k-means of label vectors: exact, hence the same everywhere."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from mlspl.correlation import _draw_centres, cluster_label_sets, distinct_label_sets, initial_codes
from tests.naive import correlation as naive


def made_signs(seed, n=120, n_labels=7):
    random = np.random.RandomState(seed)
    return np.where(random.random_sample((n, n_labels)) < random.random_sample(n_labels), 1.0, -1.0)


def label_sets(signs):
    sets, count = np.unique(signs, axis=0, return_counts=True)
    order = np.argsort(-count, kind="stable")
    return sets[order], count[order]


def squared_distance(label_set, centre):
    return sum((int(a) - b) ** 2 for a, b in zip(label_set, centre, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_every_label_set_is_in_its_nearest_group_in_exact_arithmetic(seed):
    sets, count = label_sets(made_signs(seed))
    group, centres = cluster_label_sets(sets > 0, count, 6, seed)
    exact = []
    for j in range(6):
        size = int(count[group == j].sum())
        exact.append([Fraction(int(total), size) for total in count[group == j] @ sets[group == j]])
    np.testing.assert_array_equal(centres, np.array(exact, dtype=float))
    for label_set, j in zip(sets, group, strict=True):
        distances = [squared_distance(label_set, centre) for centre in exact]
        assert j == distances.index(min(distances))  # of those that tie, the first


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_does_not_matter(seed):
    signs = made_signs(seed)
    codes, prototypes = initial_codes(signs, 6, random_state=seed)
    turned = np.random.RandomState(seed).permutation(len(signs))
    codes_turned, prototypes_turned = initial_codes(signs[turned], 6, random_state=seed)
    np.testing.assert_array_equal(codes_turned, codes[turned])
    np.testing.assert_array_equal(prototypes_turned, prototypes)


def test_as_good_as_scikit_learns():
    """Over some seeds: both end in local minima."""
    sets, count = label_sets(made_signs(9, n=400))
    ours, theirs = [], []
    for seed in range(20):
        group, centres = cluster_label_sets(sets > 0, count, 8, seed)
        ours.append(count @ ((sets - centres[group]) ** 2).sum(axis=1))
        theirs.append(KMeans(8, n_init=1, random_state=seed).fit(sets, sample_weight=count).inertia_)
    assert np.mean(ours) <= 1.05 * np.mean(theirs)


def test_a_group_that_loses_its_members_takes_the_worst_placed():
    """As many groups as label sets but one: none may stay empty."""
    for seed in range(20):
        sets, count = label_sets(made_signs(seed, n=60, n_labels=4))
        group, _ = cluster_label_sets(sets > 0, count, len(sets) - 1, seed)
        assert set(group) == set(range(len(sets) - 1))


@pytest.mark.parametrize("seed", range(4))
def test_sets_are_grouped_as_by_the_naive_twin(seed):
    sets, count = label_sets(made_signs(seed))
    csr = sparse.csr_array(sets > 0, dtype=float)
    chosen = _draw_centres(csr, (sets > 0).sum(axis=1), count, 6, np.random.RandomState(seed))
    ours, theirs = cluster_label_sets(csr, count, 6, seed), naive.cluster_label_sets(sets, count, chosen)
    for mine, slow in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, slow)


@pytest.mark.parametrize("seed", range(3))
def test_labels_in_any_container_have_the_same_codes(seed):
    signs = made_signs(seed, n_labels=11)
    codes, prototypes = initial_codes(signs, 6, random_state=seed)
    for container in (signs > 0, sparse.csr_array(signs > 0), sparse.csr_matrix(signs > 0, dtype=np.int8)):
        same, again = initial_codes(container, 6, random_state=seed)
        np.testing.assert_array_equal(same, codes)
        np.testing.assert_array_equal(again, prototypes)


def test_distinct_sets_are_in_the_order_of_their_binary_numbers():
    Y = np.random.RandomState(0).random_sample((60, 5)) < 0.4
    first, member, count = distinct_label_sets(sparse.csr_array(Y))
    numbers = Y @ (2 ** np.arange(5)[::-1])
    values, counts = np.unique(numbers, return_counts=True)
    np.testing.assert_array_equal(numbers[first], values)
    np.testing.assert_array_equal(values[member], numbers)
    np.testing.assert_array_equal(count, counts)
