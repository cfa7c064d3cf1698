"""The five criteria as data: what tables, tuning and the command line need to know of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from sklearn.metrics import make_scorer

from mlspl.errors import UserError
from mlspl.metrics.criteria import average_precision, coverage, hamming_loss, one_error, ranking_loss

__all__ = ["CRITERIA", "Criterion", "get_criterion", "get_scorer"]


@dataclass(frozen=True)
class Criterion:
    """One criterion and how to read it.

    Parameters
    ----------
    name : str
        Its key in `CRITERIA` and in the dict of `score_all`.
    abbreviation : str
        For column heads: HL, RL, OE, Cov, AP.
    function : callable
        `(Y, F)` or `(Y, P)` to a float.
    uses : {"labels", "scores"}
        Whether the function takes predicted labels P or real scores F.
    greater_is_better : bool
        The direction.

    Examples
    --------
    >>> from mlspl.metrics import CRITERIA
    >>> CRITERIA["coverage"].abbreviation, CRITERIA["coverage"].greater_is_better
    ('Cov', False)
    """

    name: str
    abbreviation: str
    function: Callable[[Any, Any], float]
    uses: Literal["labels", "scores"]
    greater_is_better: bool


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        criterion.name: criterion
        for criterion in (
            Criterion("hamming_loss", "HL", hamming_loss, "labels", False),
            Criterion("ranking_loss", "RL", ranking_loss, "scores", False),
            Criterion("one_error", "OE", one_error, "scores", False),
            Criterion("coverage", "Cov", coverage, "scores", False),
            Criterion("average_precision", "AP", average_precision, "scores", True),
        )
    }
)
"""The five criteria by name, in the order of the tables."""


def get_criterion(name: str) -> Criterion:
    """Return the criterion of that name, or say which names there are.

    Examples
    --------
    >>> from mlspl.metrics import get_criterion
    >>> get_criterion("one_error").uses
    'scores'
    """
    if name not in CRITERIA:
        raise UserError(f"There is no criterion {name!r}: choose one of {', '.join(CRITERIA)}.")
    return CRITERIA[name]


def get_scorer(name: str) -> Callable[..., float]:
    """Return a scikit-learn scorer, for `GridSearchCV(scoring=…)` and `cross_val_score(scoring=…)`.

    As everywhere in scikit-learn a scorer is greater for better, so losses come out negative. Ranking
    criteria take the estimator's `decision_function`, or `predict_proba` where there is none; Hamming loss
    takes `predict`.

    Parameters
    ----------
    name : str
        A key of `CRITERIA`.

    Returns
    -------
    callable
        `scorer(estimator, X, Y)`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from mlspl.metrics import get_scorer
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = RidgeClassifier().fit(X, Y)
    >>> -1 < get_scorer("ranking_loss")(model, X, Y) < 0
    True
    """
    criterion = get_criterion(name)
    methods = ("decision_function", "predict_proba") if criterion.uses == "scores" else "predict"
    return make_scorer(
        criterion.function, response_method=methods, greater_is_better=criterion.greater_is_better
    )
