"""From scores to labels: calibration and threshold rule, chosen by validation for any estimator."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags

from mlspl._docs import share
from mlspl.metrics import Criterion, get_criterion
from mlspl.model_selection import (
    Calibration,
    IterativeStratification,
    PlattCalibration,
    Threshold,
    get_calibration,
    get_threshold,
    out_of_fold_scores,
)
from mlspl.models._base import MultiLabelClassifier, store_parameters


def known_labels(Y, label_weight) -> np.ndarray:
    """The labels, NaN for pairs without weight."""
    return Y if label_weight is None else np.where(label_weight > 0, Y, np.nan)


def resolve_criterion(criterion, truth) -> Criterion:
    """The criterion of that name, or Hamming loss if no row has labels to rank."""
    named = get_criterion(criterion)
    return named if named.uses != "scores" or _mixed(truth).any() else get_criterion("hamming_loss")


def _mixed(Y) -> np.ndarray:
    """Rows with both present and absent labels; other rows cannot be ranked."""
    return (Y == 1).any(axis=1) & (Y == 0).any(axis=1)


def evaluate(criterion, Y, scores, labels) -> float:
    """Value of a criterion of scores or of labels."""
    if criterion.uses != "scores":
        return criterion(Y, scores, labels)
    mixed = _mixed(Y)
    return criterion.function(Y[mixed], scores[mixed]) if mixed.any() else np.nan


def choose_decision(
    scores, Y, label_weight, folds, criterion, calibrations, thresholds
) -> list[dict[str, Any]]:
    """Try every calibration with every threshold rule, fitted on the scores of the other folds; best first.

    Ties of the criterion are broken by Hamming loss, and then by the order given.
    """
    truth = known_labels(Y, label_weight)
    tried = []
    for calibration in calibrations:
        odds = np.empty(Y.shape)
        labels = {name: np.empty(Y.shape, dtype=bool) for name in thresholds}
        for train, test in folds:
            weight = None if label_weight is None else label_weight[train]
            fitted = clone(get_calibration(calibration)).fit(scores[train], Y[train], weight)
            odds[test] = fitted.log_odds(scores[test])
            for name in thresholds:
                rule = clone(get_threshold(name)).fit(fitted.log_odds(scores[train]), Y[train], weight)
                labels[name][test] = rule.apply(odds[test])
        tried += [
            {
                "calibration": calibration,
                "threshold": name,
                "score": evaluate(criterion, truth, odds, labels[name]),
                "hamming_loss": get_criterion("hamming_loss").function(truth, labels[name]),
            }
            for name in thresholds
        ]
    sign = -1.0 if criterion.greater_is_better else 1.0
    # Rounded, so that ties stay ties.
    return sorted(
        tried, key=lambda row: np.round([np.nan_to_num(sign * row["score"]), row["hamming_loss"]], 9).tolist()
    )


class DecisionMixin:
    """Chooses among ``calibrations`` and ``thresholds`` for an estimator with ``_raw_scores(X)``."""

    _contents: ClassVar[dict[str, Any]] = {
        "decisions_": "plain",
        "calibration_": Calibration,
        "threshold_": Threshold,
        "_probability": PlattCalibration,
    }

    calibrations: Sequence[str]
    thresholds: Sequence[str]

    def _decide(self, scores, Y, label_weight, folds, criterion) -> None:
        """Choose calibration and threshold rule on out-of-fold scores, and fit them to all of these."""
        # One label is predicted where its score is positive, as binary classifiers do.
        thresholds = self.thresholds if Y.shape[1] > 1 else ("zero",)
        rules = self.calibrations, thresholds
        self.decisions_ = choose_decision(scores, Y, label_weight, folds, criterion, *rules)
        best = self.decisions_[0]
        self.calibration_ = clone(get_calibration(best["calibration"])).fit(scores, Y, label_weight)
        odds = self.calibration_.log_odds(scores)
        self.threshold_ = clone(get_threshold(best["threshold"])).fit(odds, Y, label_weight)
        self._probability = PlattCalibration(offset=False).fit(odds, Y, label_weight)

    def _scores(self, X):
        return self.calibration_.log_odds(self._raw_scores(X))  # type: ignore[attr-defined]

    def _labels(self, X, scores):
        return self.threshold_.apply(scores)

    def _probabilities(self, X, scores):
        return self._probability.transform(scores)


@share
class TunedDecisionClassifier(DecisionMixin, MultiLabelClassifier):
    """Add a calibration and a threshold rule, chosen by validation, to any multi-label estimator.

    The choice is made on out-of-fold scores of the estimator.

    Parameters
    ----------
    estimator : estimator
        With ``fit(X, Y)`` and ``decision_function(X)`` of shape (n, L).
    criterion : str, default="hamming_loss"
        The criterion, as for :func:`mlspl.metrics.get_criterion`. Ties are broken by Hamming loss, which also
        takes its place if no row has both present and absent labels.
    calibrations : sequence of str, default=("none", "platt")
        Calibrations to try; several make scores of different labels comparable.
    {thresholds}
    cv : int, default=3
        Number of folds.
    n_jobs : int, optional
        Folds fitted at a time.
    random_state : int, RandomState or None, default=0
        Seeds the folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all rows.
    {decisions_}

    Examples
    --------
    >>> from mlspl import BSVMClassifier, TunedDecisionClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = TunedDecisionClassifier(BSVMClassifier(gamma="scale")).fit(digits.X[:200], digits.Y[:200])
    >>> model.decisions_[0]["threshold"] in ("zero", "label", "count")
    True
    """

    _contents = {"estimator_": "estimator"}

    def __init__(
        self,
        estimator,
        criterion="hamming_loss",
        calibrations=("none", "platt"),
        thresholds=("zero", "label", "count"),
        cv=3,
        n_jobs=None,
        random_state=0,
    ):
        store_parameters(self, locals())

    def _fit(self, X, Y, label_weight):
        if not hasattr(self.estimator, "decision_function"):
            raise ValueError(f"{self.estimator!r} has no decision_function. Give an estimator with scores.")
        if len(Y) < 2:
            raise ValueError(f"Out-of-fold scores need at least two rows, but n_samples={len(Y)}.")
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        splitter = IterativeStratification(min(self.cv, len(Y)), random_state=seed)
        folds = list(splitter.split(X, Y))
        labels = Y.astype(np.int8)
        scores = out_of_fold_scores(self.estimator, X, labels, label_weight, splitter, self.n_jobs)
        criterion = resolve_criterion(self.criterion, known_labels(Y, label_weight))
        self._decide(scores, Y, label_weight, folds, criterion)
        weights = {} if label_weight is None else {"label_weight": label_weight}
        self.estimator_ = clone(self.estimator).fit(X, labels, **weights)

    def _raw_scores(self, X):
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
