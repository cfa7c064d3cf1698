"""Suspicions and rates of noise on data whose truth is known."""

import numpy as np
import pandas as pd
import pytest
from cleanlab.count import compute_confident_joint
from cleanlab.rank import get_label_quality_scores
from scipy import sparse
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict

from mlspl.curriculum import label_issues, noise_rates, row_scores
from mlspl.curriculum.audit import explain_issues
from mlspl.errors import UserError
from mlspl.noise import OtherLabels, estimate_noise, wrong_shares
from mlspl.noise._curve import (
    FALSE,
    LEAST,
    LOST,
    SCALE,
    SLOPE_MEAN,
    SLOPE_SPREAD,
    STRENGTHS,
    fit_by_rates,
    look_up_pairs,
    pool_rates,
    row_dispersion,
)
from mlspl.noise._other_labels import RIDGES, fit_path
from tests.naive import curriculum as naive

NOISES = {"flip": (0.1, 0.1), "lost": (0.0, 0.3), "both": (0.1, 0.28)}


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


def test_clean_labels_have_few_suspicions_if_noise_ignores_the_features():
    _, Y, P = planted(0.0, 0.0)
    assert (label_issues(Y, P, instance_dependent=0.0) >= 0.8).mean() < 0.001
    rates = noise_rates(Y, P)
    # By labels alone, all that the model is unsure of may be errors, or nothing.
    assert (rates["lost_low"] < 0.05).all()
    assert (rates["lost_high"] > 0.15).all()


def human_labels(n=3000, L=4, seed=0):
    """Truth determined by x, and annotators who vary where x is ambiguous; the model knows how they vary."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-1.5, 3.0, (n, L))
    true = odds > 0
    Y = (rng.random((n, L)) < expit(odds)).astype(float)
    return true, Y, expit(odds)


def test_errors_in_ambiguous_rows_are_ranked_and_counted():
    true, Y, P = human_labels()
    wrong, suspicion = true != Y, label_issues(Y, P)
    assert 0.5 < suspicion.sum() / wrong.sum() < 2
    plain = average_precision_score(wrong.ravel(), np.where(Y == 1, 1 - P, P).ravel())
    assert average_precision_score(wrong.ravel(), suspicion.ravel()) > plain - 0.02


@pytest.mark.parametrize("human", [True, False])
def test_a_few_dozen_decisions_tell_the_models_of_noise_apart(human):
    true, Y, P = human_labels() if human else planted(0.0, 0.0)
    before = estimate_noise(Y, P, instance_dependent=0.5)
    told = np.argsort(-before.information.ravel())[:40]
    reviewed = np.full(Y.shape, np.nan)
    reviewed.flat[told] = true.flat[told]
    after = estimate_noise(Y, P, instance_dependent=0.5, reviewed=reviewed)
    assert (after.instance_dependent > 0.8) if human else (after.instance_dependent < 0.2)
    wrong = (true != Y).sum()
    # The second model takes the truth for another draw of the annotators, here it is their majority.
    assert after.suspicion.sum() < 1.5 * wrong + 0.1 * before.suspicion.sum()
    assert np.array_equal(after.suspicion.flat[told], (true != Y).flat[told])
    assert (after.information.flat[told] == 0).all()
    widths = [(e.noise_rates["lost_high"] - e.noise_rates["lost_low"]).mean() for e in (before, after)]
    assert widths[1] < widths[0]
    rows, labels = np.unravel_index(told, Y.shape)
    table = pd.DataFrame({"row": rows, "label": labels, "value": true[rows, labels].astype(float)})
    assert np.array_equal(label_issues(Y, P, instance_dependent=0.5, reviewed=table), after.suspicion)


def test_a_random_review_reveals_errors_that_the_model_has_learnt():
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 12, (2000, 3))
    Y = (rng.random(odds.shape) < expit(odds)).astype(float)
    true = np.where(rng.random(odds.shape) < 0.4, 0, Y)
    wrong = true != Y
    assert label_issues(Y, expit(odds)).sum() < 0.6 * wrong.sum()
    reviewed = np.where(rng.random(Y.shape) < 0.04, true, np.nan)
    assert label_issues(Y, expit(odds), reviewed=reviewed).sum() == pytest.approx(wrong.sum(), rel=1 / 3)


def test_reviews_of_other_labels_leave_the_interval_of_a_label():
    _, Y, P = human_labels()
    reviewed = np.full(Y.shape, np.nan)
    reviewed[:60, 1:] = Y[:60, 1:]
    before, after = (noise_rates(Y, P, reviewed=decisions) for decisions in (None, reviewed))
    assert after["lost_high"][0] >= before["lost_high"][0]
    assert (after["lost_high"][1:] < before["lost_high"][1:]).all()
    assert after["lost"][0] < before["lost"][0]


def test_incomplete_labels_suspect_only_what_is_absent():
    true, Y, P = planted(0.0, 0.3)
    suspicion = label_issues(Y, P, absent="unknown")
    assert (suspicion[Y == 1] == 0).all()
    absent, missing = Y == 0, (true & (Y == 0))
    assert suspicion.sum() == pytest.approx(missing.sum(), rel=1 / 3)
    ours = average_precision_score(missing[absent], suspicion[absent])
    assert ours > average_precision_score(missing[absent], P[absent]) - 0.02
    assert (noise_rates(Y, P, absent="unknown")["false"] == 0).all()


def package_descriptions(n=2000, L=10, words=800, seed=0):
    """Texts whose words say little about their labels, and true labels, as of packages with tags."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(words, 0.05), L)
    common = rng.dirichlet(np.full(words, 0.3))
    true = rng.random((n, L)) < rng.uniform(0.03, 0.15, L)
    share = 0.2 * true.any(axis=1)[:, None]
    mixed = share * (true @ topics) / np.maximum(true.sum(axis=1), 1)[:, None] + (1 - share) * common
    return sparse.csr_array([rng.multinomial(35, p / p.sum()) for p in mixed]).sign(), true


@pytest.fixture(scope="module")
def incomplete():
    """Out-of-fold probabilities of labels of which 8 % are missing, and 26 % of the first."""
    X, true = package_descriptions()
    lost = np.array([0.26] + [0.08] * 9)
    Y = (true & (np.random.default_rng(1).random(true.shape) > lost)).astype(int)
    model = LogisticRegression(C=0.3)
    P = np.column_stack([cross_val_predict(model, X, y, method="predict_proba")[:, 1] for y in Y.T])
    return true, Y, P


def test_intervals_of_incomplete_labels_admit_what_cannot_be_told(incomplete):
    true, Y, P = incomplete
    missing = true & (Y == 0)
    for absent in ("negative", "unknown"):
        found = estimate_noise(Y, P, absent=absent)
        rates = found.noise_rates
        assert rates["lost_low"].iloc[0] <= 0.26 <= rates["lost_high"].iloc[0]
        assert (rates["lost_high"] - rates["lost_low"]).iloc[0] > 0.1
        assert found.error_range[0] <= missing.sum() <= found.error_range[1]


def test_missing_labels_are_ranked_and_their_number_follows_a_review(incomplete):
    true, Y, P = incomplete
    absent, missing = Y == 0, true & (Y == 0)
    found = estimate_noise(Y, P, absent="unknown")
    ours, theirs = (average_precision_score(missing[absent], score[absent]) for score in (found.suspicion, P))
    assert ours > theirs - 0.02
    order = np.argsort(-found.suspicion.ravel())[:100]
    random = np.random.default_rng(0).permutation(Y.size)[:100]
    reviewed = np.full(Y.shape, np.nan)
    for pairs in (order, random):
        reviewed.flat[pairs] = true.flat[pairs]
    after = estimate_noise(Y, P, absent="unknown", reviewed=reviewed)
    assert missing.sum() / 2 < after.suspicion.sum() < 2 * missing.sum()
    assert after.error_range[0] < missing.sum() < after.error_range[1]
    widths = [e.error_range[1] - e.error_range[0] for e in (found, after)]
    assert widths[1] < widths[0]


def test_shares_of_wrong_labels_are_shrunk_towards_their_mean():
    true, Y, P = planted(0.1, 0.3)
    shares = wrong_shares(Y, P)
    wrong = true != Y
    for g in (0, 1):
        expected = [wrong[Y[:, label] == g, label].mean() for label in range(Y.shape[1])]
        assert shares[g] == pytest.approx(expected, abs=0.05)
    few = wrong_shares(Y[:60], P[:60])
    alone = label_issues(Y[:60], P[:60])
    spread = [alone[Y[:60, label] == 0, label].mean() for label in range(Y.shape[1])]
    assert np.ptp(few[0]) < np.ptp(spread)


def test_tables_and_surprises_are_those_of_a_loop_over_pairs():
    rng = np.random.default_rng(0)
    given, z = rng.integers(-1, 2, (30, 3)).astype(np.int8), rng.normal(size=(30, 3))
    low, step, tables = z.min(axis=0), np.ptp(z, axis=0) / 8, rng.random((3, 4, 9))
    truth, probability, dispersion = naive.look_up(given, z, low, step, tables)
    found = look_up_pairs(given, z, low[:, None] + step[:, None] * np.arange(9), tables)
    assert found[0] == pytest.approx(truth)
    assert found[1] == pytest.approx(probability)
    assert row_dispersion(given, z) == pytest.approx(dispersion)


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
    alone = average_precision_score(wrong.ravel(), label_issues(Y, nothing, other_labels=False).ravel())
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
    for wrong in ({"absent": "no"}, {"instance_dependent": 2}, {"reviewed": [[1, 0]]}):
        with pytest.raises(UserError, match=next(iter(wrong))):
            label_issues([[0], [1]], [[0.5], [0.5]], **wrong)
    with pytest.raises(UserError, match="positions"):
        label_issues([[0]], [[0.5]], reviewed=pd.DataFrame({"row": [3], "label": [0], "value": [1.0]}))


def test_curves_reach_the_likelihood_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    z = np.sort(rng.normal(size=60))
    given = (rng.random(60) < 0.1 + 0.7 * expit(2 * z)).astype(float)
    chosen = [0, 40, 100, 150]
    fast, shares, slopes, _ = fit_by_rates(z, np.ones(60), given, FALSE[chosen], LOST[chosen], 1e-3)
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
    other_labels = OtherLabels(np.zeros((1, 2)), np.array([[0.0, weight], [0.0, 0.0]]), np.array([0.5, 0.5]))
    P, rows, labels = np.array([0.25]), np.array([0]), np.array([0])
    (text,) = explain_issues(rows, labels, ["a", "b"], np.array([given]), P, other_labels, None)
    assert text == "25% likely by its features" + (f"; {reason}" if reason else "")


def test_pooling_is_the_sum_over_all_that_labels_may_have_in_common():
    likelihood = np.random.default_rng(0).normal(0, 3, (3, len(FALSE)))
    slow = naive.pool(likelihood, FALSE, LOST, np.unique(FALSE), STRENGTHS, SCALE, LEAST)
    assert pool_rates(likelihood)[0] == pytest.approx(slow, rel=1e-6, abs=1e-12)


def test_scores_of_rows_count_all_ways_to_err():
    suspicion = np.random.default_rng(0).random((20, 4))
    assert row_scores(suspicion).to_numpy() == pytest.approx(naive.row_scores(suspicion))
    frame = pd.DataFrame([[0.5, np.nan]], index=["row"])
    assert row_scores(frame).loc["row"].tolist() == [0.5, 0.0, 0.5]
