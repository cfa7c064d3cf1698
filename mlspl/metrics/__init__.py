"""Criteria of multi-label predictions: the five of the paper, the usual others, and those at k.

Every criterion takes the true labels Y, shape (n, L), and either real scores F or predicted labels P of the
same shape. `score_all` computes the five of the paper at once, `Tally` all of them, also block by block, and
`score_labels` those of every label. `CRITERIA` describes every criterion; `get_scorer` makes scikit-learn
scorers. Among equal scores the higher label index ranks better, everywhere.
"""

from mlspl.metrics.criteria import (
    CRITERIA,
    PAPER_CRITERIA,
    Criterion,
    Tally,
    average_precision,
    coverage,
    get_criterion,
    get_scorer,
    hamming_loss,
    jaccard,
    macro_f1,
    micro_f1,
    ndcg_at_k,
    one_error,
    precision_at_k,
    ranking_loss,
    sample_f1,
    score_all,
    score_labels,
    subset_accuracy,
)
from mlspl.metrics.ranking import rank_criteria, top_labels

__all__ = [
    "CRITERIA",
    "PAPER_CRITERIA",
    "Criterion",
    "Tally",
    "average_precision",
    "coverage",
    "get_criterion",
    "get_scorer",
    "hamming_loss",
    "jaccard",
    "macro_f1",
    "micro_f1",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "rank_criteria",
    "ranking_loss",
    "sample_f1",
    "score_all",
    "score_labels",
    "subset_accuracy",
    "top_labels",
]
