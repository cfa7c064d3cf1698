"""The usual criteria: unknown pairs leave no trace, single labels are not a binary problem."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    jaccard_score,
    ndcg_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from mlspl.metrics import PAPER_CRITERIA, Tally, macro_f1, ndcg_at_k, score_labels


def score_others(Y, F, P):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)  # of ranking criteria
        scores = Tally().add(Y, F, P).scores()
    return {name: value for name, value in scores.items() if name not in PAPER_CRITERIA}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    Y = (rng.random((80, 5)) < 0.4).astype(int)
    Y[:, 0] |= ~Y.any(axis=1)
    return Y, rng.standard_normal((80, 5)) + Y


def test_complete_labels_give_scikit_learns_figures(table):
    Y, F = table
    P = (F > 0.5).astype(int)
    assert score_others(Y, F, P) == pytest.approx(
        {
            "micro_f1": f1_score(Y, P, average="micro"),
            "macro_f1": f1_score(Y, P, average="macro"),
            "sample_f1": f1_score(Y, P, average="samples", zero_division=1),
            "subset_accuracy": accuracy_score(Y, P),
            "jaccard": jaccard_score(Y, P, average="samples", zero_division=1),
            "ndcg": ndcg_score(Y, F),
        }
    )


def test_per_label_figures_are_scikit_learns(table):
    Y, F = table
    P = (F > 0.5).astype(int)
    scores = pd.DataFrame(score_labels(Y, F, P), index=list("abcde"))
    for label, name in enumerate("abcde"):
        truth, predicted = Y[:, label], P[:, label]
        assert scores.loc[name].to_dict() == pytest.approx(
            {
                "precision": precision_score(truth, predicted),
                "recall": recall_score(truth, predicted),
                "f1": f1_score(truth, predicted),
                "auc": roc_auc_score(truth, F[:, label]),
                "support": truth.sum(),
            }
        )


@settings(max_examples=25, deadline=None)
@given(
    arrays(float, (6, 4), elements=st.sampled_from([0.0, 1.0, np.nan])),
    arrays(float, (6, 4), elements=st.sampled_from([-np.inf, -1.0, 0.5, 2.0, np.inf])),
)
def test_what_is_predicted_for_an_unknown_pair_does_not_matter(Y, F):
    P = F > 0
    unknown = np.isnan(Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        for score in (score_others, score_labels):
            first = score(Y, F, P)
            second = score(Y, np.where(unknown, 7.0, F), np.where(unknown, ~P, P))
            for name in first:
                np.testing.assert_array_equal(first[name], second[name])


def test_unknown_pairs_are_cut_out_label_by_label(table):
    Y, F = table
    Y = Y.astype(float)
    Y[np.random.default_rng(1).random(Y.shape) < 0.3] = np.nan
    P = F > 0.5
    scores = score_labels(Y, F, P)
    for label in range(5):
        known = ~np.isnan(Y[:, label])
        alone = score_labels(Y[known, label, None], F[known, label, None], P[known, label, None])
        for name, values in scores.items():
            assert values[label] == alone[name][0]


def test_a_row_with_unknown_pairs_is_the_row_without_them():
    Y, F, P = (
        [[1, np.nan, 0, 1], [0, 1, 0, 0]],
        [[1.0, 9.0, 2.0, 3.0], [4.0, 1.0, 2.0, 3.0]],
        [[1, 1, 1, 0], [0] * 4],
    )
    scores = score_others(Y, F, P)
    assert scores["jaccard"] == pytest.approx((1 / 3 + 0) / 2)
    first, second = ndcg_score([[1, 0, 1]], [[1.0, 2.0, 3.0]]), ndcg_score([Y[1]], [F[1]])
    assert scores["ndcg"] == pytest.approx((first + second) / 2)


def test_one_label_is_not_a_binary_problem():
    """F1 of the label itself, where scikit-learn's micro average over one column would be the accuracy."""
    Y, F = np.array([[1], [0], [0], [0]]), np.array([[1.0], [2.0], [-1.0], [-1.0]])
    scores = score_others(Y, F, F > 0)
    assert scores["micro_f1"] == scores["macro_f1"] == pytest.approx(2 / 3)
    assert scores["subset_accuracy"] == 0.75
    assert scores["ndcg"] == 1.0
    assert score_labels(Y, F, F > 0)["recall"].tolist() == [1.0]


def test_what_is_undefined_for_a_label_is_nan():
    """Labels: never predicted; never relevant but predicted; neither; constant."""
    Y = [[1, 0, 0, 1], [0, 0, 0, 1]]
    P = [[0, 1, 0, 1], [0, 0, 0, 1]]
    scores = score_labels(Y, [[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]], P)
    nan = np.nan
    np.testing.assert_array_equal(scores["precision"], [nan, 0, nan, 1])
    np.testing.assert_array_equal(scores["recall"], [0, nan, nan, 1])
    np.testing.assert_array_equal(scores["f1"], [0, 0, nan, 1])
    np.testing.assert_array_equal(scores["auc"], [0, nan, nan, nan])
    np.testing.assert_array_equal(scores["support"], [1, 0, 0, 2])


def test_nothing_known_is_nan_and_says_so():
    assert np.isnan(list(score_others([[np.nan, np.nan]], [[1, 2]], [[0, 1]]).values())).all()
    with pytest.warns(UndefinedMetricWarning, match="nDCG is undefined"):
        assert np.isnan(ndcg_at_k([[0, 0]], [[1, 2]], None))
    scores = score_others([[0, 0]], [[1, 2]], [[0, 0]])
    assert np.isnan(scores["ndcg"])
    assert scores["jaccard"] == scores["subset_accuracy"] == 1.0


def test_a_label_that_is_known_in_no_row_is_left_out_of_macro_f1():
    Y, P = [[1, np.nan, 0], [0, np.nan, 0], [1, np.nan, 0]], [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert macro_f1(Y, P) == macro_f1(sparse.csr_array(Y), sparse.csr_array(P)) == 0.5
