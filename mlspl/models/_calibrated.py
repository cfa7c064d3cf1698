"""Probabilities for estimators whose scores are margins: sigmoids fitted to out-of-fold scores."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from mlspl.errors import UserError
from mlspl.model_selection import AnchoredCalibration, out_of_fold_scores

__all__ = [
    "LazyCalibration",
    "OutOfFoldProbabilitiesMixin",
    "held_out_scores",
    "quiet",
    "without_training_data",
]

_LEFT_OUT = ContextVar("_LEFT_OUT", default=False)


def held_out_scores(estimator, X, Y, label_weight) -> np.ndarray:
    """Scores of every row from a model fitted on the other thirds, which probabilities are fitted to."""
    if len(Y) < 3:
        raise UserError(
            "Probabilities are fitted to scores of thirds of the training rows held out in turn, and there "
            f"are no thirds of {len(Y)} row{'s'[: len(Y) - 1]}: give 3 or more, or use decision_function."
        )
    return out_of_fold_scores(estimator, X, Y.astype(np.int8), label_weight)


def quiet(estimator):
    """An unfitted copy of an estimator that shows no progress."""
    unfitted = clone(estimator)
    return unfitted.set_params(verbose=0) if getattr(unfitted, "verbose", 0) else unfitted


@contextmanager
def without_training_data() -> Iterator[None]:
    """Leave out of pickles and model files the training data that are kept for probabilities."""
    token = _LEFT_OUT.set(True)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


class LazyCalibration:
    """A calibration that is fitted when probabilities are first asked for, by refitting on three folds.

    Until then it keeps the training data, which are not copied and must stay as they are.
    """

    _contents = {"training": (None,), "calibration": (AnchoredCalibration, None)}

    def __init__(self, estimator, X, Y, label_weight, calibration):
        self.training: Any = (calibration, quiet(estimator), X, Y, label_weight)
        self.calibration: AnchoredCalibration | None = None

    def get(self) -> AnchoredCalibration:
        """The fitted calibration."""
        if self.calibration is None:
            if self.training is None:
                raise UserError(
                    "The model was saved without probabilities: save it with `mlspl fit --proba` or "
                    "save_model(…, proba=True), or use its scores."
                )
            calibration, estimator, X, Y, label_weight = self.training
            Y = Y.toarray() if sparse.issparse(Y) else Y
            scores = held_out_scores(estimator, X, Y, label_weight)
            self.calibration = calibration.fit(scores, Y, label_weight)
            self.training = None
        return self.calibration

    _prepare_file = get

    def __getstate__(self):
        return vars(self) | {"training": None} if _LEFT_OUT.get() else dict(vars(self))


class OutOfFoldProbabilitiesMixin:
    """Adds ``predict_proba`` to an estimator of margins; nothing is computed until it is called.

    The fit calls ``_prepare_calibration(X, Y, label_weight)``.
    """

    _contents: ClassVar[dict[str, Any]] = {"_calibration": (LazyCalibration, AnchoredCalibration)}
    _calibration: LazyCalibration | AnchoredCalibration

    def _prepare_calibration(self, X, Y, label_weight, calibration=None) -> None:
        calibration = AnchoredCalibration() if calibration is None else calibration
        self._calibration = LazyCalibration(self, X, Y, label_weight, calibration)

    def _probabilities(self, X, scores) -> np.ndarray:
        calibration = self._calibration
        if isinstance(calibration, LazyCalibration):
            calibration = calibration.get()
        return calibration.transform(scores)
