"""Tests for several methods on several data sets (Demšar 2006)."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

_MOST_EXACT = 50


def average_ranks(scores: ArrayLike, greater_is_better: bool) -> NDArray[np.float64]:
    """Average ranks of methods, given scores (n_blocks, n_methods); 1 is best, ties share their ranks."""
    scores = _round(scores)
    return stats.rankdata(-scores if greater_is_better else scores, axis=1).mean(axis=0)


def friedman(scores: ArrayLike) -> float:
    """Return the p-value that all methods are equally good, given scores (n_blocks, n_methods)."""
    scores = _round(scores)
    if (scores == scores[:, :1]).all():
        return 1.0
    return float(stats.friedmanchisquare(*scores.T).pvalue)


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of average ranks of k methods on N blocks: q_alpha √(k(k+1) / 6N).

    q_alpha is the quantile of the studentized range divided by √2, as Demšar tabulates it.
    """
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values for testing all of them at once (Holm's step-down procedure)."""
    ordered = pd.Series(p_values, dtype=np.float64).sort_values(kind="stable")
    adjusted = (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1.0)
    return adjusted.sort_index().to_numpy()


def fewest_splits(n_pairs: int, alpha: float = 0.05) -> int:
    """Return the fewest splits with which Wilcoxon's test, adjusted by Holm, can be significant.

    With n splits the smallest two-sided p-value is 2/2ⁿ, which Holm multiplies by the number of pairs.
    """
    return math.floor(math.log2(2 * n_pairs / alpha)) + 1


def wilcoxon_pairs(scores: ArrayLike, methods: Sequence[str], greater_is_better: bool) -> pd.DataFrame:
    """Wilcoxon's signed-rank test for every pair of methods, adjusted by Holm over the pairs.

    A row of the scores (n_blocks, n_methods) is one split, or one data set. The result has one row per pair.

    Examples
    --------
    >>> scores = [[0.1, 0.2], [0.2, 0.4], [0.1, 0.4], [0.3, 0.7], [0.1, 0.6], [0.2, 0.8]]
    >>> pairs = wilcoxon_pairs(scores, ["ours", "theirs"], greater_is_better=False)
    >>> pairs.loc[0, "better"], float(pairs.loc[0, "p_holm"])
    ('ours', 0.03125)
    """
    scores = np.asarray(scores, dtype=np.float64)
    means = scores.mean(axis=0)
    first, second = np.triu_indices(len(methods), 1)
    swapped = means[second] > means[first] if greater_is_better else means[second] < means[first]
    better, worse = np.where(swapped, second, first), np.where(swapped, first, second)
    names = np.array(methods, dtype=object)
    p = [_signed_rank_p_value(column) for column in _round(scores[:, better] - scores[:, worse]).T]
    return pd.DataFrame(
        {
            "better": names[better],
            "worse": names[worse],
            "difference": means[better] - means[worse],
            "blocks": len(scores),
            "p": p,
            "p_holm": holm(p),
        }
    )


def _signed_rank_p_value(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value, exact up to fifty differences; scipy is slow with ties."""
    differences = differences[differences != 0]
    if len(differences) > _MOST_EXACT:
        return float(stats.wilcoxon(differences).pvalue)
    # Ranks may end in a half; doubled they are whole numbers.
    ranks = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)
    counts = np.ones(1)
    for rank in ranks:  # the polynomial Π (1 + x^rank) counts the sums of the positive ranks
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    positive = ranks[differences > 0].sum()
    smaller = min(positive, ranks.sum() - positive)
    return float(min(1.0, 2 * counts[: smaller + 1].sum() / counts.sum()))


def _round(scores: ArrayLike) -> NDArray[np.float64]:
    """Round to twelve digits, so that scores that differ by rounding errors tie."""
    return np.asarray(scores, dtype=np.float64).round(12)
