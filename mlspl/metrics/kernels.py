"""Compiled loops over rows: the four ranking criteria, and the best labels."""

import numpy as np
from numpy.typing import NDArray

from mlspl._numba_cache import njit

__all__ = ["best_of_rows", "rank_rows"]


@njit(cache=True, nogil=True)
def rank_rows(Y: NDArray[np.int8], F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (4, n): ranking loss, one error, coverage and average precision of every row.

    Y holds 1 (relevant), 0 (irrelevant) and -1 (unknown, ignored). A criterion that leaves a row out is NaN
    there. Counting the labels above each relevant one takes |Y|·L comparisons a row, but no sorting and no
    branches: the inner loops compile to vector instructions.
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


@njit(cache=True, nogil=True)
def best_of_rows(F: NDArray[np.float64], skipped: NDArray[np.bool_], k: int) -> NDArray[np.intp]:
    """Return (n, k): the columns of the k largest values of every row, largest first, then -1.

    Of equal values the higher column comes first. `skipped` (n, L) marks values to ignore; (0, 0) is none.
    """
    n, L = F.shape
    top = np.full((n, k), -1, np.intp)
    values, columns = np.empty(L), np.empty(L, np.intp)
    for i in range(n):
        count = 0
        for label in range(L):
            if skipped.size == 0 or not skipped[i, label]:
                values[count], columns[count] = F[i, label], label
                count += 1
        if count > k:
            # Keep the k best, of those level with the least the last ones.
            least = np.partition(values[:count], count - k)[count - k]
            level = k - (values[:count] > least).sum()
            place = count
            for j in range(count - 1, -1, -1):
                if values[j] > least or (values[j] == least and level > 0):
                    level -= values[j] == least
                    place -= 1
                    values[place], columns[place] = values[j], columns[j]
            values[:k], columns[:k] = values[place:count].copy(), columns[place:count].copy()
            count = k
        order = np.argsort(values[:count], kind="mergesort")
        for rank in range(count):
            top[i, rank] = columns[order[count - 1 - rank]]
    return top
