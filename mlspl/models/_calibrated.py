"""Probabilities for estimators whose scores are margins: sigmoids fitted to out-of-fold scores."""

from typing import Any

import numpy as np
from sklearn.base import clone

from mlspl.errors import UserError
from mlspl.model_selection import AnchoredCalibration, out_of_fold_scores

__all__ = ["LazyCalibration", "OutOfFoldProbabilitiesMixin", "held_out_scores", "quiet"]


def held_out_scores(estimator, X, Y, label_weight) -> np.ndarray:
    """Scores of every row from a model fitted on the other thirds, which probabilities are fitted to.

    Parameters
    ----------
    estimator : estimator
        To be fitted on each two thirds; not changed.
    X, Y, label_weight : arrays
        The training data.

    Examples
    --------
    >>> import numpy as np
    >>> held_out_scores(None, np.zeros((2, 1)), np.zeros((2, 1), bool), None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mlspl.errors.UserError: Probabilities are fitted to scores of thirds of the training rows held out in ...
    """
    if len(Y) < 3:
        raise UserError(
            "Probabilities are fitted to scores of thirds of the training rows held out in turn, and there "
            f"are no thirds of {len(Y)} row{'s'[: len(Y) - 1]}: give 3 or more, or use decision_function."
        )
    return out_of_fold_scores(estimator, X, Y.astype(np.int8), label_weight)


def quiet(estimator):
    """An unfitted copy of an estimator that shows no progress.

    Parameters
    ----------
    estimator : estimator
        Fitted or not; not changed.

    Examples
    --------
    >>> from mlspl import MLSPLClassifier
    >>> quiet(MLSPLClassifier(verbose=1)).verbose
    0
    """
    unfitted = clone(estimator)
    return unfitted.set_params(verbose=0) if "verbose" in unfitted.get_params() else unfitted


class LazyCalibration:
    """The training data until probabilities are asked for, the calibration afterwards.

    Parameters
    ----------
    estimator : estimator
        Of margins; its parameters of now are those of the calibration.
    X, Y, label_weight : arrays
        The training data.
    calibration : AnchoredCalibration
        To be fitted.
    """

    _contents = {"training": "any", "calibration": AnchoredCalibration}

    def __init__(self, estimator, X, Y, label_weight, calibration):
        self.training: Any = (quiet(estimator), X.copy(), Y, label_weight)
        self.calibration = calibration

    def get(self) -> AnchoredCalibration:
        """The calibration, fitted at the first call by refitting the estimator on three folds."""
        if self.training is not None:
            estimator, X, Y, label_weight = self.training
            scores = held_out_scores(estimator, X, Y, label_weight)
            self.calibration.fit(scores, Y, label_weight)
            self.training = None
        return self.calibration

    _prepare_file = get

    def _check_contents(self):
        """A file holds training data of too few rows to fit anything to, or none."""
        if self.training is not None and len(self.training[2]) > 2:
            raise ValueError("a model file holds no training data")


class OutOfFoldProbabilitiesMixin:
    """Adds ``predict_proba`` to an estimator of margins; nothing is computed until it is called.

    The fit calls ``_prepare_calibration(X, Y, label_weight)``.
    """

    _contents = {"_calibration": (LazyCalibration, AnchoredCalibration)}
    _calibration: LazyCalibration | AnchoredCalibration

    def _prepare_calibration(self, X, Y, label_weight, calibration=None) -> None:
        calibration = AnchoredCalibration() if calibration is None else calibration
        self._calibration = LazyCalibration(self, X, Y, label_weight, calibration)

    def _probabilities(self, X, scores) -> np.ndarray:
        calibration = self._calibration
        if isinstance(calibration, LazyCalibration):
            calibration = calibration.get()
        return calibration.transform(scores)
