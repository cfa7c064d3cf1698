"""What ML-LOC and MLSPL share: Algorithm 1 of the paper around :class:`Alternation`."""

from typing import cast

import numpy as np
from scipy import sparse

from mlspl._limits import FLOAT, Cost
from mlspl._spread import count_workers, spread
from mlspl.correlation import CodeRidge, get_regressor
from mlspl.model_selection import (
    AnchoredCalibration,
    Calibration,
    JointCalibration,
    PlattCalibration,
    ShrunkCalibration,
)
from mlspl.models._alternation import Coding, code_rows
from mlspl.models._label_blocks import (
    block_labels,
    dense_block,
    in_columns,
    label_blocks,
    one_thread,
    stack_weights,
)
from mlspl.models._machine import SpaceMachine
from mlspl.models._paced_block import FittedBlock, Plan, fit_block, merge_histories
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks
from mlspl.models.tuned_decision import judge, judge_decision, judge_of, known_labels, rank_decisions
from mlspl.pacing import PaceSchedule, Trace
from mlspl.spaces import Linear, Nystroem

__all__ = ["LocalCorrelationClassifier"]

# Pairs whose weights and trace are kept: 22 bytes each, 1.5 GB. Of more, a block of labels at a time is held.
_REMEMBERED_PAIRS = 2**26
# Pairs by which a calibration is chosen, and those that say how far its log-odds are to be believed.
_JUDGED_PAIRS, _SHRUNK_PAIRS = 2**24, 2**20
# Labels that may learn from each other's scores, and rows times labels squared that say whether, and what.
_JOINT_LABELS, _JOINT_TRIAL, _JOINT_VALUES = 64, 2**24, 2**27


class LocalCorrelationClassifier(CallbackSupportMixin, SpaceMachine):
    """Base of the estimators with prototypes and codes; a subclass says how it is paced.

    It implements ``_pacing(space)``, which gives a self-paced function (or None) and a schedule.
    """

    _contents = {
        "label_weights_": "float (rows, labels)?",
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
    _sparse_labels = True

    def _row_copies(self) -> float:
        """What codes take in a Gram space: a second and a third kernel matrix."""
        return 1.7 if isinstance(get_regressor(self._regressor(None)), CodeRidge) else 1.0

    def _regressor(self, space):
        """What predicts codes; "auto" is an ε-SVR on a kernel matrix, and ridge where rows are many."""
        if self.regressor != "auto":
            return self.regressor
        return "ridge" if isinstance(space, Linear | Nystroem) else "svr"

    def _coding(self, space) -> Coding:
        return Coding(self.n_codes, self.beta, self._regressor(space), self.random_state)

    def _cost(self, size):
        """Beside the machines' own, tables of codes for a block of labels, and what is kept; a few rounds."""
        block, apart = self._block_labels(size), self._labels_apart(self._choose_space(size).space)
        codes = size.rows * min(self.n_codes, size.rows)
        machines = super()._cost(size._replace(labels=block, values=size.values + codes * apart))
        pairs, weights = size.rows * size.labels, size.features * size.labels
        tables = (6 if apart else 18) * size.rows * block + 6 * codes
        kept = 0
        if block < size.labels:
            # Three numbers of each remembered pair, twice what is judged by, weights, the labels themselves.
            kept = 3 * pairs * (pairs <= _REMEMBERED_PAIRS) + 4 * min(pairs, _JUDGED_PAIRS)
            kept += min(weights, 2**28) + pairs // 64
        n_bytes = machines.bytes + FLOAT * (tables + kept)
        # A fit of each fold and of all rows a pace; on a kernel matrix they start where the last one ended.
        rounds = 16.0 if apart else 4.0
        return Cost(n_bytes, rounds * machines.seconds * size.labels / block)

    def _block_labels(self, size) -> int:
        """How many labels are fitted at a time."""
        if not self._labels_apart(self._choose_space(size).space):
            return size.labels
        return block_labels(size.rows, size.features, size.labels)

    def _labels_apart(self, space) -> bool:
        """Whether labels can be fitted without one another once there are codes, which must not move then."""
        function, schedule = self._pacing(space)
        fixed_codes = isinstance(space, Linear | Nystroem) and space.loss != "hinge"
        paced_apart = function is None or (
            function.by_label and isinstance(schedule, PaceSchedule) and schedule.by_label
        )
        return fixed_codes and paced_apart

    def _fit(self, X, Y, label_weight):
        space, n_workers = self._take_space(X, Y, label_weight), count_workers()
        if apart := self._labels_apart(space):
            blocks = label_blocks(X.shape[0], X.shape[1], Y.shape[1], n_workers)
            space = one_thread(space) if n_workers > 1 else space
        else:
            Y = Y.toarray() if sparse.issparse(Y) else Y
            blocks = [slice(0, Y.shape[1])]
        rows, plan = space.place(X), self._plan(Y, space)
        coded = code_rows(rows, Y, plan.coding, plan.folds)
        if apart and coded.regression is None:
            regressor = get_regressor(plan.coding.regressor)
            coded = coded._replace(regression=regressor.regress(rows, coded.codes))
        shared = (rows, coded, in_columns(Y), label_weight, plan)
        if len(blocks) == 1:
            with fit_progress(self, len(plan.schedule), X, Y) as report:
                fitted = [fit_block(*shared, blocks[0], report)]
            self.label_weights_, self.trace_ = fitted[0].weights, fitted[0].trace
        else:
            fitted = self._fit_blocks(shared, blocks, X, Y)
        self._keep(rows, fitted)
        self._calibrate(fitted, plan, X, Y, label_weight)

    def _plan(self, Y, space) -> Plan:
        function, schedule = self._pacing(space)
        n_rows, n_labels = Y.shape
        n_judged = min(n_rows, max(1, _JUDGED_PAIRS // n_labels))
        return Plan(
            self._coding(space),
            self._folds(Y),
            self.C_,
            self.class_weight,
            (0, 1) if self._multilabel else self.classes_,
            function,
            schedule,
            self.target_weight,
            # One label has none to be compared with; a class weight, which odds would undo, stands.
            ("platt", "none") if n_labels > 1 else ("none",),
            np.sort(np.random.RandomState(0).permutation(n_rows)[:n_judged]),
            n_rows * n_labels <= _REMEMBERED_PAIRS,
            isinstance(space, Linear),
            isinstance(space, Linear | Nystroem) and 1 < n_labels <= _JOINT_LABELS,
        )

    def _fit_blocks(self, shared, blocks, X, Y) -> list[FittedBlock]:
        """Fit blocks of labels, and put together what is remembered of their pairs.

        A callback cannot stop it: a model of some of the labels is none.
        """
        self.label_weights_, self.trace_ = None, None
        if remembers := Y.shape[0] * Y.shape[1] <= _REMEMBERED_PAIRS:
            weights, trace = self.label_weights_, self.trace_ = np.empty(Y.shape), Trace(Y.shape)
        fitted = []
        with fit_progress(self, len(blocks), X, Y) as report:
            for block, part in zip(blocks, spread(fit_block, shared, blocks), strict=True):
                if remembers:
                    weights[:, block] = part.weights
                    trace.fill(block, part.trace)
                fitted.append(part._replace(weights=None, trace=None))
                report(f"{block.stop:,} of {Y.shape[1]:,} labels")
        return fitted

    def _keep(self, rows, fitted: list[FittedBlock]) -> None:
        """The model, and what is to be known of its fit."""
        self.history_ = merge_histories(fitted)
        self.n_iter_ = len(self.history_)
        self.stop_reason_ = max(fitted, key=lambda part: len(part.history)).stop_reason
        self.codes_ = fitted[0].codes
        self.prototypes_ = np.concatenate([part.prototypes for part in fitted], axis=1)
        coef = stack_weights([part.coef for part in fitted])
        self.model_ = rows.keep(coef, np.concatenate([part.intercept for part in fitted]))

    def _calibrate(self, fitted: list[FittedBlock], plan, X, Y, label_weight) -> None:
        """Put the labels' scores on one scale where out-of-fold scores are there and say that it pays."""
        self.calibration_ = None
        if plan.folds is None:
            self._prepare_calibration(X, Y, label_weight)
            return
        weight = None if label_weight is None else label_weight[plan.judged]
        truth = known_labels(dense_block(Y[plan.judged], slice(None)), weight)
        criterion = judge_of("average_precision", truth)
        tried = []
        for number, name in enumerate(plan.calibrations):
            odds = np.concatenate([part.scales[number].odds for part in fitted], axis=1)
            tried.append(judge_decision(name, "zero", criterion, truth, odds, odds > 0))
        best = plan.calibrations.index(rank_decisions(tried, criterion)[0]["calibration"])
        scales = [part.scales[best] for part in fitted]
        self.calibration_ = type(scales[0].calibration).beside([scale.calibration for scale in scales])
        self._calibration = AnchoredCalibration.beside([scale.probability for scale in scales])
        if plan.calibrations[best] == "platt" and criterion.greater_is_better:
            odds = np.concatenate([scale.odds for scale in scales], axis=1)
            self._draw_to_frequencies(odds, truth, weight, criterion)
        if plan.joint and criterion.greater_is_better:
            self._calibrate_jointly(fitted, plan, best, truth, weight, criterion)

    def _draw_to_frequencies(self, odds, truth, weight, criterion) -> None:
        """Where held-out rows are ranked better by the labels' frequencies alone, believe the scores less."""
        some = slice(None, None, -(-odds.size // _SHRUNK_PAIRS))
        shrunk = ShrunkCalibration().fit(odds[some], truth[some], None if weight is None else weight[some])
        alone = np.broadcast_to(shrunk.prior_, odds.shape)
        if judge(criterion, truth, odds, odds > 0) >= judge(criterion, truth, alone, alone > 0):
            return
        share, sigmoids = shrunk.share_, cast(PlattCalibration, self.calibration_)
        sigmoids.slope_ = share * sigmoids.slope_
        sigmoids.offset_ = share * sigmoids.offset_ + (1 - share) * shrunk.prior_
        self._calibration = AnchoredCalibration().fit(shrunk.log_odds(odds), truth, weight)

    def _calibrate_jointly(self, fitted: list[FittedBlock], plan, best, truth, weight, criterion) -> None:
        """Let labels learn from each other's scores, where held-out rows say that it pays."""
        n_rows, n_labels = truth.shape
        scores, odds = (
            np.concatenate([part.scales[number].odds for part in fitted], axis=1)
            for number in (plan.calibrations.index("none"), best)
        )
        weight = np.ones(scores.shape) if weight is None else weight
        fold = np.empty(len(self.codes_), dtype=int)
        for number, (_, test) in enumerate(plan.folds):
            fold[test] = number
        fold = fold[plan.judged]

        def every(most) -> slice:
            return slice(None, None, -(-n_rows * n_labels**2 // most))

        some = every(_JOINT_TRIAL)
        joint = np.empty_like(odds[some])
        for number in np.unique(fold):
            held_out, others = fold[some] == number, fold[some] != number
            tried = JointCalibration().fit(scores[some][others], truth[some][others], weight[some][others])
            joint[held_out] = tried.log_odds(scores[some][held_out])
        if judge(criterion, truth[some], joint, joint > 0) > judge(
            criterion, truth[some], odds[some], odds[some] > 0
        ):
            some = every(_JOINT_VALUES)
            self.calibration_ = JointCalibration().fit(scores[some], truth[some], weight[some])
            odds = self.calibration_.log_odds(scores[some])
            self._calibration = AnchoredCalibration().fit(odds, truth[some], weight[some])

    def _scores(self, X):
        scores = super()._scores(X)
        return scores if self.calibration_ is None else self.calibration_.log_odds(scores)
