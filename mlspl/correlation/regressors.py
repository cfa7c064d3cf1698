"""Code regressors: what predicts the code of an instance whose labels are not known."""

from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from mlspl.errors import UserError
from mlspl.solvers import solve_svrs

__all__ = ["CodeRegressor", "CodeRidge", "CodeSVR", "get_regressor"]


class CodeRegressor(ABC, BaseEstimator):
    """A regression per code, each a kernel expansion q̂_j(x) = Σ_i c_ji k(x, x_i) + d_j on one shared kernel.

    A subclass implements ``_expand(K, codes, n_threads)``, which returns the coefficients c (m, n) and the
    intercepts d (m,). It may also replace `cross_fit`, where it knows a shorter way than a fit per fold.

    Attributes
    ----------
    dual_coef_ : array (m, n)
        The coefficients c.
    intercept_ : array (m,)
        The intercepts d.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.correlation import CodeRegressor
    >>> class MeanCode(CodeRegressor):
    ...     def _expand(self, K, codes, n_threads):
    ...         return np.zeros(codes.T.shape), codes.mean(axis=0)
    >>> MeanCode().fit(np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]])).predict(np.ones((1, 2)))
    array([[0.5, 0.5]])
    """

    def fit(self, K, codes, n_threads=1):
        """Learn to predict the codes from the kernel.

        Parameters
        ----------
        K : array (n, n)
            Kernel of the features among the training rows.
        codes : array (n, m)
            Their codes.
        n_threads : int
            Codes learned at the same time.

        Returns
        -------
        self
        """
        K, codes = _check(K, codes)
        self.dual_coef_, self.intercept_ = self._expand(K, codes, n_threads)
        return self

    def predict(self, K_new) -> np.ndarray:
        """Predicted codes (n_new, m); they need not lie in the simplex.

        Parameters
        ----------
        K_new : array (n_new, n)
            Kernel between the new rows and the training rows.
        """
        check_is_fitted(self)
        return K_new @ self.dual_coef_.T + self.intercept_

    def cross_fit(self, K, codes, folds, n_threads=1) -> np.ndarray:
        """Fit on all rows, and predict every row's code by a fit on the training rows of its fold.

        Parameters
        ----------
        K : array (n, n)
            Kernel of the features among the training rows.
        codes : array (n, m)
            Their codes.
        folds : sequence of (train, test)
            Index arrays; every row is in exactly one test part.
        n_threads : int
            Codes learned at the same time.

        Returns
        -------
        array (n, m)
            The out-of-fold predictions.
        """
        self.fit(K, codes, n_threads)
        K, codes = _check(K, codes)
        predicted = np.empty_like(codes)
        for train, test in folds:
            model = clone(self).fit(K[np.ix_(train, train)], codes[train], n_threads)
            predicted[test] = model.predict(K[np.ix_(test, train)])
        return predicted

    @abstractmethod
    def _expand(self, K, codes, n_threads) -> tuple[np.ndarray, np.ndarray]:
        """The coefficients (m, n) and intercepts (m,) for a kernel (n, n) and codes (n, m)."""


class CodeSVR(CodeRegressor):
    """An ε-support vector regression per code.

    Cross-fitting solves all folds on the one kernel matrix, the rows left out at cost 0, and starts from
    the fit on all rows.

    Parameters
    ----------
    C : float, default=1.0
        Cost of an error beyond ε.
    epsilon : float, default=0.1
        Errors up to this size are free.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.correlation import CodeSVR
    >>> codes = np.repeat(np.eye(2), 3, axis=0)
    >>> CodeSVR().fit(codes @ codes.T, codes).predict(codes @ codes.T)[0].round(2)
    array([0.9, 0.1])
    """

    def __init__(self, C=1.0, epsilon=0.1, tol=1e-3):
        self.C = C
        self.epsilon = epsilon
        self.tol = tol

    def _expand(self, K, codes, n_threads):
        solution = self._solve(K, codes.T, self.C, None, n_threads)
        return solution.coef, solution.bias

    def cross_fit(self, K, codes, folds, n_threads=1) -> np.ndarray:
        self.fit(K, codes, n_threads)
        K, codes = _check(K, codes)
        n, m = codes.shape
        costs = np.zeros((len(folds), n))
        for number, (train, _) in enumerate(folds):
            costs[number, train] = self.C
        fitted = self._solve(
            K,
            np.tile(codes.T, (len(folds), 1)),
            np.repeat(costs, m, axis=0),
            np.tile(self.dual_coef_, (len(folds), 1)),
            n_threads,
        ).fitted
        predicted = np.empty_like(codes)
        for number, (_, test) in enumerate(folds):
            predicted[test] = fitted[number * m : (number + 1) * m, test].T
        return predicted

    def _solve(self, K, targets, C, coef, n_threads):
        return solve_svrs(K, targets, C, self.epsilon, coef=coef, tol=self.tol, n_threads=n_threads)


class CodeRidge(CodeRegressor):
    """A kernel ridge regression with intercept per code: min ‖q_j − Kc − d‖² + α cᵀKc.

    As codes sum to 1, so do its predictions. Cross-fitting inverts one matrix for all folds.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty; must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.correlation import CodeRidge
    >>> codes = np.repeat(np.eye(2), 3, axis=0)
    >>> CodeRidge().fit(codes @ codes.T, codes).predict(codes @ codes.T)[0]
    array([0.875, 0.125])
    """

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def _expand(self, K, codes, n_threads):
        coef, intercept, _, _ = self._factor(K, codes)
        return coef, intercept

    def cross_fit(self, K, codes, folds, n_threads=1) -> np.ndarray:
        K, codes = _check(K, codes)
        everyone = np.arange(len(codes))
        if not all(np.array_equal(np.sort(np.concatenate(fold)), everyone) for fold in folds):
            return super().cross_fit(K, codes, folds, n_threads)
        self.dual_coef_, self.intercept_, cholesky, ones = self._factor(K, codes)
        inverse, _ = linalg.lapack.dpotri(cholesky, lower=True, overwrite_c=True)
        predicted = np.empty_like(codes)
        for _, test in folds:
            # With B the block of the rows left out in the inverse of the whole system, their residuals are
            # B⁻¹c. Only its lower triangle is there; in ascending order, so is the block's.
            rows = np.sort(test)
            block = inverse[np.ix_(rows, rows)] - np.outer(ones[rows], ones[rows]) / ones.sum()
            residuals = linalg.solve(block, self.dual_coef_[:, rows].T, lower=True, assume_a="pos")
            predicted[rows] = codes[rows] - residuals
        return predicted

    def _factor(self, K, codes):
        """Solve [K + αI, 1; 1ᵀ, 0] [c; d] = [q; 0]: c, d, the Cholesky factor of K + αI and (K + αI)⁻¹1."""
        if not self.alpha > 0:
            raise UserError(f"alpha is {self.alpha}; CodeRidge needs a positive penalty.")
        system = K.copy()
        system.flat[:: len(K) + 1] += self.alpha
        try:
            factor = linalg.cho_factor(system.T, lower=True, overwrite_a=True)
        except linalg.LinAlgError:
            raise UserError(
                f"The kernel is not positive semi-definite, even with alpha = {self.alpha} on its diagonal. "
                "Use regressor='svr', a larger alpha or another kernel."
            ) from None
        solved = linalg.cho_solve(factor, np.column_stack([codes, np.ones(len(codes))]))
        ones = solved[:, -1]
        intercept = solved[:, :-1].sum(axis=0) / ones.sum()
        coef = np.ascontiguousarray(solved[:, :-1].T) - intercept[:, None] * ones
        return coef, intercept, factor[0], ones


def get_regressor(regressor) -> CodeRegressor:
    """A fresh code regressor from its name or from one that serves as model.

    Parameters
    ----------
    regressor : {"svr", "ridge"} or CodeRegressor
        An instance is cloned, so that fitting does not change it.

    Examples
    --------
    >>> from mlspl.correlation import CodeSVR, get_regressor
    >>> get_regressor("ridge")
    CodeRidge()
    >>> get_regressor(CodeSVR(C=10.0))
    CodeSVR(C=10.0)
    """
    if isinstance(regressor, CodeRegressor):
        return clone(regressor)
    if regressor == "svr":
        return CodeSVR()
    if regressor == "ridge":
        return CodeRidge()
    raise UserError(f"regressor is {regressor!r}; give 'svr', 'ridge' or a CodeRegressor.")


def _check(K, codes) -> tuple[np.ndarray, np.ndarray]:
    K, codes = np.asarray(K, dtype=np.float64), np.asarray(codes, dtype=np.float64)
    if codes.ndim != 2 or K.shape != (len(codes), len(codes)):
        raise ValueError(f"K has shape {K.shape} and codes {codes.shape}; they must be (n, n) and (n, m).")
    return K, codes
