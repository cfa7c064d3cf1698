"""The five criteria against their slow twins, against scikit-learn's, and on the containers users hold."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss
from sklearn.metrics import hamming_loss as sklearn_hamming_loss

from mlspl import _validation, metrics
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from tests.naive import metrics as naive

RANKING = ["ranking_loss", "one_error", "coverage", "average_precision"]


@st.composite
def tables(draw, unknown=True):
    """Y and F with ties in most rows and rows of every degenerate kind."""
    shape = (draw(st.integers(1, 12)), draw(st.integers(1, 7)))
    labels = [0.0, 1.0, np.nan] if unknown else [0.0, 1.0]
    Y = draw(arrays(float, shape, elements=st.sampled_from(labels)))
    F = draw(arrays(float, shape, elements=st.sampled_from([-np.inf, -1.0, 0.0, -0.0, 0.5, 2.0, np.inf])))
    return Y, F


def random_table(n=200, L=8, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, L)) < 0.3).astype(int)
    F = rng.standard_normal((n, L)) + Y
    return Y, np.round(F) if ties else F


def with_degenerate_rows(Y):
    Y = Y.copy()
    Y[:20] = 0
    Y[20:50] = 1
    return Y


@settings(max_examples=200, deadline=None)
@given(tables())
def test_criteria_equal_their_slow_twins(table):
    Y, F = table
    P = F > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        ours = metrics.score_all(Y, F, P)
        alone = {name: metrics.CRITERIA[name].function(Y, F) for name in RANKING}
    expected = {name: getattr(naive, name)(Y, F) for name in RANKING}
    expected = {"hamming_loss": naive.hamming_loss(Y, P)} | expected
    assert list(ours) == list(metrics.PAPER_CRITERIA) == list(expected)
    # Both sides average the same few fractions, in another order: only rounding separates them.
    np.testing.assert_allclose(list(ours.values()), list(expected.values()), rtol=1e-12)
    assert all(ours[name] == alone[name] or np.isnan(alone[name]) for name in RANKING)


@settings(max_examples=50, deadline=None)
@given(tables())
def test_an_unknown_pair_is_a_label_that_does_not_exist(table):
    """A row alone, with its unknown columns cut out, scores what it scores with NaN in them."""
    Y, F = table
    for y, f in zip(Y, F, strict=True):
        known = ~np.isnan(y)
        if not known.any():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            whole = metrics.score_all([y], [f], [f > 0])
            cut = metrics.score_all([y[known]], [f[known]], [f[known] > 0])
        np.testing.assert_array_equal(list(whole.values()), list(cut.values()))


@settings(max_examples=50, deadline=None)
@given(tables())
def test_ranking_criteria_see_only_the_order(table):
    Y, F = table
    ranks = rankdata(F, axis=1, method="dense") ** 3 / 7
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for name in RANKING:
            criterion = metrics.CRITERIA[name].function
            np.testing.assert_equal(criterion(Y, F), criterion(Y, ranks))


def test_ties_worked_out_by_hand():
    """Hand-computed: three labels at one score, the relevant one first, then last."""
    tie = [[0.5, 0.5, 0.5]]
    assert metrics.ranking_loss([[1, 0, 0]], tie) == 1.0
    assert metrics.one_error([[1, 0, 0]], tie) == 0.0
    assert metrics.coverage([[1, 0, 0]], tie) == 2.0
    assert metrics.coverage([[0, 0, 1]], tie) == 0.0
    assert metrics.average_precision([[1, 0, 0]], tie) == pytest.approx(1 / 3)
    assert metrics.average_precision([[0, 0, 1]], tie) == 1.0


@pytest.mark.parametrize("ties", [False, True])
def test_ranking_loss_beside_scikit_learn(ties):
    """Scikit-learn counts degenerate rows as 0; ties are errors in both."""
    Y, F = random_table(ties=ties)
    Y = with_degenerate_rows(Y)
    usable = np.mean((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1]))
    assert usable < 0.8
    assert label_ranking_loss(Y, F) == pytest.approx(metrics.ranking_loss(Y, F) * usable)


@pytest.mark.parametrize("ties", [False, True])
def test_coverage_beside_scikit_learn(ties):
    """Scikit-learn counts from 1 where a row has labels, and takes the worst rank of a tie."""
    Y, F = random_table(ties=ties)
    Y = with_degenerate_rows(Y)
    F_untied = rankdata(F, axis=1, method="ordinal")  # of equal scores the later gets the higher rank
    assert coverage_error(Y, F_untied) == pytest.approx(metrics.coverage(Y, F) + np.mean(Y.any(axis=1)))
    if ties:
        assert coverage_error(Y, F) > metrics.coverage(Y, F) + 1


@pytest.mark.parametrize("ties", [False, True])
def test_average_precision_beside_scikit_learn(ties):
    """Scikit-learn counts degenerate rows as 1 and takes the worst rank of a tie."""
    Y, F = random_table(ties=ties)
    Y = with_degenerate_rows(Y)
    usable = np.mean((Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1]))
    theirs = label_ranking_average_precision_score(Y, rankdata(F, axis=1, method="ordinal"))
    assert theirs == pytest.approx(metrics.average_precision(Y, F) * usable + (1 - usable))
    if ties:
        assert label_ranking_average_precision_score(Y, F) != pytest.approx(theirs, abs=1e-3)


def test_the_two_full_rows_of_flags_are_left_out(data_home):
    """Flags has two rows with all seven labels: they count for coverage and Hamming loss alone."""
    Y = load_dataset("flags", data_home=data_home).Y
    full = Y.all(axis=1)
    assert full.sum() == 2
    F = np.random.default_rng(0).standard_normal(Y.shape)
    for name in ("ranking_loss", "one_error", "average_precision"):
        criterion = metrics.CRITERIA[name].function
        assert criterion(Y, F) == criterion(Y[~full], F[~full])
    without = metrics.coverage(Y[~full], F[~full])
    assert metrics.coverage(Y, F) == pytest.approx((without * 192 + 6 * 2) / 194)


def test_hamming_loss_is_scikit_learns():
    Y, F = random_table()
    assert metrics.hamming_loss(Y, F > 0) == pytest.approx(sklearn_hamming_loss(Y, F > 0))


@pytest.mark.parametrize(
    "container",
    [
        lambda Y: Y.astype(bool),
        lambda Y: 2 * Y - 1,
        lambda Y: Y.astype(np.float32),
        lambda Y: Y.astype(np.uint8),
        lambda Y: np.asfortranarray(Y),
        lambda Y: Y.tolist(),
        sparse.csr_matrix,
        sparse.csc_array,
        pd.DataFrame,
        lambda Y: pd.DataFrame(Y).astype("boolean"),
        lambda Y: pl.DataFrame(Y, orient="row"),
    ],
    ids=["bool", "±1", "float32", "uint8", "fortran", "list", "csr", "csc", "pandas", "nullable", "polars"],
)
def test_labels_in_every_container(container):
    Y, F = random_table(n=30)
    P = (F > 0.5).astype(int)
    held = container(Y)
    assert metrics.score_all(held, F, container(P)) == metrics.score_all(Y, F, P)
    tallies = metrics.Tally().add(held, F, container(P)), metrics.Tally().add(Y, F, P)
    assert tallies[0].scores() == tallies[1].scores()


def test_a_missing_value_of_pandas_is_unknown():
    Y, F = random_table(n=30)
    nullable = pd.DataFrame(Y).astype("Int8")
    nullable.iloc[3, 2] = pd.NA
    Y = Y.astype(float)
    Y[3, 2] = np.nan
    assert metrics.ranking_loss(nullable, F) == metrics.ranking_loss(Y, F)
    assert metrics.ranking_loss(sparse.csr_matrix(Y), F) == metrics.ranking_loss(Y, F)


def test_scores_in_every_container():
    Y, F = random_table(n=30, ties=True)
    for held in (F.astype(np.float32), F.astype(int), np.asfortranarray(F), F.tolist(), pd.DataFrame(F)):
        assert metrics.average_precision(Y, held) == metrics.average_precision(Y, F)


def test_inputs_stay_as_they_were():
    Y, F = random_table(n=30)
    Y = Y.astype(float)
    Y[0, 0] = np.nan
    P = F > 0
    kept = Y.copy(), F.copy(), P.copy()
    metrics.score_all(Y, F, P)
    metrics.Tally().add(Y, F, P).scores()
    metrics.score_labels(Y, F, P)
    for now, then in zip((Y, F, P), kept, strict=True):
        np.testing.assert_array_equal(now, then)


def test_blocks_do_not_show(monkeypatch):
    """Also where the last block is short, and where a block would be less than one row."""
    Y, F = random_table(n=101, ties=True)
    whole = metrics.score_all(Y, F, F > 0)
    for block in (3, 8 * 10):
        monkeypatch.setattr(_validation, "BLOCK", block)
        assert metrics.score_all(Y, F, F > 0) == pytest.approx(whole, rel=1e-14)
        with pytest.raises(UserError, match=r"^F\[100, 2\] is nan"):
            metrics.coverage(Y, np.where(np.arange(808).reshape(101, 8) == 802, np.nan, F))
        for mixed in (np.vstack([Y[:-1], -np.ones((1, 8))]), np.vstack([-np.ones((1, 8)), Y[1:]])):
            with pytest.raises(UserError, match="both 0 and -1"):
                metrics.coverage(mixed, F)


@pytest.mark.parametrize("row", [[0, 0, 0], [1, 1, 1]])
def test_without_a_usable_row_a_criterion_is_nan_and_says_so(row):
    for name in ("ranking_loss", "one_error", "average_precision"):
        with pytest.warns(UndefinedMetricWarning, match="no row has both") as caught:
            assert np.isnan(metrics.CRITERIA[name].function([row], [[3, 2, 1]]))
        assert caught[0].filename == __file__
    assert metrics.coverage([row], [[3, 2, 1]]) == sum(row[1:])
    with pytest.warns(UndefinedMetricWarning, match="no known label"):
        assert np.isnan(metrics.coverage([[np.nan] * 3], [[3, 2, 1]]))
    with pytest.warns(UndefinedMetricWarning, match="no known label"):
        assert np.isnan(metrics.hamming_loss([[np.nan] * 3], [row]))


@pytest.mark.parametrize(
    ("Y", "F", "sentence"),
    [
        ([[1, 0]], [[np.nan, 0]], r"F\[0, 0\] is nan"),
        ([[1, 2]], [[1, 0]], r"Y\[0, 1\] is 2"),
        ([[1, 0.5]], [[1, 0]], r"Y\[0, 1\] is 0.5"),
        ([[1, np.inf]], [[1, 0]], r"Y\[0, 1\] is inf"),
        ([[-1, 0, 1]], [[1, 0, 2]], "both 0 and -1"),
        ([[1, 0]], [[1, 0, 2]], r"\(1, 2\) but F"),
        ([1, 0], [[1, 0]], r"shape \(2,\)"),
        ([["a", "b"]], [[1, 0]], "label names"),
        (np.empty((0, 3)), np.empty((0, 3)), "0 sample"),
        ([[1, 0]], sparse.csr_matrix([[1, 0]]), "Sparse data"),
        (
            pd.DataFrame({"a": [1], "b": [0]}),
            pd.DataFrame({"b": [1], "a": [0]}),
            "another order",
        ),
    ],
)
def test_mistakes_are_answered_with_a_sentence(Y, F, sentence):
    with pytest.raises(UserError, match=sentence):
        metrics.ranking_loss(Y, F)


def test_predictions_in_another_order_than_the_labels_are_noticed():
    """Beside scores without names too."""
    Y, P = pd.DataFrame({"a": [1], "b": [0]}), pd.DataFrame({"b": [1], "a": [0]})
    with pytest.raises(UserError, match="order"):
        metrics.score_all(Y, [[1.0, 0.0]], P)


def test_a_prediction_may_not_be_unknown():
    with pytest.raises(UserError, match=r"P\[1, 0\]"):
        metrics.hamming_loss([[1, 0], [0, 1]], [[1, 0], [np.nan, 1]])
    with pytest.raises(UserError, match=r"P\[1, 0\]"):
        metrics.hamming_loss([[1, 0], [0, 1]], [[1, 0], [0.7, 1]])
