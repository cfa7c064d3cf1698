"""The space of any kernel, by the kernel matrix of all training rows."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from mlspl._docs import share
from mlspl._limits import check_memory
from mlspl._rounding import on_grid, significant
from mlspl.errors import UserError
from mlspl.solvers import solve_rank_svm, solve_svms, solve_svrs
from mlspl.spaces._kernels import ROUNDED, kernel_matrix, training_kernel
from mlspl.spaces.base import KernelSpace, Model, Regression, Rows, Solutions

# Kernel values computed at a time: 128 MiB keep BLAS busy.
_BLOCK_VALUES = 2**24


@share
@dataclass(frozen=True)
class Gram(KernelSpace):
    """Any kernel, exactly: memory grows as n², time between n²·L and n³·L.

    The functions are support vector machines with hinge loss; their coordinates are the dual coefficients.

    Parameters
    ----------
    {kernel}
    {tol}
    n_threads : int, default=1
        Labels solved at a time.
    """

    tol: float = 1e-3
    n_threads: int = 1

    def prepare(self, X, rows=None) -> "GramRows":
        """The rows X, or those with the indices `rows`, with their kernel matrix."""
        _check_matrices(1, X.shape[0] if rows is None else len(rows))
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(f"A precomputed kernel must be a square matrix; X has shape {X.shape}.")
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        if rows is not None:
            X = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
        kernel = self.kernel_options(X)
        return GramRows(self, training_kernel(X, **kernel), X, kernel, rows)


class GramRows(Rows):
    """Rows with their kernel matrix, and the codes that were joined to it."""

    def __init__(self, space, K, X=None, kernel=None, indices=None, codes=None):
        self.space = space
        self._K = K
        self._X = X
        self._kernel = kernel
        self._indices = np.arange(len(K)) if indices is None else np.asarray(indices)
        self._codes = np.empty((len(K), 0)) if codes is None else codes

    def split(self, train, test):
        """Copies of two blocks of the kernel matrix."""
        inner = GramRows(self.space, np.ascontiguousarray(self._K[np.ix_(train, train)]))
        K = self._K[np.ix_(test, train)]
        return inner, lambda coef, intercept: np.round(K @ coef.T + intercept, 12)

    def join(self, codes):
        """The kernel K + QQᵀ."""
        n = len(self._K)
        _check_matrices(2, n)
        joint = np.empty((n, n))
        # Not all rows at once: OpenBLAS crashes, see `_kernels._TILE_ROWS`.
        for rows in gen_batches(n, max(1, min(n - 1, ROUNDED // n))):
            joint[rows] = on_grid(codes[rows] @ codes.T) + self._K[rows]
        return GramRows(self.space, joint, codes=codes)

    def solve(self, signs, costs, warm_start=None) -> Solutions:
        """One weighted SVM per label, with LIBSVM's optimum."""
        costs = significant(costs)
        start = None
        if warm_start is not None:
            costs_before, before = warm_start
            # Variables at their bound start at the new bound.
            at_bound = (np.abs(before) >= (1.0 - 1e-9) * costs_before) & (costs_before > 0)
            start = np.where(at_bound, np.copysign(np.inf, before), before)
        options = {"tol": self.space.tol, "n_threads": self.space.n_threads}
        solution = solve_svms(self._K, signs, costs, start=start, **options)
        codes = self._codes.T @ solution.coef.T
        return Solutions(solution.coef, solution.bias, codes, solution.scores.T, (costs, solution.coef))

    def loss(self, signs, scores) -> np.ndarray:
        """The hinge."""
        return np.maximum(0.0, 1.0 - signs * scores)

    def rank(self, signed_weight, **options):
        """The ranking functions of `solve_rank_svm`."""
        return solve_rank_svm(self._K, signed_weight, **options)

    def regress(self, targets, regressor, folds=None) -> Regression:
        """Folds are fitted on their own blocks of the kernel matrix."""
        if regressor == "ridge":
            coef, intercept = _fit_ridge(self._K, targets)
        else:  # with C = 1 and ε = 0.1
            options = {"tol": self.space.tol, "n_threads": self.space.n_threads}
            coef, intercept, *_ = solve_svrs(self._K, targets.T, **options)
        if folds is None:
            return Regression(coef, intercept, None)
        predicted = np.empty(targets.shape)
        for train, test in folds:
            inner, score = self.split(train, test)
            predicted[test] = score(*inner.regress(targets[train], regressor)[:2])
        return Regression(coef, intercept, predicted)

    def squared_norm(self, coef, scores) -> float:
        """Σ_l β_lᵀ K β_l, as the scores are Kβ."""
        return float(np.sum(coef.T * scores))

    def make_model(self, coef, intercept) -> "KernelExpansion":
        """The expansion over the rows that have a coefficient."""
        support = np.flatnonzero(coef.any(axis=0))
        X = None if self._kernel["kernel"] == "precomputed" else self._X[support]
        kept = np.ascontiguousarray(coef[:, support])
        return KernelExpansion(self._indices[support], X, kept, intercept, **self._kernel)


class KernelExpansion(Model):
    """f_l(x) = Σ_i coef_li k(x, x_i) + ⟨linear_l, x⟩ + b_l over the rows `X` with the indices `support`."""

    _contents = {
        "support": "int (support)",
        "X": "rows (support, columns)?",
        "coef": "float (labels, support)",
        "intercept": "float (labels)",
        "gamma": "float?",
        "linear": "float (labels, columns)?",
    }

    def __init__(self, support, X, coef, intercept, kernel, gamma, linear=None):
        self.support, self.X, self.coef, self.intercept = support, X, coef, intercept
        self.kernel, self.gamma, self.linear = kernel, gamma, linear

    def scores(self, X) -> np.ndarray:
        """Scores (n, L), a block of rows at a time."""
        if not len(self.support):
            return np.tile(self.intercept, (X.shape[0], 1))
        scores = np.empty((X.shape[0], len(self.intercept)))
        for block in gen_batches(X.shape[0], max(1, _BLOCK_VALUES // len(self.support))):
            values = kernel_matrix(X[block], self.X, self.kernel, self.gamma)
            values = values[:, self.support] if self.X is None else values
            scores[block] = values @ self.coef.T + self.intercept
            if self.linear is not None:
                scores[block] += X[block] @ self.linear.T
        # The last digits depend on the order of summation, which differs between machines: ties stay ties.
        return np.round(scores, 12)


def _fit_ridge(K, targets) -> tuple[np.ndarray, np.ndarray]:
    """Min ‖t − Kc − d‖² + cᵀKc for every column t of targets: [K + I, 1; 1ᵀ, 0] [c; d] = [t; 0]."""
    _check_matrices(2, len(K))
    system = K.copy()
    system.flat[:: len(K) + 1] += 1.0
    try:
        factor = linalg.cho_factor(system.T, lower=True, overwrite_a=True)
    except linalg.LinAlgError:
        raise UserError(
            "The kernel is not positive semi-definite. Use regressor='svr' or another kernel."
        ) from None
    solved = linalg.cho_solve(factor, np.column_stack([targets, np.ones(len(targets))]))
    ones = solved[:, -1]
    intercept = solved[:, :-1].sum(axis=0) / ones.sum()
    return np.ascontiguousarray(solved[:, :-1].T) - intercept[:, None] * ones, intercept


def _check_matrices(n_matrices, n_rows) -> None:
    check_memory(
        8.0 * n_matrices * n_rows**2,
        f"Kernel matrices ({n_matrices}) of {n_rows:,} rows",
        "Use space='nystroem' or space='linear', MLkNNClassifier, or fewer rows.",
    )
