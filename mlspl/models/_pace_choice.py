"""Whether pacing pays, and how much of it: schedules compared on held-out rows.

The comparison is by the log loss of the given labels of held-out rows. These labels are noisy too, but every
pair counts in the log loss, so it tells schedules apart where average precision does not. An example is the
0.9 quantile on clean labels of scene (development split 100): it gains −0.015 ± 0.001 in log loss, and
−0.006 ± 0.003 in average precision. A schedule that lowers the held-out average precision by more than a
standard error is not used.
"""

from typing import Any

import numpy as np
from scipy.special import logit

from mlspl.metrics import rank_criteria
from mlspl.models._families import log_losses, split_rows
from mlspl.models._forest import JointForestLearner, RowSamples, TreeRows, scale_weights
from mlspl.models._forest_models import JointForest
from mlspl.noise import wrong_shares
from mlspl.pacing import NoisePace, PaceSchedule, QuantilePace, SelfPacedFunction, check_weights

__all__ = ["choose_schedule"]

_QUANTILES = (0.9, 0.8, 0.7)
_N_FOLDS, _N_TREES = 3, 100
# Fewer rows cannot tell schedules apart.
_FEWEST_ROWS = 100


def choose_schedule(
    rows: TreeRows, Y, prior, function: SelfPacedFunction, n_jobs, random_state
) -> tuple[PaceSchedule | None, list[dict[str, Any]]]:
    """The schedule whose joint forests have the smallest log loss on held-out rows, or None: no pacing.

    The trees of a fold are grown once, unpaced; each schedule changes only the weights in their leaves.
    The records hold how far each schedule lowers the log loss and raises the average precision of the rows,
    with standard errors.
    """
    schedules = _candidates()
    if len(Y) < _FEWEST_ROWS or Y.shape[1] < 2:
        return None, []
    held_out = np.empty((1 + len(schedules), *Y.shape))
    for train, test in split_rows(Y, _N_FOLDS, random_state):
        samples = RowSamples.draw(_N_TREES, len(train), 1, random_state)
        learner = JointForestLearner(
            TreeRows(rows.X[train], rows.tree), Y[train], prior[train], samples, n_jobs
        )
        learner.fit(np.ones(Y[train].shape))
        forest, losses = learner.model(), learner.losses()
        held_out[0, test] = forest.probabilities(rows.X[test], n_jobs)
        for number, schedule in enumerate(schedules, start=1):
            pace = schedule.pace(schedule.targets[0], losses, Y[train], prior[train] > 0)
            weights = check_weights(function.weight(losses, pace), losses.shape, function)
            paced = JointForest(
                forest.trees,
                forest.leaves,
                Y[train],
                scale_weights(prior[train] * weights),
                forest.frequencies,
                None,
            )
            held_out[number, test] = paced.probabilities(rows.X[test], n_jobs)
    log_loss, precision = (
        _compare(values)
        for values in (
            [-log_losses(logit(scores), Y, prior) for scores in held_out],
            [rank_criteria(np.where(prior > 0, Y, np.nan), scores)[-1] for scores in held_out],
        )
    )
    names = ("gain", "standard_error", "precision_gain", "precision_error")
    records = [
        {"schedule": str(schedule)} | dict(zip(names, map(float, values), strict=True))
        for schedule, *values in zip(schedules, *log_loss, *precision, strict=True)
    ]
    allowed = ~(precision[0] < -precision[1])
    gains = np.where(allowed, np.round(log_loss[0], 9), 0.0)
    best = int(np.argmax(gains))
    return (schedules[best] if gains[best] > 0 else None), records


def _compare(values) -> tuple[np.ndarray, np.ndarray]:
    """Mean gain of each schedule over the first, and its standard error, over the rows with a value."""
    gains = np.array(values[1:]) - values[0]
    gains = gains[:, np.isfinite(gains).all(axis=0)]
    if gains.shape[1] < 2:
        return np.zeros(len(gains)), np.zeros(len(gains))
    return gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])


def _candidates() -> list[PaceSchedule]:
    return [QuantilePace(q, q, 1, per="class") for q in _QUANTILES] + [NoisePace(_estimate_shares)]


def _estimate_shares(losses, Y, known):
    """Shares of wrong labels, estimated from the losses −ln p of the given labels."""
    given = np.exp(-losses)
    probabilities = np.where(Y, given, 1.0 - given)
    return wrong_shares(np.where(known, Y, np.nan), probabilities, other_labels=False)
