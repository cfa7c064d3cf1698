"""The ranking criteria of the paper.

An unknown label (NaN in Y) takes no rank. Among equal scores the higher label index ranks better. A row
without relevant or without irrelevant labels counts only for coverage. A criterion that no row defines is
NaN, with scikit-learn's `UndefinedMetricWarning`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._numba_cache import njit
from mlspl._validation import Labels, check_labels_beside, check_scores
from mlspl.metrics._shared import NEEDS_BOTH, NEEDS_ONE, document, document_criterion, mean
from mlspl.metrics.decisions import Decisions

RANKING_NAMES = ("ranking_loss", "one_error", "coverage", "average_precision")
_NEEDS = (NEEDS_BOTH, NEEDS_BOTH, NEEDS_ONE, NEEDS_BOTH)


@document
def score_all(Y: ArrayLike, F: ArrayLike, P: ArrayLike) -> dict[str, float]:
    """Return the five criteria of the paper, ranking the rows once.

    {both}

    Returns
    -------
    dict
        From the names in `PAPER_CRITERIA` to values.
    """
    labels = check_labels_beside(Y, F, "F")
    wrong, known = Decisions.count(labels, P).fractions()["hamming_loss"]
    scores = {"hamming_loss": mean(wrong, known, "hamming loss", NEEDS_ONE)}
    sums = rank_sums(labels, F)
    return scores | {name: mean_of_rows(sums, number) for number, name in enumerate(RANKING_NAMES)}


def rank_criteria(Y: ArrayLike | Labels, F: ArrayLike) -> NDArray[np.float64]:
    """Return (4, n): ranking loss, one error, coverage and average precision of every row, or NaN."""
    labels = check_labels_beside(Y, F, "F")
    scores = check_scores(F, labels.shape, infinite=True)
    blocks = ((truth, np.ascontiguousarray(scores[rows], np.float64)) for rows, truth in labels.blocks())
    return np.concatenate([rank_rows(*block) for block in blocks], axis=1)


def rank_sums(Y: ArrayLike | Labels, F: ArrayLike) -> NDArray[np.float64]:
    """Return (2, 4): the sums of the four criteria over rows, and the numbers of rows that define them."""
    rows = rank_criteria(Y, F)
    undefined = np.isnan(rows)
    rows[undefined] = 0.0
    return np.stack([rows.sum(axis=1), rows.shape[1] - np.count_nonzero(undefined, axis=1)])


def mean_of_rows(sums: NDArray[np.float64], number: int) -> float:
    """Return the mean of a criterion by the sums of `rank_sums`; NaN with a warning if no row defines it."""
    total, count = sums[:, number].tolist()
    return mean(total, count, RANKING_NAMES[number].replace("_", " "), _NEEDS[number], stacklevel=4)


def _make(name: str, summary: str) -> Callable[[ArrayLike, ArrayLike], float]:
    """Make the function of a ranking criterion."""

    def criterion(Y: ArrayLike, F: ArrayLike) -> float:
        return mean_of_rows(rank_sums(Y, F), RANKING_NAMES.index(name))

    return document_criterion(criterion, name, summary, "{scores}")


ranking_loss = _make(
    "ranking_loss",
    "Share of (relevant, irrelevant) pairs of a row in reversed order, a tie being an error; mean over rows.",
)
one_error = _make(
    "one_error",
    "Share of the rows in which no label of maximal score is relevant; a tie favours the classifier.",
)
coverage = _make(
    "coverage", "Mean over rows of the rank of the worst relevant label, minus 1; 0 for a row without labels."
)
average_precision = _make(
    "average_precision",
    "Mean over rows of the mean over relevant p of #{relevant ranked at or above p} / rank(p).",
)


@njit(cache=True, nogil=True)
def rank_rows(Y: NDArray[np.int8], F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (4, n): ranking loss, one error, coverage and average precision of every row, or NaN.

    Y holds 1 (relevant), 0 (irrelevant) and -1 (unknown, ignored). Counting the labels above each relevant
    one is faster than sorting, because the inner loops compile to vector instructions.
    """
    n, L = Y.shape
    rows = np.full((4, n), np.nan)
    relevant, irrelevant = np.empty(L), np.empty(L)
    before = np.empty(L, np.int64)
    for i in range(n):
        n_relevant = n_irrelevant = 0
        for label in range(L):
            if Y[i, label] == 1:
                relevant[n_relevant] = F[i, label]
                before[n_relevant] = n_irrelevant
                n_relevant += 1
            elif Y[i, label] == 0:
                irrelevant[n_irrelevant] = F[i, label]
                n_irrelevant += 1

        reversed_pairs = deepest = 0
        precision, best = 0.0, -np.inf
        for p in range(n_relevant):
            score = relevant[p]
            best = max(best, score)
            # The tie rule: at an equal score, labels of a higher index are above, those of a lower are not.
            relevant_above = above = level = 0
            for q in range(p):
                relevant_above += relevant[q] > score
            for q in range(p, n_relevant):
                relevant_above += relevant[q] >= score
            for q in range(before[p]):
                above += irrelevant[q] > score
                level += irrelevant[q] == score
            for q in range(before[p], n_irrelevant):
                above += irrelevant[q] >= score
            reversed_pairs += above + level
            deepest = max(deepest, relevant_above + above)
            precision += relevant_above / (relevant_above + above)

        if n_relevant > 0 and n_irrelevant > 0:
            beaten = False
            for q in range(n_irrelevant):
                beaten |= irrelevant[q] > best
            rows[0, i] = reversed_pairs / (n_relevant * n_irrelevant)
            rows[1, i] = beaten
            rows[3, i] = precision / n_relevant
        if n_relevant + n_irrelevant > 0:
            rows[2, i] = max(deepest - 1, 0)
    return rows
