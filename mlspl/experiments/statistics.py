"""Is the difference more than luck? Tests for several methods on several data sets (Demšar 2006)."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from mlspl.errors import UserError

__all__ = [
    "Friedman",
    "average_ranks",
    "corrected_t_pairs",
    "critical_difference",
    "fewest_splits",
    "friedman",
    "holm",
    "wilcoxon_pairs",
]

_MOST_EXACT = 50


class Friedman(NamedTuple):
    """Friedman's chi-square with k - 1 degrees of freedom, and its p-value."""

    statistic: float
    p_value: float


def average_ranks(scores: ArrayLike, greater_is_better: bool) -> NDArray[np.float64]:
    """Rank the methods within each block, 1 for the best, and average; equal scores share their ranks.

    Parameters
    ----------
    scores : array of shape (n_blocks, n_methods)
        A block is a data set, with one score for each method.
    greater_is_better : bool
        The direction of the criterion.

    Returns
    -------
    array of shape (n_methods,)

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]], greater_is_better=True)
    array([1.  , 2.25, 2.75])
    """
    scores = _rounded(scores)
    return stats.rankdata(-scores if greater_is_better else scores, axis=1).mean(axis=0)


def friedman(scores: ArrayLike) -> Friedman:
    """Test whether all methods do equally well over the blocks, corrected for ties.

    Parameters
    ----------
    scores : array of shape (n_blocks, n_methods)
        At least two blocks and three methods; the direction does not matter.

    Examples
    --------
    >>> friedman([[0.9, 0.8, 0.7], [0.7, 0.6, 0.5], [0.4, 0.3, 0.1]]).statistic
    6.0
    """
    scores = _rounded(scores)
    if scores.shape[0] < 2 or scores.shape[1] < 3:
        raise UserError(
            "Friedman's test needs at least two data sets and three methods; "
            f"here are {scores.shape[0]} and {scores.shape[1]}."
        )
    if (scores == scores[:, :1]).all():
        return Friedman(0.0, 1.0)
    statistic, p_value = stats.friedmanchisquare(*scores.T)
    return Friedman(float(statistic), float(p_value))


def critical_difference(n_methods: int, n_blocks: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of average ranks: q_alpha √(k(k+1) / 6N).

    q_alpha is the quantile of the studentized range divided by √2, as Demšar tabulates it; without that √2
    the distance comes out 41 % too large.

    Parameters
    ----------
    n_methods, n_blocks : int
        k and N.
    alpha : float, default=0.05
        Level of the test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust p-values for testing all of them at once (Holm's step-down procedure).

    Parameters
    ----------
    p_values : array of shape (n,)
        One per test.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty_like(p_values)
    factors = np.arange(len(p_values), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * factors))
    return adjusted


def fewest_splits(n_pairs: int, alpha: float = 0.05) -> int:
    """How many splits it takes before Wilcoxon's test with Holm's adjustment can find any pair different.

    With n splits the smallest two-sided p-value is 2/2ⁿ, which Holm multiplies by the number of pairs.

    Parameters
    ----------
    n_pairs : int
        Pairs tested at once.
    alpha : float, default=0.05
        Level of the test.

    Examples
    --------
    >>> fewest_splits(1), fewest_splits(15)
    (6, 10)
    """
    return math.floor(math.log2(2 * n_pairs / alpha)) + 1


def wilcoxon_pairs(scores: ArrayLike, methods: Sequence[str], greater_is_better: bool) -> pd.DataFrame:
    """Wilcoxon's signed-rank test for every pair of methods, adjusted by Holm over the pairs.

    Parameters
    ----------
    scores : array of shape (n_blocks, n_methods)
        Paired scores: a row is one split, or one data set.
    methods : sequence of str
        Names of the columns.
    greater_is_better : bool
        The direction of the criterion.

    Returns
    -------
    DataFrame
        One row per pair: `better` and `worse` by the mean, their `difference` of means, `blocks`, `p` and
        `p_holm`.

    Examples
    --------
    >>> scores = [[0.1, 0.2], [0.2, 0.4], [0.1, 0.4], [0.3, 0.7], [0.1, 0.6], [0.2, 0.8]]
    >>> pairs = wilcoxon_pairs(scores, ["ours", "theirs"], greater_is_better=False)
    >>> pairs.loc[0, "better"], float(pairs.loc[0, "p_holm"])
    ('ours', 0.03125)
    """
    return _test_pairs(scores, methods, greater_is_better, _signed_rank_p_value)


def corrected_t_pairs(
    scores: ArrayLike, methods: Sequence[str], greater_is_better: bool, train: float
) -> pd.DataFrame:
    """Nadeau and Bengio's corrected t-test for every pair of methods, adjusted by Holm over the pairs.

    Random splits of one data set share rows, so their scores vary less than those of new data would, and the
    usual t-test finds differences where there are none. The correction (Machine Learning 52, 2003) replaces
    the variance s²/J of a mean over J splits by (1/J + n_test/n_train) s².

    Parameters
    ----------
    scores : array of shape (n_splits, n_methods)
        Paired scores on random splits of one data set; at least two.
    methods : sequence of str
        Names of the columns.
    greater_is_better : bool
        The direction of the criterion.
    train : float
        Share of the rows to train on; the others are tested.

    Returns
    -------
    DataFrame
        As :func:`wilcoxon_pairs`.

    Examples
    --------
    >>> scores = [[0.10, 0.20], [0.20, 0.32], [0.10, 0.23]]
    >>> pairs = corrected_t_pairs(scores, ["ours", "theirs"], greater_is_better=False, train=0.5)
    >>> pairs.loc[0, "better"], round(float(pairs.loc[0, "p"]), 4)
    ('ours', 0.0221)
    """
    if not 0 < train < 1:
        raise UserError(f"The share of training rows must lie between 0 and 1; it is {train:g}.")
    if len(np.asarray(scores)) < 2:
        raise UserError("A t-test needs at least two splits; here is one.")
    return _test_pairs(
        scores, methods, greater_is_better, lambda differences: _corrected_t_p_value(differences, train)
    )


def _test_pairs(
    scores: ArrayLike,
    methods: Sequence[str],
    greater_is_better: bool,
    p_value: Callable[[NDArray[np.float64]], float],
) -> pd.DataFrame:
    """Test the differences of every pair of columns, the better one first."""
    scores = np.asarray(scores, dtype=np.float64)
    means = scores.mean(axis=0)
    rows = []
    for i, j in combinations(range(len(methods)), 2):
        if (means[j] > means[i]) == greater_is_better and means[j] != means[i]:
            i, j = j, i
        p = p_value(_rounded(scores[:, i] - scores[:, j]))
        rows.append((methods[i], methods[j], float(means[i] - means[j]), len(scores), p))
    pairs = pd.DataFrame(rows, columns=["better", "worse", "difference", "blocks", "p"])
    return pairs.assign(p_holm=holm(pairs["p"]))


def _corrected_t_p_value(differences: NDArray[np.float64], train: float) -> float:
    """Two-sided p-value; differences that are all the same leave no doubt, unless they are nil."""
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] == 0 else 0.0
    n_splits = len(differences)
    variance = (1 / n_splits + (1 - train) / train) * differences.var(ddof=1)
    statistic = differences.mean() / math.sqrt(variance)
    return float(2 * stats.t.sf(abs(statistic), n_splits - 1))


def _signed_rank_p_value(differences: NDArray[np.float64]) -> float:
    """Two-sided p-value; exact up to fifty differences, ties or not; those that are nil do not count.

    scipy goes through the permutations one by one where there are ties, seconds for a dozen differences.
    """
    differences = differences[differences != 0]
    if len(differences) == 0:
        return 1.0
    if len(differences) > _MOST_EXACT:
        return float(stats.wilcoxon(differences).pvalue)
    # Ranks may end in ½; twice them are whole numbers, whose sums over all signs one polynomial counts.
    ranks = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)
    counts = np.ones(1)
    for rank in ranks:
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    positive = ranks[differences > 0].sum()
    tail = min(counts[: positive + 1].sum(), counts[positive:].sum())
    return float(min(1.0, 2 * tail / counts.sum()))


def _rounded(scores: ArrayLike) -> NDArray[np.float64]:
    """Scores without the last digits, so that what is equal but for rounding ties."""
    return np.asarray(scores, dtype=np.float64).round(12)
