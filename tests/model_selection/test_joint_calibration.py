"""What labels add to each other's log-odds, beside a general minimiser, and its laws."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from mlspl.model_selection import JointCalibration, PlattCalibration


def problem(n=400, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((n, 3)) * [1.0, 5.0, 0.1] + [0.0, 2.0, -3.0]
    Z = (F - [0.0, 2.0, -3.0]) / [1.0, 5.0, 0.1]
    Y = rng.random(F.shape) < expit(Z @ [[2.0, 1.5, 0.0], [0.0, 1.0, -1.0], [0.5, 0.0, 2.0]] - 1)
    return F, Y


def naive_log_odds(F, Y, weight):
    """The penalised likelihood written out pair by pair, label by label, and handed to BFGS."""
    odds = PlattCalibration().fit(F, Y, weight).log_odds(F)
    features = np.hstack([odds, expit(odds), np.ones((len(F), 1))])
    variances = np.array([0.01] * F.shape[1] + [1.0] * F.shape[1] + [0.01])
    joint = np.empty_like(odds)
    for label in range(F.shape[1]):
        positives = weight[Y[:, label], label].sum()
        negatives = weight[~Y[:, label], label].sum()
        target = np.where(Y[:, label], (positives + 1) / (positives + 2), 1 / (negatives + 2))

        def loss(added, label=label, target=target):
            score = odds[:, label] + features @ added
            fit = target * np.logaddexp(0, -score) + (1 - target) * np.logaddexp(0, score)
            return weight[:, label] @ fit + np.sum(added**2 / variances) / 2

        added = minimize(loss, np.zeros(len(variances)), method="BFGS", options={"gtol": 1e-6}).x
        joint[:, label] = odds[:, label] + features @ added
    return joint


@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_largest_posterior(weighted):
    F, Y = problem()
    weight = np.random.default_rng(1).uniform(0, 3, F.shape) if weighted else np.ones(F.shape)
    ours = JointCalibration().fit(F, Y, weight if weighted else None).log_odds(F)
    # BFGS takes its gradients by differences, good to some 1e-5 of this objective of some hundred.
    np.testing.assert_allclose(ours, naive_log_odds(F, Y, weight), atol=1e-4)


def test_a_label_learns_from_the_others_and_stays_alone_where_rows_are_few():
    F, Y = problem(n=20_000)
    joint, alone = JointCalibration().fit(F, Y), PlattCalibration().fit(F, Y)
    F_new, Y_new = problem(n=20_000, seed=1)
    losses = [
        np.mean(np.logaddexp(0, -np.where(Y_new, 1, -1) * fitted.log_odds(F_new)), axis=0)
        for fitted in (joint, alone)
    ]
    assert np.all(losses[0] < losses[1] - 0.01)
    few = [fitted().fit(F[:6], Y[:6]).log_odds(F) for fitted in (JointCalibration, PlattCalibration)]
    assert np.abs(few[0] - few[1]).mean() < 0.1 * np.abs(few[1]).mean()


def test_an_unknown_label_is_one_without_weight_and_a_silent_label_stays_at_its_prior():
    F, Y = problem()
    gone = np.random.default_rng(1).random(Y.shape) < 0.3
    hidden = JointCalibration().fit(F, np.where(gone, np.nan, Y))
    weightless = JointCalibration().fit(F, Y, 1.0 - gone)
    np.testing.assert_array_equal(hidden.log_odds(F), weightless.log_odds(F))
    silent = JointCalibration().fit(np.zeros((8, 2)), [[1, 0]] * 4 + [[0, 0]] * 4)
    assert silent.transform(np.zeros((1, 2)))[0, 0] == pytest.approx(0.5, abs=1e-6)
    assert 0 < silent.transform(np.zeros((1, 2)))[0, 1] < 0.2
