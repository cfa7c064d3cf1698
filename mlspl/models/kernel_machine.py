"""Estimators whose scores are kernel expansions over the training rows."""

import numpy as np
from sklearn.utils import gen_batches

from mlspl.models._base import MultiLabelClassifier
from mlspl.models._calibrated import OutOfFoldProbabilitiesMixin
from mlspl.models._limits import FLOAT, Cost
from mlspl.models.kernels import kernel_matrix, resolve_gamma

__all__ = ["KernelMachine", "expansion_scores"]

# 128 MiB of kernel values at a time are enough to keep BLAS busy.
_BLOCK_VALUES = 2**24


class KernelMachine(OutOfFoldProbabilitiesMixin, MultiLabelClassifier):
    """Base of the estimators with ``kernel``, ``gamma``, ``degree`` and ``coef0``.

    One kernel matrix serves all labels. A subclass's ``_fit`` asks for it with ``_training_kernel`` and
    leaves the model with ``_keep_expansion``: f_l(x) = Σ_i coef_li k(x, x_i) + b_l.
    """

    def _cost(self, size):
        """The kernel matrix; a machine is fitted in about n^2.5 for some thousand rows."""
        data = super()._cost(size).bytes
        return Cost(data + FLOAT * size.rows**2, 1e-10 * size.rows**2.5 * size.labels)

    def _training_kernel(self, X) -> np.ndarray:
        """The kernel among the training rows; settles ``gamma_``."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel must be a square matrix; X has shape {X.shape}. "
                "Give kernel values between the training rows."
            )
        self.gamma_ = resolve_gamma(self.gamma, X) if self.kernel in ("rbf", "poly") else None
        return self._kernel(X, X)

    def _keep_expansion(self, X, coef, intercept) -> None:
        """Remember the expansion, and of the training rows those with a coefficient."""
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self.dual_coef_ = np.ascontiguousarray(coef[:, self.support_])
        self.intercept_ = intercept
        self.X_fit_ = None if self.kernel == "precomputed" else X[self.support_]

    def _scores(self, X) -> np.ndarray:
        return expansion_scores(X, self._support_kernel, self.dual_coef_, self.intercept_)

    def _support_kernel(self, X) -> np.ndarray:
        if self.kernel == "precomputed":
            return self._kernel(X, None)[:, self.support_]
        return self._kernel(X, self.X_fit_)

    def _kernel(self, A, B) -> np.ndarray:
        return kernel_matrix(A, B, self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def expansion_scores(X, kernel, coef, intercept) -> np.ndarray:
    """Scores (n, L) of a kernel expansion, a block of rows at a time.

    Parameters
    ----------
    X : array or CSR matrix (n, d)
        The rows.
    kernel : callable
        Gives the kernel (b, m) of b rows of X and the m rows that the expansion is over.
    coef : array (L, m)
        The coefficients.
    intercept : array (L,)
        The offsets.
    """
    if not coef.shape[1]:
        return np.tile(intercept, (X.shape[0], 1))
    scores = np.empty((X.shape[0], len(intercept)))
    for block in gen_batches(X.shape[0], max(1, _BLOCK_VALUES // coef.shape[1])):
        scores[block] = kernel(X[block]) @ coef.T + intercept
    # Margins are of the order of 1. Their last digits are the order of summation, which differs between
    # machines and would break ties at random; ties count in rankings.
    return np.round(scores, 12)
