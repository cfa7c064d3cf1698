"""Nearest neighbours with a tie rule: at equal distance, the lower index is nearer."""

from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from mlspl.errors import UserError

_EUCLIDEAN = {"euclidean", "l2", "sqeuclidean"}
_CANDIDATES_AT_ONCE = 2**22


class StableNeighbours:
    """scikit-learn's neighbour search, in which distances equal up to rounding go to the lower index.

    Rows with a possible tie at the k-th distance are searched again by all their distances.
    """

    _contents = {
        "_settings": {"p": "number", "metric": "text", "metric_params": (None,)},
        "_origin": "float (columns)?",
        "_X": "rows (rows, columns)",
        "_metric": "text",
    }

    def __init__(self, X, metric="euclidean", metric_params=None, n_jobs=None):
        if metric == "precomputed" and sparse.issparse(X):
            raise UserError("Precomputed distances are sparse, which leaves pairs out. Give a dense array.")
        parameters = dict(metric_params or {})
        p = parameters.pop("p", 2)
        self._settings = {"p": p, "metric": metric, "metric_params": parameters or None}
        self.n_jobs = n_jobs
        # Centred, as dot products lose digits far from the origin.
        centred = metric in _EUCLIDEAN | {"minkowski"} and not sparse.issparse(X)
        self._origin = X.mean(axis=0) if centred else None
        self._X = X if self._origin is None else X - self._origin
        self._metric = self._engine.effective_metric_

    @cached_property
    def _engine(self):
        return NearestNeighbors(**self._settings, n_jobs=self.n_jobs).fit(self._X)

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
        selfless = excluded is None
        distance, index = self._engine.kneighbors(X, min(k + (1 if selfless else 2), n_known))
        if not selfless:
            others = index != excluded[:, None]
            # A row with many duplicates may be missing among its own neighbours.
            others[others.all(axis=1), -1] = False
            distance, index = distance[others].reshape(n_rows, -1), index[others].reshape(n_rows, -1)
        if index.shape[1] == k:
            return distance, index
        value = self._comparable(distance[:, k - 1 : k + 1])
        doubtful = np.flatnonzero(value[:, 1] - value[:, 0] <= 2 * self._rounding(X, value[:, 0]))
        distance, index = distance[:, :k].copy(), index[:, :k].copy()
        step = max(1, _CANDIDATES_AT_ONCE // n_known)
        for start in range(0, len(doubtful), step):
            rows = doubtful[start : start + step]
            distance[rows], index[rows] = self._settle(X[rows], k, None if selfless else excluded[rows])
        return distance, index

    def _settle(self, X, k, excluded):
        """The k nearest of all rows: nearer ones first, then of those tied at the k-th place the first."""
        engine = self._engine
        distance = X.copy()
        if self._metric != "precomputed":
            distance = pairwise_distances(
                X, self._X, metric=engine.effective_metric_, **engine.effective_metric_params_
            )
        if excluded is not None:
            distance[np.arange(len(excluded)), excluded] = np.inf
        value = self._comparable(distance)
        kth = np.partition(value, k - 1, axis=1)[:, k - 1]
        rounding = self._rounding(X, kth)[:, None]
        nearer, tied = value < kth[:, None] - rounding, np.abs(value - kth[:, None]) <= rounding
        free = k - nearer.sum(axis=1, keepdims=True)
        taken = nearer | (tied & (np.cumsum(tied, axis=1) <= free))
        return distance[taken].reshape(-1, k), np.nonzero(taken)[1].reshape(-1, k)

    def _comparable(self, distance):
        """Squared Euclidean distances, whose rounding error is that of the norms; others unchanged."""
        return np.square(distance) if self._metric in {"euclidean", "l2"} else distance

    def _rounding(self, X, value):
        """A bound on the rounding error of a distance of that value."""
        if self._metric in _EUCLIDEAN:
            scale = row_norms(X, squared=True)
        else:
            scale = 1.0 if self._metric in {"cosine", "correlation"} else 0.0
        return 1e-10 * value + 1e-12 * scale
