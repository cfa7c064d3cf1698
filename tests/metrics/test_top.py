"""Criteria at k and of predicted labels against their slow twins, in every form predictions come in."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import ndcg_score

from mlspl import _validation, metrics
from mlspl.errors import UserError
from tests.naive import metrics as naive

DECIDED = ["hamming_loss", "micro_f1", "macro_f1", "sample_f1", "subset_accuracy", "jaccard"]


@st.composite
def tables(draw):
    """Y with unknown labels, F with ties and infinities, and k up to more than L."""
    shape = (draw(st.integers(1, 9)), draw(st.integers(1, 6)))
    Y = draw(arrays(float, shape, elements=st.sampled_from([0.0, 1.0, np.nan])))
    F = draw(arrays(float, shape, elements=st.sampled_from([-np.inf, -1.0, 0.5, 2.0, np.inf])))
    return Y, F, draw(st.integers(1, 8))


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return function(*arguments, **options)


@settings(max_examples=150, deadline=None)
@given(tables())
def test_criteria_at_k_equal_their_slow_twins(table):
    Y, F, k = table
    expected = [naive.precision_at_k(Y, F, k), naive.ndcg_at_k(Y, F, k)]
    for truth in (Y, sparse.csr_array(Y)):
        found = [quiet(metrics.precision_at_k, truth, F, k), quiet(metrics.ndcg_at_k, truth, F, k)]
        assert found == pytest.approx(expected, nan_ok=True)
    assert quiet(metrics.ndcg_at_k, Y, F, None) == pytest.approx(
        naive.ndcg_at_k(Y, F, Y.shape[1]), nan_ok=True
    )


@settings(max_examples=100, deadline=None)
@given(tables())
def test_criteria_of_labels_equal_their_slow_twins(table):
    Y, F, _ = table
    P = F > 0
    for name in DECIDED:
        expected = getattr(naive, name)(Y, P)
        for truth in (Y, sparse.csr_array(Y)):
            for predicted in (P, sparse.csr_array(P)):
                value = quiet(getattr(metrics, name), truth, predicted)
                assert value == pytest.approx(expected, nan_ok=True), name


@settings(max_examples=50, deadline=None)
@given(tables(), st.integers(1, 8))
def test_a_tally_of_blocks_is_the_whole(table, cut):
    Y, F, k = table
    tally = metrics.Tally(at=(k,)).add(Y[:cut], F[:cut], F[:cut] > 0)
    if cut < len(Y):
        tally.add(Y[cut:], F[cut:], F[cut:] > 0)
    assert tally.n_rows == len(Y)
    scores = quiet(tally.scores)
    whole = {
        **quiet(metrics.score_all, Y, F, F > 0),
        **quiet(metrics.Tally().add(Y, F, F > 0).scores),
        f"precision_at_{k}": quiet(metrics.precision_at_k, Y, F, k),
        f"ndcg_at_{k}": quiet(metrics.ndcg_at_k, Y, F, k),
    }
    assert list(scores) == list(whole)
    assert list(scores.values()) == pytest.approx(list(whole.values()), nan_ok=True)


@pytest.fixture(scope="module")
def many():
    """300 rows, 40 labels, four a row; scores without ties."""
    rng = np.random.default_rng(0)
    Y = (rng.random((300, 40)) < 0.1).astype(int)
    return Y, rng.standard_normal(Y.shape) + 2 * Y


@pytest.mark.parametrize("k", [1, 3, 5, 40])
def test_ndcg_is_scikit_learns(many, k):
    Y, F = many
    some = Y.any(axis=1)
    assert metrics.ndcg_at_k(Y, F, k) == pytest.approx(ndcg_score(Y[some], F[some], k=k))


def test_the_best_labels_are_as_good_as_the_scores(many, monkeypatch):
    _, F = many
    top = metrics.top_labels(F, 5)
    np.testing.assert_array_equal(top, np.argsort(-F, axis=1)[:, :5])
    monkeypatch.setattr(_validation, "BLOCK", 100)
    np.testing.assert_array_equal(metrics.top_labels(F, 5), top)


def test_many_sparse_labels_take_no_dense_table():
    """100,000 × 100,000 pairs would be ten gigabytes."""
    n = L = 100_000
    first = np.random.default_rng(0).integers(0, L - 5, n)
    labels = first[:, None] + np.arange(5)
    Y = sparse.csr_array((np.ones(5 * n), labels.ravel(), np.arange(0, 5 * n + 1, 5)), shape=(n, L))
    assert metrics.hamming_loss(Y, Y) == 0
    assert metrics.jaccard(Y, Y[:, ::-1].tocsr()) < 0.01


@pytest.mark.parametrize(
    ("F", "k", "sentence"),
    [
        (np.array([[0.1, 0.2]]), 2, r"\(1, 3\) but F"),
        (np.array([[0.1, np.nan, 0]]), 2, r"F\[0, 1\] is nan"),
        (np.zeros((1, 3)), 0, "k is 0"),
        (np.zeros((1, 3)), 1.5, "k is 1.5"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(F, k, sentence):
    with pytest.raises(UserError, match=sentence):
        metrics.precision_at_k([[1, 0, 1]], F, k)


def test_nothing_added_is_said():
    with pytest.raises(ValueError, match="No rows"):
        metrics.Tally().scores()
