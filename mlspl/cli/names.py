"""Names for help texts, because importing their registries takes seconds.

A test compares them with `mlspl.recipes.METHODS` and `mlspl.metrics.CRITERIA`.
"""

__all__ = ["CRITERION_NAMES", "METHOD_NAMES"]

# fmt: off
METHOD_NAMES = (
    "bsvm, ml-knn, tram, ranksvm, ml-loc, mlspl-published, mlspl, mlspl-cv, forest, extra-trees, "
    "logistic, net"
)
# fmt: on
CRITERION_NAMES = (
    "hamming_loss, ranking_loss, one_error, coverage, average_precision, micro_f1, macro_f1, sample_f1, "
    "subset_accuracy, jaccard, ndcg, precision_at_k, ndcg_at_k, propensity_scored_precision_at_k"
)
