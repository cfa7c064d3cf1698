"""Estimators whose scores are kernel expansions over the training rows."""

import numpy as np
from sklearn.utils import gen_batches

from mlspl.models.base import MultiLabelClassifier
from mlspl.models.calibrated import OutOfFoldProbabilitiesMixin
from mlspl.models.kernels import kernel_matrix, resolve_gamma
from mlspl.models.limits import FLOAT, Cost

__all__ = ["KernelMachine"]

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
        if not len(self.support_):
            return np.tile(self.intercept_, (X.shape[0], 1))
        scores = np.empty((X.shape[0], len(self.intercept_)))
        block_rows = max(1, _BLOCK_VALUES // len(self.support_))
        for block in gen_batches(X.shape[0], block_rows):
            if self.kernel == "precomputed":
                K = self._kernel(X[block], None)[:, self.support_]
            else:
                K = self._kernel(X[block], self.X_fit_)
            scores[block] = K @ self.dual_coef_.T + self.intercept_
        # Margins are of the order of 1. Their last digits are the order of summation, which differs between
        # machines and would break ties at random; ties count in rankings.
        return np.round(scores, 12)

    def _kernel(self, A, B) -> np.ndarray:
        return kernel_matrix(A, B, self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
