"""The Q step: a small linear program per instance."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

# Instances solved in one call of HiGHS: enough to outweigh the call, few enough that its steps stay cheap.
_CHUNK_HINGES = 1000
_TOLERANCES = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}


def solve_codes(
    scores: np.ndarray,
    targets: np.ndarray,
    code_weights: np.ndarray,
    distances: np.ndarray,
    label_weights: np.ndarray,
    beta: float,
) -> np.ndarray:
    """Find the code q of every instance i that solves, over the simplex q ≥ 0, Σ_j q_j = 1,

        min Σ_l v_il max(0, 1 − y_il (s_il + ⟨w_l, q⟩)) + β Σ_j q_j d_ij.

    The nearest prototype k is optimal if no prototype j can save more loss than its distance costs:
    β(d_ij − d_ik) ≥ Σ_l v_il max(0, y_il(w_lj − w_lk)), at most Σ_l v_il·(max_j w_lj − min_j w_lj). HiGHS
    solves the others.

    `scores` without the codes, `targets` ±1 and `label_weights` are (n, L), `code_weights` (L, m), and
    `distances` (n, m) those to the prototypes, ‖y_i − a_j‖².
    """
    codes = np.zeros(np.shape(distances))
    nearest = np.argmin(distances, axis=1)
    codes[np.arange(len(codes)), nearest] = 1.0
    smallest = np.sort(distances, axis=1)[:, :2]
    margin = beta * (smallest[:, -1] - smallest[:, 0])
    rows = np.flatnonzero(label_weights @ np.ptp(code_weights, axis=1) > margin)
    if not len(rows):
        return codes
    may_move = np.zeros(len(rows), dtype=bool)
    own, cost = code_weights.T[nearest[rows]], beta * (distances[rows].T - smallest[rows, 0])
    for weights, distance_cost in zip(code_weights.T, cost, strict=True):
        saved = np.maximum(targets[rows] * (weights - own), 0.0)
        may_move |= np.einsum("il,il->i", label_weights[rows], saved) > distance_cost
    rows = rows[may_move]
    size = max(1, _CHUNK_HINGES // np.shape(scores)[1])
    for first in range(0, len(rows), size):
        chunk = rows[first : first + size]
        margins = targets[chunk, None] * (scores[chunk, None] + code_weights.T)
        codes[chunk] = _minimise(beta * distances[chunk], label_weights[chunk, None] * (1.0 - margins))
    return codes


def _minimise(cost, losses) -> np.ndarray:
    """Minimise ⟨cost_i, q⟩ + Σ_l max(0, Σ_j q_j losses_ijl) over the simplex, for all instances i at once.

    A hinge that is linear on the simplex is part of the cost; each other one has a slack variable.
    """
    n, m, _ = losses.shape
    low, high = losses.min(axis=1), losses.max(axis=1)
    cost = cost + np.sum(losses * (low >= 0.0)[:, None], axis=2)
    cost -= cost.min(axis=1, keepdims=True)
    instance, label = np.nonzero((low < 0.0) & (high > 0.0))
    hinges = losses[instance, :, label]
    heights = np.abs(hinges).max(axis=1)
    scale = np.maximum(cost.max(axis=1), np.bincount(instance, heights, n))
    scale[scale == 0.0] = 1.0
    n_hinges = len(instance)
    columns = (instance[:, None] * m + np.arange(m)).ravel()
    above = sparse.csr_array(
        ((hinges / heights[:, None]).ravel(), (np.repeat(np.arange(n_hinges), m), columns)),
        shape=(n_hinges, n * m),
    )
    found = linprog(
        np.concatenate([(cost / scale[:, None]).ravel(), heights / scale[instance]]),
        A_ub=sparse.hstack([above, -sparse.eye_array(n_hinges)]),
        b_ub=np.zeros(n_hinges),
        A_eq=sparse.hstack(
            [sparse.kron(sparse.eye_array(n), np.ones((1, m))), sparse.csr_array((n, n_hinges))]
        ),
        b_eq=np.ones(n),
        method="highs-ds",
        options=_TOLERANCES,
    )
    if found.x is None:
        raise FloatingPointError(f"HiGHS could not solve the programs of the Q step: {found.message}")
    codes = np.maximum(found.x[: n * m].reshape(n, m), 0.0)
    # Rounded, because the last digits differ between processors.
    return np.round(codes / codes.sum(axis=1, keepdims=True), 10)
