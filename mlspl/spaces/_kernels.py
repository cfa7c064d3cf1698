"""Kernel matrices by the kernel's name."""

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from mlspl._rounding import on_grid

# OpenBLAS crashes on products of over 16,000 rows with their transpose (syrk). Small tiles stay in cache.
_TILE_ROWS = 256
# Values rounded at a time; larger temporary copies take longer to allocate than to compute.
ROUNDED = 2**17
# Up to this ratio of mean to variance, the error of a distance is below 1e-9 of the usual distance.
_FAR_OUT = 1e6


def resolve_gamma(gamma, X) -> float:
    """The value of ``gamma`` for rows X: "auto" is 1/d, "scale" is 1/(d·var(X)), as in scikit-learn."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        values, cells = X.data if sparse.issparse(X) else X, X.shape[0] * X.shape[1]
        mean = values.sum(dtype=np.float64) / cells
        variance = np.square(values, dtype=np.float64).sum() / cells - mean**2
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    if isinstance(gamma, str) or not np.isfinite(gamma) or gamma <= 0:
        raise ValueError(f"gamma is {gamma!r}; give 'scale', 'auto' or a positive number.")
    return float(gamma)


def kernel_matrix(A, B, kernel, gamma=1.0) -> np.ndarray:
    """Kernel values between the rows of A and the rows of B, C-contiguous float64."""
    if kernel == "precomputed":
        K = A.toarray() if sparse.issparse(A) else A
    elif callable(kernel):
        K, shape = kernel(A, B), (A.shape[0], B.shape[0])
        if np.shape(K) != shape:
            raise ValueError(f"The kernel function returned shape {np.shape(K)}; expected {shape}.")
    elif kernel in ("rbf", "linear"):
        K = _tiled(A, B, kernel, gamma)
    else:
        raise ValueError(
            f"kernel is {kernel!r}; give 'rbf', 'linear', 'precomputed' or a function of two arrays."
        )
    return np.ascontiguousarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64)


def training_kernel(X, kernel, gamma) -> np.ndarray:
    """Kernel matrix of the rows of X, rounded so that it is the same on every machine."""
    K = kernel_matrix(X, X, kernel, gamma)
    if kernel == "precomputed" or callable(kernel):
        K = K.copy()  # it belongs to the caller
    # Errors grow with the lengths of both rows. The factor 1.7 keeps usual lengths, such as 1, away from the
    # edge between two scales.
    lengths = np.sqrt(np.maximum(K.diagonal(), 0.0)) * 1.7
    scales = 2.0 ** np.floor(np.log2(np.where(lengths > 0, lengths, 1.0)))
    for rows in gen_batches(len(K), max(1, ROUNDED // len(K))):
        grid = scales[rows, None] * scales
        K[rows] = on_grid(K[rows] / grid) * grid
    return K


def _tiled(A, B, kernel, gamma) -> np.ndarray:
    """A kernel computed by tiles; a symmetric matrix by its lower triangle."""
    mirrored = A is B
    if kernel == "rbf":
        A, B = _near_origin(A, B)
    K = np.empty((A.shape[0], B.shape[0]))
    columns = [(place, *_with_norms(B[place])) for place in gen_batches(B.shape[0], _TILE_ROWS)]
    for across in gen_batches(A.shape[0], _TILE_ROWS):
        rows, norms = _with_norms(A[across])
        for down, others, other_norms in columns:
            if mirrored and down.start > across.start:
                break
            tile = safe_sparse_dot(rows, others.T, dense_output=True)
            if kernel == "rbf":  # in place: new arrays take as long as the exponentials
                tile *= -2.0
                tile += norms[:, None]
                tile += other_norms
                np.maximum(tile, 0.0, out=tile)
                if mirrored and down.start == across.start:
                    np.fill_diagonal(tile, 0.0)
                tile *= -gamma
                np.exp(tile, out=tile)
            K[across, down] = tile
            if mirrored and down.start < across.start:
                K[down, across] = tile.T
    return K


def _with_norms(rows) -> tuple:
    """The rows in double precision, and their squared lengths."""
    rows = rows.astype(np.float64, copy=False)
    return rows, row_norms(rows, squared=True)


def _near_origin(A, B):
    """Dense rows, centred if they lie so far from the origin that squared distances would lose digits."""
    if sparse.issparse(A) or sparse.issparse(B):
        return A, B
    origin = B.mean(axis=0)
    if origin @ origin <= _FAR_OUT * B.var(axis=0).sum():
        return A, B
    return A - origin, B - origin
