"""The one Newton's method, beside scikit-learn's logistic regression."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from mlspl.model_selection._training import fit_logistic


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_it_is_scikit_learns_weighted_logistic_regression(ridge):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    target, weight = rng.uniform(0.05, 0.95, 300), rng.random(300)
    ours = fit_logistic(X, target, weight, ridge=ridge)
    theirs = LogisticRegression(
        C=1 / ridge if ridge else np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12
    )
    theirs.fit(np.vstack([X, X]), np.repeat([1, 0], 300), np.append(weight * target, weight * (1 - target)))
    np.testing.assert_allclose(ours, theirs.coef_[0], rtol=1e-7)


def test_an_offset_is_a_feature_whose_coefficient_is_1():
    rng = np.random.default_rng(1)
    X, weight = rng.standard_normal((200, 3)), rng.random(200)
    target = expit(X @ [1.0, -2.0, 0.5])
    np.testing.assert_allclose(fit_logistic(X[:, 1:], target, weight, offset=X[:, 0]), [-2.0, 0.5], rtol=1e-7)
