"""Suspicions and rates of noise on data whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from cleanlab.count import compute_confident_joint
from cleanlab.rank import get_label_quality_scores
from scipy import sparse
from scipy.special import expit
from sklearn.metrics import average_precision_score

from mlspl.curriculum import label_issues, noise_rates, row_scores
from mlspl.curriculum._noise_curve import FALSE, LOST, SLOPE_MEAN, SLOPE_SPREAD, fit_curves
from mlspl.curriculum._pooling import LEAST, SCALE, STRENGTHS, pool
from mlspl.curriculum._reasons import explain_issues
from mlspl.curriculum._relations import RIDGES, Relations, fit_path
from mlspl.errors import UserError
from tests.naive import curriculum as naive

NOISES = {"clean": (0.0, 0.0), "flip": (0.1, 0.1), "lost": (0.0, 0.3), "both": (0.1, 0.28)}


def planted(false, lost, n=3000, L=6, seed=0):
    """Labels with P(true) known, what was given, and a model that knows log-odds but not the noise."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1.5, 3.0, (n, L))
    true = rng.random((n, L)) < expit(odds)
    wrong = rng.random((n, L)) < np.where(true, lost, false)
    return true, (true ^ wrong).astype(float), expit(0.7 * odds + 0.3)


@pytest.mark.parametrize("noise", NOISES)
def test_rates_are_found_without_saying_which_noise_it_is(noise):
    false, lost = NOISES[noise]
    _, Y, P = planted(false, lost)
    rates = noise_rates(Y, P)
    # A rate of .1 of 2,000 negatives and .3 of 1,000 positives has a standard error below .015.
    assert np.abs(rates["false"] - false).max() < 0.03
    assert np.abs(rates["lost"] - lost).max() < 0.06
    assert ((rates["lost_low"] <= rates["lost"]) & (rates["lost"] <= rates["lost_high"])).all()
    assert (rates["lost_low"] - 0.01 <= lost).mean() >= 0.8
    assert (rates["lost_high"] + 0.01 >= lost).mean() >= 0.8


@pytest.mark.parametrize("noise", ["flip", "lost", "both"])
def test_suspicions_are_probabilities(noise):
    true, Y, P = planted(*NOISES[noise], n=6000)
    suspicion = label_issues(Y, P)
    wrong = true != Y
    assert suspicion.sum() == pytest.approx(wrong.sum(), rel=0.15)
    for low in (0.1, 0.3, 0.5, 0.7):
        chosen = (suspicion >= low) & (suspicion < low + 0.2)
        if chosen.sum() >= 100:
            # Three standard errors of a share of 100 pairs are .15.
            assert wrong[chosen].mean() == pytest.approx(suspicion[chosen].mean(), abs=0.15)


def test_few_suspicions_on_clean_labels():
    _, Y, P = planted(0.0, 0.0)
    assert (label_issues(Y, P) >= 0.8).mean() < 0.001


@pytest.mark.parametrize("noise", ["flip", "lost", "both"])
def test_no_worse_than_cleanlab_on_the_same_probabilities(noise):
    true, Y, P = planted(*NOISES[noise])
    wrong = true != Y
    ours = average_precision_score(wrong.ravel(), label_issues(Y, P).ravel())
    quality = [
        get_label_quality_scores(y.astype(int), np.column_stack([1 - p, p]))
        for y, p in zip(Y.T, P.T, strict=True)
    ]
    theirs = average_precision_score(wrong.T.ravel(), 1 - np.concatenate(quality))
    assert ours > theirs - 0.005
    if noise == "lost":
        assert ours > theirs + 0.05
    rates = noise_rates(Y, P)
    errors, their_errors = [], []
    for label in range(Y.shape[1]):
        y, p = Y[:, label].astype(int), np.column_stack([1 - P[:, label], P[:, label]])
        joint = compute_confident_joint(y, p)
        matrix = joint / joint.sum(axis=0)
        truth = [(wrong[:, label] & true[:, label]).sum() / true[:, label].sum()]
        truth.append((wrong[:, label] & ~true[:, label]).sum() / (~true[:, label]).sum())
        their_errors += [abs(matrix[0, 1] - truth[0]), abs(matrix[1, 0] - truth[1])]
        errors += [abs(rates["lost"][label] - truth[0]), abs(rates["false"][label] - truth[1])]
    assert np.mean(errors) < 0.5 * np.mean(their_errors)


def test_the_other_labels_of_a_row_are_heard():
    rng = np.random.default_rng(0)
    true = np.repeat(rng.random((1500, 1)) < 0.4, 4, axis=1)
    wrong = rng.random(true.shape) < 0.1
    Y = (true ^ wrong).astype(int)
    nothing = np.full(Y.shape, 0.4) + rng.normal(0, 0.01, Y.shape)
    alone = average_precision_score(wrong.ravel(), label_issues(Y, nothing, relations=False).ravel())
    together = average_precision_score(wrong.ravel(), label_issues(Y, nothing).ravel())
    # Three copies of a label that each err in one case of ten vote almost without error.
    assert together > 0.8 > 0.3 > alone


def test_turning_all_labels_around_turns_the_rates_around():
    # Fits stop when a step gains less than 1e-3 of log-likelihood, and start elsewhere.
    _, Y, P = planted(0.05, 0.2, n=800)
    assert label_issues(1 - Y, 1 - P) == pytest.approx(label_issues(Y, P), abs=5e-3)
    here, there = noise_rates(Y, P), noise_rates(1 - Y, 1 - P)
    assert there["false"].to_numpy() == pytest.approx(here["lost"].to_numpy(), abs=5e-3)


def test_containers_and_codings_say_the_same():
    _, Y, P = planted(0.05, 0.2, n=300, L=3)
    expected = label_issues(Y, P)
    for same in (2 * Y - 1, Y.astype(bool), sparse.csr_array(Y), pd.DataFrame(Y, columns=list("abc"))):
        assert label_issues(same, P) == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(label_issues(Y, P, n_jobs=2), expected), "threads change nothing"
    assert list(noise_rates(pd.DataFrame(Y, columns=list("abc")), P).index) == ["a", "b", "c"]
    single = label_issues(Y, P.astype(np.float32))
    assert single.dtype == np.float32
    assert single == pytest.approx(expected, abs=5e-3)


def test_unknown_labels_are_no_issues_but_get_a_proposal():
    true, Y, P = planted(0.0, 0.3)
    unknown = np.random.default_rng(1).random(Y.shape) < 0.1
    suspicion, truth = label_issues(np.where(unknown, np.nan, Y), P, return_truth=True)
    assert np.array_equal(np.isnan(suspicion), unknown)
    assert np.isfinite(truth).all()
    right = [((guess > 0.5) == true)[unknown].mean() for guess in (truth, P)]
    assert right[0] > right[1]
    # A lost positive is less probably true than the same pair would be if nothing had been given.
    lost = (Y == 0) & (P > 0.8)
    assert truth[lost & ~unknown].mean() < truth[lost & unknown].mean()


def test_labels_without_a_positive_or_a_signal_do_no_harm():
    rng = np.random.default_rng(0)
    Y = np.column_stack([np.zeros(200), np.ones(200), rng.random(200) < 0.3, np.full(200, np.nan)])
    P = np.column_stack([np.full(200, 0.1), np.full(200, 0.9), np.full(200, 0.3), np.full(200, 0.5)])
    suspicion = label_issues(Y, P)
    assert np.isfinite(suspicion[:, :3]).all()
    assert np.isnan(suspicion[:, 3]).all()
    assert np.isfinite(noise_rates(Y, P).to_numpy()).all()


def test_a_model_that_is_sure_and_right_leaves_no_suspicion_below_zero():
    Y = np.repeat([[0, 1], [1, 0]], 500, axis=0)
    suspicion = label_issues(Y, Y * 0.9999 + 0.00005)
    assert suspicion.min() >= 0
    assert row_scores(suspicion)["any_error"].max() < 0.01


def test_what_is_no_probability_is_refused_with_its_place():
    with pytest.raises(UserError, match=r"probabilities\[1, 0\] is 1.5"):
        label_issues([[0], [1]], [[0.5], [1.5]])
    with pytest.raises(UserError, match="shape"):
        label_issues([[0], [1]], [[0.5, 0.5]])
    with pytest.raises(UserError, match="suspicion"):
        row_scores([[2.0]])


def test_curves_reach_the_likelihood_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    z = np.sort(rng.normal(size=60))
    given = (rng.random(60) < 0.1 + 0.7 * expit(2 * z)).astype(float)
    chosen = [0, 40, 100, 150]
    fast, shares, slopes, _ = fit_curves(z, np.ones(60), given, FALSE[chosen], LOST[chosen], 1e-3)
    slow = [naive.best_curve(z, given, FALSE[g], LOST[g], SLOPE_MEAN, SLOPE_SPREAD, 1e-3) for g in chosen]
    # A fit stops when a step gains less than 1e-3; the steps shrink at least by half.
    assert fast == pytest.approx([fit[0] for fit in slow], abs=2e-3)
    # A log-likelihood 2e-3 below the best is .06 standard errors of a share away, some .01 of 60 rows.
    assert shares == pytest.approx([fit[1] for fit in slow], abs=0.01)
    assert (slopes > 0).all()


def test_what_other_labels_say_is_what_a_general_optimiser_finds():
    rng = np.random.default_rng(0)
    design = np.column_stack([rng.normal(size=(200, 4)), np.ones(200)])
    y = (rng.random(200) < expit(design @ [1.0, -0.5, 0.0, 1.5, -1.0])).astype(float)
    # Newton's method stops after a step below 1e-3, from where the next would be below its square.
    assert fit_path(design, y, RIDGES) == pytest.approx(naive.ridge_path(design, y, RIDGES), abs=1e-4)


@pytest.mark.parametrize(
    ("given", "weight", "reason"),
    [
        ([0, 1], 2.0, "usually comes with b, which is given"),
        ([0, 0], -2.0, "usually given where b is not"),
        ([1, 1], -2.0, "rarely comes with b, which is given"),
        ([1, 0], 2.0, "rarely comes without b"),
        ([0, 1], -2.0, None),
    ],
)
def test_the_other_label_that_speaks_against_a_pair_is_named(given, weight, reason):
    relations = Relations(np.zeros((1, 2)), np.array([[0.0, weight], [0.0, 0.0]]), np.array([0.5, 0.5]))
    P, rows, labels = np.array([[0.25, 0.5]]), np.array([0]), np.array([0])
    (text,) = explain_issues(rows, labels, ["a", "b"], np.array([given]), P, relations, None)
    assert text == "25% likely by its features" + (f"; {reason}" if reason else "")


def test_pooling_is_the_sum_over_all_that_labels_may_have_in_common():
    likelihood = np.random.default_rng(0).normal(0, 3, (3, len(FALSE)))
    slow = naive.pool(likelihood, FALSE, LOST, np.unique(FALSE), STRENGTHS, SCALE, LEAST)
    assert pool(likelihood)[0] == pytest.approx(slow, rel=1e-6, abs=1e-12)


def test_scores_of_rows_count_all_ways_to_err():
    suspicion = np.random.default_rng(0).random((20, 4))
    assert row_scores(suspicion).to_numpy() == pytest.approx(naive.row_scores(suspicion))
    frame = pd.DataFrame([[0.5, np.nan]], index=["row"])
    assert row_scores(frame).loc["row"].tolist() == [0.5, 0.0, 0.5]
