"""A table of all criteria, for result tables, tuning and the command line."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from sklearn.metrics import make_scorer

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
        Its key in `CRITERIA` and in the dicts of `score_all` and `Tally`.
    function, uses : callable and {"labels", "scores"}
        The function of Y and of predicted labels P or real scores F.
    greater_is_better : bool
        The direction.
    """

    name: str
    function: Callable[..., float]
    uses: Literal["labels", "scores"]
    greater_is_better: bool = True

    def __call__(self, Y: Any, F: Any, P: Any) -> float:
        """Return the criterion of scores F and predicted labels P."""
        return self.function(Y, P if self.uses == "labels" else F)


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


def get_criterion(criterion: "str | Criterion") -> Criterion:
    """Return the criterion of a name.

    Parameters
    ----------
    criterion : str or Criterion
        A key of `CRITERIA`, or one with a number for its k, such as ``"precision_at_3"``.
    """
    if isinstance(criterion, Criterion):
        return criterion
    at = _AT.fullmatch(str(criterion))
    named = CRITERIA.get(f"{at[1]}_at_k" if at else str(criterion))
    if named is None or (at and int(at[2]) < 1):
        hint = guess(str(criterion), CRITERIA)
        raise UserError(f"There is no criterion {criterion!r}.{hint} Choose from {', '.join(CRITERIA)}.")
    return replace(named, name=criterion, function=partial(named.function, k=int(at[2]))) if at else named


def get_scorer(name: "str | Criterion") -> Callable[..., float]:
    """Return a scikit-learn scorer, for `GridSearchCV(scoring=…)` and `cross_val_score(scoring=…)`.

    As in scikit-learn, greater is better for a scorer, so losses are negative. Ranking criteria take the
    estimator's `decision_function`, or `predict_proba` where there is none; the others take `predict`.
    """
    criterion = get_criterion(name)
    function: Any = criterion.function
    options: dict[str, Any] = {"greater_is_better": criterion.greater_is_better, "response_method": "predict"}
    if criterion.uses == "scores":
        options["response_method"] = ("decision_function", "predict_proba")
    if isinstance(function, partial):
        # scikit-learn before 1.8 needs the function's name, which a partial does not have.
        function, options = function.func, options | function.keywords
    return make_scorer(function, **options)
