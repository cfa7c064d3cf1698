import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans

from mlspl.correlation import initial_codes, prototype_distances, prototype_means
from tests.naive import correlation as naive


def random_signs(seed, n, n_labels):
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=(n, n_labels))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 12), st.integers(1, 20))
def test_codes_name_a_group_and_prototypes_are_its_mean(seed, n, n_labels, n_codes):
    signs = random_signs(seed, n, n_labels)
    codes, prototypes = initial_codes(signs, n_codes, random_state=0)
    assert codes.shape == (n, min(n_codes, len(np.unique(signs, axis=0))))
    assert np.isin(codes, (0, 1)).all()
    np.testing.assert_array_equal(codes.sum(axis=1), 1)
    assert codes.any(axis=0).all()
    nobody = np.full(prototypes.shape, np.nan)
    np.testing.assert_allclose(prototypes, naive.prototype_means(signs, codes, nobody), atol=1e-12)
    # k-means has ended: everyone is in the group of a nearest prototype.
    distances = naive.prototype_distances(signs, prototypes)
    np.testing.assert_allclose((codes * distances).sum(axis=1), distances.min(axis=1), atol=1e-9)


def test_with_enough_codes_every_label_set_is_its_own_prototype():
    signs = random_signs(0, 200, 3)
    codes, prototypes = initial_codes(signs, 15)
    assert len(prototypes) == 8
    np.testing.assert_array_equal(codes @ prototypes, signs)


def test_as_good_as_k_means_on_all_rows():
    rng = np.random.default_rng(1)
    signs = np.where(rng.random((600, 10)) < rng.random(10), 1.0, -1.0)

    def inertia(seed):
        codes, prototypes = initial_codes(signs, 12, random_state=seed)
        return np.sum(codes * naive.prototype_distances(signs, prototypes))

    ours = np.mean([inertia(seed) for seed in range(8)])
    theirs = np.mean([KMeans(12, n_init=1, random_state=seed).fit(signs).inertia_ for seed in range(8)])
    assert ours == pytest.approx(theirs, rel=0.05)


def test_a_seed_settles_it_and_rows_may_come_in_any_order():
    signs = random_signs(2, 300, 9)
    codes, prototypes = initial_codes(signs, 10, random_state=3)
    again, same = initial_codes(signs, 10, random_state=3)
    np.testing.assert_array_equal(codes, again)
    np.testing.assert_array_equal(prototypes, same)
    order = np.random.default_rng(2).permutation(300)
    shuffled, shuffled_prototypes = initial_codes(signs[order], 10, random_state=3)
    np.testing.assert_array_equal(shuffled, codes[order])
    np.testing.assert_array_equal(shuffled_prototypes, prototypes)


@pytest.mark.parametrize(
    ("signs", "m"),
    [
        (np.ones((1, 1)), 1),
        (-np.ones((5, 4)), 1),
        (np.array([[1.0], [-1.0], [1.0]]), 2),
        (np.repeat(random_signs(4, 2, 30), 50, axis=0), 2),
    ],
    ids=["one-row", "constant", "one-label", "two-sets"],
)
def test_few_label_sets(signs, m):
    codes, prototypes = initial_codes(signs, 15)
    assert codes.shape == (len(signs), m)
    np.testing.assert_array_equal(codes @ prototypes, signs)


def test_one_code_is_the_mean():
    signs = random_signs(5, 40, 5)
    codes, prototypes = initial_codes(signs, 1, random_state=0)
    np.testing.assert_array_equal(codes, 1)
    np.testing.assert_allclose(prototypes, signs.mean(axis=0, keepdims=True))


def test_distances_equal_their_definition():
    rng = np.random.default_rng(6)
    signs, prototypes = random_signs(6, 20, 7), rng.uniform(-1, 1, size=(4, 7))
    prototypes[0] = signs[0]
    distances = prototype_distances(signs, prototypes)
    np.testing.assert_allclose(distances, naive.prototype_distances(signs, prototypes), atol=1e-12)
    assert distances.min() >= 0


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6))
def test_means_minimise_the_weighted_distances(seed, n, m):
    rng = np.random.default_rng(seed)
    signs = random_signs(seed, n, 4)
    codes = rng.dirichlet(np.full(m, 0.3), size=n)
    codes[:, rng.random(m) < 0.3] = 0.0
    before = rng.uniform(-1, 1, size=(m, 4))
    kept = before.copy()
    means = prototype_means(signs, codes, before)
    np.testing.assert_array_equal(before, kept)
    np.testing.assert_allclose(means, naive.prototype_means(signs, codes, before), atol=1e-9)
    unused = ~codes.any(axis=0)
    np.testing.assert_array_equal(means[unused], before[unused])
    least = np.sum(codes * naive.prototype_distances(signs, means))
    for _ in range(3):
        moved = means + rng.normal(size=means.shape) * 0.1
        assert np.sum(codes * naive.prototype_distances(signs, moved)) >= least - 1e-12


def test_the_printed_sum_would_not_do():
    """Erratum 5: a_j = Σ_i q_ij y_i, as printed, is farther from its own group than the mean."""
    signs = random_signs(7, 50, 6)
    codes, prototypes = initial_codes(signs, 4, random_state=0)
    printed = codes.T @ signs
    assert np.sum(codes * naive.prototype_distances(signs, printed)) > 10 * np.sum(
        codes * naive.prototype_distances(signs, prototype_means(signs, codes, prototypes))
    )
