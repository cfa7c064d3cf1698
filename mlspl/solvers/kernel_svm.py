"""Many weighted support vector machines or regressions on one shared kernel matrix."""

from dataclasses import dataclass

import numpy as np
from numba import config

from mlspl.solvers.smo import solve_dual
from mlspl.solvers.threads import read_only, run_threads

__all__ = ["SVMSolution", "SVRSolution", "solve_svms", "solve_svrs"]

_FEW_ROWS = 256


@dataclass(frozen=True)
class SVMSolution:
    """Result of `solve_svms`, one row per label.

    Dual variables `alpha` (L, n) and biases: scores of new rows are ``K_new @ (alpha[l] * Y[l]) + bias[l]``.
    `bounded` is where alpha has reached its cost C > 0, `decision` (L, n) the scores of the training rows.
    The primal objective is at most `gap` above its minimum. `violation` is the largest one of the optimality
    conditions (LIBSVM's criterion), `n_iter` the number of pair steps.
    """

    alpha: np.ndarray
    bias: np.ndarray
    bounded: np.ndarray
    decision: np.ndarray
    objective: np.ndarray
    gap: np.ndarray
    violation: np.ndarray
    n_iter: np.ndarray

    @property
    def warm_start(self) -> np.ndarray:
        """A start at other costs: `alpha`, but infinite where `bounded`, to start at the new cost."""
        return np.where(self.bounded, np.inf, self.alpha)


@dataclass(frozen=True)
class SVRSolution:
    """Result of `solve_svrs`, one row per regression: predictions are ``K_new @ coef + bias``.

    `fitted` (m, n) are the predictions of all rows, those of cost 0 included; `objective` is the dual one.
    `violation` and `n_iter` as in `SVMSolution`.
    """

    coef: np.ndarray
    bias: np.ndarray
    fitted: np.ndarray
    objective: np.ndarray
    violation: np.ndarray
    n_iter: np.ndarray


def solve_svms(
    K: np.ndarray,
    Y: np.ndarray,
    C: float | np.ndarray = 1.0,
    *,
    alpha: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    n_threads: int | None = None,
) -> SVMSolution:
    """Fit one soft-margin SVM per label, with a cost for every pair of label and instance.

    For each label, min over w and b of ½‖w‖² + Σ_i C_i max(0, 1 − y_i(⟨w, φ(x_i)⟩ + b)): LIBSVM's problem and
    optimum. A label whose instances of positive cost are all of one class has the constant score of that
    class, +1 or −1, and 0 if there are none.

    Parameters
    ----------
    K : array (n, n)
        Symmetric kernel matrix. For an indefinite one the result meets the optimality conditions.
    Y : array (L, n)
        The labels, +1 or −1.
    C : float or array broadcastable to (L, n)
        Cost of a unit of hinge loss. A pair of cost 0 is left out and has alpha 0.
    alpha : array (L, n), optional
        Where to start, for instance the ``warm_start`` of a solution with other costs or another kernel.
    tol : float
        Stop when no pair of instances violates the optimality conditions by more.
    max_iter : int
        Most pair steps per label.
    n_threads : int, optional
        Labels solved at the same time; by default as many as numba may use. The result does not depend on it.
    """
    K, Y, costs = _check(K, Y, C, tol)
    if not np.all(np.abs(Y) == 1):
        raise ValueError("Y must hold only +1 and −1.")
    n_positive, n_negative = ((costs > 0) & (Y > 0)).sum(axis=1), ((costs > 0) & (Y < 0)).sum(axis=1)
    start = np.zeros(Y.shape) if alpha is None else np.clip(_check_start(alpha, costs), 0.0, costs)
    start[(n_positive == 0) | (n_negative == 0)] = 0.0
    signed = Y * costs
    bounds = read_only(np.minimum(signed, 0.0)), read_only(np.maximum(signed, 0.0))
    # Hard labels first, so that no thread is left with one when the others have finished.
    order = np.argsort(-np.minimum(n_positive, n_negative), kind="stable")
    beta, fitted, summary = _solve(K, Y, bounds, 0.0, Y * start, order, tol, max_iter, n_threads)
    alpha, bias = np.abs(beta), summary[:, 0].copy()
    decision = fitted + bias[:, None]
    squared_norm = np.sum(beta * fitted, axis=1)
    loss = np.sum(costs * np.maximum(0.0, 1.0 - Y * decision), axis=1)
    return SVMSolution(
        alpha=alpha,
        bias=bias,
        bounded=(alpha >= (1.0 - 1e-9) * costs) & (costs > 0),
        decision=decision,
        objective=squared_norm / 2 + loss,
        gap=squared_norm + loss - alpha.sum(axis=1),
        violation=summary[:, 1].copy(),
        n_iter=summary[:, 2].astype(np.int64),
    )


def solve_svrs(
    K: np.ndarray,
    targets: np.ndarray,
    C: float | np.ndarray = 1.0,
    epsilon: float = 0.1,
    *,
    coef: np.ndarray | None = None,
    tol: float = 1e-3,
    max_iter: int = 10_000_000,
    n_threads: int | None = 1,
) -> SVRSolution:
    """Fit m ε-support vector regressions that share a kernel matrix: LIBSVM's problem in β = α − α*.

    Each minimises ½βᵀKβ − tᵀβ + ε‖β‖₁ subject to Σβ_i = 0, −C_i ≤ β_i ≤ C_i.

    Parameters
    ----------
    K : array (n, n)
        Symmetric kernel matrix.
    targets : array (m, n)
        One row of targets per regression.
    C : float or array broadcastable to (m, n)
        Cost of an error beyond ε. An instance of cost 0 is left out; `fitted` has its prediction.
    epsilon : float
        Errors up to this size are free.
    coef : array (m, n), optional
        Where to start, for instance the solution of a similar problem.
    tol, max_iter, n_threads
        As in `solve_svms`.
    """
    K, targets, costs = _check(K, targets, C, tol)
    if not np.isfinite(targets).all():
        raise ValueError("The targets contain NaN or infinite values.")
    start = np.zeros(targets.shape) if coef is None else np.clip(_check_start(coef, costs), -costs, costs)
    bounds, order = (read_only(-costs), costs), np.arange(len(targets))
    coef, fitted, summary = _solve(K, targets, bounds, float(epsilon), start, order, tol, max_iter, n_threads)
    objective = np.sum(coef * (fitted / 2 - targets), axis=1) + epsilon * np.abs(coef).sum(axis=1)
    bias = summary[:, 0].copy()
    violation, n_iter = summary[:, 1].copy(), summary[:, 2].astype(np.int64)
    return SVRSolution(coef, bias, fitted + bias[:, None], objective, violation, n_iter)


def _solve(K, targets, bounds, epsilon, beta, order, tol, max_iter, n_threads) -> tuple:
    """Solve all problems in this order; returns β, Kβ and (intercept, violation, steps) of each."""
    n_threads = config.NUMBA_NUM_THREADS if n_threads is None else n_threads  # type: ignore[attr-defined]
    if n_threads < 1:
        raise ValueError(f"n_threads is {n_threads}; give at least 1.")
    fitted, summary, stop = np.empty(targets.shape), np.empty((len(targets), 3)), np.zeros(1, dtype=np.bool_)
    given = (K, read_only(K.diagonal()), targets, *bounds, epsilon, float(tol), int(max_iter), stop)
    calls = [(which, *given, beta, fitted, summary) for which in order]
    # Starting threads takes longer than most problems of few rows.
    few = targets.shape[1] <= _FEW_ROWS
    run_threads(solve_dual, calls, 1 if few else n_threads, None if few else stop)
    if not np.isfinite(fitted).all():
        raise ValueError("K contains NaN or infinite values. Clean the features or the kernel function.")
    return beta, fitted, summary


def _check(K, targets, C, tol) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kernel matrix, targets and costs of the right shapes and values, as compiled code takes them."""
    K, targets = read_only(K), read_only(targets)
    if targets.ndim != 2 or K.shape != (targets.shape[1], targets.shape[1]):
        raise ValueError(
            f"K has shape {K.shape}, the targets have {targets.shape}; give (n, n) and one row per problem."
        )
    # Other values of K show in the fitted values, which `_solve` checks.
    if not np.isfinite(K.diagonal()).all():
        raise ValueError("K contains NaN or infinite values. Clean the features or the kernel function.")
    costs = read_only(np.broadcast_to(np.asarray(C, dtype=np.float64), targets.shape))
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("C must be finite and not negative; 0 leaves a pair out.")
    if not tol > 0:
        raise ValueError(f"tol is {tol}; give a positive number.")
    return K, targets, costs


def _check_start(start, costs) -> np.ndarray:
    start = np.asarray(start, dtype=np.float64)
    if start.shape != costs.shape or np.isnan(start).any():
        raise ValueError(f"The start has shape {start.shape} or contains NaN; give shape {costs.shape}.")
    return start
