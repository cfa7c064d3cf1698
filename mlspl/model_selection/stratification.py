"""Iterative stratification (Sechidis, Tsoumakas & Vlahavas 2011): folds that share out every label evenly."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from mlspl._numba_cache import njit
from mlspl.errors import UserError
from mlspl.model_selection.inputs import carriers

__all__ = ["IterativeStratification", "share_out"]


class IterativeStratification(BaseCrossValidator):
    """K folds in which every label has nearly the same share of rows; a scikit-learn splitter.

    The rarest label still to be placed goes first, each of its rows to the fold that lacks that label most;
    ties go to the fold that lacks most rows, then to chance (Algorithm 1 of the paper). One thing is stricter
    than the paper: a full fold takes no more rows, so that sizes differ by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of the rows and the ties; an int gives the same folds at every call.

    Notes
    -----
    Rows without labels fill up the folds. A label on fewer rows than there are folds is spread over as many
    folds as it has rows. An unknown label (NaN) is treated as absent.

    References
    ----------
    K. Sechidis, G. Tsoumakas, I. Vlahavas: On the Stratification of Multi-Label Data. ECML PKDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import IterativeStratification
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> folds = IterativeStratification(n_splits=2, random_state=0)
    >>> for train, test in folds.split(np.zeros(8), Y):
    ...     print(Y[test].sum(axis=0), len(test))
    [2 2] 4
    [2 2] 4
    """

    def __init__(self, n_splits: int = 5, *, random_state=None):
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, X, y: ArrayLike, groups=None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the rows to train on and the rows to test on, fold by fold.

        Parameters
        ----------
        X : array-like of shape (n, …)
            Only its length is looked at.
        y : array-like or sparse matrix of shape (n, L)
            Labels: 0/1, ±1 or boolean; NaN counts as absent.
        groups : object
            Ignored, as in `KFold`.
        """
        return super().split(X, y, groups)

    def get_n_splits(self, X=None, y=None, groups=None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def _iter_test_indices(self, X=None, y=None, groups=None) -> Iterator[NDArray[np.intp]]:
        if y is None:
            raise UserError("IterativeStratification needs the labels: call split(X, Y).")
        Y = carriers(y)
        n, k = Y.shape[0], self.n_splits
        if k < 2:
            raise UserError(f"n_splits is {k}, but it takes at least 2 folds to test on rows not trained on.")
        if n < k:
            raise UserError(f"{n} rows cannot fill {k} folds: take n_splits of at most {n}.")
        sizes = np.full(k, n // k)
        sizes[: n % k] += 1
        folds = share_out(Y, np.full(k, 1 / k), sizes, check_random_state(self.random_state))
        for fold in range(k):
            yield np.flatnonzero(folds == fold)


def share_out(
    Y: sparse.csr_array,
    shares: NDArray[np.float64],
    sizes: NDArray[np.intp],
    random: np.random.RandomState,
) -> NDArray[np.intp]:
    """Return the subset of every row; subset j holds `sizes[j]` rows and about `shares[j]` of each label."""
    n, L = Y.shape
    rows, labels = random.permutation(n), random.permutation(L)
    shuffled = Y[rows][:, labels]
    by_label = shuffled.tocsc()
    subsets = np.empty(n, dtype=np.intp)
    subsets[rows] = assign(
        shuffled.indptr.astype(np.int64),
        shuffled.indices.astype(np.int64),
        by_label.indptr.astype(np.int64),
        by_label.indices.astype(np.int64),
        shares,
        sizes.astype(np.int64),
        random.random_sample(n),
    )
    return subsets


@njit(cache=True, nogil=True)
def assign(label_start, labels, row_start, rows, shares, sizes, chance):
    """Algorithm 1, on the labels of each row (CSR) and the rows of each label (CSC)."""
    n, L = len(label_start) - 1, len(row_start) - 1
    remaining = np.diff(row_start)
    lacking = np.outer(remaining.astype(np.float64), shares)
    room = sizes.copy()
    subsets = np.full(n, -1)
    while True:
        rarest = -1
        for label in range(L):
            if remaining[label] > 0 and (rarest < 0 or remaining[label] < remaining[rarest]):
                rarest = label
        if rarest < 0:
            break
        for i in rows[row_start[rarest] : row_start[rarest + 1]]:
            if subsets[i] < 0:
                j = neediest(lacking[rarest], room, chance[i])
                subsets[i] = j
                room[j] -= 1
                for label in labels[label_start[i] : label_start[i + 1]]:
                    lacking[label, j] -= 1
                    remaining[label] -= 1
    # Only rows without labels are left; they go where rows are lacking.
    indifferent = np.zeros(len(sizes))
    for i in range(n):
        if subsets[i] < 0:
            j = neediest(indifferent, room, chance[i])
            subsets[i] = j
            room[j] -= 1
    return subsets


@njit(cache=True, nogil=True)
def neediest(lacking, room, chance):
    """Of the subsets with room, return the one that lacks the label most, then rows most, then by chance."""
    best, ties = -1, 0
    for j in range(len(room)):
        if room[j] == 0:
            continue
        if best < 0 or lacking[j] > lacking[best] or (lacking[j] == lacking[best] and room[j] > room[best]):
            best, ties = j, 1
        elif lacking[j] == lacking[best] and room[j] == room[best]:
            ties += 1
    skip = int(chance * ties)
    for j in range(best, len(room)):
        if room[j] == room[best] and lacking[j] == lacking[best]:
            if skip == 0:
                return j
            skip -= 1
    return best
