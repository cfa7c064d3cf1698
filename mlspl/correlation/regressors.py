"""Code regressors: predict the codes of instances without labels."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from mlspl.errors import UserError
from mlspl.spaces import Regression, Rows

__all__ = ["CodeRegressor", "CodeRidge", "CodeSVR", "cross_fit_codes", "get_regressor"]


class CodeRegressor(ABC, BaseEstimator):
    """Base class of regressions, one per code, in a space.

    A subclass implements `expand`. It may override `regress` where out-of-fold predictions need no fit per
    fold.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.correlation import CodeRegressor
    >>> from mlspl.spaces import Gram
    >>> class MeanCode(CodeRegressor):
    ...     def expand(self, rows, codes):
    ...         return np.zeros(codes.T.shape), codes.mean(axis=0)
    >>> rows, codes = Gram("precomputed").prepare(np.eye(3)), np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> MeanCode().regress(rows, codes, [([0, 1], [2]), ([1, 2], [0]), ([0, 2], [1])]).out_of_fold
    array([[0. , 1. ],
           [0.5, 0.5],
           [0.5, 0.5]])
    """

    _contents: ClassVar[dict[str, Any]] = {}

    @abstractmethod
    def expand(self, rows: Rows, codes) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (m, p) in the coordinates of the space and intercepts (m,) for codes (n, m).

        In a Gram space p = n, and code j of an instance x is Σ_i c_ji k(x, x_i) + d_j.
        """

    def regress(self, rows: Rows, codes, folds=None) -> Regression:
        """Fit on all rows and, given folds, predict every row's code out of fold.

        Parameters
        ----------
        rows : Rows
            The training rows in a space.
        codes : array (n, m)
            Their codes.
        folds : sequence of (train, test), optional
            Index arrays; every row is in exactly one test part.
        """
        coef, intercept = self.expand(rows, codes)
        if folds is None:
            return Regression(coef, intercept, None)
        predicted = np.empty_like(codes)
        for train, test in folds:
            inner, held_out = rows.split(train, test)
            predicted[test] = held_out.scores(*self.expand(inner, codes[train]))
        return Regression(coef, intercept, predicted)


class CodeSVR(CodeRegressor):
    """An ε-support vector regression per code.

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
    >>> from mlspl.spaces import Gram
    >>> codes = np.repeat(np.eye(2), 3, axis=0)
    >>> rows = Gram("linear").prepare(codes)
    >>> rows.make_model(*CodeSVR().expand(rows, codes)).scores(codes)[0].round(2)
    array([0.9, 0.1])
    """

    def __init__(self, C=1.0, epsilon=0.1, tol=1e-3):
        self.C = C
        self.epsilon = epsilon
        self.tol = tol

    def expand(self, rows, codes):
        """Coefficients and intercepts of the support vector regressions."""
        return self.regress(rows, codes)[:2]

    def regress(self, rows, codes, folds=None) -> Regression:
        """Fit all folds with warm starts from the fit on all rows."""
        return rows.svr(codes, self.C, self.epsilon, self.tol, folds)


class CodeRidge(CodeRegressor):
    """A ridge regression with intercept per code: min ‖q_j − f_j‖² + α‖w_j‖².

    Codes sum to 1, and so do its predictions. In a Gram space, all folds share one inverse matrix.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty; must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.correlation import CodeRidge
    >>> from mlspl.spaces import Gram
    >>> codes = np.repeat(np.eye(2), 3, axis=0)
    >>> rows = Gram("linear").prepare(codes)
    >>> rows.make_model(*CodeRidge().expand(rows, codes)).scores(codes)[0]
    array([0.875, 0.125])
    """

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def expand(self, rows, codes):
        """Coefficients and intercepts of the ridge regressions."""
        return self.regress(rows, codes)[:2]

    def regress(self, rows, codes, folds=None) -> Regression:
        """Fit all folds at once."""
        return rows.ridge(codes, self.alpha, folds)


def get_regressor(regressor) -> CodeRegressor:
    """A code regressor from its name, "svr" or "ridge", or a clone of the given one.

    Examples
    --------
    >>> get_regressor("ridge")
    CodeRidge()
    """
    if isinstance(regressor, CodeRegressor):
        return clone(regressor)
    if regressor == "svr":
        return CodeSVR()
    if regressor == "ridge":
        return CodeRidge()
    raise UserError(f"regressor is {regressor!r}; give 'svr', 'ridge' or a CodeRegressor.")


def cross_fit_codes(regressor, rows: Rows, codes, folds) -> Regression:
    """Fit a code regressor and predict the codes (n, m) of the training rows out of fold.

    Codes are made from the labels, so a classifier trained on them has its own target as a feature. Trained
    on out-of-fold predictions, it has the same features as at test time. `folds` are pairs of index arrays
    (train, test); every row must be in exactly one test part.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from mlspl.spaces import Gram
    >>> codes = np.tile(np.eye(2), (3, 1))
    >>> folds = list(KFold(3).split(codes))
    >>> cross_fit_codes("ridge", Gram("linear").prepare(codes), codes, folds).out_of_fold[0].round(3)
    array([0.833, 0.167])
    """
    folds = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    n = len(codes)
    tested = np.concatenate([test for _, test in folds]) if folds else np.empty(0)
    if not np.array_equal(np.sort(tested), np.arange(n)):
        raise UserError(f"The folds must test each of the {n} rows exactly once.")
    if any(len(train) == 0 or np.intersect1d(train, test).size for train, test in folds):
        raise UserError("A fold trains on no row at all, or on rows that it tests.")
    return get_regressor(regressor).regress(rows, codes, folds)
