"""Base of the estimators that fit linear functions in a space, and the choice of their C."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from mlspl.model_selection import AnchoredCalibration
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._calibrated import LazyCalibration
from mlspl.models._checks import warn_of_data
from mlspl.models._label_blocks import class_costs, dense_block
from mlspl.models.local_correlation import Coding, LocalCorrelationLearner, code_rows
from mlspl.spaces import (
    Gram,
    KernelExpansion,
    LinearModel,
    Space,
    SpaceChoice,
    choose_space,
)

# The sample on which C is chosen.
_ROWS, _LABELS = 3000, 32
# Multiples of the unit cost: half an order of magnitude apart, from 0.1 to 100.
_FACTORS = [10.0 ** (half / 2) for half in range(-2, 5)]
# The share of the linear space's held-out loss below which landmarks are worth ten times its time.
_CLEARLY_LESS = 0.99


def report_space(estimator, choice: SpaceChoice) -> str:
    """The space and why it was taken; a verbose estimator also prints it to standard error."""
    if getattr(estimator, "verbose", 0):
        print(f"{type(estimator).__name__}: {choice.reason}.", file=sys.stderr)
    return choice.reason


class SpaceClassifier(MultiLabelClassifier):
    """Base of the estimators with ``kernel``, ``gamma``, ``degree``, ``coef0`` and ``tol``.

    A subclass's ``_fit`` sets ``model_``, which scores new rows, and ``_calibration``, by which
    ``predict_proba`` turns scores into probabilities. Those with a parameter ``space`` call ``_choose_space``
    and then ``_choose_cost``, once. ``_gram_C`` is the C of "auto" on a kernel matrix.
    """

    _contents = {
        "model_": (KernelExpansion, LinearModel),
        "_calibration": (LazyCalibration, AnchoredCalibration),
    }
    _gram_C = 1.0
    _checks_predictions = True
    _calibration: LazyCalibration | AnchoredCalibration

    def _gram(self) -> Gram:
        n_threads = effective_n_jobs(getattr(self, "n_jobs", 1))
        return Gram(self.kernel, self.gamma, self.degree, self.coef0, self.tol, n_threads)

    def _choose_space(self, X) -> SpaceChoice:
        return choose_space(self.space, self.loss, X, self._gram(), self.n_landmarks, self.random_state)

    def _choose_cost(self, choice: SpaceChoice, X, Y, label_weight) -> Space:
        """Set ``C_`` and ``space_``; returns the space, the faster one unless the other is clearly better."""
        losses = []
        for each in (choice, choice.faster):
            if each is None:
                continue
            if not each.space.many_rows or (self.C != "auto" and choice.faster is None):
                C, loss = self._gram_C if self.C == "auto" else self.C, 0.0
            else:
                costs = None if self.C == "auto" else [self.C]
                coding = self._coding(each.space)
                C, loss = choose_C(
                    each.space, X, Y, label_weight, self._class_costs, self._folds, coding, costs
                )
            losses.append((loss, C, each))
        _, self.C_, taken = losses[-1]
        if losses[0][0] < _CLEARLY_LESS * losses[-1][0]:
            _, self.C_, taken = losses[0]
        self.space_ = report_space(self, taken)
        self._warn_of_data(X, taken.space)
        return taken.space

    def _warn_of_data(self, X, space) -> None:
        if self.kernel != "precomputed" and not callable(self.kernel):
            warn_of_data(X, type(self).__name__, space.rbf_gamma(X))

    def _coding(self, space) -> Coding | None:
        """How codes are made, if there are any."""
        return None

    def _folds(self, Y) -> list | None:
        """The folds in which codes are cross-fitted, if they are."""
        return None

    def _class_costs(self, Y, label_weight):
        """Cost of every pair (n, L), in units of C."""
        classes = (0, 1) if self._multilabel else self.classes_
        return class_costs(Y, self.class_weight, label_weight, classes)

    def _calibrate_later(self, X, Y, label_weight, calibration=None) -> None:
        """Fit the calibration of probabilities when they are first asked for."""
        calibration = AnchoredCalibration() if calibration is None else calibration
        self._calibration = LazyCalibration(self, X, Y, label_weight, calibration)

    def _scores(self, X):
        return self.model_.scores(X)

    def _probabilities(self, X, scores) -> np.ndarray:
        calibration = self._calibration
        if isinstance(calibration, LazyCalibration):
            calibration = calibration.get()
        return calibration.transform(scores)

    @property
    def coef_(self):
        """Weights (n_labels, n_features), in a linear space."""
        if not isinstance(self.model_, LinearModel):
            raise AttributeError("coef_ exists in a linear space only.")
        return self.model_.coef

    @property
    def dual_coef_(self):
        """Signed dual coefficients (n_labels, n_support) of the support vectors of any label."""
        return self.model_.coef

    @property
    def intercept_(self):
        """The biases (n_labels,)."""
        return self.model_.intercept

    @property
    def support_(self):
        """Indices of the training rows with a coefficient."""
        return self.model_.support

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def choose_C(
    space: Any,
    X,
    Y,
    label_weight,
    weigh: Callable,
    fold: Callable = lambda Y: None,
    coding: Coding | None = None,
    costs=None,
) -> tuple[float, float]:
    """Choose C on a sample: increase it while the loss on a held-out third falls. Returns C and that loss.

    C does not depend on the number of rows, so a sample serves. One over the mean squared length of a row is
    near it; rare labels of long rows need ten times as much. The sample has the most frequent labels, and
    `weigh` gives the cost of every pair. Codes are used if they are cross-fitted: they explain part of the
    labels, which calls for a smaller C. `fold` gives their folds, or None. `costs`
    are the values of C to try, ascending; by default seven around the unit cost.
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
        return selected, weigh(selected, weight)

    (Y_train, weights), (Y_test, weights_test) = select(train), select(test)
    signs, signs_test = (np.where(each, 1.0, -1.0) for each in (Y_train, Y_test))
    rows, X_test = space.for_sample().prepare(X[train]), X[test]
    learner, warm_start = None, None
    if coding is not None and (folds := fold(Y[train])) is not None:
        coded = code_rows(rows, Y[train], coding, folds).select_labels(labels)
        learner = LocalCorrelationLearner(rows, Y_train, coding, folds, coded)
    best, smallest = costs[0], np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the fit itself will warn
        for C in costs:
            if learner is None:
                solved = rows.solve(signs.T, C * weights.T, warm_start)
                warm_start, functions = solved.warm_start, (solved.coef, solved.intercept)
            else:
                learner.set_costs(C, weights)
                learner.fit_classifiers(np.ones(weights.shape))
                functions = learner.expansion()
            scores = rows.make_model(*functions).scores(X_test)
            loss = float(np.sum(weights_test * rows.loss(signs_test, scores)))
            if loss >= smallest:
                break
            best, smallest = C, loss
    return best, smallest
