"""Probabilities on first use, and the choice of a calibration by out-of-fold scores."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mlspl.errors import UserError
from mlspl.model_selection import (
    AnchoredCalibration,
    Calibration,
    JointCalibration,
    ShrunkCalibration,
    get_calibration,
    out_of_fold_scores,
)
from mlspl.models._label_blocks import dense_block
from mlspl.models.tuned_decision import (
    calibrate_folds,
    evaluate,
    evaluate_decision,
    known_labels,
    rank_decisions,
    resolve_criterion,
)

_LEFT_OUT = ContextVar("_LEFT_OUT", default=False)
# Pairs that set the shrinkage; rows × labels² on which a joint calibration is tried and fitted.
_SHRUNK_PAIRS, _JOINT_TRIAL, _JOINT_VALUES = 2**20, 2**22, 2**24


@contextmanager
def without_training_data() -> Iterator[None]:
    """Keep out of pickles and model files the training data that are held for probabilities."""
    token = _LEFT_OUT.set(True)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


class LazyCalibration:
    """A calibration that is fitted on first use, by refitting the estimator on three folds.

    Until then it holds the training data, which are not copied and must not be changed.
    """

    _contents = {"training": (None,), "calibration": (AnchoredCalibration, None)}

    def __init__(self, estimator, X, Y, label_weight, calibration):
        unfitted = clone(estimator)
        if getattr(unfitted, "verbose", 0):
            unfitted.set_params(verbose=0)
        self.training: Any = (calibration, unfitted, X, Y, label_weight)
        self.calibration: AnchoredCalibration | None = None

    def get(self) -> AnchoredCalibration:
        """The fitted calibration."""
        if self.calibration is None:
            if self.training is None:
                raise UserError(
                    "The model was saved without probabilities. Save it with `mlspl fit --proba` or "
                    "save_model(…, proba=True), or use its scores."
                )
            calibration, estimator, X, Y, label_weight = self.training
            Y = Y.toarray() if sparse.issparse(Y) else Y
            if len(Y) < 3:
                raise UserError(
                    f"{len(Y)} training rows are too few to fit probabilities on three folds. "
                    "Give 3 or more, or use decision_function."
                )
            scores = out_of_fold_scores(estimator, X, Y.astype(np.int8), label_weight)
            self.calibration = calibration.fit(scores, Y, label_weight)
            self.training = None
        return self.calibration

    _prepare_file = get

    def __getstate__(self):
        return vars(self) | {"training": None} if _LEFT_OUT.get() else dict(vars(self))


class CalibratedBlock(NamedTuple):
    """Calibrations of a block of labels by name, the probabilities of each, and its out-of-fold log-odds."""

    calibrations: dict[str, Calibration]
    probabilities: dict[str, AnchoredCalibration]
    log_odds: dict[str, np.ndarray]


def calibrate_block(scores, Y, label_weight, *, folds, evaluated, n_labels) -> CalibratedBlock:
    """Fit the calibrations "platt" and "none" to out-of-fold scores (n, B) of a block of labels.

    Their log-odds of the rows `evaluated` come from calibrations fitted without the row's fold. For a single
    label only "none" is tried: it needs no common scale, and odds would undo its class weight.
    """
    if 2 * len(evaluated) <= len(scores):
        folds = [(np.setdiff1d(np.arange(len(scores)), evaluated), evaluated)]
    found = CalibratedBlock({}, {}, {})
    for name in ("platt", "none") if n_labels > 1 else ("none",):
        odds = np.empty_like(scores)
        for _, test, _, fitted in calibrate_folds(name, scores, Y, label_weight, folds):
            odds[test] = fitted.log_odds(scores[test])
        calibration = get_calibration(name).fit(scores, Y, label_weight)
        found.calibrations[name] = calibration
        found.probabilities[name] = AnchoredCalibration().fit(calibration.log_odds(scores), Y, label_weight)
        found.log_odds[name] = odds[evaluated]
    return found


def choose_calibration(
    blocks: list[CalibratedBlock], Y, label_weight, folds, evaluated, try_joint
) -> tuple[Calibration, AnchoredCalibration]:
    """The calibration of the scores, and that of the probabilities, chosen by average precision out-of-fold.

    - Platt's sigmoids make labels comparable: ranking loss on scene 0.071 before, 0.065 after. They hurt on
      flags, with 58 training rows, so "none" is tried too.
    - If label frequencies alone rank better, the log-odds are shrunk towards them.
    - If `try_joint`, log-odds of each label from the scores of all labels are tried: see the figures of imdb
      in ``docs/large_data.md``.
    """
    weight = None if label_weight is None else label_weight[evaluated]
    truth = known_labels(dense_block(Y[evaluated], slice(None)), weight)
    criterion = resolve_criterion("average_precision", truth)

    def value(odds, rows=slice(None)) -> float:
        return evaluate(criterion, truth[rows], odds, odds > 0)

    odds = {
        name: np.concatenate([block.log_odds[name] for block in blocks], axis=1)
        for name in blocks[0].log_odds
    }
    tried = [evaluate_decision(name, "zero", criterion, truth, part, part > 0) for name, part in odds.items()]
    best = rank_decisions(tried, criterion)[0]["calibration"]
    parts = [block.calibrations[best] for block in blocks]
    calibration: Any = type(parts[0]).concatenate(parts)
    probability = AnchoredCalibration.concatenate([block.probabilities[best] for block in blocks])
    if not criterion.greater_is_better:
        return calibration, probability
    if best == "platt":
        some = _every(odds[best].size, _SHRUNK_PAIRS)
        shrunk = ShrunkCalibration().fit(
            odds[best][some], truth[some], None if weight is None else weight[some]
        )
        if value(odds[best]) < value(np.broadcast_to(shrunk.prior_, truth.shape)):
            calibration.slope_ = shrunk.share_ * calibration.slope_
            calibration.offset_ = shrunk.share_ * calibration.offset_ + (1 - shrunk.share_) * shrunk.prior_
            probability = AnchoredCalibration().fit(shrunk.log_odds(odds[best]), truth, weight)
    if try_joint:
        scores, weight = odds["none"], np.ones(truth.shape) if weight is None else weight
        some = _every(truth.size * truth.shape[1], _JOINT_TRIAL)
        fold = np.empty(sum(len(test) for _, test in folds), dtype=int)
        for number, (_, test) in enumerate(folds):
            fold[test] = number
        fold = fold[evaluated][some]
        joint = np.empty_like(scores[some])
        for number in np.unique(fold):
            train, test = fold != number, fold == number
            fitted = JointCalibration().fit(scores[some][train], truth[some][train], weight[some][train])
            joint[test] = fitted.log_odds(scores[some][test])
        if value(joint, some) > value(odds[best][some], some):
            some = _every(truth.size * truth.shape[1], _JOINT_VALUES)
            calibration = JointCalibration().fit(scores[some], truth[some], weight[some])
            probability = AnchoredCalibration().fit(
                calibration.log_odds(scores[some]), truth[some], weight[some]
            )
    return calibration, probability


def _every(size, most) -> slice:
    """Every k-th row, such that at most `most` of the values remain."""
    return slice(None, None, -(-size // most))
