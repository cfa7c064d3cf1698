"""The usual criteria beside the five, and criteria label by label, all through scikit-learn.

An unknown pair (NaN in Y) is made a true negative first. True negatives enter neither F1 nor Jaccard, agree
in subset accuracy and, ranked last, leave nDCG as it is: the pair counts as if that label did not exist for
that row.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    jaccard_score,
    ndcg_score,
    precision_recall_fscore_support,
    roc_auc_score,
)

from mlspl._validation import check_labels_beside, check_predictions, check_scores
from mlspl.metrics.criteria import NEEDS_ONE, undefined

__all__ = ["score_labels", "score_others"]


def score_others(Y: ArrayLike, F: ArrayLike, P: ArrayLike, k: int | None = None) -> dict[str, float]:
    """Return micro and macro F1, subset accuracy, Jaccard index and nDCG@k, greater being better.

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
        With the keys micro_f1, macro_f1 (a label neither there nor predicted counts 0), subset_accuracy,
        jaccard (mean over rows; a row without labels, predicted so, counts 1) and ndcg.

    Examples
    --------
    >>> from mlspl.metrics import score_others
    >>> for name, value in score_others([[1, 0, 1]], [[2.0, 0.5, -1.0]], [[1, 1, 0]]).items():
    ...     print(f"{name} {value:.3f}")
    micro_f1 0.500
    macro_f1 0.333
    subset_accuracy 0.000
    jaccard 0.333
    ndcg 0.920
    """
    truth, known, scores, predicted = known_tables(Y, F, P)
    labels = np.arange(known.shape[1])
    rows = known.any(axis=1)
    if not rows.any():
        nan = undefined("micro and macro F1, subset accuracy, Jaccard index and nDCG", NEEDS_ONE)
        return dict.fromkeys(("micro_f1", "macro_f1", "subset_accuracy", "jaccard", "ndcg"), nan)
    some = truth.any(axis=1)
    if some.any():
        # Ranks instead of scores: they are finite where scores may not be, and 0 is below all of them.
        ranks = np.zeros(truth.shape)
        ranks[:, labels] = np.where(known, rankdata(scores, axis=1), 0.0)
        ndcg = ndcg_score(truth[some], ranks[some], k=k)
    else:
        ndcg = undefined("nDCG", "no row has a relevant label")
    truth, predicted = truth[rows], predicted[rows]
    return {
        "micro_f1": float(f1_score(truth, predicted, average="micro", zero_division=0)),
        "macro_f1": float(f1_score(truth, predicted, labels=labels, average="macro", zero_division=0)),
        "subset_accuracy": float(accuracy_score(truth, predicted)),
        "jaccard": float(jaccard_score(truth, predicted, average="samples", zero_division=1)),
        "ndcg": float(ndcg),
    }


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
    truth, known, scores, predicted = known_tables(Y, F, P)
    labels = np.arange(known.shape[1])
    precision, recall, f1, support = precision_recall_fscore_support(
        truth, predicted, labels=labels, zero_division=np.nan
    )
    auc = np.full(len(labels), np.nan)
    for label, rows in enumerate(known.T):
        relevant = truth[rows, label]
        if relevant.any() and not relevant.all():
            auc[label] = roc_auc_score(relevant, rankdata(scores[rows, label]))
    return {"precision": precision, "recall": recall, "f1": f1, "auc": auc, "support": support}


def known_tables(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return truth (n, L + 1), known (n, L), scores (n, L) and predictions (n, L + 1).

    The last column is empty: scikit-learn would take a single label for a binary problem with two classes.
    """
    labels = check_labels_beside(Y, F, "F").dense()
    scores = check_scores(F, labels.shape, infinite=True).astype(np.float64)
    check_labels_beside(Y, P, "P")
    predictions = check_predictions(P, labels.shape).dense()
    known = np.ones(labels.shape, dtype=bool) if labels.known is None else labels.known
    empty = np.zeros((len(known), 1), dtype=bool)
    predicted = predictions.relevant & known
    return np.hstack([labels.relevant, empty]), known, scores, np.hstack([predicted, empty])
