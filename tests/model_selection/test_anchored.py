import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit

from mlspl.model_selection import AnchoredCalibration


def platt_loss(slope, scores, targets, weight):
    p = expit(slope * scores)
    return -np.sum(weight * (targets * np.log(p) + (1 - targets) * np.log1p(-p)))


def test_slopes_maximise_the_likelihood_on_each_side():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(400, 3))
    labels = rng.random(scores.shape) < expit(2 * scores - [0.0, 1.0, -1.0])
    weight = rng.uniform(0.2, 2.0, scores.shape)
    slopes = AnchoredCalibration().fit(scores, labels, weight).slopes_
    for label in range(3):
        positives = weight[labels[:, label], label].sum()
        negatives = weight[:, label].sum() - positives
        targets = np.where(labels[:, label], (positives + 1) / (positives + 2), 1 / (negatives + 2))
        for number, side in enumerate((scores[:, label] < 0, scores[:, label] > 0)):
            arguments = (scores[side, label], targets[side], weight[side, label])
            best = minimize_scalar(platt_loss, bounds=(1e-3, 8), args=arguments, options={"xatol": 1e-9}).x
            assert slopes[number, label] == pytest.approx(best, rel=1e-4)


def test_order_and_side_are_kept_even_if_the_scores_mislead():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(50, 2))
    labels = np.column_stack([scores[:, 0] < 0, np.ones(50, dtype=bool)])
    probabilities = AnchoredCalibration().fit(scores, labels).transform(scores)
    np.testing.assert_array_equal(probabilities > 0.5, scores > 0)
    np.testing.assert_array_equal(np.argsort(probabilities, axis=0), np.argsort(scores, axis=0))
