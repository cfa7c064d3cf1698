"""Code regressors: predict the codes of instances without labels."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator, clone

from mlspl.errors import UserError
from mlspl.spaces import Regression, Rows

__all__ = ["CodeRegressor", "CodeRidge", "CodeSVR", "get_regressor"]


class CodeRegressor(ABC, BaseEstimator):
    """Base class of regressions, one per code, in a space."""

    _contents: ClassVar[dict[str, Any]] = {}

    @abstractmethod
    def regress(self, rows: Rows, codes, folds=None) -> Regression:
        """Fit codes (n, m) on all rows and, given folds (train, test) that partition them, out of fold."""


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
    """

    def __init__(self, C=1.0, epsilon=0.1, tol=1e-3):
        self.C = C
        self.epsilon = epsilon
        self.tol = tol

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
    """

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def regress(self, rows, codes, folds=None) -> Regression:
        """Fit all folds at once."""
        return rows.ridge(codes, self.alpha, folds)


def get_regressor(regressor) -> CodeRegressor:
    """A code regressor from its name, "svr" or "ridge", or a clone of the given one."""
    if isinstance(regressor, CodeRegressor):
        return clone(regressor)
    if regressor not in ("svr", "ridge"):
        raise UserError(f"regressor is {regressor!r}; give 'svr', 'ridge' or a CodeRegressor.")
    return CodeSVR() if regressor == "svr" else CodeRidge()
