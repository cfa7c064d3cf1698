"""The five criteria of the multi-label literature in its own definitions, the usual others, and those at k.

Every criterion takes the true labels Y, shape (n, L), and either real scores F or predicted labels P of the
same shape. `score_all` computes the five at once and `score_others` the usual others, `score_labels` looks at
every label alone, `Tally` takes rows block by block. `CRITERIA` describes every criterion for tables and
tuning; `get_scorer` turns them into scikit-learn scorers.
"""

from mlspl.metrics.catalogue import CRITERIA, FIVE, Criterion, get_criterion, get_scorer
from mlspl.metrics.criteria import average_precision, coverage, one_error, ranking_loss, score_all
from mlspl.metrics.decisions import (
    hamming_loss,
    jaccard,
    macro_f1,
    micro_f1,
    sample_f1,
    subset_accuracy,
)
from mlspl.metrics.others import score_labels, score_others
from mlspl.metrics.tally import Tally
from mlspl.metrics.top import (
    label_propensities,
    ndcg_at_k,
    precision_at_k,
    propensity_scored_precision_at_k,
    top_labels,
)

__all__ = [
    "CRITERIA",
    "FIVE",
    "Criterion",
    "Tally",
    "average_precision",
    "coverage",
    "get_criterion",
    "get_scorer",
    "hamming_loss",
    "jaccard",
    "label_propensities",
    "macro_f1",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "ranking_loss",
    "sample_f1",
    "score_all",
    "score_labels",
    "score_others",
    "subset_accuracy",
    "top_labels",
]
