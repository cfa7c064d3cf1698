"""The code program: the small linear programs of the Q step, all instances in one call."""

from typing import NamedTuple

import numpy as np

from mlspl._numba_cache import njit
from mlspl.solvers.arrays import read_only
from mlspl.solvers.hinge_simplex import minimise_hinges
from mlspl.solvers.threads import run_threads

__all__ = ["CodeSolution", "solve_codes"]

# Numba keys its cache by this file alone: whoever changes hinge_simplex.py touches this one.
_FAST = {"contract", "reassoc", "nsz", "nnan"}


class CodeSolution(NamedTuple):
    """What `solve_codes` found, one row per instance.

    Attributes
    ----------
    codes : array (n, m)
        A minimising code per instance: non-negative, summing to 1.
    objective : array (n,)
        Its objective.
    gap : array (n,)
        Objective minus a lower bound from the dual program: a proof of optimality where it is 0 up to
        rounding, and how far from optimal the code can be where the iterations ran out.
    iterations : array of int (n,)
        Simplex pivots; 0 where a prototype alone was found best before any.
    """

    codes: np.ndarray
    objective: np.ndarray
    gap: np.ndarray
    iterations: np.ndarray


def solve_codes(
    scores: np.ndarray,
    targets: np.ndarray,
    code_weights: np.ndarray,
    distances: np.ndarray,
    label_weights: np.ndarray,
    beta: float,
    *,
    max_iter: int = 10_000,
    n_threads: int = 1,
) -> CodeSolution:
    """Give every instance i the code q that solves, over the simplex q ≥ 0, Σ_j q_j = 1,

        min Σ_l v_il max(0, 1 − y_il (s_il + ⟨w_l, q⟩)) + β Σ_j q_j d_ij.

    Exact, in three stages. Where moving to any other prototype costs more distance than it can save loss,
    the nearest prototype is the answer. Else, prototypes that cannot be part of the answer and labels
    whose hinge is linear on the simplex are taken out. What is left is solved by a simplex method that
    walks the edges on which the objective is linear, each time to the lowest point of its line however many
    hinges bend on the way.

    Parameters
    ----------
    scores : array (n, L)
        Scores s without the part of the codes.
    targets : array (n, L)
        Labels y, -1 or +1.
    code_weights : array (L, m)
        Weight of each code in each label's score.
    distances : array (n, m)
        Squared distances d_ij = ‖y_i − a_j‖² to the prototypes.
    label_weights : array (n, L)
        Non-negative weights v.
    beta : float
        Non-negative weight of the distances.
    max_iter : int
        At most this many pivots per instance. If they run out, the answer is the best point found, and
        its `gap` is not 0.
    n_threads : int
        The answer does not depend on it.

    Returns
    -------
    CodeSolution

    Examples
    --------
    Half of either prototype settles both labels, and distances do not count:

    >>> import numpy as np
    >>> solution = solve_codes(
    ...     scores=np.zeros((1, 2)), targets=np.ones((1, 2)), code_weights=np.array([[2.0, 0.0], [0.0, 2.0]]),
    ...     distances=np.array([[0.0, 4.0]]), label_weights=np.ones((1, 2)), beta=0.0)
    >>> solution.codes
    array([[0.5, 0.5]])
    """
    scores, targets, code_weights, distances, label_weights = map(
        read_only, (scores, targets, code_weights, distances, label_weights)
    )
    (n, n_labels), m = scores.shape, code_weights.shape[1]
    for name, array, shape in (
        ("scores", scores, (n, n_labels)),
        ("targets", targets, (n, n_labels)),
        ("label_weights", label_weights, (n, n_labels)),
        ("distances", distances, (n, m)),
        ("code_weights", code_weights, (n_labels, m)),
    ):
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}; expected {shape}, to go with the scores.")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds NaN or infinity.")
    if (label_weights < 0).any() or not 0 <= beta < np.inf:
        raise ValueError("Neither label_weights nor beta may be negative, nor beta infinite.")
    problem = (scores, targets, read_only(code_weights.T), distances, label_weights, float(beta), max_iter)
    answer = (np.zeros((n, m)), np.empty(n), np.zeros(n), np.zeros(n, dtype=np.int64))
    # In two passes, so that the simplex method is only compiled and loaded where a code may move at all.
    unsettled = np.empty(n, dtype=np.bool_)
    _run_in_chunks(_settle_rows, np.arange(n), (*problem, unsettled), answer, n_threads)
    _run_in_chunks(_solve_rows, np.flatnonzero(unsettled), problem, answer, n_threads)
    return CodeSolution(*answer)


def _run_in_chunks(work, rows, problem, answer, n_threads) -> None:
    """Chunks of about a millisecond: worth a thread, and short enough to hear Ctrl-C between them."""
    n_labels, m = problem[0].shape[1], problem[3].shape[1]
    size = max(1, 50_000 // max(1, m * n_labels))
    chunks = [rows[first : first + size] for first in range(0, len(rows), size)]
    run_threads(work, [(chunk, problem, answer) for chunk in chunks], n_threads)


@njit(cache=True, nogil=True)
def _settle_rows(rows, problem, answer):  # pragma: no cover - compiled
    """Give the nearest prototype to the instances that it is sure to suit, and mark the others."""
    scores, targets, code_weights, distances, label_weights, beta, _, unsettled = problem
    codes, objective, _, _ = answer
    for i in rows:
        nearest = _argmin(distances[i])
        unsettled[i] = not _stays(nearest, targets[i], code_weights, distances[i], label_weights[i], beta)
        if not unsettled[i]:
            codes[i, nearest] = 1.0
            objective[i] = beta * distances[i, nearest]
            for b in range(scores.shape[1]):
                margin = targets[i, b] * (scores[i, b] + code_weights[nearest, b])
                objective[i] += label_weights[i, b] * max(0.0, 1.0 - margin)


@njit(cache=True, nogil=True)
def _solve_rows(rows, problem, answer):  # pragma: no cover - compiled
    """Solve the programs of some instances and write their rows of the answer."""
    scores, targets, code_weights, distances, label_weights, beta, max_iter = problem
    codes, objective, gap, iterations = answer
    for i in rows:
        columns, constant, cost, hinges, heights = _reduce(
            scores[i], targets[i], code_weights, distances[i], label_weights[i], beta
        )
        q, value, gap[i], iterations[i] = minimise_hinges(cost, hinges, heights, max_iter)
        objective[i] = constant + value
        for a in range(q.shape[0]):
            codes[i, columns[a]] = q[a]


@njit(cache=True, nogil=True)
def _argmin(values):  # pragma: no cover - compiled
    best = 0
    for j in range(1, values.shape[0]):
        if values[j] < values[best]:
            best = j
    return best


@njit(cache=True, nogil=True, fastmath=_FAST)
def _stays(k, target, code_weights, distance, label_weight, beta):  # pragma: no cover - compiled
    """Whether moving from prototype k to any other costs at least as much distance as it can save loss."""
    m, n_labels = code_weights.shape
    for j in range(m):
        saved = 0.0
        for b in range(n_labels):
            saved += label_weight[b] * max(0.0, target[b] * (code_weights[j, b] - code_weights[k, b]))
        if saved > beta * (distance[j] - distance[k]):
            return False
    return True


@njit(cache=True, nogil=True, fastmath=_FAST)
def _reduce(score, target, code_weights, distance, label_weight, beta):  # pragma: no cover - compiled
    """Take out hinges that do not bend and prototypes that cannot help, until neither is left.

    Returns the prototypes left, the one that is best alone first, and what is left to minimise:
    constant + ⟨cost, q⟩ + Σ_b heights_b max(0, Σ_a q_a hinges_ab).
    """
    m, n_labels = code_weights.shape
    # As codes sum to 1, label b loses max(0, Σ_j q_j losses_jb).
    losses = np.empty((m, n_labels))
    cost = np.empty(m)
    alone = np.empty(m)
    for j in range(m):
        total = beta * distance[j]
        for b in range(n_labels):
            losses[j, b] = label_weight[b] * (1.0 - target[b] * (score[b] + code_weights[j, b]))
            total += max(0.0, losses[j, b])
        alone[j] = total
    best = _argmin(alone)
    constant = beta * distance[best]
    for j in range(m):
        cost[j] = beta * (distance[j] - distance[best])
    columns, p = np.arange(m), m
    columns[0], columns[best] = best, 0
    low, high, linear, bending = np.empty((4, n_labels))
    while True:
        for b in range(n_labels):
            low[b], high[b] = losses[best, b], losses[best, b]
        for j in columns[:p]:
            for b in range(n_labels):
                low[b], high[b] = min(low[b], losses[j, b]), max(high[b], losses[j, b])
        for b in range(n_labels):
            bending[b] = 1.0 if low[b] < 0.0 < high[b] else 0.0
            linear[b] = 1.0 if low[b] >= 0.0 else 0.0
        for b in range(n_labels):
            constant += linear[b] * losses[best, b]
        kept = 0
        for j in columns[:p]:
            added, saved = 0.0, 0.0
            for b in range(n_labels):
                difference = losses[j, b] - losses[best, b]
                added += linear[b] * difference
                saved += bending[b] * max(0.0, -difference)
            cost[j] += added
            if j == best or saved > cost[j]:
                columns[kept] = j
                kept += 1
        for j in columns[:kept]:
            for b in range(n_labels):
                losses[j, b] *= bending[b]
        if kept == p:
            break
        p = kept
    labels = np.flatnonzero(bending)
    r = labels.shape[0]
    hinges, heights = np.empty((p, r)), np.empty(r)
    for b in range(r):
        heights[b] = max(-low[labels[b]], high[labels[b]])
    for a in range(p):
        for b in range(r):
            hinges[a, b] = losses[columns[a], labels[b]] / heights[b]
    return columns[:p], constant, cost[columns[:p]], hinges, heights
