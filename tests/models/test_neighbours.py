import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from mlspl.models._neighbours import nearest_rows
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
    known = container(grid * scale + offset)
    exact = naive.squared_distances(grid.tolist(), grid.tolist())
    assert sets(nearest_rows(known, known, k, np.arange(len(grid)))) == [
        sorted(naive.nearest_rows(d, k, excluded=i)) for i, d in enumerate(exact)
    ]
    exact = naive.squared_distances(new.tolist(), grid.tolist())
    assert sets(nearest_rows(container(new * scale + offset), known, k)) == [
        sorted(naive.nearest_rows(d, k)) for d in exact
    ]


def test_without_ties_the_answers_are_the_engine_s():
    rng = np.random.default_rng(2)
    X, new = rng.normal(size=(300, 20)), rng.normal(size=(50, 20))
    distance, index = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(new)
    found = nearest_rows(new, X, 7)
    np.testing.assert_array_equal(found[1], np.sort(index))
    np.testing.assert_allclose(np.sort(found[0], axis=1), distance, rtol=1e-9)


def test_far_from_the_origin_nothing_is_lost():
    X = np.random.default_rng(4).normal(size=(200, 30))
    near, far = (nearest_rows(rows, rows, 5, np.arange(200)) for rows in (X, X + 1e7))
    assert sets(near) == sets(far)


def test_many_tied_rows_are_settled_batch_by_batch(monkeypatch):
    X = np.random.default_rng(5).integers(0, 2, (120, 3)).astype(float)
    whole = sets(nearest_rows(X, X, 9, np.arange(120)))
    monkeypatch.setattr("mlspl.models._neighbours._DISTANCES_AT_ONCE", 700)
    assert sets(nearest_rows(X, X, 9, np.arange(120))) == whole
