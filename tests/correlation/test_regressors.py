import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from mlspl.correlation import CodeRegressor, CodeRidge, CodeSVR, get_regressor
from mlspl.errors import UserError
from tests.naive import correlation as naive


def rows(seed, n=80, m=5, d=6):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, m, size=n)
    return rng.normal(size=(n, d)) + 2 * rng.normal(size=(m, d))[group], np.eye(m)[group]


def test_svr_predicts_new_rows_as_libsvm_does():
    X, codes = rows(0)
    train, new = slice(0, 60), slice(60, 80)
    model = CodeSVR(C=2.0, epsilon=0.05, tol=1e-7)
    model.fit(rbf_kernel(X[train], gamma=0.1), codes[train], n_threads=2)
    predicted = model.predict(rbf_kernel(X[new], X[train], gamma=0.1))
    for j in range(codes.shape[1]):
        oracle = SVR(kernel="rbf", gamma=0.1, C=2.0, epsilon=0.05, tol=1e-7).fit(X[train], codes[train, j])
        np.testing.assert_allclose(predicted[:, j], oracle.predict(X[new]), atol=1e-5)


def test_ridge_equals_its_normal_equations_and_scikit_learns_linear_ridge():
    X, codes = rows(1)
    train, new = slice(0, 60), slice(60, 80)
    model = CodeRidge(alpha=0.7).fit(X[train] @ X[train].T, codes[train])
    coef, intercept = naive.kernel_ridge(X[train] @ X[train].T, codes[train], 0.7)
    np.testing.assert_allclose(model.dual_coef_, coef, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-10)
    oracle = Ridge(alpha=0.7).fit(X[train], codes[train])
    np.testing.assert_allclose(model.predict(X[new] @ X[train].T), oracle.predict(X[new]), atol=1e-9)


def test_ridge_predictions_sum_to_one():
    X, codes = rows(2)
    K = rbf_kernel(X)
    np.testing.assert_allclose(CodeRidge().fit(K[:50, :50], codes[:50]).predict(K[:, :50]).sum(axis=1), 1)


@pytest.mark.parametrize("name", ["svr", "ridge"])
def test_predictions_are_the_kernel_expansion(name):
    X, codes = rows(3)
    K = rbf_kernel(X)
    model = get_regressor(name).fit(K, codes)
    assert model.dual_coef_.shape == codes.T.shape
    np.testing.assert_allclose(model.predict(K), K @ model.dual_coef_.T + model.intercept_)


@pytest.mark.parametrize("name", ["svr", "ridge"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_and_one_code(name, n):
    K, codes = np.eye(n), np.ones((n, 1))
    model = get_regressor(name).fit(K, codes)
    np.testing.assert_allclose(model.predict(np.ones((4, n))), 1.0)


@pytest.mark.parametrize("name", ["svr", "ridge"])
def test_duplicate_rows_and_fractional_codes(name):
    X, _ = rows(4, n=20)
    codes = np.random.default_rng(4).dirichlet(np.ones(3), size=20)
    K = rbf_kernel(np.repeat(X, 2, axis=0))
    predicted = get_regressor(name).fit(K, np.repeat(codes, 2, axis=0)).predict(K)
    np.testing.assert_allclose(predicted[::2], predicted[1::2], atol=1e-10)
    assert np.abs(predicted[::2] - codes).mean() < 0.25


def test_names_instances_and_nonsense():
    assert isinstance(get_regressor("svr"), CodeSVR)
    assert isinstance(get_regressor("ridge"), CodeRidge)
    mine = CodeSVR(C=3.0)
    assert get_regressor(mine) is not mine
    assert get_regressor(mine).C == 3.0
    for wrong in ("svm", None, SVR()):
        with pytest.raises(UserError, match="give 'svr', 'ridge' or a CodeRegressor"):
            get_regressor(wrong)


def test_parameters_clones_and_pickles_work_as_in_scikit_learn():
    X, codes = rows(5)
    K = rbf_kernel(X)
    model = CodeSVR(epsilon=0.2).set_params(C=4.0)
    assert clone(model).get_params() == {"C": 4.0, "epsilon": 0.2, "tol": 1e-3}
    model.fit(K, codes)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(K), model.predict(K))


def test_mistakes_are_named():
    K, codes = np.eye(4), np.ones((4, 2))
    with pytest.raises(NotFittedError):
        CodeSVR().predict(K)
    with pytest.raises(ValueError, match="K has shape"):
        CodeRidge().fit(K[:3], codes)
    with pytest.raises(UserError, match="alpha is 0"):
        CodeRidge(alpha=0).fit(K, codes)
    with pytest.raises(UserError, match="not positive semi-definite"):
        CodeRidge().fit(-5 * K, codes)


def test_inputs_stay_as_they_were():
    X, codes = rows(6)
    K = rbf_kernel(X)
    kept = K.copy(), codes.copy()
    for name in ("svr", "ridge"):
        get_regressor(name).fit(K, codes)
    np.testing.assert_array_equal(K, kept[0])
    np.testing.assert_array_equal(codes, kept[1])


def test_the_contract_asks_for_an_expansion():
    with pytest.raises(TypeError, match="_expand"):
        CodeRegressor()
