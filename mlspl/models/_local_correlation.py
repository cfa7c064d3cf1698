"""What ML-LOC and MLSPL share: Algorithm 1 of the paper around :class:`Alternation`."""

import numpy as np

from mlspl._limits import FLOAT, Cost
from mlspl.correlation import CodeRidge, get_regressor
from mlspl.model_selection import AnchoredCalibration, Calibration, get_calibration
from mlspl.models._alternation import Alternation, Coding
from mlspl.models._machine import SpaceMachine
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks
from mlspl.models.tuned_decision import choose_decision, judge_of, known_labels
from mlspl.pacing import Trace, paced

__all__ = ["LocalCorrelationClassifier"]


class LocalCorrelationClassifier(CallbackSupportMixin, SpaceMachine):
    """Base of the estimators with prototypes and codes; a subclass says how it is paced.

    It implements ``_pacing()``, which gives a self-paced function (or None) and a schedule, and
    ``_folds(Y)``, which gives the folds of cross-fitted codes (or None).
    """

    _contents = {
        "label_weights_": "float (rows, labels)",
        "calibration_": (Calibration, None),
        "history_": "any",
        "trace_": (Trace, None),
        "stop_reason_": "text",
        "n_iter_": "int",
        "codes_": "float (rows, codes)",
        "prototypes_": "float (codes, labels)",
    }

    fit = with_callbacks(SpaceMachine.fit)
    target_weight = 1.0

    def _row_copies(self) -> float:
        """What codes take in a Gram space: a second and a third kernel matrix."""
        return 1.7 if isinstance(get_regressor(self.regressor), CodeRidge) else 1.0

    def _cost(self, size):
        """Beside the machines' own, tables of codes; and a few rounds."""
        machines = super()._cost(size)
        return Cost(machines.bytes + FLOAT * 18 * size.rows * size.labels, 4.0 * machines.seconds)

    def _fit(self, X, Y, label_weight):
        function, schedule = self._pacing()
        rows = self._take_space(X, Y).place(X)
        coding = Coding(self.n_codes, self.beta, self.regressor, self.random_state)
        learner = Alternation(rows, Y, coding, self._folds(Y))
        learner.set_costs(self.C, self._class_costs(Y, label_weight))
        known = learner.prior > 0
        walk = paced(learner, function, schedule, Y, known, target_weight=self.target_weight)
        with fit_progress(self, len(schedule), X, Y) as report:
            for step in walk:
                step.record |= learner.objective(step.weights, _penalty(function, step))
                step.record["codes_moved"] = step.moved
                if report(f"mean weight {step.record['mean_weight']:.3f}"):
                    walk.stop()
        self.label_weights_ = walk.weights
        self.history_ = walk.history
        self.trace_ = walk.trace
        self.stop_reason_ = walk.stop_reason
        self.n_iter_ = len(walk.history)
        self.codes_ = learner.codes
        self.prototypes_ = learner.prototypes
        self.model_ = rows.keep(*learner.expansion())
        self._calibrate(learner, X, Y, label_weight)

    def _calibrate(self, learner, X, Y, label_weight) -> None:
        """Put the labels' scores on one scale where out-of-fold scores are there and say that it pays."""
        self.calibration_ = None
        if learner.folds is None:
            self._prepare_calibration(X, Y, label_weight)
            return
        scores = learner.held_out_scores()
        criterion = judge_of("average_precision", known_labels(Y, label_weight))
        given = (scores, Y, label_weight)
        # One label has none to be compared with; a class weight, which odds would undo, stands.
        tried = ("platt", "none") if Y.shape[1] > 1 else ("none",)
        best, *_ = choose_decision(*given, learner.folds, criterion, tried, ("zero",))
        self.calibration_ = get_calibration(best["calibration"]).fit(*given)
        self._calibration = AnchoredCalibration().fit(self.calibration_.log_odds(scores), Y, label_weight)

    def _scores(self, X):
        scores = super()._scores(X)
        return scores if self.calibration_ is None else self.calibration_.log_odds(scores)


def _penalty(function, step) -> np.ndarray:
    """f(V, λ) per pair; nothing is paced at an infinite pace, where some functions have no finite limit."""
    if function is None:
        return np.zeros(step.weights.shape)
    return np.where(np.isposinf(step.pace), 0.0, function.penalty(step.weights, step.pace))
