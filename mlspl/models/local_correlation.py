"""What ML-LOC and MLSPL share: Algorithm 1 of the paper around :class:`Alternation`."""

import time

import numpy as np
from joblib import effective_n_jobs

from mlspl.correlation import CodeRidge, get_regressor
from mlspl.models._class_weight import class_costs
from mlspl.models._limits import FLOAT, Cost
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks
from mlspl.models.alternation import Alternation
from mlspl.models.kernel_machine import KernelMachine

__all__ = ["LocalCorrelationClassifier"]


class LocalCorrelationClassifier(CallbackSupportMixin, KernelMachine):
    """Base of the estimators with prototypes and codes; a subclass says how it is paced.

    It implements ``_pacing()``, which gives a self-paced function (or None) and a schedule, and
    ``_folds(Y)``, which gives the folds of cross-fitted codes (or None).
    """

    fit = with_callbacks(KernelMachine.fit)

    def _cost(self, size):
        """Two kernel matrices, without and with codes, and most of a third where ridge regression solves."""
        machine = super()._cost(size)
        tables = 18 * size.rows * size.labels
        matrices = 1.7 if isinstance(get_regressor(self.regressor), CodeRidge) else 1.0
        return Cost(machine.bytes + FLOAT * (matrices * size.rows**2 + tables), 4.0 * machine.seconds)

    def _fit(self, X, Y, label_weight):
        function, schedule = self._pacing()
        K = self._training_kernel(X)
        classes = (0, 1) if self._multilabel else self.classes_
        state = Alternation(
            K,
            Y,
            class_costs(Y, self.class_weight, label_weight, classes),
            C=self.C,
            beta=self.beta,
            n_codes=self.n_codes,
            regressor=self.regressor,
            folds=self._folds(Y),
            solver=self.solver,
            tol=self.tol,
            n_threads=effective_n_jobs(self.n_jobs),
            random_state=self.random_state,
        )
        with fit_progress(self, len(schedule), X, Y) as report:
            self._alternate(state, Y, function, schedule, report)
        self.codes_ = state.codes
        self.prototypes_ = state.prototypes
        self.n_iter_ = len(self.history_)
        self._keep_expansion(X, *state.expansion())
        self._prepare_calibration(X, Y, label_weight)

    def _alternate(self, state, Y, function, schedule, report) -> None:
        """Algorithm 1: weigh, learn, recode, grow the pace, until a reason to stop."""
        self.history_: list[dict] = []
        self.stop_reason_ = "max_steps"
        known = state.prior > 0
        weights = np.ones(Y.shape)
        penalty = np.zeros(Y.shape)
        pace = 0.0
        if function is not None and state.folds is None:
            state.fit_classifiers(weights)
        for target in schedule:
            start = time.perf_counter()
            before, pace_before = weights, pace
            if function is not None:
                losses = state.losses(weights)
                pace = schedule.pace(target, losses, Y, known)
                weights = function.weight(losses, pace)
                # At an infinite pace nothing is paced, and the penalty of some functions has no finite limit.
                penalty = np.where(np.isposinf(pace), 0.0, function.penalty(weights, pace))
            state.fit_classifiers(weights)
            moved = state.update_codes(weights)
            self.history_.append(
                {
                    "step": len(self.history_) + 1,
                    "pace": float(target) if function is not None and np.isfinite(target) else None,
                    **state.objective(weights, penalty),
                    "mean_weight": float(weights.mean(where=known)),
                    "in_play": _shares(weights >= 0.5, known),
                    "codes_moved": moved,
                    "seconds": time.perf_counter() - start,
                }
            )
            asked = report(f"mean weight {self.history_[-1]['mean_weight']:.3f}")
            least = weights.min(where=known, initial=1.0)
            if asked:
                self.stop_reason_ = "callback"
            elif function is not None and least >= self.target_weight and not moved:
                self.stop_reason_ = "target_weight"
            elif not moved and np.array_equal(weights, before) and np.array_equal(pace, pace_before):
                self.stop_reason_ = "settled"
            else:
                continue
            break
        self.label_weights_ = weights


def _shares(chosen, known) -> list[float]:
    """Of each label, the share of its known pairs that are chosen; 1 where none is known."""
    n_known = known.sum(axis=0)
    return np.where(n_known > 0, (chosen & known).sum(axis=0) / np.maximum(n_known, 1), 1.0).tolist()
