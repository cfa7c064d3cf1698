"""What the four ranking criteria need to know of a row, in one pass over it."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["rank_rows"]


@njit(cache=True, nogil=True)
def rank_rows(Y: NDArray[np.int8], F: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (4, n): ranking loss, one error, coverage and average precision of every row.

    Y holds 1 (relevant), 0 (irrelevant) and -1 (unknown, passed over). A criterion that leaves a row out has
    NaN there. Counting what stands above each relevant label takes |Y|·L comparisons a row, but no sorting
    and no branches: the inner loops compile to vector instructions.
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
            # Labels of a higher index win ties: they are above at an equal score, those of a lower are not.
            kin = above = level = 0
            for q in range(p):
                kin += relevant[q] > score
            for q in range(p, n_relevant):
                kin += relevant[q] >= score
            for q in range(before[p]):
                above += irrelevant[q] > score
                level += irrelevant[q] == score
            for q in range(before[p], n_irrelevant):
                above += irrelevant[q] >= score
            reversed_pairs += above + level
            deepest = max(deepest, kin + above)
            precision += kin / (kin + above)

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
