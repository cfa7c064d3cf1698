"""What speaks for and against a pair, against its slow twin."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import cosine_distances

from mlspl.pages import _evidence
from mlspl.pages._evidence import find_evidence
from tests.naive import pages as naive


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7))
    X[:, 6] = 3.0  # constant: says nothing
    Y = (X[:, :3] + rng.normal(size=(40, 3)) > 0).astype(float)
    Y[3, 1] = np.nan
    Y[:, 2] = 0
    Y[5, 2] = 1  # the only row with it
    rows, labels = np.array([0, 3, 5, 5, 9]), np.array([0, 1, 2, 0, 2])
    return X, Y, rows, labels


@pytest.fixture(params=[4_000_000, 50], ids=["one block", "many blocks"])
def _blocks(request, monkeypatch):
    monkeypatch.setattr(_evidence, "_BLOCK_CELLS", request.param)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("kind", ["dense", "missing", "sparse"])
def test_evidence_is_that_of_the_slow_twin(data, kind):
    X, Y, rows, labels = data
    rng = np.random.default_rng(1)
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "sparse":
        X[rng.random(X.shape) < 0.5] = 0.0
    found = find_evidence(sparse.csr_array(X) if kind == "sparse" else X, Y, rows, labels)
    if kind == "sparse":
        distances = cosine_distances(X / np.maximum(X.std(axis=0), 1))
    else:
        Z = X[:, :6]
        Z = np.nan_to_num((Z - np.nanmean(Z, axis=0)) / np.nanstd(Z, axis=0))
        distances = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    for one, row, label in zip(found, rows, labels, strict=True):
        more = {"most_features": 12, "is_text": True} if kind == "sparse" else {}
        expected = naive.evidence(X, Y, row, label, **more)
        for side in ("for", "against"):
            assert [entry[0] for entry in one[side]] == [entry[0] for entry in expected[side]]
            np.testing.assert_allclose(
                np.array(one[side]).reshape(-1, 4), np.array(expected[side]).reshape(-1, 4), rtol=1e-9
            )
        for side, given in (("with", 1), ("without", 0)):
            assert [entry[0] for entry in one[side]] == naive.nearest(distances[row], Y, row, label, given)
            near = [distances[row, int(entry[0])] for entry in one[side]]
            # A distance comes from squares of order ten: half of the digits are lost at worst.
            np.testing.assert_allclose([entry[1] for entry in one[side]], near, atol=1e-6)


def test_words_of_few_rows_and_chance_differences_do_not_count():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 60)) < 0.1).astype(float)
    Y = rng.integers(0, 2, (400, 1)).astype(float)
    X[:, 0] = rng.random(400) < np.where(Y[:, 0] == 1, 0.6, 0.1)
    X[:, 1] = 0.0
    X[[0, np.flatnonzero(Y[1:, 0] == 1)[0] + 1], 1] = 1.0  # a word of two rows
    X[0, :] = 1.0
    (one,) = find_evidence(sparse.csr_array(X), Y, np.array([0]), np.array([0]))
    assert one["for"][0][0] == 0
    assert 1 not in [entry[0] for entry in one["for"]]
    assert len(one["for"]) + len(one["against"]) < 12


def test_the_only_row_with_a_label_has_no_mean_to_be_compared_with(data):
    X, Y, _, _ = data
    (one,) = find_evidence(X, Y, np.array([5]), np.array([2]))
    assert one["for"] == one["against"] == one["with"] == []
    assert len(one["without"]) == 3
