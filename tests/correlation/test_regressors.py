import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from mlspl.errors import UserError
from mlspl.spaces import Gram, Linear
from tests.naive import correlation as naive


def rows(seed, n=80, m=5, d=6):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, m, size=n)
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(m, d))[group], np.eye(m)[group]


def predict(rows, regressor, codes, X_new):
    return rows.make_model(*rows.regress(codes, regressor)[:2]).scores(X_new)


def test_svr_predicts_new_rows_as_libsvm_does():
    X, codes = rows(0)
    train, new = slice(0, 60), slice(60, 80)
    placed = Gram(gamma=0.1, tol=1e-7, n_threads=2).prepare(X[train])
    predicted = predict(placed, "svr", codes[train], X[new])
    for j in range(codes.shape[1]):
        oracle = SVR(kernel="rbf", gamma=0.1, C=1.0, epsilon=0.1, tol=1e-7).fit(X[train], codes[train, j])
        np.testing.assert_allclose(predicted[:, j], oracle.predict(X[new]), atol=1e-5)


def test_ridge_equals_its_normal_equations_and_scikit_learns_linear_ridge():
    X, codes = rows(1)
    X = np.round(8 * X) / 8  # so that the kernel has no digits to be cut off
    train, new = slice(0, 60), slice(60, 80)
    placed = Gram("linear").prepare(X[train])
    coef, intercept, _ = placed.regress(codes[train], "ridge")
    naive_coef, naive_intercept = naive.kernel_ridge(X[train] @ X[train].T, codes[train])
    np.testing.assert_allclose(coef, naive_coef, atol=1e-10)
    np.testing.assert_allclose(intercept, naive_intercept, atol=1e-10)
    oracle = Ridge(alpha=1.0).fit(X[train], codes[train])
    np.testing.assert_allclose(
        placed.make_model(coef, intercept).scores(X[new]), oracle.predict(X[new]), atol=1e-9
    )


def test_ridge_predictions_sum_to_one():
    X, codes = rows(2)
    placed = Gram().prepare(X[:50])
    np.testing.assert_allclose(predict(placed, "ridge", codes[:50], X).sum(axis=1), 1)


@pytest.mark.parametrize("name", ["svr", "ridge"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_and_one_code(name, n):
    placed = Gram("precomputed").prepare(np.eye(n))
    np.testing.assert_allclose(predict(placed, name, np.ones((n, 1)), np.ones((4, n))), 1.0)


@pytest.mark.parametrize("name", ["svr", "ridge"])
def test_duplicate_rows_and_fractional_codes(name):
    X, _ = rows(4, n=20)
    codes = np.random.default_rng(4).dirichlet(np.ones(3), size=20)
    twice = np.repeat(X, 2, axis=0)
    predicted = predict(Gram(gamma=1 / 6).prepare(twice), name, np.repeat(codes, 2, axis=0), twice)
    np.testing.assert_allclose(predicted[::2], predicted[1::2], atol=1e-10)
    assert np.abs(predicted[::2] - codes).mean() < 0.25


def test_mistakes_are_named():
    with pytest.raises(UserError, match="not positive semi-definite"):
        Gram("precomputed").prepare(-5 * np.eye(4)).regress(np.ones((4, 2)), "ridge")
    with pytest.raises(UserError, match="gram"):
        Linear().prepare(np.eye(4)).regress(np.ones((4, 2)), "svr")


def test_inputs_stay_as_they_were():
    X, codes = rows(6)
    K = rbf_kernel(X)
    kept = K.copy(), codes.copy()
    for name in ("svr", "ridge"):
        Gram("precomputed").prepare(K).regress(codes, name)
    np.testing.assert_array_equal(K, kept[0])
    np.testing.assert_array_equal(codes, kept[1])
