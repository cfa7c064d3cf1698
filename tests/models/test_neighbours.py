import pickle

import numpy as np
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from mlspl.models._neighbours import StableNeighbours
from tests.naive import models as naive


def grids(max_rows, n_features):
    """Whole numbers of few values: almost every distance is tied."""
    return arrays(np.int64, st.tuples(st.integers(3, max_rows), n_features), elements=st.integers(0, 2))


def sets(found):
    return [sorted(row) for row in found[1].tolist()]


@settings(max_examples=40, deadline=None)
@given(
    grids(25, st.sampled_from([1, 2, 3, 20])),
    st.integers(0, 10**6),
    st.sampled_from([(1.0, 0.0), (0.1, 0.0), (1 / 3, 0.7), (1e-7, 0.0), (0.1, 1e3)]),
    st.booleans(),
)
def test_ties_go_to_the_lower_index_whatever_the_rounding(grid, seed, place, as_csr):
    scale, offset = place
    k = 1 + seed % (len(grid) - 1)
    new = np.vstack([grid[:3], grid[:3] + 1])
    container = sparse.csr_matrix if as_csr and offset < 1e3 else np.asarray
    search = StableNeighbours(container(grid * scale + offset))
    exact = naive.squared_distances(grid.tolist(), grid.tolist())
    assert sets(search.kneighbors_of_training(k)) == [
        sorted(naive.nearest_rows(d, k, excluded=i)) for i, d in enumerate(exact)
    ]
    exact = naive.squared_distances(new.tolist(), grid.tolist())
    assert sets(search.kneighbors(container(new * scale + offset), k)) == [
        sorted(naive.nearest_rows(d, k)) for d in exact
    ]


def test_without_ties_the_answers_are_the_engine_s():
    rng = np.random.default_rng(2)
    X, new = rng.normal(size=(300, 20)), rng.normal(size=(50, 20))
    distance, index = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(new)
    found = StableNeighbours(X).kneighbors(new, 7)
    np.testing.assert_array_equal(np.sort(found[1]), np.sort(index))
    np.testing.assert_allclose(np.sort(found[0]), distance, rtol=1e-9)


def test_far_from_the_origin_nothing_is_lost():
    X = np.random.default_rng(4).normal(size=(200, 30))
    near, far = StableNeighbours(X), StableNeighbours(X + 1e7)
    assert sets(near.kneighbors_of_training(5)) == sets(far.kneighbors_of_training(5))


def test_many_tied_rows_are_settled_batch_by_batch(monkeypatch):
    X = np.random.default_rng(5).integers(0, 2, (120, 3)).astype(float)
    whole = sets(StableNeighbours(X).kneighbors_of_training(9))
    monkeypatch.setattr("mlspl.models._neighbours._CANDIDATES_AT_ONCE", 700)
    assert sets(StableNeighbours(X).kneighbors_of_training(9)) == whole


def test_a_stored_search_finds_the_same_and_asks_to_trust_nothing_of_scikit_learn():
    X = np.random.default_rng(6).integers(0, 3, (40, 2)).astype(float)
    search = StableNeighbours(X)
    stored = skops.io.dumps(search)
    unknown = skops.io.get_untrusted_types(data=stored)
    assert not [name for name in unknown if name.startswith("sklearn")]
    for copy in (pickle.loads(pickle.dumps(search)), skops.io.loads(stored, trusted=unknown)):
        assert sets(copy.kneighbors(X, 4)) == sets(search.kneighbors(X, 4))
