"""What ranking criteria need to know of a row: the four in one pass over it, and its best labels."""

import numpy as np
from numpy.typing import NDArray

from mlspl._numba_cache import njit

__all__ = ["best_of_entries", "best_of_rows", "count_decisions", "find_pairs", "rank_rows"]


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


@njit(cache=True, nogil=True)
def best_of_rows(F: NDArray[np.float64], skipped: NDArray[np.bool_], k: int) -> NDArray[np.intp]:
    """Return (n, k): the columns of the k largest values of every row, largest first, then -1.

    Of equal values the higher column comes first. `skipped` (n, L) says which take no part; (0, 0) is none.
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
        _put_best(values[:count], columns[:count], top[i])
    return top


@njit(cache=True, nogil=True)
def best_of_entries(indptr, indices, data, k: int, skipped: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return `best_of_rows` of the stored values of a CSR matrix; `skipped` has one flag a value, or none."""
    n = len(indptr) - 1
    top = np.full((n, k), -1, np.intp)
    for i in range(n):
        values, columns = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]].astype(np.intp)
        if skipped.size:
            kept = ~skipped[indptr[i] : indptr[i + 1]]
            values, columns = values[kept], columns[kept]
        _put_best(values, columns, top[i])
    return top


@njit(cache=True, nogil=True)
def _put_best(values, columns, best):
    """Put the columns of the largest values into `best`; columns ascend."""
    count, k = len(values), len(best)
    if count > k:
        least = np.partition(values, count - k)[count - k]
        above = 0
        for value in values:
            above += value > least
        # Of those level with the least, the last ones are taken.
        level = k - above
        kept = np.zeros(count, np.bool_)
        for place in range(count - 1, -1, -1):
            if values[place] > least:
                kept[place] = True
            elif values[place] == least and level > 0:
                kept[place] = True
                level -= 1
        values, columns = values[kept], columns[kept]
    order = np.argsort(values, kind="mergesort")
    for rank in range(len(order)):
        best[rank] = columns[order[len(order) - 1 - rank]]


@njit(cache=True, nogil=True)
def find_pairs(indptr, indices, rows, columns) -> NDArray[np.bool_]:
    """Return which pairs (row, column) are stored in a CSR pattern with sorted indices."""
    found = np.zeros(len(rows), np.bool_)
    for place in range(len(rows)):
        low, high = indptr[rows[place]], indptr[rows[place] + 1]
        stop = high
        while low < high:
            middle = (low + high) // 2
            if indices[middle] < columns[place]:
                low = middle + 1
            else:
                high = middle
        found[place] = low < stop and indices[low] == columns[place]
    return found


@njit(cache=True, nogil=True)
def count_decisions(relevant, predicted, unknown):
    """Return counts (4, L) by label and (4, n) by row: relevant, predicted, both and unknown.

    `unknown` is (n, L), or (0, 0) where all are known; predictions of unknown labels do not count.
    """
    n, L = relevant.shape
    by_label, by_row = np.zeros((4, L), np.int64), np.zeros((4, n), np.int64)
    for i in range(n):
        for label in range(L):
            r, p = relevant[i, label], predicted[i, label]
            if unknown.size and unknown[i, label]:
                by_row[3, i] += 1
                by_label[3, label] += 1
                p = False
            by_label[0, label] += r
            by_label[1, label] += p
            by_label[2, label] += r & p
        # The sums of the row apart: added up in one loop with those of the labels they would not vectorise.
        n_relevant = n_predicted = n_both = 0
        for label in range(L):
            r = relevant[i, label]
            p = predicted[i, label] and not (unknown.size and unknown[i, label])
            n_relevant += r
            n_predicted += p
            n_both += r & p
        by_row[0, i], by_row[1, i], by_row[2, i] = n_relevant, n_predicted, n_both
    return by_label, by_row
