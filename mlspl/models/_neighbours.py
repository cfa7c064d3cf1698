"""Nearest neighbours with a tie rule: of rows at the same distance, those of lower index are nearer."""

import numpy as np
from scipy import sparse
from sklearn.metrics import euclidean_distances
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

_DISTANCES_AT_ONCE = 2**22


def nearest_rows(X, known, k, excluded=None) -> tuple[np.ndarray, np.ndarray]:
    """Distances and indices (n, k), by index, of the k rows of `known` that are nearest to each row of X.

    `excluded` (n,) are rows that are not neighbours of the row of X: itself. Distances that are equal up to
    rounding are tied.
    """
    if sparse.issparse(X) or sparse.issparse(known):
        X, known = sparse.csr_array(X), sparse.csr_array(known)
    else:  # centred, as dot products lose digits far from the origin
        origin = known.mean(axis=0)
        X, known = X - origin, known - origin
    n = X.shape[0]
    distance, index = np.empty((n, k)), np.empty((n, k), dtype=np.intp)
    norms = row_norms(known, squared=True)
    for rows in gen_batches(n, max(1, _DISTANCES_AT_ONCE // len(norms))):
        squared = euclidean_distances(X[rows], known, Y_norm_squared=norms, squared=True)
        if excluded is not None:
            squared[np.arange(len(squared)), excluded[rows]] = np.inf
        kth = np.partition(squared, k - 1, axis=1)[:, [k - 1]]
        # A bound on the rounding error: that of the norms.
        rounding = 1e-10 * kth + 1e-12 * row_norms(X[rows], squared=True)[:, None]
        taken = squared <= kth + rounding
        tied = np.flatnonzero(np.count_nonzero(taken, axis=1) > k)
        if len(tied):
            nearer = squared[tied] < kth[tied] - rounding[tied]
            at_kth = taken[tied] & ~nearer
            taken[tied] = nearer | (at_kth & (np.cumsum(at_kth, axis=1) <= k - nearer.sum(axis=1)[:, None]))
        found = np.flatnonzero(taken).reshape(-1, k)
        index[rows], distance[rows] = found % len(norms), np.sqrt(squared.ravel()[found])
    return distance, index
