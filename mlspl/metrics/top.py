"""Criteria of the k best labels of a row, also where labels are many and predictions few.

What is ranked comes as scores (n, L); as a CSR matrix of scores, whose stored labels alone are ranked; or as
an array of label indices (n, m), best first, -1 where there is none. Among equal scores the higher label
index ranks better. A pair whose label is unknown (NaN in Y) takes no rank.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels, check_scores
from mlspl.errors import UserError
from mlspl.metrics._means import NEEDS_ONE, NEEDS_RELEVANT, mean
from mlspl.metrics._ranked import Ranked, best_scored, best_stored, check_k
from mlspl.metrics.kernels import best_of_entries

__all__ = [
    "label_propensities",
    "ndcg_at_k",
    "precision_at_k",
    "propensity_scored_precision_at_k",
    "top_labels",
]


def precision_at_k(Y: ArrayLike, F: ArrayLike, k: int = 5) -> float:
    """Share of the k best labels of a row that are relevant, mean over rows.

    A row with fewer than k labels to rank is still divided by k, and one without relevant labels counts 0, as
    in the literature.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown. Rows without a known label are left out.
    F : array-like of shape (n, L), sparse matrix, or array of int of shape (n, m)
        Scores, higher for more relevant; or the best labels of each row, best first. An array of integers is
        taken for label indices unless it is as wide as Y.
    k : int, default=5
        How many labels to look at.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.metrics import precision_at_k
    >>> Y = [[1, 0, 0, 1]]
    >>> precision_at_k(Y, [[0.9, 0.8, 0.1, 0.3]], k=2)
    0.5
    >>> precision_at_k(Y, np.array([[0, 1, 3]]), k=3)
    0.6666666666666666
    """
    return mean(*Ranked.of(Y, F, k).precision(k), f"precision at {k}", NEEDS_ONE)


def ndcg_at_k(Y: ArrayLike | Labels, F: ArrayLike, k: int | None = 5) -> float:
    """Normalised discounted cumulative gain of the k best labels, mean over rows.

    The gain of a relevant label at rank r is 1 / log₂(r + 1); the sum is divided by the largest it could be.
    Rows without relevant labels are left out.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L), sparse matrix, or array of int of shape (n, m)
        Scores, higher for more relevant; or the best labels of each row, best first. An array of integers is
        taken for label indices unless it is as wide as Y.
    k : int, default=5
        How many labels to look at; all of them if None.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import ndcg_at_k
    >>> round(ndcg_at_k([[1, 0, 0, 1]], [[0.9, 0.8, 0.1, 0.3]], k=3), 4)  # (1 + 1/2) / (1 + 1/log2(3))
    0.9197
    """
    ranked = Ranked.of(Y, F, k)
    return mean(*ranked.ndcg(k), "nDCG" if k is None else f"nDCG at {k}", NEEDS_RELEVANT)


def propensity_scored_precision_at_k(
    Y: ArrayLike, F: ArrayLike, k: int = 5, propensities: ArrayLike | None = None
) -> float:
    """Precision at k in which rare labels weigh more, divided by the largest it could be (Jain et al. 2016).

    A relevant label l among the k best counts 1 / pₗ, where the propensity pₗ is the chance that a relevant
    label was noticed by who labelled the data.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    F : array-like of shape (n, L), sparse matrix, or array of int of shape (n, m)
        Scores, higher for more relevant; or the best labels of each row, best first. An array of integers is
        taken for label indices unless it is as wide as Y.
    k : int, default=5
        How many labels to look at.
    propensities : array-like of shape (L,), optional
        Those of the training labels, by `label_propensities`; of Y itself if not given.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    References
    ----------
    H. Jain, Y. Prabhu, M. Varma: Extreme Multi-label Loss Functions for Recommendation, Tagging, Ranking &
    Other Missing Label Applications. KDD 2016.

    Examples
    --------
    >>> from mlspl.metrics import propensity_scored_precision_at_k
    >>> propensity_scored_precision_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=1, propensities=[1.0, 0.5, 0.5])
    0.5
    """
    ranked = Ranked.of(Y, F, k)
    given = (
        label_propensities(ranked.labels) if propensities is None else np.asarray(propensities, np.float64)
    )
    n_labels = ranked.labels.shape[1]
    if given.shape != (n_labels,) or not np.all((given > 0) & (given <= 1)):
        raise UserError(f"propensities must be {n_labels} numbers above 0 and at most 1, one for each label.")
    weight = 1 / given
    gained = float(np.where(ranked.hits[:, :k], weight[ranked.top[:, :k]], 0.0).sum())
    relevant = sparse.csr_array(ranked.labels.relevant)
    best = best_of_entries(
        relevant.indptr, relevant.indices, weight[relevant.indices], min(k, n_labels), np.empty(0, np.bool_)
    )
    possible = float(np.where(best >= 0, weight[best], 0.0).sum())
    return mean(gained, possible, f"propensity-scored precision at {k}", NEEDS_RELEVANT)


def label_propensities(Y: ArrayLike | Labels, a: float = 0.55, b: float = 1.5) -> NDArray[np.float64]:
    """Return the chance that a relevant label was noticed, for every label (Jain et al. 2016).

    pₗ = 1 / (1 + c (Nₗ + b)⁻ᵃ) with c = (ln N − 1)(b + 1)ᵃ, for a label on Nₗ of N rows.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        Training labels.
    a, b : float
        0.55 and 1.5 unless the data are Wikipedia's (0.5, 0.4) or Amazon's (0.6, 2.6).

    Returns
    -------
    ndarray of shape (L,)
        In (0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.metrics import label_propensities
    >>> label_propensities(np.arange(1000)[:, None] < [1, 100, 1000]).round(2)
    array([0.14, 0.56, 0.82])
    """
    labels = check_labels(Y)
    count = np.asarray(labels.relevant.sum(axis=0, dtype=np.int64)).ravel()
    # Of fewer than three rows ln N − 1 would be negative, and a chance above 1.
    c = max(np.log(labels.shape[0]) - 1, 0.0) * (b + 1) ** a
    return 1 / (1 + c * (count + b) ** -a)


def top_labels(F: ArrayLike, k: int) -> NDArray[np.intp]:
    """Return the indices (n, k) of the k best labels of every row, best first.

    Parameters
    ----------
    F : array-like of shape (n, L) or sparse matrix
        Scores, higher for more relevant; of a sparse matrix the stored labels alone are ranked.
    k : int
        How many.

    Returns
    -------
    ndarray of shape (n, min(k, L))
        Among equal scores the higher index comes first; -1 where a row has no further label.

    Examples
    --------
    >>> from mlspl.metrics import top_labels
    >>> top_labels([[0.1, 0.7, 0.7, 0.3]], 3)
    array([[2, 1, 3]])
    """
    check_k(k)
    if sparse.issparse(F):
        return best_stored(F, k, None)
    scores = check_scores(F, (None, np.shape(F)[-1] if np.ndim(F) == 2 else 0), infinite=True)
    return best_scored(scores, k, None)
