import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from mlspl.model_selection import PlattCalibration


def platt_loss(slope, scores, targets, weight):
    p = expit(slope * scores)
    return -np.sum(weight * (targets * np.log(p) + (1 - targets) * np.log1p(-p)))


def test_slopes_maximise_the_likelihood():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 3))
    labels = rng.random(scores.shape) < expit(2 * scores - [0.0, 1.0, -1.0])
    weight = rng.uniform(0.2, 2.0, scores.shape)
    slopes = PlattCalibration(offset=False).fit(scores, labels, weight).slope_
    for label in range(3):
        positives = weight[labels[:, label], label].sum()
        negatives = weight[:, label].sum() - positives
        targets = np.where(labels[:, label], (positives + 1) / (positives + 2), 1 / (negatives + 2))
        arguments = (scores[:, label], targets, weight[:, label])
        best = minimize_scalar(platt_loss, bounds=(1e-3, 8), args=arguments, options={"xatol": 1e-9}).x
        assert slopes[label] == pytest.approx(best, rel=1e-4)


def test_a_shared_slope_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(100, 3))
    labels = rng.random(scores.shape) < expit(2 * scores)
    shared = PlattCalibration(shared=True, offset=False).fit(scores, labels)
    alone = PlattCalibration(offset=False).fit(scores.reshape(-1, 1), labels.reshape(-1, 1))
    np.testing.assert_array_equal(shared.slope_, np.repeat(alone.slope_, 3))
    np.testing.assert_array_equal(shared.offset_, np.zeros(3))


def test_order_and_side_are_kept_even_if_the_scores_mislead():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 2))
    labels = np.column_stack([scores[:, 0] < 0, np.ones(50, dtype=bool)])
    probabilities = PlattCalibration(offset=False).fit(scores, labels).transform(scores)
    np.testing.assert_array_equal(probabilities > 0.5, scores > 0)
    np.testing.assert_array_equal(np.argsort(probabilities, axis=0), np.argsort(scores, axis=0))
