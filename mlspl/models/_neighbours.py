"""Nearest neighbours with a tie rule: at equal distance, the lower index is nearer."""

from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

_CANDIDATES_AT_ONCE = 2**22


class StableNeighbours:
    """scikit-learn's neighbour search, in which distances equal up to rounding go to the lower index.

    Rows with a possible tie at the k-th distance are searched again by all their distances.
    """

    _contents = {"_origin": "float (columns)?", "_X": "rows (rows, columns)"}

    def __init__(self, X, n_jobs=None):
        self.n_jobs = n_jobs
        # Centred, as dot products lose digits far from the origin.
        self._origin = None if sparse.issparse(X) else X.mean(axis=0)
        self._X = X if self._origin is None else X - self._origin

    @cached_property
    def _engine(self):
        return NearestNeighbors(n_jobs=self.n_jobs).fit(self._X)

    def __getstate__(self):
        """Without the search trees, which are private to scikit-learn."""
        return {name: value for name, value in self.__dict__.items() if name != "_engine"}

    def kneighbors_of_training(self, k, rows=None):
        """The k nearest other training rows of each training row, or of these; duplicates count as others."""
        rows = np.arange(self._X.shape[0]) if rows is None else rows
        return self._search(self._X[rows], k, excluded=rows)

    def kneighbors(self, X, k):
        """The k nearest training rows of each row of X."""
        if sparse.issparse(self._X):
            X = sparse.csr_matrix(X)
        elif sparse.issparse(X):
            X = X.toarray()
        return self._search(X if self._origin is None else X - self._origin, k, excluded=None)

    def _search(self, X, k, excluded):
        n_rows, n_known = X.shape[0], self._X.shape[0]
        distance, index = self._engine.kneighbors(X, min(k + (1 if excluded is None else 2), n_known))
        if excluded is not None:
            others = index != excluded[:, None]
            # A row with many duplicates may be missing among its own neighbours.
            others[others.all(axis=1), -1] = False
            distance, index = distance[others].reshape(n_rows, -1), index[others].reshape(n_rows, -1)
        if index.shape[1] == k:
            return distance, index
        kth, following = np.square(distance[:, k - 1 : k + 1]).T
        doubtful = np.flatnonzero(following - kth <= 2 * _rounding(X, kth))
        distance, index = distance[:, :k].copy(), index[:, :k].copy()
        step = max(1, _CANDIDATES_AT_ONCE // n_known)
        for start in range(0, len(doubtful), step):
            rows = doubtful[start : start + step]
            distance[rows], index[rows] = self._settle(
                X[rows], k, None if excluded is None else excluded[rows]
            )
        return distance, index

    def _settle(self, X, k, excluded):
        """The k nearest of all rows: nearer ones first, then of those tied at the k-th place the first."""
        squared = euclidean_distances(X, self._X, squared=True)
        if excluded is not None:
            squared[np.arange(len(excluded)), excluded] = np.inf
        kth = np.partition(squared, k - 1, axis=1)[:, k - 1]
        kth, rounding = kth[:, None], _rounding(X, kth)[:, None]
        nearer, tied = squared < kth - rounding, np.abs(squared - kth) <= rounding
        free = k - nearer.sum(axis=1, keepdims=True)
        taken = nearer | (tied & (np.cumsum(tied, axis=1) <= free))
        return np.sqrt(squared[taken]).reshape(-1, k), np.nonzero(taken)[1].reshape(-1, k)


def _rounding(X, squared):
    """A bound on the rounding error of a squared distance: that of the norms."""
    return 1e-10 * squared + 1e-12 * row_norms(X, squared=True)
