"""Truncated Newton on the primal of linear machines with a smooth loss, some labels side by side.

For each label, min over w of ½‖w‖² + Σ_i loss_i(⟨w, x_i⟩). A Newton direction is found by preconditioned
conjugate gradients, stopped early as in LIBLINEAR (Hsia, Chiang and Lin 2018), and halved until it descends.
As ½‖w‖² makes the objective strongly convex, ½‖gradient‖² bounds how far it is above its minimum.

Of many rows most are beyond doubt: they hardly pull at the weights, and hardly bend the objective. So, far
from the minimum, the first step is to that of a sample of the rows, likelier the more they pull; and other
steps take the Hessian of a sample, likelier the more they bend. Objective, gradient and tolerance are of all.
Of dense rows no sample is drawn: what the labels side by side draw together is most of them.
"""

from typing import Any, NamedTuple

import numpy as np

from mlspl.solvers.linear_losses import SQUARED, loss_derivatives
from mlspl.solvers.linear_rows import Rows, lane_dots
from mlspl.solvers.linear_samples import draw_rows

__all__ = ["Block", "find_biases", "minimise_block"]

# Between no preconditioner (0) and the whole diagonal of the Hessian (1), of sparse and of dense rows, which
# are most often a kernel's map: along its directions they vary apart.
_DIAGONAL_SHARE, _DENSE_DIAGONAL_SHARE = 0.1, 0.5
# Conjugate gradients stop when a step gains less than this share of the mean step. For squares, which a
# single Newton step solves, they go on.
_WORTHWHILE, _WORTHWHILE_FOR_SQUARES = 0.5, 1e-3
_CONJUGATE_STEPS = 300
_HALVINGS = 40
_DESCENT = 0.01
# A sample has this share of the rows, and where they are few, all. After a whole step that leaves more than
# this share of the excess, the Hessian's has four times as many.
_SAMPLED_SHARE, _FEW_ROWS, _LEFT = 0.1, 4096, 0.2
# What is far from a minimum, relatively; how well that of a sample is found; and the share of the pull of the
# rows that must be sure to be in it. At the best bias either class has half.
_FAR, _ROUGHLY, _SURE = 2.0, 0.05, 0.4


class Block(NamedTuple):
    """As many problems on the same rows as they have lanes; costs are 0 in lanes without a problem.

    `targets`, `costs` and `tickets`, by which samples are drawn, are (n, lanes). `penalty` (width, 1) is the
    factor of ½w², and `free` (width, lanes) is 0 for the weights that must stay 0.
    """

    rows: Rows
    kind: int
    targets: np.ndarray
    costs: np.ndarray
    penalty: np.ndarray
    free: np.ndarray
    tickets: np.ndarray


def minimise_block(
    block: Block, weights, tol, max_iter
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Minimise from the start `weights` until every lane is within `tol` of its minimum, relatively.

    Returns weights (width, lanes), scores (n, lanes), and per lane the objective and a bound on its excess.
    """
    rows, penalty, free, lanes = block.rows, block.penalty, block.free, block.rows.lanes
    weights = weights * free
    scores = rows.scores(weights)
    objective, slope, curvature = _evaluate(block, weights, scores)
    n_sampled = _count_sampled(block)
    todo, step, before = np.ones(lanes, dtype=bool), np.zeros(lanes), np.full(lanes, np.inf)
    scale: Any = None
    for n_steps in range(max_iter + 1):
        gradient = free * (penalty * weights + rows.pull(slope))
        excess = lane_dots(gradient, gradient) / 2
        todo = todo & (excess > tol * objective)
        if not todo.any() or n_steps == max_iter:
            break
        far = todo & (excess > _FAR * objective) & np.isfinite(n_sampled)
        direction = np.zeros_like(weights)
        if n_steps == 0 and far.any():
            direction = _find_sampled_direction(
                block, weights, slope, np.where(far, n_sampled, 0.0), max_iter
            )
            direction *= lane_dots(gradient, direction) < 0
        # Lanes that do not head for the minimum of a sample wait for those that do.
        if not direction.any():
            grows = todo & (step == 1.0) & (excess > _LEFT * before)
            n_sampled, before = np.where(grows, 4 * n_sampled, n_sampled), excess
            sample, bends = _sample_curvature(block, curvature, n_sampled, todo)
            if scale is None or grows.any():
                diagonal = penalty + sample.squares(bends)
                share = _DIAGONAL_SHARE if rows.is_sparse else _DENSE_DIAGONAL_SHARE
                fresh = 1.0 / (1.0 - share + share * diagonal)
                scale = fresh if scale is None else np.where(grows, fresh, scale)
            direction = _find_direction(block, sample, bends, np.where(todo, gradient, 0.0), scale)
        step, weights, scores, (objective, slope, curvature) = _search_line(
            block, weights, scores, objective, gradient, direction, todo
        )
        # A lane in which rounding leaves no descent has come as far as it can.
        todo = todo & (step > 0)
    return weights, scores, objective, excess


def find_biases(block: Block, max_iter) -> np.ndarray:
    """Weights to start from that are 0 but for the bias, which is the best one then."""
    lanes = block.rows.lanes
    weights = np.zeros((block.rows.width, lanes))
    if block.kind != SQUARED:
        signs = np.repeat([[1.0], [-1.0]], lanes, axis=1)
        costs = np.stack([np.sum(block.costs, axis=0, where=block.targets == sign) for sign in (1.0, -1.0)])
        rows, last = Rows(np.empty((2, 0)), lanes=lanes), slice(-1, None)
        classes = Block(rows, block.kind, signs, costs, block.penalty[last], block.free[last], signs)
        weights[last] = minimise_block(classes, weights[last], _ROUGHLY, max_iter)[0]
    return weights


def _evaluate(block, weights, scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The objective per lane, and slope and curvature of every pair's loss."""
    slope, curvature = np.empty_like(scores), np.empty_like(scores)
    loss = loss_derivatives(block.kind, scores, block.targets, block.costs, slope, curvature)
    return loss + lane_dots(block.penalty * weights, weights) / 2, slope, curvature


def _count_sampled(block) -> np.ndarray:
    """How many rows a lane's sample has at first; infinitely many, which is all, where they are few."""
    n_rows = np.count_nonzero(block.costs, axis=0)
    n_sampled = np.maximum(n_rows * _SAMPLED_SHARE, _FEW_ROWS)
    all_rows = block.kind == SQUARED or not block.rows.is_sparse
    return np.where(all_rows | (n_sampled > n_rows / 2), np.inf, n_sampled)


def _find_sampled_direction(block, weights, slope, n_sampled, max_iter) -> np.ndarray:
    """The way to about the minimum of the problem of some rows, which stand for others that pull as they do.

    0 in lanes where those that pull the most cannot all be among them: without these the minimum is another.
    """
    drawn, chances, sure = draw_rows(slope, n_sampled, block.tickets)
    goes = sure >= _SURE
    if not goes.any():
        return np.zeros_like(weights)
    sample = block._replace(
        rows=block.rows.take(drawn),
        targets=block.targets[drawn],
        costs=_divide(block.costs[drawn], chances * goes),
        tickets=_divide(block.tickets[drawn], chances),
    )
    return (minimise_block(sample, weights, _ROUGHLY, max_iter)[0] - weights) * goes


def _sample_curvature(block, curvature, n_sampled, lanes) -> tuple[Rows, np.ndarray]:
    """Rows that bend these lanes as all rows do, and the curvature that stands for theirs."""
    if np.isposinf(n_sampled).all():
        return block.rows, curvature
    drawn, chances, _ = draw_rows(curvature, np.where(lanes, n_sampled, 0.0), block.tickets)
    bends = _divide(curvature[drawn], chances)
    if len(drawn) <= block.rows.n / 2:
        return block.rows.take(drawn), bends
    everywhere = np.zeros_like(curvature)
    everywhere[drawn] = bends
    return block.rows, everywhere


def _find_direction(block, rows, curvature, gradient, scale) -> np.ndarray:
    """Conjugate gradients on the Newton system of these rows, until its model hardly gains any more."""
    worthwhile = _WORTHWHILE_FOR_SQUARES if block.kind == SQUARED else _WORTHWHILE
    direction, residual = np.zeros_like(gradient), -gradient
    search = scale * residual
    energy = lane_dots(residual, search)
    model, live = np.zeros(len(energy)), energy > 0
    for n_steps in range(1, _CONJUGATE_STEPS + 1):
        bent = block.free * (block.penalty * search + rows.curve(curvature, search))
        length = _divide(energy, lane_dots(search, bent)) * live
        direction += length * search
        residual -= length * bent
        before, model = model, lane_dots(direction, gradient - residual) / 2
        live = live & (n_steps * (model - before) < worthwhile * model)
        if not live.any():
            break
        conditioned = scale * residual
        before, energy = energy, lane_dots(residual, conditioned)
        search = (conditioned + _divide(energy, before) * search) * live
    return direction


def _search_line(block, weights, scores, objective, gradient, direction, lanes) -> tuple:
    """The first step of 1, ½, ¼, … at which the objective falls enough, per lane; 0 if there is none.

    Returns the steps, weights and scores at their end, and what is found there.
    """
    along, slope = block.rows.scores(direction), lane_dots(gradient, direction)
    step = lanes.astype(np.float64)
    for number in range(_HALVINGS + 1):
        there = weights + step * direction
        scores_there = along * step
        scores_there += scores
        reached = _evaluate(block, there, scores_there)
        too_long = (step > 0) & ~(reached[0] <= objective + _DESCENT * step * slope)
        if not too_long.any():
            break
        step = np.where(too_long, step / 2 if number < _HALVINGS - 1 else 0.0, step)
    return step, there, scores_there, reached


def _divide(a, b) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
