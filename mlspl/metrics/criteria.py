"""The five criteria of multi-label learning, in the definitions the literature's tables use.

Y is 0/1, ±1, boolean, CSR or a DataFrame, shape (n, L). A NaN in Y is an unknown pair: it is treated as if
that label did not exist for that row. A row without labels or with all labels (among the known) says nothing
about a ranking: ranking loss, one error and average precision leave it out. A criterion no row can speak for
is NaN, with scikit-learn's `UndefinedMetricWarning`: an odd fold should not end a long study, and a mean over
splits shows the NaN rather than hiding it.
"""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from mlspl._validation import UNKNOWN, check_labels_beside, check_predictions, check_scores
from mlspl.metrics.kernels import rank_rows

__all__ = ["average_precision", "coverage", "hamming_loss", "one_error", "ranking_loss", "score_all"]

LOSS, TOP, DEPTH, PRECISION = range(4)

NEEDS_BOTH = "no row has both a relevant and an irrelevant label"
NEEDS_ONE = "Y holds no known label"


def hamming_loss(Y: ArrayLike, P: ArrayLike) -> float:
    """Share of the known pairs whose predicted label is wrong.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Examples
    --------
    >>> from mlspl.metrics import hamming_loss
    >>> hamming_loss([[1, 0, 0, 1]], [[1, 1, 0, 1]])
    0.25
    """
    labels = check_labels_beside(Y, P, "P")
    predictions = check_predictions(P, labels.shape)
    wrong = known = 0
    for (_, truth), (_, predicted) in zip(labels.blocks(), predictions.blocks(), strict=True):
        wrong += int(np.count_nonzero((truth != predicted) & (truth != UNKNOWN)))
        known += int(np.count_nonzero(truth != UNKNOWN))
    return mean(wrong, known, "hamming loss", NEEDS_ONE)


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
    hamming = hamming_loss(Y, P)
    rows = rank(Y, F)
    return {
        "hamming_loss": hamming,
        "ranking_loss": mean(*spoken(rows[LOSS]), "ranking loss", NEEDS_BOTH),
        "one_error": mean(*spoken(rows[TOP]), "one error", NEEDS_BOTH),
        "coverage": mean(*spoken(rows[DEPTH]), "coverage", NEEDS_ONE),
        "average_precision": mean(*spoken(rows[PRECISION]), "average precision", NEEDS_BOTH),
    }


def rank(Y: ArrayLike, F: ArrayLike) -> NDArray[np.float64]:
    """Return `rank_rows` of all rows, block by block."""
    labels = check_labels_beside(Y, F, "F")
    scores = check_scores(F, labels.shape, infinite=True)
    blocks = [
        rank_rows(truth, np.ascontiguousarray(scores[rows], np.float64)) for rows, truth in labels.blocks()
    ]
    return np.concatenate(blocks, axis=1)


def spoken(values: NDArray[np.float64]) -> tuple[float, int]:
    """Return the sum of the rows that are not left out, and their number."""
    values = values[~np.isnan(values)]
    return float(values.sum()), len(values)


def mean(total: float, count: int, criterion: str, need: str) -> float:
    return total / count if count else undefined(criterion, need, stacklevel=4)


def undefined(criterion: str, need: str, stacklevel: int = 3) -> float:
    message = f"The {criterion} is undefined and NaN, because {need}."
    warnings.warn(message, UndefinedMetricWarning, stacklevel=stacklevel)
    return float("nan")
