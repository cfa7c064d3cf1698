"""Many weighted support vector machines or regressions on one shared kernel matrix."""

from typing import NamedTuple

import numpy as np

from mlspl.solvers.smo import solve_duals
from mlspl.solvers.threads import check_costs, read_only, run_threads

_FEW_ROWS = 512


class KernelSolution(NamedTuple):
    """One row per problem: scores of new rows are ``K_new @ coef[l] + bias[l]``.

    `violation` is the largest one of the optimality conditions, `n_iter` the number of pair steps.
    """

    coef: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    violation: np.ndarray
    n_iter: np.ndarray


def solve_svms(K, Y, C=1.0, *, start=None, tol=1e-3, max_iter=10_000_000, n_threads=1) -> KernelSolution:
    """Fit one soft-margin SVM per label, with a cost for every pair of label and instance.

    For each label, min over w and b of ½‖w‖² + Σ_i C_i max(0, 1 − y_i(⟨w, φ(x_i)⟩ + b)): LIBSVM's problem and
    optimum, in β_i = y_i α_i. A label whose instances of positive cost are all of one class has the constant
    score of that class, +1 or −1, and 0 if there are none.

    K (n, n) is symmetric; for an indefinite one the result meets the optimality conditions. Y (L, n) is +1 or
    −1. C is a number or an array (L, n); a pair of cost 0 is left out. `start` (L, n) is the β to start from,
    moved within its bounds. Stops when no pair violates the optimality conditions by more than `tol`, or
    after `max_iter` pair steps. `n_threads` labels are solved at a time.
    """
    K, Y, costs = _check(K, Y, C)
    n_positive, n_negative = ((costs > 0) & (Y > 0)).sum(axis=1), ((costs > 0) & (Y < 0)).sum(axis=1)
    signed = Y * costs
    bounds = np.minimum(signed, 0.0), np.maximum(signed, 0.0)
    beta = np.zeros(Y.shape) if start is None else np.clip(start, *bounds)
    smaller_class = np.minimum(n_positive, n_negative)
    beta[smaller_class == 0] = 0.0
    # Hard labels first, so that no thread is left with one when the others have finished.
    order = np.argsort(-smaller_class, kind="stable")
    return _solve(K, Y, bounds, 0.0, beta, order, tol, max_iter, n_threads)


def solve_svrs(
    K, targets, C=1.0, epsilon=0.1, *, start=None, tol=1e-3, max_iter=10_000_000, n_threads=1
) -> KernelSolution:
    """Fit m ε-support vector regressions that share a kernel matrix: LIBSVM's problem in β = α − α*.

    Each minimises ½βᵀKβ − tᵀβ + ε‖β‖₁ subject to Σβ_i = 0, −C_i ≤ β_i ≤ C_i, for a row t of the targets
    (m, n). An instance of cost 0 is left out; `scores` has its prediction. Parameters as in `solve_svms`.
    """
    K, targets, costs = _check(K, targets, C)
    beta = np.zeros(targets.shape) if start is None else np.clip(start, -costs, costs)
    order = np.arange(len(targets))
    return _solve(K, targets, (-costs, costs), float(epsilon), beta, order, tol, max_iter, n_threads)


def _solve(K, targets, bounds, epsilon, beta, order, tol, max_iter, n_threads) -> KernelSolution:
    """Solve all problems in this order."""
    fitted, summary, stop = np.empty(targets.shape), np.empty((len(targets), 3)), np.zeros(1, dtype=np.bool_)
    vectors = (read_only(K.diagonal()), targets, *map(read_only, bounds))
    given = (K, *vectors, epsilon, float(tol), int(max_iter), stop)
    # Starting threads takes longer than most problems of few rows.
    few = targets.shape[1] <= _FEW_ROWS
    parts = [order] if few or n_threads == 1 else np.split(order, len(order))
    calls = [(part, *given, beta, fitted, summary) for part in parts]
    run_threads(solve_duals, calls, n_threads, None if few else stop)
    if not np.isfinite(fitted).all():
        raise ValueError("K contains NaN or infinite values. Clean the features or the kernel function.")
    bias, violation, n_iter = summary.T.copy()
    return KernelSolution(beta, bias, fitted + bias[:, None], violation, n_iter.astype(np.int64))


def _check(K, targets, C) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kernel matrix, targets and costs as compiled code takes them."""
    K, targets = read_only(K), read_only(targets)
    if targets.ndim != 2 or K.shape != (targets.shape[1], targets.shape[1]):
        raise ValueError(
            f"K has shape {K.shape}, the targets have {targets.shape}; give (n, n) and one row per problem."
        )
    # Other values of K show in the fitted values, which `_solve` checks.
    if not np.isfinite(K.diagonal()).all():
        raise ValueError("K contains NaN or infinite values. Clean the features or the kernel function.")
    return K, targets, check_costs(C, targets.shape)
