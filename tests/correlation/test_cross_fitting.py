import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, LeaveOneOut

from mlspl._rounding import on_grid
from mlspl.spaces import Gram
from tests.naive import correlation as naive


def rows(seed, n=70, m=4):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, m, size=n)
    X = rng.normal(size=(n, 5)) + 2 * rng.normal(size=(m, 5))[group]
    return on_grid(rbf_kernel(X, gamma=0.2)), np.eye(m)[group]


def placed(K, n_threads=1, tol=1e-3):
    return Gram("precomputed", n_threads=n_threads, tol=tol).prepare(K)


@pytest.mark.parametrize(("regressor", "atol"), [("ridge", 1e-9), ("svr", 1e-5)])
@pytest.mark.parametrize(
    "splitter", [KFold(3), KFold(10, shuffle=True, random_state=0), LeaveOneOut()], ids=["3", "10", "one-out"]
)
def test_equals_a_fit_per_fold(regressor, atol, splitter):
    K, codes = rows(0, n=40)
    folds = list(splitter.split(codes))
    crossed = placed(K, n_threads=2, tol=1e-7).regress(codes, regressor, folds)
    np.testing.assert_allclose(
        crossed.out_of_fold, naive.cross_fit_codes(regressor, K, codes, folds), atol=atol
    )
    whole = placed(K, tol=1e-7).regress(codes, regressor)
    assert whole.out_of_fold is None
    np.testing.assert_allclose(K @ crossed.coef.T, K @ whole.coef.T, atol=atol)
    np.testing.assert_allclose(crossed.intercept, whole.intercept, atol=atol)


@pytest.mark.parametrize("name", ["svr", "ridge"])
def test_out_of_fold_codes_do_not_leak(name):
    """A row's code, whatever it is, does not change its own prediction."""
    K, codes = rows(2)
    folds = list(KFold(5).split(codes))
    changed = codes.copy()
    changed[folds[2][1]] = 1 - changed[folds[2][1]]
    before = placed(K).regress(codes, name, folds).out_of_fold[folds[2][1]]
    after = placed(K).regress(changed, name, folds).out_of_fold[folds[2][1]]
    np.testing.assert_allclose(after, before, atol=1e-9 if name == "ridge" else 5e-3)


@pytest.mark.parametrize("name", ["svr", "ridge"])
def test_two_rows_and_one_code(name):
    codes = np.ones((2, 1))
    folds = [([0], [1]), ([1], [0])]
    np.testing.assert_allclose(placed(np.eye(2)).regress(codes, name, folds).out_of_fold, 1.0)


@pytest.mark.parametrize("name", ["svr", "ridge"])
def test_the_number_of_threads_does_not_matter(name):
    K, codes = rows(4)
    folds = list(KFold(3).split(codes))
    one, three = (placed(K, t).regress(codes, name, folds).out_of_fold for t in (1, 3))
    np.testing.assert_array_equal(one, three)
