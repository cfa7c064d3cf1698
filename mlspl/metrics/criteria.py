"""The criteria: a table of them, functions, scikit-learn scorers, and all of them in one pass over rows."""

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import make_scorer, roc_auc_score

from mlspl._docs import substitute
from mlspl._validation import Labels, check_labels_beside, check_scores
from mlspl.errors import UserError, guess
from mlspl.metrics.decisions import Sums, add_label_criteria, decision_sums, label_values
from mlspl.metrics.ranking import rank_sums, top_sums

_AT = re.compile(r"(\w+)_at_(\d+)")
_Y = """Y : array-like or sparse matrix of shape (n, L)
    True labels; NaN where unknown."""
_F = """F : array-like of shape (n, L)
    Scores, higher for more relevant."""
_P = """P : array-like or sparse matrix of shape (n, L)
    Predicted labels."""
_document = substitute(scores=f"{_Y}\n{_F}", labels=f"{_Y}\n{_P}", both=f"{_Y}\n{_F}\n{_P}")


@dataclass(frozen=True)
class Criterion:
    """One criterion and its properties; call it with true labels, scores and predicted labels.

    `function` takes the true labels and what the criterion `uses`: predicted labels or real scores.
    """

    name: str
    function: Callable[..., float]
    uses: Literal["labels", "scores"]
    greater_is_better: bool = True

    def __call__(self, Y: Any, F: Any, P: Any) -> float:
        """Return the criterion of scores F and predicted labels P."""
        return self.function(Y, P if self.uses == "labels" else F)


def _mean(sums: Sums, name: str, stacklevel: int = 3) -> float:
    """Return a criterion by its sums; NaN with a warning at the caller's caller if no row defines it."""
    total, count = sums[name]
    if count:
        return float(total / count)
    need = "Y holds no known label"
    if name in ("ranking_loss", "one_error", "average_precision"):
        need = "no row has both a relevant and an irrelevant label"
    elif name.startswith("ndcg"):
        need = "no row has a relevant label"
    title = name.replace("_", " ").replace("ndcg", "nDCG")
    message = f"The {title} is undefined and NaN, because {need}."
    warnings.warn(message, UndefinedMetricWarning, stacklevel=stacklevel)
    return np.nan


def _make(name: str, uses: Literal["labels", "scores"], summary: str) -> Callable[..., float]:
    """Make the function of a criterion."""

    def of_labels(Y: ArrayLike, P: ArrayLike) -> float:
        return _mean(add_label_criteria(decision_sums(Y, P)), name)

    def of_scores(Y: ArrayLike, F: ArrayLike) -> float:
        return _mean(rank_sums(Y, F), name)

    function = of_labels if uses == "labels" else of_scores
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{summary}\n\nParameters\n----------\n{{{uses}}}\n\nReturns\n-------\nfloat"
    return _document(function)


_LOSSES = ("hamming_loss", "ranking_loss", "one_error", "coverage")
_ABOUT: dict[str, tuple[Literal["labels", "scores"], str]] = {
    "hamming_loss": ("labels", "Share of the known pairs whose predicted label is wrong."),
    "ranking_loss": ("scores", "Share of (relevant, irrelevant) pairs reversed or tied; mean over rows."),
    "one_error": ("scores", "Share of the rows in which no label of maximal score is relevant."),
    "coverage": ("scores", "Mean rank of a row's worst relevant label, minus 1; 0 for a row without labels."),
    "average_precision": ("scores", "Mean over rows of the mean precision at the ranks of relevant labels."),
    "micro_f1": ("labels", "F1 of all pairs together."),
    "macro_f1": ("labels", "Mean of the known labels' F1; 0 for a label neither relevant nor predicted."),
    "sample_f1": ("labels", "Mean of the rows' F1; 1 for a row without relevant and predicted labels."),
    "subset_accuracy": ("labels", "Share of the rows whose known labels are all predicted right."),
    "jaccard": ("labels", "Mean Jaccard index of a row's relevant and predicted labels; 1 without either."),
}
_FUNCTIONS = [_make(name, uses, summary) for name, (uses, summary) in _ABOUT.items()]
hamming_loss, ranking_loss, one_error, coverage, average_precision = _FUNCTIONS[:5]
micro_f1, macro_f1, sample_f1, subset_accuracy, jaccard = _FUNCTIONS[5:]


@_document
def precision_at_k(Y: ArrayLike, F: ArrayLike, k: int = 5) -> float:
    """Share of the k best labels of a row that are relevant, mean over rows.

    A row with fewer than k labels to rank is still divided by k, and one without relevant labels counts 0, as
    in the literature.

    Parameters
    ----------
    {scores}
    k : int, default=5
        Number of best labels.
    """
    return _mean(top_sums(Y, F, [k]), f"precision_at_{k}")


@_document
def ndcg_at_k(Y: ArrayLike | Labels, F: ArrayLike, k: int | None = 5) -> float:
    """Normalised discounted cumulative gain of the k best labels, mean over rows with a relevant label.

    The gain of a relevant label at rank r is 1 / log₂(r + 1); the sum is divided by the largest it could be.

    Parameters
    ----------
    {scores}
    k : int, default=5
        Number of best labels; None is all.
    """
    return _mean(top_sums(Y, F, [k]), "ndcg" if k is None else f"ndcg_at_{k}")


CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    {
        name: Criterion(name, function, uses, greater_is_better=name not in _LOSSES)
        for (name, (uses, _)), function in zip(_ABOUT.items(), _FUNCTIONS, strict=True)
    }
    | {
        "ndcg": Criterion("ndcg", partial(ndcg_at_k, k=None), "scores"),
        "precision_at_k": Criterion("precision_at_k", precision_at_k, "scores"),
        "ndcg_at_k": Criterion("ndcg_at_k", ndcg_at_k, "scores"),
    }
)
"""Every criterion by name, those of the paper first. k is 5 for those at k; `get_criterion` takes another."""

PAPER_CRITERIA = tuple(CRITERIA)[:5]
"""The criteria of the paper's tables, in their order."""


def get_criterion(criterion: "str | Criterion") -> Criterion:
    """Return the criterion of a name: a key of `CRITERIA`, with any number for k (``"precision_at_3"``)."""
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


@_document
def score_all(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> dict[str, float]:
    """Return the five criteria of the paper by their names in `PAPER_CRITERIA`, ranking the rows once.

    Parameters
    ----------
    {both}
    """
    labels = check_labels_beside(Y, F, "F")
    sums = add_label_criteria(decision_sums(labels, P)) | rank_sums(labels, F)
    return {name: _mean(sums, name) for name in PAPER_CRITERIA}


@_document
def score_labels(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> dict[str, NDArray]:
    """Return precision, recall, F1, AUC and support of every label, over the rows where it is known.

    Parameters
    ----------
    {both}

    Returns
    -------
    dict
        Arrays of length L under precision, recall, f1, auc and support (relevant rows). Undefined values are
        NaN: the precision of a label never predicted, the recall of one never relevant, the AUC of a
        constant label.
    """
    values = label_values(decision_sums(Y, P))
    labels = check_labels_beside(Y, F, "F").dense()
    scores = check_scores(F, labels.shape, infinite=True)
    auc = np.full(labels.shape[1], np.nan)
    for label in range(labels.shape[1]):
        rows = slice(None) if labels.known is None else labels.known[:, label]
        relevant = labels.relevant[rows, label]
        if relevant.any() and not relevant.all():
            # Ranks are finite where scores may not be.
            auc[label] = roc_auc_score(relevant, rankdata(scores[rows, label]))
    return values | {"auc": auc}


class Tally:
    """Every criterion of rows that are added block by block, in memory that does not grow with the rows.

    `at` lists each k of precision and nDCG at k.
    """

    def __init__(self, at: Sequence[int] = ()):
        self.at = tuple(at)
        self.n_rows = 0
        self._sums: Sums = {}

    @_document
    def add(self, Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> Self:
        """Count further rows.

        Parameters
        ----------
        {both}
        """
        labels = check_labels_beside(Y, F, "F")
        sums = decision_sums(labels, P) | rank_sums(labels, F) | top_sums(labels, F, [None, *self.at])
        self._sums = {name: self._sums.get(name, 0) + part for name, part in sums.items()}
        self.n_rows += labels.shape[0]
        return self

    def scores(self) -> dict[str, float]:
        """Return the criteria by name, those of the paper first; NaN where no row defines one."""
        if not self._sums:
            raise ValueError("No rows have been added.")
        sums = add_label_criteria(self._sums)
        at = [f"{name}_at_{k}" for k in self.at for name in ("precision", "ndcg")]
        return {name: _mean(sums, name) for name in (*CRITERIA, *at) if name in sums}
