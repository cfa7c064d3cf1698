"""Ridge regressions in closed form: scikit-learn's, fold by fold."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

from mlspl.solvers import solve_ridge
from mlspl.spaces import Linear


@pytest.mark.parametrize(("n", "dtype"), [(60, np.float64), (9000, np.float64), (9000, np.float32)])
def test_ridge_is_scikit_learn_s_on_all_rows_and_without_each_fold(n, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(n, 7)) + 3.0).astype(dtype)
    targets = X @ rng.normal(size=(7, 4)) + rng.normal(size=(n, 4)) - 2.0
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    coef, intercept, predicted = solve_ridge(X, targets, 0.7, folds)
    peer = Ridge(0.7, solver="svd").fit(X.astype(np.float64), targets)
    # Products are summed in double precision: what is lost is a condition number times 1e-16.
    np.testing.assert_allclose(coef, peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(intercept, peer.intercept_, rtol=1e-9)
    for train, test in folds:
        peer.fit(X[train].astype(np.float64), targets[train])
        np.testing.assert_allclose(predicted[test], peer.predict(X[test].astype(np.float64)), rtol=1e-8)
    assert solve_ridge(X, targets, 0.7, None)[2] is None


def test_the_iterative_way_of_many_features_ends_there_too(monkeypatch):
    """Its objective is within 1e-6 of the minimum: weights within its root of theirs."""
    rng = np.random.default_rng(2)
    X, targets = rng.normal(size=(300, 6)), rng.normal(size=(300, 3))
    folds = list(KFold(3).split(X))
    closed = Linear().prepare(X).regress(targets, "ridge", folds)
    monkeypatch.setattr("mlspl.spaces.linear._FEW_FEATURES", 0)
    steps = Linear().prepare(X).regress(targets, "ridge", folds)
    for one, other in zip(closed, steps, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-2 * np.abs(one).max())
