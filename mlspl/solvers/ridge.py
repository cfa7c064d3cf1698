"""Ridge regressions on dense rows, all folds at once, from the products of the features with each other."""

import numpy as np
from scipy.linalg import solve

from mlspl.solvers.threads import one_library_thread, run_threads

__all__ = ["solve_ridge"]

_BLOCK_ROWS = 4096


def solve_ridge(X, targets, alpha, folds, n_threads=1) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Minimise ‖t − X w − b‖² + α‖w‖² for every column t of `targets`, on all rows and without each fold.

    `folds` are None or pairs (train, test) whose test parts partition the rows. Takes d² numbers a fold and
    n·d² operations, however many targets there are. Returns coefficients (m, d), intercepts (m,) and, given
    folds, out-of-fold predictions (n, m).
    """
    parts = [np.arange(len(X))] if folds is None else [test for _, test in folds]
    sums = np.zeros((len(parts), X.shape[1] + 1, X.shape[1] + 1 + targets.shape[1]))
    with one_library_thread():
        run_threads(_add_products, [(X, targets, *each) for each in zip(parts, sums, strict=True)], n_threads)
        whole = sums.sum(axis=0)
        coef, intercept = _solve(whole, alpha)
        if folds is None:
            return coef, intercept, None
        predicted = np.empty(targets.shape)
        calls = [(X, part, whole, own, alpha, predicted) for part, own in zip(parts, sums, strict=True)]
        run_threads(_predict_fold, calls, n_threads)
    return coef, intercept, predicted


def _add_products(X, targets, rows, total) -> None:
    """Add [X, 1]ᵀ [X, 1, T] of some rows to the total, in double precision."""
    d = X.shape[1]
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        features, others = X[block].astype(np.float64), np.ones((len(block), 1 + targets.shape[1]))
        others[:, 1:] = targets[block]
        total[:d, :d] += features.T @ features
        total[:d, d:] += features.T @ others
        total[d, d:] += others.sum(axis=0)


def _solve(sums, alpha) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts: centred features and targets have no intercept."""
    d = len(sums) - 1
    count, feature_sums, target_sums = sums[d, d], sums[:d, d], sums[d, d + 1 :]
    inner = sums[:d, :d] - np.outer(feature_sums, feature_sums) / count
    inner[np.diag_indices(d)] += alpha
    coef = solve(inner, sums[:d, d + 1 :] - np.outer(feature_sums, target_sums) / count, assume_a="pos").T
    return coef, (target_sums - coef @ feature_sums) / count


def _predict_fold(X, rows, whole, own, alpha, predicted) -> None:
    coef, intercept = _solve(whole - own, alpha)
    predicted[rows] = X[rows] @ coef.T + intercept
