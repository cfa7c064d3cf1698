"""Base of ML-LOC and MLSPL: Algorithm 1 around blocks of labels, and the calibration of the scores."""

import numpy as np
from scipy import sparse

from mlspl._parallel import count_workers, parallel_map
from mlspl.correlation import get_regressor
from mlspl.model_selection import Calibration
from mlspl.models._base import CallbackSupportMixin, fit_progress, with_callbacks
from mlspl.models._calibrated import choose_calibration
from mlspl.models._label_blocks import by_columns, dense_block, label_blocks, one_thread, stack_weights
from mlspl.models._space_classifier import SpaceClassifier
from mlspl.models.local_correlation import (
    BlockConfig,
    Coding,
    FittedBlock,
    code_rows,
    fit_block,
    merge_histories,
)
from mlspl.pacing import PaceSchedule, Trace

# Pairs whose weights and trace are kept: 22 bytes each, 1.5 GB.
_KEPT_PAIRS = 2**26
# Pairs on which a calibration is chosen.
_EVALUATED_PAIRS = 2**24
# Labels up to which the scores of all labels may calibrate each.
_JOINT_LABELS = 64


class LocalCorrelationClassifier(CallbackSupportMixin, SpaceClassifier):
    """Base of the estimators with prototypes and codes.

    A subclass implements ``_pacing(space)``, which returns a self-paced function (or None) and a schedule.
    """

    _contents = {
        "space_": "text",
        "C_": "float",
        "label_weights_": "float (rows, labels)?",
        "calibration_": (Calibration, None),
        "history_": "plain",
        "trace_": (Trace, None),
        "stop_reason_": "text",
        "n_iter_": "int",
        "codes_": "float (rows, codes)",
        "prototypes_": "float (codes, labels)",
    }

    fit = with_callbacks(SpaceClassifier.fit)
    target_weight = 1.0
    _sparse_labels = True
    _float_types = [np.float64, np.float32]

    def _coding(self, space) -> Coding:
        regressor = self.regressor
        if regressor == "auto":
            regressor = "ridge" if space.many_rows else "svr"
        return Coding(self.n_codes, self.beta, regressor, self.random_state)

    def _fit(self, X, Y, label_weight):
        choice = self._choose_space(X)
        function, schedule = self._pacing(choice.space)
        blocks = [slice(0, Y.shape[1])]
        n_workers = count_workers()
        if choice.space.smooth and _paces_labels_apart(function, schedule):
            blocks = label_blocks(X.shape[0], X.shape[1], Y.shape[1], n_workers)
        else:
            Y = Y.toarray() if sparse.issparse(Y) else Y
        n_rows, n_labels = Y.shape
        n_evaluated = min(n_rows, max(1, _EVALUATED_PAIRS // n_labels))
        evaluated = np.sort(np.random.RandomState(0).permutation(n_rows)[:n_evaluated])
        with fit_progress(self, len(schedule) if len(blocks) == 1 else len(blocks), X, Y) as report:
            space = self._choose_cost(choice, X, Y, label_weight)
            space = one_thread(space) if n_workers > 1 and len(blocks) > 1 else space
            config = BlockConfig(
                coding=self._coding(space),
                folds=self._folds(Y),
                C=self.C_,
                class_weight=self.class_weight,
                classes=(0, 1) if self._multilabel else self.classes_,
                function=function,
                schedule=schedule,
                target_weight=self.target_weight,
                keep_pairs=n_rows * n_labels <= _KEPT_PAIRS,
                on_features=space.on_features,
            )
            rows = space.prepare(X)
            coded = code_rows(rows, Y, config.coding, config.folds)
            if len(blocks) > 1 and coded.regression is None:
                regressor = get_regressor(config.coding.regressor)
                coded = coded._replace(regression=regressor.regress(rows, coded.codes))
            shared = (rows, coded, by_columns(Y), label_weight, config, evaluated)
            if len(blocks) == 1:
                fitted = [fit_block(*shared, blocks[0], report)]
                self.label_weights_, self.trace_ = fitted[0].weights, fitted[0].trace
            else:
                fitted = self._fit_blocks(shared, blocks, Y.shape, report)
        self._join_blocks(rows, fitted)
        self.calibration_ = None
        if config.folds is None:
            self._calibrate_later(X, Y, label_weight)
            return
        fold_of = np.empty(n_rows, dtype=int)
        for number, (_, test) in enumerate(config.folds):
            fold_of[test] = number
        self.calibration_, self._calibration = choose_calibration(
            np.concatenate([part.held_out for part in fitted], axis=1),
            dense_block(Y[evaluated], slice(None)),
            None if label_weight is None else label_weight[evaluated],
            fold_of[evaluated],
            try_joint=space.many_rows and 1 < n_labels <= _JOINT_LABELS,
        )

    def _fit_blocks(self, shared, blocks, shape, report) -> list[FittedBlock]:
        """Fit blocks of labels. Callbacks cannot stop it, as a model needs all labels."""
        weights, trace = (np.empty(shape), Trace(shape)) if shared[4].keep_pairs else (None, None)
        self.label_weights_, self.trace_ = weights, trace
        fitted = []
        for block, part in zip(blocks, parallel_map(fit_block, shared, blocks), strict=True):
            if weights is not None and trace is not None:
                weights[:, block] = part.weights
                trace.fill(block, part.trace)
            fitted.append(part._replace(weights=None, trace=None))
            report(f"{block.stop:,} of {shape[1]:,} labels")
        return fitted

    def _join_blocks(self, rows, fitted: list[FittedBlock]) -> None:
        self.history_ = merge_histories(fitted)
        self.n_iter_ = len(self.history_)
        self.stop_reason_ = max(fitted, key=lambda part: len(part.history)).stop_reason
        self.codes_ = fitted[0].codes
        self.prototypes_ = np.concatenate([part.prototypes for part in fitted], axis=1)
        coef = stack_weights([part.coef for part in fitted])
        self.model_ = rows.make_model(coef, np.concatenate([part.intercept for part in fitted]))

    def _scores(self, X):
        scores = super()._scores(X)
        return scores if self.calibration_ is None else self.calibration_.log_odds(scores)


def _paces_labels_apart(function, schedule) -> bool:
    """Whether the pace of a label depends on that label only, so that labels can be fitted in blocks."""
    if function is None:
        return True
    return function.by_label and isinstance(schedule, PaceSchedule) and schedule.by_label
