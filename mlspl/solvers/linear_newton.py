"""Truncated Newton on the primal of linear machines with a smooth loss, eight labels side by side.

For each label, min over w of ½‖w‖² + Σ_i loss_i(⟨w, x_i⟩). A Newton direction is found by preconditioned
conjugate gradients, stopped early as in LIBLINEAR (Hsia, Chiang and Lin 2018), and halved until it descends.
As ½‖w‖² makes the objective strongly convex, ½‖gradient‖² bounds how far it is above its minimum.
"""

from typing import NamedTuple

import numpy as np

from mlspl.solvers.linear_losses import SQUARED, SQUARED_HINGE, loss_derivatives, sum_losses
from mlspl.solvers.linear_rows import LANES, Rows

__all__ = ["Block", "minimise_block"]

# Between no preconditioner (0) and the whole diagonal of the Hessian (1).
_DIAGONAL_SHARE = 0.1
# Conjugate gradients stop when a step gains less than this share of the mean step. For squares, which a
# single Newton step solves, they go on.
_WORTHWHILE, _WORTHWHILE_FOR_SQUARES = 0.5, 1e-3
_CONJUGATE_STEPS = 300
_HALVINGS = 40
_DESCENT = 0.01


class Block(NamedTuple):
    """Up to eight problems on the same rows; costs are 0 in lanes without a problem.

    `targets` and `costs` are (n, LANES). `penalty` (width, 1) is the factor of ½w², and `free` (width, LANES)
    is 0 for the weights that must stay 0.
    """

    rows: Rows
    kind: int
    targets: np.ndarray
    costs: np.ndarray
    penalty: np.ndarray
    free: np.ndarray


def minimise_block(
    block: Block, weights, tol, max_iter
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Minimise from the start `weights` until every lane is within `tol` of its minimum, relatively.

    Returns weights (width, LANES), scores (n, LANES), and per lane the objective and a bound on its excess.
    """
    rows, kind, targets, costs, penalty, free = block
    weights = weights * free
    scores = rows.scores(weights)
    slope, curvature = np.empty_like(scores), np.empty_like(scores)
    scale, todo = None, np.ones(LANES, dtype=bool)
    for _ in range(max_iter + 1):
        loss = loss_derivatives(kind, scores, targets, costs, slope, curvature)
        objective = loss + np.sum(penalty * weights**2, axis=0) / 2
        gradient = free * (penalty * weights + rows.pull(slope))
        excess = np.sum(gradient**2, axis=0) / 2
        todo = todo & (excess > tol * objective)
        if not todo.any():
            break
        active = np.flatnonzero(curvature.any(axis=1)) if kind == SQUARED_HINGE else np.arange(rows.n)
        if scale is None:
            diagonal = penalty + rows.squares(curvature, active)
            scale = 1.0 / (1.0 - _DIAGONAL_SHARE + _DIAGONAL_SHARE * diagonal)
        direction = _find_direction(block, curvature, active, np.where(todo, gradient, 0.0), scale)
        along = rows.scores(direction)
        step = _search_line(block, weights, scores, objective, gradient, direction, along, todo)
        weights = weights + step * direction
        scores += step * along
        # A lane in which rounding leaves no descent has come as far as it can.
        todo = todo & (step > 0)
    return weights, scores, objective, excess


def _find_direction(block, curvature, active, gradient, scale) -> np.ndarray:
    """Conjugate gradients on the Newton system, until the quadratic model hardly gains any more."""
    worthwhile = _WORTHWHILE_FOR_SQUARES if block.kind == SQUARED else _WORTHWHILE
    direction, residual = np.zeros_like(gradient), -gradient
    search = scale * residual
    energy = np.sum(residual * search, axis=0)
    model, live = np.zeros(LANES), energy > 0
    for n_steps in range(1, _CONJUGATE_STEPS + 1):
        bent = block.free * (block.penalty * search + block.rows.curve(curvature, search, active))
        length = _divide(energy, np.sum(search * bent, axis=0)) * live
        direction += length * search
        residual -= length * bent
        before, model = model, np.sum(direction * (gradient - residual), axis=0) / 2
        live = live & (n_steps * (model - before) < worthwhile * model)
        if not live.any():
            break
        conditioned = scale * residual
        before, energy = energy, np.sum(residual * conditioned, axis=0)
        search = (conditioned + _divide(energy, before) * search) * live
    return direction


def _search_line(block, weights, scores, objective, gradient, direction, along, lanes) -> np.ndarray:
    """The first step of 1, ½, ¼, … at which the objective falls enough, per lane; 0 if there is none."""
    slope = np.sum(gradient * direction, axis=0)
    start, mixed, square = (
        np.sum(block.penalty * product, axis=0) / 2
        for product in (weights**2, 2.0 * weights * direction, direction**2)
    )
    trial, step = lanes.astype(np.float64), np.zeros(LANES)
    for _ in range(_HALVINGS):
        loss = sum_losses(block.kind, scores, along, trial, block.targets, block.costs)
        reached = loss + start + trial * mixed + trial**2 * square
        falls = (trial > 0) & (reached <= objective + _DESCENT * trial * slope)
        step = np.where(falls, trial, step)
        trial = np.where(falls, 0.0, trial / 2)
        if not trial.any():
            break
    return step


def _divide(a, b) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
