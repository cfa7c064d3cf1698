"""The space of any kernel, by the n×n matrix of its values."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils import gen_batches

from mlspl._limits import FLOAT, Cost
from mlspl._rounding import on_grid, significant
from mlspl.errors import UserError
from mlspl.solvers import get_svm_solver, solve_rank_svm, solve_svrs
from mlspl.spaces._kernels import ROUNDED, kernel_matrix, resolve_gamma, training_kernel
from mlspl.spaces._losses import pair_losses
from mlspl.spaces.base import HeldOut, Machines, Model, Regression, Rows, Space

__all__ = ["Gram", "GramRows", "KernelExpansion"]

# 128 MiB of kernel values at a time are enough to keep BLAS busy.
_BLOCK_VALUES = 2**24
# Steps of a pace are of similar length; further than this, the last one tells nothing.
_FURTHEST = 3.0


@dataclass(frozen=True)
class Gram(Space):
    """The features of a kernel: exact, with memory that grows as n² and time between n²·L and n³·L.

    Machines are support vector machines with hinge loss, their coordinates the dual coefficients.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        The kernel of the features, which should be scaled.
    gamma : {"scale", "auto"} or float, default="scale"
        "auto" is 1/d, "scale" is 1/(d·variance).
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    solver : {"auto", "libsvm"}, default="auto"
        "libsvm" is slower, and a reference.
    tol : float, default=1e-3
        Largest violation of the machines' optimality conditions.
    n_threads : int, default=1
        Labels solved at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.spaces import Gram
    >>> rows = Gram("linear").place(np.array([[-2.0], [-1.0], [1.0], [2.0]]))
    >>> machines = rows.solve(np.array([[-1.0, -1.0, 1.0, 1.0]]), np.ones((1, 4)))
    >>> rows.keep(machines.coef, machines.intercept).scores(np.array([[3.0]])).round(3)
    array([[3.]])
    """

    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0
    solver: str = "auto"
    tol: float = 1e-3
    n_threads: int = 1

    def place(self, X, rows=None) -> "GramRows":
        """The rows X, or some of them by their numbers, with the kernel matrix among them."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel must be a square matrix; X has shape {X.shape}. "
                "Give kernel values between the training rows."
            )
        X = X if X.dtype == np.float64 else X.astype(np.float64)
        if rows is not None:
            X = X[np.ix_(rows, rows)] if self.kernel == "precomputed" else X[rows]
        gamma = resolve_gamma(self.gamma, X) if self.kernel in ("rbf", "poly") else None
        kernel = {"kernel": self.kernel, "gamma": gamma, "degree": self.degree, "coef0": self.coef0}
        return GramRows(self, training_kernel(X, **kernel), X, kernel, rows)

    def cost(self, size, copies=0.0) -> Cost:
        """Kernel matrices; a machine is fitted in about n^2.5 for some thousand rows."""
        return Cost((1.0 + copies) * FLOAT * size.rows**2, 1e-10 * size.rows**2.5 * size.labels)


class GramRows(Rows):
    """Rows with the kernel matrix among them, and codes that were joined to it."""

    def __init__(self, space, K, X=None, kernel=None, numbers=None, codes=None):
        self.space = space
        self.n_threads = space.n_threads
        self._K = K
        self._X = X
        self._kernel = kernel
        self._numbers = np.arange(len(K)) if numbers is None else np.asarray(numbers)
        self._codes = np.empty((len(K), 0)) if codes is None else codes

    def __len__(self) -> int:
        return len(self._K)

    def split(self, train, test):
        """Copies of two blocks of the kernel matrix."""
        inner = GramRows(self.space, np.ascontiguousarray(self._K[np.ix_(train, train)]))
        return inner, _HeldOutBlock(self._K[np.ix_(test, train)])

    def join(self, codes):
        """The kernel K + QQᵀ."""
        n = len(self)
        joint = np.empty((n, n))
        # Never all rows at once, which is what kills OpenBLAS: see the tiles of the kernel.
        for rows in gen_batches(n, max(1, min(n - 1, ROUNDED // n))):
            joint[rows] = on_grid(codes[rows] @ codes.T) + self._K[rows]
        return GramRows(self.space, joint, codes=codes)

    def solve(self, signs, costs, start=None) -> Machines:
        """A weighted support vector machine per label, LIBSVM's optimum."""
        solve = get_svm_solver(self.space.solver)
        costs = significant(costs)
        solution = solve(
            self._K,
            signs,
            costs,
            alpha=None if start is None else start.start_at(costs),
            tol=self.space.tol,
            n_threads=self.space.n_threads,
        )
        coef = solution.alpha * signs
        code_weights = self._codes.T @ coef.T
        before = None if start is None else (start.costs, start.alpha)
        past = _Past(costs, solution.alpha, solution.warm_start, before)
        return Machines(coef, solution.bias, code_weights, solution.decision.T, past)

    def loss(self, signs, scores) -> np.ndarray:
        """The hinge."""
        return pair_losses("hinge", signs, scores)

    @property
    def diagonal(self) -> np.ndarray:
        """Squared lengths (n,) of the rows."""
        return self._K.diagonal()

    def rank(self, signed_weight, **options):
        """The ranking machines of :func:`mlspl.solvers.solve_rank_svm`."""
        return solve_rank_svm(self._K, signed_weight, **options)

    def ridge(self, targets, alpha, folds=None) -> Regression:
        """Kernel ridge regressions; folds that leave out no other row share one inverse matrix."""
        coef, intercept, cholesky, ones = _factor(self._K, targets, alpha)
        if folds is None:
            return Regression(coef, intercept, None)
        everyone = np.arange(len(targets))
        predicted = np.empty_like(targets)
        if not all(np.array_equal(np.sort(np.concatenate(fold)), everyone) for fold in folds):
            for train, test in folds:
                inner, held_out = self.split(train, test)
                predicted[test] = held_out.scores(*inner.ridge(targets[train], alpha)[:2])
            return Regression(coef, intercept, predicted)
        inverse, _ = linalg.lapack.dpotri(cholesky, lower=True, overwrite_c=True)
        for _, test in folds:
            # With B the block of the rows left out in the inverse of the whole system, their residuals are
            # B⁻¹c. Only its lower triangle is there; in ascending order, so is the block's.
            rows = np.sort(test)
            block = inverse[np.ix_(rows, rows)] - np.outer(ones[rows], ones[rows]) / ones.sum()
            residuals = linalg.cho_solve(linalg.cho_factor(block, lower=True), coef[:, rows].T)
            predicted[rows] = targets[rows] - residuals
        return Regression(coef, intercept, predicted)

    def svr(self, targets, C, epsilon, tol, folds=None) -> Regression:
        """All folds at once on the one kernel matrix, rows left out at cost 0, from the fit on all rows."""
        options = {"tol": tol, "n_threads": self.space.n_threads}
        whole = solve_svrs(self._K, targets.T, C, epsilon, **options)
        if folds is None:
            return Regression(whole.coef, whole.bias, None)
        n, m = targets.shape
        costs = np.zeros((len(folds), n))
        for number, (train, _) in enumerate(folds):
            costs[number, train] = C
        fitted = solve_svrs(
            self._K,
            np.tile(targets.T, (len(folds), 1)),
            np.repeat(costs, m, axis=0),
            epsilon,
            coef=np.tile(whole.coef, (len(folds), 1)),
            **options,
        ).fitted
        predicted = np.empty_like(targets)
        for number, (_, test) in enumerate(folds):
            predicted[test] = fitted[number * m : (number + 1) * m, test].T
        return Regression(whole.coef, whole.bias, predicted)

    def squared_norm(self, coef, scores) -> float:
        """Σ_l β_lᵀ K β_l, as the scores are Kβ."""
        return float(np.sum(coef.T * scores))

    def keep(self, coef, intercept) -> "KernelExpansion":
        """The expansion over the rows that have a coefficient."""
        support = np.flatnonzero(coef.any(axis=0))
        kept = coef if len(support) == coef.shape[1] else np.ascontiguousarray(coef[:, support])
        X = None if self._kernel["kernel"] == "precomputed" else self._X
        if X is not None and len(support) < len(self):
            X = X[support]
        return KernelExpansion(self._numbers[support], X, kept, intercept, **self._kernel)


class _Past(NamedTuple):
    """Machines at some costs, where to start at others, and from which costs and alpha they came."""

    costs: np.ndarray
    alpha: np.ndarray
    warm_start: np.ndarray
    before: tuple[np.ndarray, np.ndarray] | None

    def start_at(self, costs) -> np.ndarray:
        """Alpha as it would be if it went on as it came, as far as the costs go on; a pace is such a way."""
        if self.before is None:
            return self.warm_start
        way, moved = self.costs - self.before[0], self.alpha - self.before[1]
        along, length = np.sum(way * (costs - self.costs), axis=1), np.sum(way * way, axis=1)
        further = np.divide(along, length, out=np.zeros(len(way)), where=length > 0)
        return self.warm_start + significant(np.clip(further, 0.0, _FURTHEST))[:, None] * moved


class _HeldOutBlock(HeldOut):
    """Rows left out, by their kernel values with the others."""

    def __init__(self, K):
        self._K = K

    def scores(self, coef, intercept) -> np.ndarray:
        return np.round(self._K @ coef.T + intercept, 12)


class KernelExpansion(Model):
    """f_l(x) = Σ_i coef_li k(x, x_i) + b_l over the training rows that have a coefficient.

    Parameters
    ----------
    support : int array (s,)
        Which of the training rows those are.
    X : array or CSR matrix (s, d), or None
        These rows; None for a precomputed kernel.
    coef, intercept : arrays (L, s) and (L,)
        Coefficients and biases.
    kernel, gamma, degree, coef0
        The kernel, γ being a number.
    """

    _contents = {
        "support": "int (support)",
        "X": "rows (support, columns)?",
        "coef": "float (labels, support)",
        "intercept": "float (labels)",
        "gamma": "float?",
        "degree": "number",
        "coef0": "number",
    }

    def __init__(self, support, X, coef, intercept, kernel, gamma, degree, coef0):
        self.support = support
        self.X = X
        self.coef = coef
        self.intercept = intercept
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def scores(self, X) -> np.ndarray:
        """Scores (n, L), a block of rows at a time."""
        if not len(self.support):
            return np.tile(self.intercept, (X.shape[0], 1))
        scores = np.empty((X.shape[0], len(self.intercept)))
        for block in gen_batches(X.shape[0], max(1, _BLOCK_VALUES // len(self.support))):
            scores[block] = self._kernel_values(X[block]) @ self.coef.T + self.intercept
        # Margins are of the order of 1. Their last digits are the order of summation, which differs between
        # machines and would break ties at random; ties count in rankings.
        return np.round(scores, 12)

    def _kernel_values(self, X) -> np.ndarray:
        options = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        values = kernel_matrix(X, self.X, self.kernel, **options)
        return values[:, self.support] if self.X is None else values


def _factor(K, targets, alpha):
    """Solve [K + αI, 1; 1ᵀ, 0] [c; d] = [t; 0]: c, d, the Cholesky factor of K + αI and (K + αI)⁻¹1."""
    if not alpha > 0:
        raise UserError(f"alpha is {alpha}; ridge regression needs a positive penalty.")
    system = K.copy()
    system.flat[:: len(K) + 1] += alpha
    try:
        factor = linalg.cho_factor(system.T, lower=True, overwrite_a=True)
    except linalg.LinAlgError:
        raise UserError(
            f"The kernel is not positive semi-definite, even with alpha = {alpha} on its diagonal. "
            "Use regressor='svr', a larger alpha or another kernel."
        ) from None
    solved = linalg.cho_solve(factor, np.column_stack([targets, np.ones(len(targets))]))
    ones = solved[:, -1]
    intercept = solved[:, :-1].sum(axis=0) / ones.sum()
    coef = np.ascontiguousarray(solved[:, :-1].T) - intercept[:, None] * ones
    return coef, intercept, factor[0], ones
