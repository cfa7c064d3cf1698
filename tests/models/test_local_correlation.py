"""Algorithm 1: against the paper's steps written with `SVC`, `SVR` and `linprog`, and its own properties."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlspl import MLSPLClassifier, pacing
from mlspl.correlation import initial_codes
from mlspl.datasets import load_dataset
from mlspl.model_selection import PlattCalibration, ShrunkCalibration, protocol_split
from mlspl.models._calibrated import choose_calibration
from mlspl.models.local_correlation import Coding, LocalCorrelationLearner
from mlspl.spaces import Gram, Linear
from tests.naive import correlation as naive_correlation
from tests.naive import models as naive

DIGITS = load_dataset("digits-traits")
TRAIN, TEST = protocol_split(len(DIGITS.Y), 0, 0.08)
X = StandardScaler().fit(DIGITS.X[TRAIN]).transform(DIGITS.X)
X_TRAIN, Y_TRAIN, X_TEST = X[TRAIN], DIGITS.Y[TRAIN], X[TEST][:200]


def oracle(X, Y, steps, beta=100.0, function="sigmoid"):
    codes, prototypes = initial_codes(np.where(Y, 1.0, -1.0), 15, 0)
    algorithm = naive.PublishedMLSPL(pacing.get(function), pace=0.3, steps=steps, beta=beta, tol=1e-7)
    return algorithm.fit(X, Y, codes, prototypes)


@pytest.mark.parametrize(("function", "beta"), [("sigmoid", 100.0), ("gaussian", 0.003)])
def test_published_algorithm_is_the_paper_s(function, beta):
    """With β = 0.003 the programs of the codes are solved, not only settled, though hardly a code moves."""
    X_few, Y_few = X_TRAIN[:60], Y_TRAIN[:60]
    theirs = oracle(X_few, Y_few, steps=4, beta=beta, function=function)
    ours = MLSPLClassifier.as_published(function, pace=0.3, max_steps=4, random_state=0, tol=1e-7, beta=beta)
    ours.fit(X_few, Y_few)
    np.testing.assert_allclose(ours.label_weights_, theirs.V, atol=1e-4)
    np.testing.assert_allclose(ours.codes_, theirs.Q, atol=1e-5)
    np.testing.assert_allclose(ours.prototypes_, theirs.A, atol=1e-5)
    np.testing.assert_allclose(ours.decision_function(X_TEST), theirs.decision_function(X_TEST), atol=1e-3)
    if beta == 100.0:
        assert sum(step["codes_moved"] for step in ours.history_) == 0


def test_q_and_a_step_are_the_programs_and_means_of_the_paper():
    """With β = 0.003 codes move: (14) by `linprog` for each instance, then (16) with its denominator."""
    X_few, Y = X_TRAIN[:60], Y_TRAIN[:60].astype(bool)
    learner = LocalCorrelationLearner(
        Gram(gamma=1 / 64).prepare(X_few), Y, Coding(beta=0.003, random_state=0)
    )
    weights = np.random.RandomState(0).uniform(0.2, 1.0, Y.shape)
    learner.fit_classifiers(weights)
    before = learner.prototypes
    solved, scores = learner._solved, learner._feature_scores + learner._solved.intercept
    programs = naive.PublishedMLSPL(None, beta=0.003)
    expected = [
        programs._code(scores[i], learner.signs[i], solved.code_weights, before, weights[i])
        for i in range(len(Y))
    ]
    assert learner.update_codes(weights) > 0
    np.testing.assert_allclose(learner.codes, expected, atol=1e-5)
    learner.update_prototypes()
    means = naive_correlation.prototype_means(learner.signs, learner.codes, before)
    np.testing.assert_allclose(learner.prototypes, means, atol=1e-9)


def test_codes_stay_under_smooth_losses():
    learner = LocalCorrelationLearner(Linear().prepare(X_TRAIN), Y_TRAIN.astype(bool), Coding(beta=1e-9))
    codes = learner.codes
    assert learner.fit(np.ones(Y_TRAIN.shape)) == 0
    np.testing.assert_array_equal(learner.codes, codes)


@pytest.mark.parametrize("beta", [0.05, 100.0])
@pytest.mark.parametrize("function", ["sigmoid", "linear", "gaussian"])
def test_objective_does_not_increase_at_fixed_pace(function, beta):
    schedule = pacing.GeometricPace(0.5, 1.0, 6)
    model = MLSPLClassifier(
        function,
        schedule=schedule,
        codes="in-sample",
        C=0.5,
        beta=beta,
        gamma="auto",
        tol=1e-6,
        random_state=0,
    ).fit(X_TRAIN, Y_TRAIN)
    objective = np.array([step["objective"] for step in model.history_])
    # The SVMs stop within tol of their optimum, a pair at a time.
    assert (np.diff(objective) <= 1e-5 * np.abs(objective[0])).all()


def test_out_of_fold_losses_are_those_of_classifiers_refitted_without_the_fold():
    K = rbf_kernel(X_TRAIN, gamma=1 / 64)
    Y = Y_TRAIN.astype(bool)
    folds = MLSPLClassifier(random_state=0)._folds(Y)
    rows = Gram(gamma=1 / 64, tol=1e-7).prepare(X_TRAIN)
    learner = LocalCorrelationLearner(rows, Y, Coding(regressor="ridge", random_state=0), folds)
    weights = np.random.RandomState(0).uniform(0.2, 1.0, Y.shape)
    learner.fit_classifiers(weights)
    losses = learner.losses()
    seen = rows.regress(learner.codes, "ridge", folds).out_of_fold
    joint = K + seen @ seen.T
    for train, test in folds:
        for label in (0, 4):
            svm = SVC(kernel="precomputed", tol=1e-7)
            svm.fit(joint[np.ix_(train, train)], Y[train, label], sample_weight=weights[train, label])
            margins = np.where(Y[test, label], 1, -1) * svm.decision_function(joint[np.ix_(test, train)])
            np.testing.assert_allclose(losses[test, label], np.maximum(0, 1 - margins), atol=1e-4)


def test_scores_that_rank_worse_than_frequencies_are_shrunk_towards_them():
    rng = np.random.RandomState(0)
    Y = rng.uniform(size=(500, 8)) < np.linspace(0.6, 0.1, 8)
    fold_of = np.arange(500) // 250
    noise = 3 * rng.standard_normal(Y.shape)
    for scores, is_shrunk in ((3.0 * Y - 1 + 0.1 * noise, False), (noise, True)):
        platt = PlattCalibration().fit(scores, Y)
        found, _ = choose_calibration(scores, Y, None, fold_of, try_joint=False)
        assert isinstance(found, PlattCalibration)
        expected = platt.log_odds(scores)
        if is_shrunk:
            odds = np.empty(Y.shape)
            for test in (fold_of == 0, fold_of == 1):
                odds[test] = PlattCalibration().fit(scores[~test], Y[~test]).log_odds(scores[test])
            shrunk = ShrunkCalibration().fit(odds, Y)
            if shrunk.share_ < 1 and not np.allclose(found.slope_, platt.slope_):
                expected = shrunk.log_odds(expected)
        np.testing.assert_allclose(found.log_odds(scores), expected, atol=1e-9)
