"""Probabilities for estimators whose scores are margins: sigmoids fitted to out-of-fold scores."""

from typing import Any

import numpy as np
from sklearn.base import clone

from mlspl.model_selection import AnchoredCalibration, out_of_fold_scores

__all__ = ["LazyCalibration", "OutOfFoldProbabilitiesMixin"]


class LazyCalibration:
    """The training data until probabilities are asked for, the calibration afterwards.

    Parameters
    ----------
    X, Y, label_weight : arrays
        The training data.
    """

    def __init__(self, X, Y, label_weight):
        self.training: Any = (X.copy(), Y, label_weight)
        self.calibration: Any = None

    def get(self, estimator) -> AnchoredCalibration:
        """The calibration, fitted at the first call by refitting `estimator` on three folds."""
        if self.calibration is None:
            X, Y, label_weight = self.training
            unfitted = clone(estimator)
            if "verbose" in unfitted.get_params():
                unfitted.set_params(verbose=0)
            scores = out_of_fold_scores(unfitted, X, Y.astype(np.int8), label_weight)
            self.calibration = AnchoredCalibration().fit(scores, Y, label_weight)
            self.training = None
        return self.calibration


class OutOfFoldProbabilitiesMixin:
    """Adds ``predict_proba`` to an estimator of margins; nothing is computed until it is called.

    The fit calls ``_prepare_calibration(X, Y, label_weight)``.
    """

    def _prepare_calibration(self, X, Y, label_weight) -> None:
        self._calibration = LazyCalibration(X, Y, label_weight)

    def _probabilities(self, X, scores) -> np.ndarray:
        return self._calibration.get(self).transform(scores)
