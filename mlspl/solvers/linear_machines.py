"""Many weighted linear machines on the same rows, sparse or dense: nothing of size n×n."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numba import config

from mlspl.solvers.arrays import read_only
from mlspl.solvers.linear_descent import descend
from mlspl.solvers.linear_losses import LOGISTIC, SQUARED, SQUARED_HINGE
from mlspl.solvers.linear_newton import Block, find_biases, minimise_block
from mlspl.solvers.linear_rows import LANES, Rows
from mlspl.solvers.linear_samples import make_tickets
from mlspl.solvers.threads import one_library_thread, run_threads

__all__ = ["LINEAR_LOSSES", "LinearSolution", "solve_linear"]

LINEAR_LOSSES = ("hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive")
"""The losses that `solve_linear` minimises."""
_SMOOTH = {"logistic": LOGISTIC, "squared_hinge": SQUARED_HINGE, "squared": SQUARED}
_NEWTON_STEPS = 200
# Visits to rows: at least a thousand each, and more where there are few.
_EPOCHS, _VISITS = 1000, 10_000_000


class LinearSolution(NamedTuple):
    """What `solve_linear` found, one row per label.

    The score of an instance x with codes q for label l is ⟨coef[l], x⟩ + ⟨code_coef[l], q⟩ + bias[l].

    Attributes
    ----------
    coef : array (L, d)
        Weights of the features.
    code_coef : array (L, m)
        Weights of the codes.
    bias : array (L,)
        Intercepts.
    scores : array (L, n)
        Scores of the rows.
    objective : array (L,)
        ½‖w‖² + Σ_i C_i loss_i.
    gap : array (L,)
        How far the objective is above its minimum, at most.
    duals : array (L, n) or None
        β of w = Σ_i β_i x_i, for the hinge (β = y·alpha) and the ε-insensitive loss.
    """

    coef: np.ndarray
    code_coef: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    objective: np.ndarray
    gap: np.ndarray
    duals: np.ndarray | None


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
    lanes: int = LANES,
) -> LinearSolution:
    """Fit one linear machine per row of targets, with a cost for every pair of machine and instance.

    For each, min over w of ½‖w‖² + Σ_i C_i loss(t_i, ⟨w, [x_i, q_i, 1]⟩). The bias is the weight of a
    constant feature and regularised with the others: LIBLINEAR's problem and optimum, not LIBSVM's. Only
    for ``loss="squared"`` it is free, as in ridge regression.

    Parameters
    ----------
    X : CSR matrix or array (n, d)
        The features, float32 or float64, used as they are: CSR, or C-contiguous rows.
    targets : array (L, n)
        Labels, +1 or −1; any numbers for "squared" and "epsilon_insensitive".
    C : float or array broadcastable to (L, n)
        Cost of a unit of loss. A pair of cost 0 is out of the problem.
    loss : {"hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive"}
        Of s = max(0, 1 − t·z): s, s²; ln(1 + exp(−t·z)); (t − z)²; ``max(0, |t − z| − ε)``.
    codes : array (n, m), optional
        Further features, dense, beside X.
    epsilon : float
        Half-width of the tube of the ε-insensitive loss.
    start : LinearSolution, optional
        Where to start: a solution for the same rows and machines at other costs or with other codes.
    tol : float
        The objective is proved to be this close to its minimum, relatively; most often it is far closer.
    n_threads : int, optional
        Groups of machines solved at the same time; by default as many as numba may use. No answer depends on
        it.
    lanes : int
        Machines of a group, a multiple of 8, for smooth losses on dense rows: BLAS makes more of many. The
        last digits of an answer depend on it.

    Returns
    -------
    LinearSolution

    Notes
    -----
    Smooth losses are minimised in the primal by truncated Newton, several machines side by side; the others
    in the dual by coordinate descent. A machine whose instances of positive cost are all of one class has a
    constant score: the best bias.

    Examples
    --------
    >>> import numpy as np
    >>> X, Y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([[-1.0, -1.0, 1.0, 1.0]])
    >>> solve_linear(X, Y, C=10.0, loss="hinge", tol=1e-9).scores.round(3) + 0.0
    array([[-2., -1.,  1.,  2.]])
    """
    rows, targets, costs = _check(X, targets, C, loss, codes, tol, lanes)
    n_threads = config.NUMBA_NUM_THREADS if n_threads is None else n_threads  # type: ignore[attr-defined]
    L, m = len(targets), rows.width - 1 - rows.n_features
    dual = loss not in _SMOOTH
    solution = LinearSolution(
        coef=np.zeros((L, rows.n_features)),
        code_coef=np.zeros((L, m)),
        bias=np.zeros(L),
        scores=np.empty((L, rows.n)),
        objective=np.empty(L),
        gap=np.empty(L),
        duals=np.zeros((L, rows.n)) if dual else None,
    )
    in_play = costs > 0
    if loss in ("squared", "epsilon_insensitive"):
        smaller_class = np.full(L, rows.n)
    else:
        n_positive = np.sum(in_play & (targets > 0), axis=1)
        smaller_class = np.minimum(n_positive, in_play.sum(axis=1) - n_positive)
    # Hard machines first, so that no thread is left with one, and those alike side by side.
    order = np.argsort(-smaller_class, kind="stable")
    constant = Rows(np.empty((rows.n, 0)), lanes=rows.lanes)
    work: Callable[..., None]
    calls: list[tuple[Any, ...]]
    if dual:
        work = _descend
        fixed = (targets, costs, loss, epsilon, start, tol, solution)
        calls = [(label, rows if smaller_class[label] else constant, *fixed) for label in order]
    else:
        work = _minimise
        problem = (smaller_class, targets, costs, loss, start, tol, solution)
        groups = np.array_split(order, max(1, -(-L // rows.lanes)))
        calls = [(group, rows if smaller_class[group].any() else constant, *problem) for group in groups]
    # BLAS has its own threads; they would fight with these, and round differently.
    with nullcontext() if rows.is_sparse else one_library_thread():
        run_threads(work, calls, n_threads)
    if not np.isfinite(solution.objective).all():
        raise ValueError(
            "X or the codes hold NaN, infinite or very large values; clean and scale the features."
        )
    return solution


def _minimise(group, rows, smaller_class, targets, costs, loss, start, tol, solution) -> None:
    """Solve as many machines of a smooth loss as there are lanes and write their rows of the solution."""
    lanes = len(group)
    target, cost = np.zeros((rows.n, rows.lanes)), np.zeros((rows.n, rows.lanes))
    target[:, :lanes], cost[:, :lanes] = targets[group].T, costs[group].T
    penalty = np.ones((rows.width, 1))
    penalty[-1] = 0.0 if loss == "squared" else 1.0
    free = np.ones((rows.width, rows.lanes))
    free[:-1, np.flatnonzero(smaller_class[group] == 0)] = 0.0
    block = Block(rows, _SMOOTH[loss], target, cost, penalty, free, make_tickets(rows.n, rows.lanes))
    if start is None:
        weights = find_biases(block, _NEWTON_STEPS)
    else:
        weights = np.zeros((rows.width, rows.lanes))
        weights[: rows.n_features, :lanes] = start.coef[group, : rows.n_features].T
        weights[-1, :lanes] = start.bias[group]
        if start.code_coef.shape == solution.code_coef.shape and rows.width > 1:
            weights[rows.n_features : -1, :lanes] = start.code_coef[group].T
    weights, scores, objective, excess = minimise_block(block, weights, tol, _NEWTON_STEPS)
    solution.coef[group, : rows.n_features] = weights[: rows.n_features, :lanes].T
    solution.code_coef[group, : rows.width - 1 - rows.n_features] = weights[rows.n_features : -1, :lanes].T
    solution.bias[group] = weights[-1, :lanes]
    solution.scores[group] = scores[:, :lanes].T
    solution.objective[group], solution.gap[group] = objective[:lanes], excess[:lanes]


def _descend(label, rows, targets, costs, loss, epsilon, start, tol, solution) -> None:
    """Solve one machine of a loss with kinks and write its row of the solution."""
    target, cost = targets[label], costs[label]
    if loss == "hinge":
        lower, upper, epsilon = np.minimum(target, 0.0) * cost, np.maximum(target, 0.0) * cost, 0.0
    else:
        lower, upper = -cost, np.array(cost)
    beta = solution.duals[label]
    if start is not None:
        beta[:] = start.duals[label]
    weights, summary = np.empty(rows.width), np.empty(2)
    n_epochs = max(_EPOCHS, _VISITS // max(rows.n, 1))
    # The same order of rows for all: a label's machine does not depend on which labels are beside it.
    problem = (rows.arrays, lower, upper, target, float(epsilon), 0, float(tol), n_epochs)
    descend(*problem, beta, weights, solution.scores[label], summary)
    solution.coef[label, : rows.n_features] = weights[: rows.n_features]
    solution.code_coef[label, : rows.width - 1 - rows.n_features] = weights[rows.n_features : -1]
    solution.bias[label] = weights[-1]
    solution.objective[label], solution.gap[label] = summary


def _check(X, targets, C, loss, codes, tol, lanes) -> tuple[Rows, np.ndarray, np.ndarray]:
    """Rows, targets and costs of the right shapes and values."""
    if loss not in LINEAR_LOSSES:
        raise ValueError(f"There is no loss called {loss!r}; choose from {', '.join(LINEAR_LOSSES)}.")
    if not tol > 0:
        raise ValueError(f"tol is {tol}; give a positive number.")
    targets = read_only(targets)
    if targets.ndim != 2 or targets.shape[1] != X.shape[0]:
        raise ValueError(f"X has shape {X.shape} and the targets {targets.shape}; give targets as (L, n).")
    if loss not in ("squared", "epsilon_insensitive") and not np.all(np.abs(targets) == 1):
        raise ValueError(f"The targets must hold nothing but +1 and −1 for the loss {loss!r}.")
    costs = np.broadcast_to(np.asarray(C, dtype=np.float64), targets.shape)
    if not (np.isfinite(costs).all() and (costs >= 0).all()):
        raise ValueError("C must be finite and not negative; 0 takes a pair out of the problem.")
    if codes is not None and (np.ndim(codes) != 2 or len(codes) != X.shape[0]):
        raise ValueError(f"codes has shape {np.shape(codes)}; give (n, m) with n = {X.shape[0]}.")
    if lanes < 1 or lanes % LANES:
        raise ValueError(f"lanes is {lanes}; give a multiple of {LANES}.")
    return Rows(X, codes, lanes), targets, costs
