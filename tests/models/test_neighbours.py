import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from mlspl import MLkNNClassifier, TRAMClassifier
from mlspl.metrics import average_precision
from mlspl.models._neighbours import nearest_rows, weigh_features
from tests.models.test_warnings import unit_rows
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


def test_feature_weights_follow_the_labels_and_ignore_unknown_ones():
    random = np.random.default_rng(0)
    Y = random.random((400, 2)) < 0.4
    X = np.column_stack([Y[:, 0] + 0.1 * random.random(400), random.random(400), np.ones(400)])
    weights = weigh_features(sparse.csr_matrix(X), Y, None)
    assert weights[0] > 0.9 > 0.5 > weights[1]
    assert weights[2] == 0  # a constant column
    squares = np.nan_to_num(np.corrcoef(X[:, :2].T, Y.T)[:2, 2:]) ** 2
    assert weights[:2] == pytest.approx(np.maximum(squares - 1 / 400, 0).sum(axis=1) ** 0.25)
    known = np.ones(Y.shape)
    known[300:] = 0
    part = weigh_features(sparse.csr_matrix(X), Y, known)
    assert part == pytest.approx(weigh_features(sparse.csr_matrix(X), np.where(known > 0, Y, ~Y), known))
    assert weigh_features(X, Y, None) is None


@pytest.mark.parametrize("method", [MLkNNClassifier, TRAMClassifier])
def test_feature_weights_help_neighbours_on_sparse_text(method):
    X, Y = unit_rows(400)
    X = X @ sparse.diags(np.where(np.arange(X.shape[1]) < 40, 1.0, 3.0))  # words without a label are frequent
    reached = {
        weights: average_precision(
            Y[300:], method(feature_weights=weights).fit(X[:300], Y[:300]).decision_function(X[300:])
        )
        for weights in ("auto", None)
    }
    assert reached["auto"] > reached[None] + 0.05
