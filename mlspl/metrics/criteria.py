"""The four criteria of rankings, and with Hamming loss the five of the literature's tables.

Y is 0/1, ±1, boolean, CSR or a DataFrame, shape (n, L). A NaN in Y is an unknown pair: it is treated as if
that label did not exist for that row. A row without labels or with all labels (among the known) says nothing
about a ranking: ranking loss, one error and average precision leave it out. A criterion no row can speak for
is NaN, with scikit-learn's `UndefinedMetricWarning`: an odd fold should not end a long study, and a mean over
splits shows the NaN rather than hiding it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._validation import Labels, check_labels_beside, check_scores
from mlspl.metrics._means import NEEDS_BOTH, NEEDS_ONE, mean, spoken
from mlspl.metrics.decisions import Decisions
from mlspl.metrics.kernels import rank_rows

__all__ = ["average_precision", "coverage", "one_error", "rank", "ranking_loss", "score_all"]

LOSS, TOP, DEPTH, PRECISION = range(4)


def ranking_loss(Y: ArrayLike, F: ArrayLike) -> float:
    """Share of (relevant, irrelevant) pairs of a row in reversed order, a tie being an error; mean over rows.

    Rows without a relevant or without an irrelevant label are left out.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L)
        Scores, higher for more relevant.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Examples
    --------
    >>> from mlspl.metrics import ranking_loss
    >>> ranking_loss([[1, 0, 0, 1]], [[0.9, 0.8, 0.1, 0.3]])
    0.25
    """
    return mean(*spoken(rank(Y, F)[LOSS]), "ranking loss", NEEDS_BOTH)


def one_error(Y: ArrayLike, F: ArrayLike) -> float:
    """Share of the rows in which no label of maximal score is relevant; a tie favours the classifier.

    Rows without a relevant or without an irrelevant label are left out.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L)
        Scores, higher for more relevant.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Examples
    --------
    >>> from mlspl.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 0]], [[0.9, 0.8, 0.1], [0.9, 0.8, 0.1]])
    0.5
    """
    return mean(*spoken(rank(Y, F)[TOP]), "one error", NEEDS_BOTH)


def coverage(Y: ArrayLike, F: ArrayLike) -> float:
    """Mean over rows of the rank of the worst relevant label, minus 1; not divided by L.

    A row without relevant labels counts 0. Among equal scores the higher label index ranks better.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L)
        Scores, higher for more relevant.

    Returns
    -------
    float
        In [0, L - 1]; smaller is better.

    Examples
    --------
    >>> from mlspl.metrics import coverage
    >>> coverage([[1, 0, 0, 1]], [[0.9, 0.8, 0.1, 0.3]])
    2.0
    """
    return mean(*spoken(rank(Y, F)[DEPTH]), "coverage", NEEDS_ONE)


def average_precision(Y: ArrayLike, F: ArrayLike) -> float:
    """Mean over rows of the mean over relevant p of #{relevant ranked at or above p} / rank(p).

    Rows without a relevant or without an irrelevant label are left out. Among equal scores the higher label
    index ranks better.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L)
        Scores, higher for more relevant.

    Returns
    -------
    float
        In (0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import average_precision
    >>> average_precision([[1, 0, 0, 1]], [[0.9, 0.8, 0.1, 0.3]])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    return mean(*spoken(rank(Y, F)[PRECISION]), "average precision", NEEDS_BOTH)


def score_all(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> dict[str, float]:
    """Return the five criteria of one set of predictions, ranking the rows once.

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
        With the keys hamming_loss, ranking_loss, one_error, coverage, average_precision, in this order.

    Examples
    --------
    >>> from mlspl.metrics import score_all
    >>> for name, value in score_all([[1, 0, 1]], [[2.0, 0.5, -1.0]], [[1, 1, 0]]).items():
    ...     print(f"{name} {value:.3f}")
    hamming_loss 0.667
    ranking_loss 0.500
    one_error 0.000
    coverage 2.000
    average_precision 0.833
    """
    labels = check_labels_beside(Y, F, "F")
    wrong, known = Decisions.of(labels, P).hamming_loss()
    rows = rank(labels, F)
    return {
        "hamming_loss": mean(wrong, known, "hamming loss", NEEDS_ONE),
        "ranking_loss": mean(*spoken(rows[LOSS]), "ranking loss", NEEDS_BOTH),
        "one_error": mean(*spoken(rows[TOP]), "one error", NEEDS_BOTH),
        "coverage": mean(*spoken(rows[DEPTH]), "coverage", NEEDS_ONE),
        "average_precision": mean(*spoken(rows[PRECISION]), "average precision", NEEDS_BOTH),
    }


def rank(Y: ArrayLike | Labels, F: ArrayLike) -> NDArray[np.float64]:
    """Return `rank_rows` of all rows, block by block."""
    labels = check_labels_beside(Y, F, "F")
    scores = check_scores(F, labels.shape, infinite=True)
    blocks = [
        rank_rows(truth, np.ascontiguousarray(scores[rows], np.float64)) for rows, truth in labels.blocks()
    ]
    return np.concatenate(blocks, axis=1)
