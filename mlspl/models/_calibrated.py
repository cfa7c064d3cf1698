"""Probabilities on first use, and the choice of a calibration by out-of-fold scores."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mlspl.errors import UserError
from mlspl.model_selection import (
    Calibration,
    JointCalibration,
    PlattCalibration,
    ShrunkCalibration,
    get_calibration,
    out_of_fold_scores,
)
from mlspl.models.tuned_decision import evaluate, known_labels, resolve_criterion

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
    """A calibration that is fitted on first use, on three folds; until then it holds the training data."""

    _contents = {"training": (None,), "calibration": (PlattCalibration, None)}

    def __init__(self, estimator, X, Y, label_weight, calibration=None):
        calibration = calibration or PlattCalibration(offset=False)
        self.training: Any = (calibration, copy_for_folds(estimator), X, Y, label_weight)
        self.calibration: PlattCalibration | None = None

    def get(self) -> PlattCalibration:
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

    def transform(self, scores) -> np.ndarray:
        """Probabilities of scores."""
        return self.get().transform(scores)

    def __getstate__(self):
        return vars(self) | {"training": None} if _LEFT_OUT.get() else dict(vars(self))


def copy_for_folds(estimator) -> Any:
    """A quiet, unfitted copy for labels of 0 and 1; `estimator` knows its classes."""
    copy = clone(estimator)
    quiet: dict[str, Any] = {"verbose": 0} if getattr(copy, "verbose", 0) else {}
    if isinstance(weight := getattr(copy, "class_weight", None), dict) and not estimator._multilabel:
        quiet["class_weight"] = {i: weight.get(name, 1.0) for i, name in enumerate(estimator.classes_)}
    return copy.set_params(**quiet)


def choose_calibration(scores, Y, label_weight, fold_of, try_joint) -> tuple[Calibration, PlattCalibration]:
    """The calibration of the scores, and that of the probabilities, chosen by average precision out-of-fold.

    Platt's sigmoids make labels comparable: ranking loss on scene 0.071 before, 0.065 after. They hurt on
    flags, with 58 training rows. A single label needs no common scale. If label frequencies alone rank
    better, the log-odds are shrunk towards them. A joint calibration is for the figures of imdb in
    ``docs/large_data.md``. `fold_of` is the fold without which the scores of a row were made.
    """
    truth = known_labels(Y, label_weight)
    criterion = resolve_criterion("average_precision", truth)
    sign = 1.0 if criterion.greater_is_better else -1.0
    weight = np.ones(Y.shape) if label_weight is None else label_weight

    def value(odds, rows=slice(None)) -> float:
        return round(sign * evaluate(criterion, truth[rows], odds, odds > 0), 9)

    def held_out(calibration, rows=slice(None)) -> np.ndarray:
        """Log-odds by calibrations fitted without the row's fold."""
        odds = np.empty(scores[rows].shape)
        for fold in np.unique(fold_of):
            test = fold_of[rows] == fold
            part = (table[rows][~test] for table in (scores, Y, weight))
            odds[test] = clone(calibration).fit(*part).log_odds(scores[rows][test])
        return odds

    names = ("platt", "none") if Y.shape[1] > 1 else ("none",)
    tried = {name: held_out(get_calibration(name)) for name in names}
    best = max(names, key=lambda name: value(tried[name]))
    odds, calibration = tried[best], get_calibration(best).fit(scores, Y, weight)
    probability = PlattCalibration(offset=False).fit(calibration.log_odds(scores), Y, weight)
    if not criterion.greater_is_better:
        return calibration, probability
    if best == "platt":
        some = _every(Y.size, _SHRUNK_PAIRS)
        shrunk = ShrunkCalibration().fit(odds[some], Y[some], weight[some])
        if value(odds) < value(np.broadcast_to(shrunk.prior_, Y.shape)):
            calibration.slope_ = shrunk.share_ * calibration.slope_
            calibration.offset_ = shrunk.share_ * calibration.offset_ + (1 - shrunk.share_) * shrunk.prior_
            probability = PlattCalibration(offset=False).fit(shrunk.log_odds(odds), Y, weight)
    if try_joint:
        some = _every(Y.size * Y.shape[1], _JOINT_TRIAL)
        if value(held_out(JointCalibration(), some), some) > value(odds[some], some):
            some = _every(Y.size * Y.shape[1], _JOINT_VALUES)
            calibration = JointCalibration().fit(scores[some], Y[some], weight[some])
            odds_of_all = calibration.log_odds(scores[some])
            probability = PlattCalibration(offset=False).fit(odds_of_all, Y[some], weight[some])
    return calibration, probability


def _every(size, most) -> slice:
    """Every k-th row, such that at most `most` of the values remain."""
    return slice(None, None, -(-size // most))
