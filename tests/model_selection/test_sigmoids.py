import numpy as np
import pytest
from numba import njit
from scipy.special import expit

from mlspl.model_selection import sigmoids
from tests.naive import model_selection as naive


@njit(error_model="numpy")
def _each(x, e, log):
    for i in range(len(x)):
        e[i] = sigmoids._exp_negative(x[i])
        log[i] = sigmoids._log_one_plus(e[i])


def test_the_exponential_and_the_logarithm():
    x = -np.concatenate([np.geomspace(1e-300, 708.0, 20_001), np.linspace(0.0, 50.0, 20_001), [0.0]])
    e, log = np.empty_like(x), np.empty_like(x)
    _each(x, e, log)
    np.testing.assert_allclose(e, np.exp(x), rtol=5e-16)
    np.testing.assert_allclose(log, np.log1p(np.exp(x)), rtol=2e-15)
    _each(np.array([-1e4, -np.inf]), e[:2], log[:2])
    assert (e[:2] > 0).all()
    assert (e[:2] < 1e-300).all()


@pytest.mark.parametrize("scale", [1e-4, 1.0, 300.0])
def test_slopes_are_where_halving_an_interval_leads(scale):
    rng = np.random.default_rng(0)
    scores = scale * rng.normal(size=(600, 6))
    scores[:, 4] = np.abs(scores[:, 4])  # no score on one side
    scores[:5] = 0.0
    target = np.where(rng.random(scores.shape) < expit(scores), 0.99, 0.01)
    target[:, 5] = 1.0 - target[:, 5]  # scores that mislead
    weight = rng.random(scores.shape) * (rng.random(scores.shape) < 0.8)
    slopes = sigmoids.fit_slopes(
        *(np.ascontiguousarray(part.T) for part in (scores, target, weight)), 1e-3, 1e3
    )
    for found, side in zip(slopes, (scores < 0, scores > 0), strict=True):
        # Both stop within 2e-11 of the end in the logarithm of the slope.
        np.testing.assert_allclose(found, naive.anchored_slopes(scores, target, weight * side), rtol=5e-11)
