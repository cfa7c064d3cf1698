"""The usual criteria beside the five, and criteria label by label.

An unknown pair (NaN in Y) counts as if that label did not exist for that row.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from mlspl._validation import check_labels_beside, check_scores
from mlspl.metrics._means import NEEDS_ONE, undefined
from mlspl.metrics.decisions import Decisions
from mlspl.metrics.top import ndcg_at_k

__all__ = ["f1_by_label", "score_labels", "score_others"]


def score_others(Y: ArrayLike, F: ArrayLike, P: ArrayLike, k: int | None = None) -> dict[str, float]:
    """Return micro, macro and sample F1, subset accuracy, Jaccard index and nDCG@k, greater being better.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown. Rows without a known label are left out.
    F : array-like of shape (n, L)
        Scores, higher for more relevant.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.
    k : int, default=None
        nDCG looks at the k best labels of a row; at all of them if None. Rows without relevant labels are
        left out of it.

    Returns
    -------
    dict
        With the keys micro_f1, macro_f1 (a label neither there nor predicted counts 0), sample_f1,
        subset_accuracy, jaccard (in both a row without labels, predicted so, counts 1) and ndcg.

    Examples
    --------
    >>> from mlspl.metrics import score_others
    >>> for name, value in score_others([[1, 0, 1]], [[2.0, 0.5, -1.0]], [[1, 1, 0]]).items():
    ...     print(f"{name} {value:.3f}")
    micro_f1 0.500
    macro_f1 0.333
    sample_f1 0.500
    subset_accuracy 0.000
    jaccard 0.333
    ndcg 0.920
    """
    labels = check_labels_beside(Y, F, "F")
    decisions = Decisions.of(Y, P)
    if not decisions.rows:
        nan = undefined("micro, macro and sample F1, subset accuracy, Jaccard index and nDCG", NEEDS_ONE)
        return dict.fromkeys(("micro_f1", "macro_f1", "sample_f1", "subset_accuracy", "jaccard", "ndcg"), nan)
    scores = check_scores(F, labels.shape, infinite=True)
    return {**decisions.values(), "ndcg": ndcg_at_k(labels, scores.astype(np.float64, copy=False), k)}


def score_labels(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> dict[str, NDArray]:
    """Return precision, recall, F1, AUC and support of every label alone, over the rows that know it.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L)
        Scores, higher for more relevant.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    dict
        Arrays of length L under precision, recall, f1, auc, support (relevant rows), ready for
        `pandas.DataFrame(…, index=label_names)`. What is not defined is NaN: the precision of a label never
        predicted, the recall of one never relevant, the F1 where both hold, the AUC of a constant label.

    Examples
    --------
    >>> from mlspl.metrics import score_labels
    >>> scores = score_labels([[1, 0], [1, 1], [0, 1]], [[3, 1], [2, 2], [1, 3]], [[1, 0], [0, 1], [0, 1]])
    >>> print(scores["recall"], scores["auc"], scores["support"])
    [0.5 1. ] [1. 1.] [2 2]
    """
    decisions = Decisions.of(Y, P)
    labels = check_labels_beside(Y, F, "F").dense()
    scores = check_scores(F, labels.shape, infinite=True)
    auc = np.full(labels.shape[1], np.nan)
    for label in range(labels.shape[1]):
        rows = slice(None) if labels.known is None else labels.known[:, label]
        relevant = labels.relevant[rows, label]
        if relevant.any() and not relevant.all():
            # Ranks instead of scores: they are finite where scores may not be.
            auc[label] = roc_auc_score(relevant, rankdata(scores[rows, label]))
    values = f1_by_label(decisions)
    return {name: values[name] for name in ("precision", "recall", "f1")} | {
        "auc": auc, "support": decisions.relevant
    }  # fmt: skip


def f1_by_label(decisions: Decisions) -> dict[str, NDArray[np.float64]]:
    """Return precision, recall and F1 of every label, NaN where they are not defined."""
    both, predicted, relevant = decisions.both, decisions.predicted, decisions.relevant
    parts = {
        "precision": (both, predicted),
        "recall": (both, relevant),
        "f1": (2 * both, predicted + relevant),
    }
    return {
        name: np.divide(top, bottom, out=np.full(len(both), np.nan), where=bottom > 0)
        for name, (top, bottom) in parts.items()
    }
