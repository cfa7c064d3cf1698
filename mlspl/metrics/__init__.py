"""The five criteria of the multi-label literature in its own definitions, and the usual others.

Every criterion takes the true labels Y, shape (n, L), and either real scores F or predicted labels P of the
same shape. `score_all` computes the five at once, `CRITERIA` describes them for tables and tuning,
`get_scorer` turns them into scikit-learn scorers, `score_others` adds scikit-learn's usual ones and
`score_labels` looks at every label alone.
"""

from mlspl.metrics.catalogue import CRITERIA, Criterion, get_criterion, get_scorer
from mlspl.metrics.criteria import (
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
    score_all,
)
from mlspl.metrics.others import score_labels, score_others

__all__ = [
    "CRITERIA",
    "Criterion",
    "average_precision",
    "coverage",
    "get_criterion",
    "get_scorer",
    "hamming_loss",
    "one_error",
    "ranking_loss",
    "score_all",
    "score_labels",
    "score_others",
]
