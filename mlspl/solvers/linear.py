"""Many weighted linear models on the same rows, sparse or dense, without an n×n matrix."""

from typing import NamedTuple

import numpy as np
from numba import config
from scipy import sparse
from scipy.linalg import solve
from sklearn.svm import LinearSVC, LinearSVR

from mlspl.solvers.linear_newton import Design, minimise
from mlspl.solvers.threads import one_library_thread, read_only, run_threads

__all__ = ["LINEAR_LOSSES", "LinearSolution", "solve_linear", "solve_ridge"]

LINEAR_LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive")
"""The losses that `solve_linear` minimises."""
_SMOOTH = ("squared_hinge", "logistic", "squared")
_REGRESSION = ("squared", "epsilon_insensitive")
# From so many values on, BLAS solves up to 32 models side by side faster than 8.
_MANY_VALUES = 2**24
_RIDGE_BLOCK_ROWS = 4096


class LinearSolution(NamedTuple):
    """Result of `solve_linear`, one row per label.

    The score of x with codes q for label l is ⟨coef[l], x⟩ + ⟨code_coef[l], q⟩ + bias[l]; `scores` (L, n) are
    those of the rows. `objective` (L,) is ½‖w‖² + Σ_i C_i loss_i, and `gap` an upper bound of its distance to
    the minimum, NaN for losses that LIBLINEAR minimises.
    """

    coef: np.ndarray
    code_coef: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    objective: np.ndarray
    gap: np.ndarray


def solve_linear(
    X,
    targets: np.ndarray,
    C: float | np.ndarray = 1.0,
    loss: str = "logistic",
    *,
    codes: np.ndarray | None = None,
    epsilon: float = 0.1,
    start: LinearSolution | None = None,
    tol: float = 1e-3,
    n_threads: int | None = None,
) -> LinearSolution:
    """Fit one linear model per row of targets, with a cost for every pair of model and instance.

    For each, min over w of ½‖w‖² + Σ_i C_i loss(t_i, ⟨w, [x_i, q_i, 1]⟩): LIBLINEAR's problem and optimum.
    The bias is regularised, except for ``loss="squared"`` (ridge regression). Smooth losses are minimised by
    truncated Newton, the others by LIBLINEAR. A model with a single class has a constant score.

    Parameters
    ----------
    X : CSR matrix or array (n, d)
        The features.
    targets : array (L, n)
        Labels, +1 or −1; any numbers for "squared" and "epsilon_insensitive".
    C : float or array broadcastable to (L, n)
        Cost of a unit of loss. A pair of cost 0 is left out.
    loss : {"hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive"}
        With s = max(0, 1 − t·z): s; s²; ln(1 + exp(−t·z)); (t − z)²; ``max(0, |t − z| − ε)``.
    codes : array (n, m), optional
        Further dense features beside X.
    epsilon : float
        Errors up to this size are free under the ε-insensitive loss.
    start : LinearSolution, optional
        Warm start of smooth losses: a solution for the same rows and models at other costs or codes.
    tol : float
        Relative distance of the objective to its minimum; LIBLINEAR stops at 10 `tol` by its own criterion.
    n_threads : int, optional
        Groups of models solved at the same time; by default as many as numba may use. The result does not
        depend on it.
    """
    targets, costs = _check(X, targets, C, loss, codes, tol)
    n_threads = config.NUMBA_NUM_THREADS if n_threads is None else n_threads  # type: ignore[attr-defined]
    L, m = len(targets), 0 if codes is None else codes.shape[1]
    solution = LinearSolution(
        coef=np.zeros((L, X.shape[1])),
        code_coef=np.zeros((L, m)),
        bias=np.zeros(L),
        scores=np.empty((L, X.shape[0])),
        objective=np.empty(L),
        gap=np.full(L, np.nan),
    )
    if loss in _REGRESSION:
        smaller_class = np.full(L, X.shape[0])
    else:
        n_positive = np.sum((costs > 0) & (targets > 0), axis=1)
        smaller_class = np.minimum(n_positive, np.sum(costs > 0, axis=1) - n_positive)
    # Hard models first, so that no thread is left with one, and models of similar difficulty together.
    order = np.argsort(-smaller_class, kind="stable")
    if loss in _SMOOTH:
        groups = np.array_split(order, max(1, -(-L // _count_lanes(X, L))))
        problem = (Design(X, codes), smaller_class, targets, costs, loss, start, tol, solution)
        # BLAS threads would compete with these, and round differently.
        with one_library_thread():
            run_threads(_minimise, [(group, *problem) for group in groups], n_threads)
    else:
        features = _stack(X, codes)
        for label in range(L):  # LIBLINEAR has one random generator for all threads
            _fit_liblinear(label, features, smaller_class, targets, costs, loss, epsilon, tol, solution)
    if not np.isfinite(solution.objective).all():
        raise ValueError("X or the codes contain NaN, infinite or very large values. Clean and scale them.")
    return solution


def _count_lanes(X, n_models) -> int:
    """Models solved side by side; BLAS rounds one of 32 by its position, one of 8 always alike."""
    if sparse.issparse(X):
        return 16
    return 8 if X.shape[0] * X.shape[1] < _MANY_VALUES else min(32, max(8, -(-n_models // 16) * 8))


def _minimise(group, design, smaller_class, targets, costs, loss, start, tol, solution) -> None:
    """Solve a group of models of a smooth loss and write their rows of the solution."""
    target, cost = np.ascontiguousarray(targets[group].T), np.ascontiguousarray(costs[group].T)
    d = design.n_features
    free, weights = np.ones((design.shape[1], len(group))), np.zeros((design.shape[1], len(group)))
    free[:-1, smaller_class[group] == 0] = 0.0
    if start is not None:
        weights[:d], weights[-1] = start.coef[group].T, start.bias[group]
        if start.code_coef.shape == solution.code_coef.shape:
            weights[d:-1] = start.code_coef[group].T
    elif loss != "squared":
        # Start at the bias that is about the best one without features.
        positive, total = np.sum(cost * (target > 0), axis=0), np.sum(cost, axis=0)
        share = np.divide(positive, total, out=np.full(len(group), 0.5), where=total > 0).clip(1e-4, 1 - 1e-4)
        weights[-1] = np.log(share / (1.0 - share)) if loss == "logistic" else 2.0 * share - 1.0
    weights, scores, objective, excess = minimise(design, loss, target, cost, free, weights, tol)
    solution.coef[group], solution.code_coef[group] = weights[:d].T, weights[d:-1].T
    solution.bias[group], solution.scores[group] = weights[-1], scores.T
    solution.objective[group], solution.gap[group] = objective, excess


def _fit_liblinear(label, X, smaller_class, targets, costs, loss, epsilon, tol, solution) -> None:
    """Solve one model of the hinge or the ε-insensitive loss and write its row of the solution."""
    rows = np.flatnonzero(costs[label])
    target, cost, d = targets[label], costs[label], solution.coef.shape[1]
    weights, bias = np.zeros(X.shape[1]), 0.0
    # LIBLINEAR's criterion is absolute in units of the margin.
    options = {"C": 1.0, "loss": loss, "dual": True, "tol": 10 * tol, "max_iter": 10_000, "random_state": 0}
    if len(rows) and smaller_class[label]:
        model = LinearSVC(**options) if loss == "hinge" else LinearSVR(epsilon=epsilon, **options)
        model.fit(X if len(rows) == len(target) else X[rows], target[rows], sample_weight=cost[rows])
        weights, bias = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    elif len(rows):
        bias = target[rows[0]] * min(1.0, cost.sum())
    scores = X @ weights + bias
    rest = 1.0 - target * scores if loss == "hinge" else np.abs(target - scores) - epsilon
    solution.coef[label], solution.code_coef[label], solution.bias[label] = weights[:d], weights[d:], bias
    solution.scores[label] = scores
    solution.objective[label] = (weights @ weights + bias * bias) / 2 + cost @ np.maximum(rest, 0.0)


def _stack(X, codes):
    """Features and codes side by side in double precision, as LIBLINEAR takes them."""
    if sparse.issparse(X):
        X = X if codes is None else sparse.hstack([X, sparse.csr_array(codes)])
        return sparse.csr_matrix(X, dtype=np.float64)
    return np.ascontiguousarray(X if codes is None else np.hstack([X, codes]), dtype=np.float64)


def _check(X, targets, C, loss, codes, tol) -> tuple[np.ndarray, np.ndarray]:
    """Targets and costs of the right shapes and values."""
    if loss not in LINEAR_LOSSES:
        raise ValueError(f"There is no loss called {loss!r}; choose from {', '.join(LINEAR_LOSSES)}.")
    if not tol > 0:
        raise ValueError(f"tol is {tol}; give a positive number.")
    targets = read_only(targets)
    if targets.ndim != 2 or targets.shape[1] != X.shape[0]:
        raise ValueError(f"X has shape {X.shape} and the targets {targets.shape}; give targets as (L, n).")
    if loss not in _REGRESSION and not np.all(np.abs(targets) == 1):
        raise ValueError(f"The targets must hold only +1 and −1 for the loss {loss!r}.")
    costs = np.broadcast_to(np.asarray(C, dtype=np.float64), targets.shape)
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("C must be finite and not negative; 0 leaves a pair out.")
    if codes is not None and (np.ndim(codes) != 2 or len(codes) != X.shape[0]):
        raise ValueError(f"codes has shape {np.shape(codes)}; give (n, m) with n = {X.shape[0]}.")
    return targets, costs


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
        coef, intercept = _solve_normal(whole, alpha)
        if folds is None:
            return coef, intercept, None
        predicted = np.empty(targets.shape)
        calls = [(X, part, whole, own, alpha, predicted) for part, own in zip(parts, sums, strict=True)]
        run_threads(_predict_fold, calls, n_threads)
    return coef, intercept, predicted


def _add_products(X, targets, rows, total) -> None:
    """Add [X, 1]ᵀ [X, 1, T] of some rows to the total, in double precision."""
    d = X.shape[1]
    for start in range(0, len(rows), _RIDGE_BLOCK_ROWS):
        block = rows[start : start + _RIDGE_BLOCK_ROWS]
        features, others = X[block].astype(np.float64), np.ones((len(block), 1 + targets.shape[1]))
        others[:, 1:] = targets[block]
        total[:d, :d] += features.T @ features
        total[:d, d:] += features.T @ others
        total[d, d:] += others.sum(axis=0)


def _solve_normal(sums, alpha) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts: centred features and targets have no intercept."""
    d = len(sums) - 1
    count, feature_sums, target_sums = sums[d, d], sums[:d, d], sums[d, d + 1 :]
    inner = sums[:d, :d] - np.outer(feature_sums, feature_sums) / count
    inner[np.diag_indices(d)] += alpha
    coef = solve(inner, sums[:d, d + 1 :] - np.outer(feature_sums, target_sums) / count, assume_a="pos").T
    return coef, (target_sums - coef @ feature_sums) / count


def _predict_fold(X, rows, whole, own, alpha, predicted) -> None:
    coef, intercept = _solve_normal(whole - own, alpha)
    predicted[rows] = X[rows] @ coef.T + intercept
