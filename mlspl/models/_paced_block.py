"""A block of labels paced and calibrated by itself, and the blocks put together again.

Once the codes are made, of all labels, and stay as they are, no label knows of another: not in machines,
losses, paces or sigmoids. So tables of rows by labels are there for one block at a time.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mlspl.model_selection import AnchoredCalibration, Calibration, get_calibration
from mlspl.models._alternation import Alternation, Coded, Coding
from mlspl.models._class_weight import class_costs
from mlspl.models._label_blocks import dense_block, prune_weights
from mlspl.models.tuned_decision import calibrate_folds
from mlspl.pacing import GeometricPace, SelfPacedFunction, Trace, UntilInPlay, paced
from mlspl.spaces import Rows

__all__ = ["FittedBlock", "Plan", "Scale", "fit_block", "merge_histories"]

_LEAST_TOLERANCE = 1e-6


class Plan(NamedTuple):
    """How a block is fitted, the same for all blocks."""

    coding: Coding
    folds: Any
    C: float
    class_weight: Any
    classes: Any
    function: SelfPacedFunction | None
    schedule: Any
    target_weight: float
    calibrations: tuple[str, ...]
    judged: np.ndarray
    """Rows whose held-out scores are kept, to choose a calibration by."""
    remembers: bool
    """Whether weights and traces are kept."""
    prunes: bool
    """Whether coordinates are weights of the features, of which very many are not kept if they are small."""
    joint: bool
    """Whether labels may learn from each other's scores."""


class Scale(NamedTuple):
    """A calibration of a block: fitted to all its held-out scores; and what it says of held-out rows."""

    calibration: Calibration
    probability: AnchoredCalibration
    odds: np.ndarray


class FittedBlock(NamedTuple):
    """What is kept of a block."""

    coef: Any
    intercept: np.ndarray
    history: list[dict[str, Any]]
    n_known: int
    stop_reason: str
    codes: np.ndarray
    prototypes: np.ndarray
    weights: np.ndarray | None
    trace: Trace | None
    scales: list[Scale]


def fit_block(
    rows: Rows,
    coded: Coded,
    Y,
    label_weight,
    plan: Plan,
    block: slice,
    report: Callable[[str], bool] = lambda note: False,
) -> FittedBlock:
    """Walk the schedule with the labels of a block; `report` is told of every step, and may ask to stop."""
    n_labels = Y.shape[1]
    Y, label_weight = dense_block(Y, block), dense_block(label_weight, block)
    learner = Alternation(rows, Y, plan.coding, plan.folds, coded.of(block))
    learner.set_costs(plan.C, class_costs(Y, plan.class_weight, label_weight, plan.classes))
    known = learner.prior > 0
    walk = paced(learner, plan.function, plan.schedule, Y, known, target_weight=plan.target_weight)
    tolerances = _tolerances(rows.space.tol, plan)
    learner.set_tolerance(tolerances[0])
    for step in walk:
        learner.set_tolerance(tolerances[min(step.number, len(tolerances) - 1)])
        step.record |= learner.objective(step.weights, _penalty(plan.function, step))
        step.record["codes_moved"] = step.moved
        if report(f"mean weight {step.record['mean_weight']:.3f}"):
            walk.stop()
    coef, intercept = learner.expansion()
    return FittedBlock(
        prune_weights(coef, n_labels) if plan.prunes else coef,
        intercept,
        walk.history,
        int(known.sum()),
        walk.stop_reason,
        learner.codes,
        learner.prototypes,
        walk.weights if plan.remembers else None,
        walk.trace if plan.remembers else None,
        _scale(learner, Y, label_weight, plan) if plan.folds is not None else [],
    )


def _scale(learner, Y, label_weight, plan) -> list[Scale]:
    """Every calibration that is tried, fitted to the scores that the last losses were made of."""
    scores = learner.held_out_scores()
    scales, folds = [], plan.folds
    if 2 * len(plan.judged) <= len(scores):
        folds = [(np.setdiff1d(np.arange(len(scores)), plan.judged), plan.judged)]
    for name in plan.calibrations:
        odds = np.empty_like(scores)
        for _, test, _, fitted in calibrate_folds(name, scores, Y, label_weight, folds):
            odds[test] = fitted.log_odds(scores[test])
        odds = odds[plan.judged]
        calibration = get_calibration(name).fit(scores, Y, label_weight)
        probability = AnchoredCalibration().fit(calibration.log_odds(scores), Y, label_weight)
        scales.append(Scale(calibration, probability, odds))
    return scales


def _tolerances(tol, plan) -> list[float]:
    """Of the machines of every step: where λ is given, at most a hundredth of it.

    An error of the losses moves a weight by up to its λ-th part.
    """
    if plan.function is None or not isinstance(plan.schedule, GeometricPace | UntilInPlay):
        return [tol] * len(plan.schedule)
    return [min(tol, max(target / 100, _LEAST_TOLERANCE)) for target in plan.schedule]


def _penalty(function, step) -> np.ndarray:
    """f(V, λ) per pair; nothing is paced at an infinite pace, where some functions have no finite limit."""
    if function is None:
        return np.zeros(step.weights.shape)
    return np.where(np.isposinf(step.pace), 0.0, function.penalty(step.weights, step.pace))


def merge_histories(blocks: list[FittedBlock]) -> list[dict[str, Any]]:
    """The history of all labels: sums of objectives and seconds, means of losses and weights.

    A block that ended before the others stays as it was.
    """
    if len(blocks) == 1:
        return blocks[0].history
    longest = max((block.history for block in blocks), key=len)
    shares = [block.n_known / max(sum(block.n_known for block in blocks), 1) for block in blocks]
    merged = []
    for number, record in enumerate(longest):
        parts = [block.history[min(number, len(block.history) - 1)] for block in blocks]
        whole: dict[str, Any] = {"step": record["step"], "pace": record["pace"]}
        for name in record:
            values = [part[name] for part in parts]
            if name in ("mean_loss", "mean_weight"):
                told = [(s, v) for s, v in zip(shares, values, strict=True) if v is not None and s > 0]
                whole[name] = sum(s * v for s, v in told) if told else values[0]
            elif name == "in_play":
                whole[name] = [share for value in values for share in value]
            elif name == "seconds":
                took = [b.history[number][name] for b in blocks if number < len(b.history)]
                whole[name] = sum(took)
            elif name not in whole:
                whole[name] = sum(values)
        merged.append(whole)
    return merged
