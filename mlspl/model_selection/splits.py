"""Splits of rows: the protocol's random one, and iterative stratification (Sechidis et al. 2011)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from mlspl._numba_cache import njit
from mlspl._validation import check_labels
from mlspl.errors import UserError


def protocol_split(n: int, split: int, train: float = 0.3) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training and test rows of a numbered split, as in every published figure of this package.

    With `p = np.random.RandomState(split).permutation(n)`, training rows are `p[:int(train * n)]` and test
    rows are the rest.

    Parameters
    ----------
    n, split : int
        Number of rows, and number of the split, which is its seed.
    train : float, default=0.3
        Share of the rows to train on.
    """
    if not 0 < train < 1:
        raise UserError(f"train is {train}: give a share of the rows between 0 and 1.")
    n_train = int(train * n)
    if not 0 < n_train < n:
        raise UserError(f"A share of {train} leaves {n_train} of {n} rows for training: give more rows.")
    permutation = np.random.RandomState(split).permutation(n)
    return permutation[:n_train], permutation[n_train:]


class IterativeStratification(BaseCrossValidator):
    """K folds in which every label has nearly the same share of rows; a scikit-learn splitter.

    The rarest remaining label comes first. Each of its rows goes to the fold that needs that label most; ties
    go to the fold that needs most rows, then to a random one (Algorithm 1 of Sechidis, Tsoumakas & Vlahavas,
    ECML PKDD 2011). Unlike there, a full fold takes no more rows, so fold sizes differ by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of the rows and the ties; an int gives the same folds at every call.
    """

    def __init__(self, n_splits: int = 5, *, random_state=None):
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X, y: ArrayLike, groups=None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield training and test rows by the labels y (n, L), in which NaN counts as absent."""
        return super().split(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def _iter_test_indices(self, X=None, y=None, groups=None) -> Iterator[NDArray[np.intp]]:
        if y is None:
            raise UserError("IterativeStratification needs the labels: call split(X, Y).")
        # An entry for every relevant pair; an unknown label (NaN) has none.
        Y = sparse.csr_array(check_labels(y).relevant)
        n, k = Y.shape[0], self.n_splits
        if k < 2:
            raise UserError(f"n_splits is {k}: give at least 2.")
        if n < k:
            raise UserError(f"{n} rows cannot fill {k} folds: give n_splits of at most {n}.")
        random = check_random_state(self.random_state)
        rows, labels = random.permutation(n), random.permutation(Y.shape[1])
        shuffled = Y[rows][:, labels]
        by_label = shuffled.tocsc()
        parts = (shuffled.indptr, shuffled.indices, by_label.indptr, by_label.indices)
        folds = np.empty(n, dtype=np.intp)
        folds[rows] = _assign(*(part.astype(np.int64) for part in parts), k, random.random_sample(n))
        for fold in range(k):
            yield np.flatnonzero(folds == fold)


@njit(cache=True, nogil=True)
def _assign(label_start, labels, row_start, rows, k, chance):
    """Algorithm 1 on the labels of each row (CSR) and the rows of each label (CSC)."""
    # Loops, because array expressions take longer to compile than all the rest.
    n, L = len(label_start) - 1, len(row_start) - 1
    remaining, needed = np.empty(L, np.int64), np.empty((L + 1, k))
    free, subsets = np.empty(k, np.int64), np.empty(n, np.int64)
    for j in range(k):
        free[j] = n // k + (j < n % k)
        needed[L, j] = 0.0  # rows without labels
    for label in range(L):
        remaining[label] = row_start[label + 1] - row_start[label]
        needed[label, :] = remaining[label] * (1 / k)
    subsets[:] = -1
    while True:
        rarest = -1
        for label in range(L):
            if remaining[label] > 0 and (rarest < 0 or remaining[label] < remaining[rarest]):
                rarest = label
        if rarest < 0:
            break
        for p in range(row_start[rarest], row_start[rarest + 1]):
            i = rows[p]
            if subsets[i] < 0:
                j = _pick_fold(needed[rarest], free, chance[i])
                subsets[i] = j
                free[j] -= 1
                for t in range(label_start[i], label_start[i + 1]):
                    needed[labels[t], j] -= 1
                    remaining[labels[t]] -= 1
    for i in range(n):
        if subsets[i] < 0:
            subsets[i] = _pick_fold(needed[L], free, chance[i])
            free[subsets[i]] -= 1
    return subsets


@njit(cache=True, nogil=True)
def _pick_fold(needed, free, chance):
    """Return the subset, of those not full, that needs the label most, then rows most, then a random one."""
    best, ties = -1, 0
    for j in range(len(free)):
        if free[j] == 0:
            continue
        if best < 0 or needed[j] > needed[best] or (needed[j] == needed[best] and free[j] > free[best]):
            best, ties = j, 1
        elif needed[j] == needed[best] and free[j] == free[best]:
            ties += 1
    skip = int(chance * ties)
    for j in range(best, len(free)):
        if free[j] == free[best] and needed[j] == needed[best]:
            if skip == 0:
                return j
            skip -= 1
    return best
