"""Self-pacing around any scikit-learn classifier that takes sample weights."""

import numpy as np
from joblib import Parallel, delayed
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from mlspl import pacing
from mlspl._docs import share
from mlspl.model_selection import IterativeStratification
from mlspl.models._base import (
    CallbackSupportMixin,
    MultiLabelClassifier,
    fit_progress,
    store_parameters,
    with_callbacks,
)
from mlspl.models._pace_choice import UNPACED, choose_schedule

_PACED = pacing.QuantilePace(0.9, 0.9, 1)
_CERTAIN = 1e-6  # distance of probabilities from 0 and 1


@share
class SelfPacedClassifier(CallbackSupportMixin, MultiLabelClassifier):
    """One copy of a classifier per label, with self-paced weights of its training pairs.

    At every step, the out-of-fold logistic losses of the (instance, label) pairs set the pace, and the
    self-paced function their weights. At the end one copy per label is fitted on all rows with the last
    weights. A fit costs (steps·folds + 1)·L fits of the classifier. The choice of the default schedule adds
    6·(folds + 1)·L fits on two thirds of at most 2,000 rows, with at most 32 labels.

    Parameters
    ----------
    estimator : classifier
        With ``fit(X, y, sample_weight)`` and ``predict_proba`` or ``decision_function``.
    {pace_function}
    schedule : schedule of :mod:`mlspl.pacing`, optional
        How the pace grows. By default one step: to the 0.9 quantile of the losses of each label and class if
        that lowers the log loss of held-out rows by half a standard error, else (and with fewer than 100
        rows) to infinity, the unpaced model.
    n_folds : int, default=3
        Folds of the losses.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int, RandomState or None, default=None
        Seeds the folds, and copies of the estimator that have no seed of their own.
    {verbose}

    Attributes
    ----------
    estimators_ : list
        The fitted copy of each label, or its constant log-odds where one class alone had weight.
    {label_weights_}
    pace_choice_ : list of dict
        How far the default pace lowers the log loss of held-out rows: gain and standard_error.
    {paced_}

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mlspl import SelfPacedClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = SelfPacedClassifier(LogisticRegression(C=0.01), random_state=0)
    >>> model.fit(digits.X[:200], digits.Y[:200]).predict(digits.X[200:202]).shape == (2, digits.Y.shape[1])
    True
    """

    _contents = {
        "label_weights_": "float (rows, labels)",
        "history_": "plain",
        "pace_choice_": "plain",
        "trace_": (pacing.Trace, None),
        "stop_reason_": "text",
        "estimators_": [("estimator", "float")],
    }

    def __init__(
        self,
        estimator,
        pace_function="gaussian",
        schedule=None,
        n_folds=3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        store_parameters(self, locals())

    fit = with_callbacks(MultiLabelClassifier.fit)

    def _fit(self, X, Y, label_weight):
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(f"{self.estimator!r} takes a matrix of all pairs of rows. Give another kernel.")
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{self.estimator!r} cannot be paced, for its fit takes no sample_weight. Give a classifier "
                "such as LogisticRegression(); preprocessing stands before SelfPacedClassifier in a pipeline."
            )
        if not any(hasattr(self.estimator, name) for name in ("predict_proba", "decision_function")):
            raise ValueError(
                f"{self.estimator!r} has neither predict_proba nor decision_function: give a classifier."
            )
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=Y.shape[1])
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        function = None if self.pace_function is None or len(Y) < 2 else pacing.get(self.pace_function)
        schedule, self.pace_choice_ = self.schedule or UNPACED, []
        if self.schedule is None and function is not None:
            schedule, self.pace_choice_ = choose_schedule(self, [_PACED], X, Y, label_weight)
        learner = _OutOfFold(self, X, Y, prior, seeds)
        loop = pacing.paced(learner, function, schedule if function else (), Y, prior > 0)
        with fit_progress(self, len(schedule), X, Y) as report:
            for step in loop:
                if report(f"mean weight {step.record['mean_weight']:.3f}"):
                    loop.stop()
        self.label_weights_, self.history_ = loop.weights, loop.history
        self.trace_, self.stop_reason_ = loop.trace, loop.stop_reason
        self.estimators_ = self._fit_labels(X, Y, prior * loop.weights, seeds)

    def _fit_labels(self, X, Y, weights, seeds) -> list:
        return Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(_seeded(self.estimator, seed), X, y, w)
            for seed, y, w in zip(seeds.tolist(), Y.T, weights.T, strict=True)
        )

    def _scores(self, X):
        return _log_odds(self.estimators_, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


class _OutOfFold:
    """The learner that is paced, with out-of-fold losses; nothing is fitted on all rows before the end."""

    def __init__(self, owner, X, Y, prior, seeds):
        self._owner, self._X, self._Y, self._prior, self._seeds = owner, X, Y, prior, seeds
        self._weights = np.ones(Y.shape)
        splitter = IterativeStratification(min(owner.n_folds, len(Y)), random_state=owner.random_state)
        self._folds = list(splitter.split(X, Y)) if len(Y) > 1 else []

    def fit(self, weights) -> None:
        self._weights = weights

    def losses(self) -> np.ndarray:
        """Logistic loss of every pair."""
        losses, weights = np.empty(self._Y.shape), self._prior * self._weights
        for train, test in self._folds:
            models = self._owner._fit_labels(self._X[train], self._Y[train], weights[train], self._seeds)
            margins = np.where(self._Y[test], 1, -1) * _log_odds(models, self._X[test])
            losses[test] = np.logaddexp(0.0, -margins)
        return losses


def _seeded(estimator, seed):
    """A copy of the estimator, with this seed for every random_state that is None."""
    estimator = clone(estimator)
    parameters = estimator.get_params()
    unset = [name for name in parameters if name.endswith("random_state") and parameters[name] is None]
    return estimator.set_params(**dict.fromkeys(unset, seed))


def _fit_label(estimator, X, y, weight):
    """Fit on the pairs with weight; a constant if they are all of one class."""
    rows = np.flatnonzero(weight > 0)
    classes = np.unique(y[rows])
    if len(classes) < 2:
        return 0.0 if not len(classes) else float(np.copysign(logit(1 - _CERTAIN), classes[0] - 0.5))
    return estimator.fit(X[rows], y[rows].astype(int), sample_weight=np.ascontiguousarray(weight[rows]))


def _log_odds(models, X) -> np.ndarray:
    """Scores (n, L): log-odds of the probabilities, or decision values where there are none."""
    columns = []
    for model in models:
        if isinstance(model, float):
            columns.append(np.full(X.shape[0], model))
        elif hasattr(model, "predict_proba"):
            columns.append(logit(np.clip(model.predict_proba(X)[:, 1], _CERTAIN, 1 - _CERTAIN)))
        else:
            columns.append(model.decision_function(X))
    return np.column_stack(columns)
