"""A table of all criteria, for result tables, tuning and the command line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import make_scorer

from mlspl._validation import check_labels
from mlspl.errors import UserError, guess
from mlspl.metrics.decisions import hamming_loss, jaccard, macro_f1, micro_f1, sample_f1, subset_accuracy
from mlspl.metrics.ranking import average_precision, coverage, one_error, ranking_loss
from mlspl.metrics.top import ndcg_at_k, precision_at_k

_AT = re.compile(r"(\w+)_at_(\d+)")


@dataclass(frozen=True)
class Criterion:
    """One criterion and its properties; call it with true labels, scores and predicted labels.

    Parameters
    ----------
    name : str
        Its key in `CRITERIA` and in the dicts of `score_all` and `score_others`.
    function, uses : callable and {"labels", "scores", "both"}
        The function of Y and of predicted labels P, real scores F, or both (F, P).
    greater_is_better : bool
        The direction.
    """

    name: str
    function: Callable[..., float]
    uses: Literal["labels", "scores", "both"]
    greater_is_better: bool = True

    def __call__(self, Y: Any, F: Any, P: Any) -> float:
        """Return the criterion of scores F and predicted labels P."""
        return self.function(Y, *{"labels": (P,), "scores": (F,), "both": (F, P)}[self.uses])


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        criterion.name: criterion
        for criterion in (
            Criterion("hamming_loss", hamming_loss, "labels", greater_is_better=False),
            Criterion("ranking_loss", ranking_loss, "scores", greater_is_better=False),
            Criterion("one_error", one_error, "scores", greater_is_better=False),
            Criterion("coverage", coverage, "scores", greater_is_better=False),
            Criterion("average_precision", average_precision, "scores"),
            Criterion("micro_f1", micro_f1, "labels"),
            Criterion("macro_f1", macro_f1, "labels"),
            Criterion("sample_f1", sample_f1, "labels"),
            Criterion("subset_accuracy", subset_accuracy, "labels"),
            Criterion("jaccard", jaccard, "labels"),
            Criterion("ndcg", partial(ndcg_at_k, k=None), "scores"),
            Criterion("precision_at_k", precision_at_k, "scores"),
            Criterion("ndcg_at_k", ndcg_at_k, "scores"),
        )
    }
)
"""Every criterion by name, those of the paper first. k is 5 for those at k; `get_criterion` takes another."""

PAPER_CRITERIA = tuple(CRITERIA)[:5]
"""The criteria of the paper's tables, in their order."""


def get_criterion(criterion: "str | Criterion | Callable[..., float]") -> Criterion:
    """Return the criterion of a name, or of a scikit-learn scorer.

    Parameters
    ----------
    criterion : str, Criterion or scikit-learn scorer
        A key of `CRITERIA`; one with a number for its k, such as ``"precision_at_3"``; or a scorer, for which
        greater is better, and which is computed on the rows whose labels are all known.

    Examples
    --------
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> from mlspl.metrics import get_criterion
    >>> scorer = make_scorer(fbeta_score, beta=2, average="micro")
    >>> get_criterion(scorer)([[1, 1], [1, 0]], [[1.0, -1.0], [2.0, -1.0]], [[1, 0], [1, 0]])
    0.7142857142857143
    """
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str):
        at = _AT.fullmatch(criterion)
        named = CRITERIA.get(f"{at[1]}_at_k" if at else criterion)
        if named is None or (at and int(at[2]) < 1):
            hint = guess(criterion, CRITERIA)
            raise UserError(f"There is no criterion {criterion!r}.{hint} Choose from {', '.join(CRITERIA)}.")
        if not at:
            return named
        return replace(named, name=criterion, function=partial(named.function, k=int(at[2])))
    if callable(criterion):
        return Criterion("scorer", _Scored(criterion), "both")
    raise UserError(f"criterion is {criterion!r}: give the name of one, or a scikit-learn scorer.")


def get_scorer(name: "str | Criterion | Callable[..., float]") -> Callable[..., float]:
    """Return a scikit-learn scorer, for `GridSearchCV(scoring=…)` and `cross_val_score(scoring=…)`.

    As in scikit-learn, greater is better for a scorer, so losses are negative. Ranking criteria take the
    estimator's `decision_function`, or `predict_proba` where there is none; the others take `predict`.

    Parameters
    ----------
    name : str
        As for `get_criterion`; a scorer is returned as it is.
    """
    criterion = get_criterion(name)
    function: Any = criterion.function
    if isinstance(function, _Scored):
        return function.scorer
    options: dict[str, Any] = {"greater_is_better": criterion.greater_is_better, "response_method": "predict"}
    if criterion.uses == "scores":
        options["response_method"] = ("decision_function", "predict_proba")
    if isinstance(function, partial):
        # scikit-learn before 1.8 needs the function's name, which a partial does not have.
        function, options = function.func, options | function.keywords
    return make_scorer(function, **options)


class _Scored:
    """A scikit-learn scorer as a function of true labels, scores and predicted labels."""

    def __init__(self, scorer: Callable[..., float]):
        self.scorer = scorer

    def __call__(self, Y: Any, F: Any, P: Any) -> float:
        labels = check_labels(Y).dense()
        rows = np.ones(labels.shape[0], bool) if labels.known is None else labels.known.all(axis=1)
        if not rows.any():
            raise UserError(
                "a scikit-learn scorer needs rows whose labels are all known, and there is none. "
                f"Choose one of {', '.join(CRITERIA)}."
            )
        truth = labels.relevant[rows].astype(np.int64)
        predicted = check_labels(P, "P").dense().relevant[rows].astype(np.int64)
        return float(self.scorer(_Answers(np.asarray(F)[rows], predicted), np.zeros((len(truth), 1)), truth))


class _Answers(ClassifierMixin, BaseEstimator):
    """An estimator that returns given scores and labels, whatever the rows."""

    def __init__(self, scores, labels):
        self.scores = scores
        self.labels = labels
        self.classes_ = np.arange(labels.shape[1])

    def decision_function(self, X):
        return self.scores

    def predict(self, X):
        return self.labels

    def predict_proba(self, X):
        """Scores between 0 and 1 as they are; others are read as log-odds."""
        inside = self.scores.min() >= 0 and self.scores.max() <= 1
        return self.scores if inside else expit(self.scores)
