"""Bases of the estimators that fit linear functions in a space, without and with codes; the choice of C."""

import sys
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mlspl._parallel import count_workers
from mlspl.model_selection import Calibration, PlattCalibration
from mlspl.models._base import CallbackSupportMixin, MultiLabelClassifier, fit_progress, with_callbacks
from mlspl.models._calibrated import LazyCalibration, choose_calibration
from mlspl.models._checks import warn_of_data
from mlspl.models._label_blocks import (
    class_costs,
    dense_block,
    label_blocks,
    map_blocks,
    one_thread,
    prune_weights,
    stack_weights,
)
from mlspl.models.local_correlation import Coding, code_rows, fit_block
from mlspl.pacing import Trace
from mlspl.spaces import Gram, KernelExpansion, LinearModel, Space, SpaceChoice, choose_space

# The sample on which C is chosen.
_ROWS, _LABELS = 3000, 32
# Multiples of the unit cost: half an order of magnitude apart, from 0.1 to 100.
_FACTORS = [10.0 ** (half / 2) for half in range(-2, 5)]
# The share of the linear space's held-out loss below which landmarks are worth ten times its time.
_CLEARLY_LESS = 0.99
# Pairs whose weights and trace are kept: 22 bytes each, 1.5 GB.
_KEPT_PAIRS = 2**26
# Pairs on which a calibration is chosen.
_EVALUATED_PAIRS = 2**24
# Labels up to which the scores of all labels may calibrate each.
_JOINT_LABELS = 64


def report_space(estimator, choice: SpaceChoice) -> str:
    """The space and why it was taken; a verbose estimator also prints it to standard error."""
    if getattr(estimator, "verbose", 0):
        print(f"{type(estimator).__name__}: {choice.reason}.", file=sys.stderr)
    return choice.reason


class SpaceClassifier(MultiLabelClassifier):
    """Base of the estimators with ``kernel``, ``gamma`` and ``tol``.

    A subclass's ``_fit`` sets ``model_``, which scores new rows, and ``_calibration``, by which
    ``predict_proba`` turns scores into probabilities. ``_gram_C`` is the C of "auto" on a kernel matrix.
    """

    _contents = {
        "model_": (KernelExpansion, LinearModel),
        "_calibration": (LazyCalibration, PlattCalibration),
    }
    _gram_C = 1.0
    _checks_predictions = True
    _calibration: LazyCalibration | PlattCalibration

    def _gram(self) -> Gram:
        n_threads = effective_n_jobs(getattr(self, "n_jobs", 1))
        return Gram(self.kernel, self.gamma, self.tol, n_threads)

    def _choose_space(self, X) -> SpaceChoice:
        return choose_space(self.space, X, self._gram(), self.n_landmarks, self.random_state)

    def _choose_cost(self, choice: SpaceChoice, X, Y, label_weight) -> Space:
        """Set ``C_`` and ``space_``; returns the space, the faster one unless the other is clearly better."""
        tried = []
        for each in filter(None, (choice, choice.faster)):
            C, loss = self._gram_C if self.C == "auto" else self.C, 0.0
            if each.space.many_rows and (self.C == "auto" or choice.faster is not None):
                costs = None if self.C == "auto" else [self.C]
                C, loss = choose_C(each.space, X, Y, label_weight, self._class_costs, costs)
            tried.append((loss, C, each))
        is_better = tried[0][0] < _CLEARLY_LESS * tried[-1][0]
        _, self.C_, taken = tried[0 if is_better else -1]
        self.space_ = report_space(self, taken)
        self._warn_of_data(X, taken.space)
        return taken.space

    def _warn_of_data(self, X, space) -> None:
        if self.kernel != "precomputed" and not callable(self.kernel):
            warn_of_data(X, type(self).__name__, space.rbf_gamma(X))

    def _class_costs(self, Y, label_weight):
        """Cost of every pair (n, L), in units of C."""
        classes = (0, 1) if self._multilabel else self.classes_
        return class_costs(Y, self.class_weight, label_weight, classes)

    def _scores(self, X):
        return self.model_.scores(X)

    def _probabilities(self, X, scores) -> np.ndarray:
        return self._calibration.transform(scores)

    @property
    def coef_(self):
        """Weights (n_labels, n_features), in a linear space."""
        if not isinstance(self.model_, LinearModel):
            raise AttributeError("coef_ exists in a linear space only.")
        return self.model_.coef

    dual_coef_ = property(lambda self: self.model_.coef, doc="Dual coefficients (n_labels, n_support).")
    intercept_ = property(lambda self: self.model_.intercept, doc="The biases (n_labels,).")
    support_ = property(lambda self: self.model_.support, doc="Training rows with a coefficient.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class LocalCorrelationClassifier(CallbackSupportMixin, SpaceClassifier):
    """Base of the estimators with prototypes and codes.

    A subclass implements ``_pacing(space, X, Y, label_weight)``, which returns a self-paced function or None
    and a schedule, and ``_folds(Y)`` if codes are cross-fitted.
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

    def _folds(self, Y) -> list | None:
        return None

    def _fit(self, X, Y, label_weight):
        choice = self._choose_space(X)
        n_rows, n_labels = Y.shape
        function, schedule = self._pacing(choice.space, X, Y, label_weight)
        blocks, n_workers = [slice(0, n_labels)], count_workers()
        is_separate = function is None or (function.by_label and schedule.by_label)
        if choice.space.many_rows and is_separate:
            blocks = label_blocks(n_rows, X.shape[1], n_labels, n_workers)
        else:
            Y = Y.toarray() if sparse.issparse(Y) else Y
        is_whole = len(blocks) == 1
        n_evaluated = min(n_rows, max(1, _EVALUATED_PAIRS // n_labels))
        evaluated = np.sort(np.random.RandomState(0).permutation(n_rows)[:n_evaluated])
        with fit_progress(self, len(schedule) if is_whole else len(blocks), X, Y) as report:
            space = self._choose_cost(choice, X, Y, label_weight)
            space = space if n_workers == 1 or is_whole else one_thread(space)
            regressor, folds = self.regressor, self._folds(Y)
            if regressor == "auto":
                regressor = "ridge" if space.many_rows else "svr"
            coding = Coding(self.n_codes, self.beta, regressor, self.random_state)
            rows = space.prepare(X)
            coded = code_rows(rows, Y, coding, folds)
            if not is_whole and coded.regression is None:
                coded = coded._replace(regression=rows.regress(coded.codes, coding.regressor))
            by_columns = Y.tocsc() if sparse.issparse(Y) else Y
            pace = {"function": function, "schedule": schedule, "target_weight": self.target_weight}
            settings = (self._class_costs, self.C_, coding, folds, pace, evaluated)
            shared = (rows, coded, by_columns, label_weight, *settings)
            work = partial(fit_block, report=report) if is_whole else fit_block
            weights, trace = None, None
            if n_rows * n_labels <= _KEPT_PAIRS:
                weights, trace = np.empty(Y.shape), Trace(Y.shape)
            fitted = []
            for block, part in zip(blocks, map_blocks(work, shared, blocks), strict=True):
                if weights is not None and trace is not None:
                    weights[:, block] = part.weights
                    trace.fill(block, part.trace)
                if space.on_features:
                    part.coef = prune_weights(part.coef, n_labels)
                part.weights = part.trace = None
                fitted.append(part)
                if not is_whole:  # callbacks cannot stop it, as a model needs all labels
                    report(f"{block.stop:,} of {n_labels:,} labels")
        self.label_weights_, self.trace_ = weights, trace
        longest = max(fitted, key=lambda part: len(part.history))
        self.history_, self.stop_reason_ = longest.history, longest.stop_reason
        self.n_iter_ = len(self.history_)
        self.codes_ = fitted[0].codes
        self.prototypes_ = np.concatenate([part.prototypes for part in fitted], axis=1)
        coef = stack_weights([part.coef for part in fitted])
        self.model_ = rows.make_model(coef, np.concatenate([part.intercept for part in fitted]))
        self.calibration_ = None
        if folds is None:
            self._calibration = LazyCalibration(self, X, Y, label_weight)
            return
        fold_of = np.empty(n_rows, dtype=int)
        for number, (_, test) in enumerate(folds):
            fold_of[test] = number
        self.calibration_, self._calibration = choose_calibration(
            np.concatenate([part.held_out for part in fitted], axis=1),
            dense_block(Y[evaluated], slice(None)),
            None if label_weight is None else label_weight[evaluated],
            fold_of[evaluated],
            try_joint=space.many_rows and 1 < n_labels <= _JOINT_LABELS,
        )

    def _scores(self, X):
        scores = super()._scores(X)
        return scores if self.calibration_ is None else self.calibration_.log_odds(scores)


def choose_C(space, X, Y, label_weight, weigh: Callable, costs=None) -> tuple[float, float]:
    """Choose C on a sample: increase it while the loss on a held-out third falls. Returns C and that loss.

    The sample has the most frequent labels and no codes, which change little: average precision on medical
    (splits 100, 101) 0.872 with and without them. `costs` are tried in this order.
    """
    unit = space.unit_cost(X)
    costs = [unit * factor for factor in _FACTORS] if costs is None else costs
    order = np.random.RandomState(0).permutation(Y.shape[0])[:_ROWS]
    train, test = np.sort(order[len(order) // 3 :]), np.sort(order[: len(order) // 3])
    if not len(test):
        return unit, np.inf
    counts = np.asarray(Y[train].sum(axis=0)).ravel()
    labels = np.sort(np.argsort(-counts, kind="stable")[:_LABELS])

    def select(rows) -> tuple[np.ndarray, np.ndarray]:
        weight = None if label_weight is None else dense_block(label_weight[rows], labels)
        selected = dense_block(Y[rows], labels)
        return np.where(selected, 1.0, -1.0), weigh(selected, weight)

    (signs, weights), (signs_test, weights_test) = select(train), select(test)
    rows, X_test = space.for_sample().prepare(X[train]), X[test]
    best, smallest, warm_start = costs[0], np.inf, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit itself will warn
        for C in costs:
            solved = rows.solve(signs.T, C * weights.T, warm_start)
            warm_start = solved.warm_start
            scores = rows.make_model(solved.coef, solved.intercept).scores(X_test)
            loss = float(np.sum(weights_test * rows.loss(signs_test, scores)))
            if loss >= smallest:
                break
            best, smallest = C, loss
    return best, smallest
