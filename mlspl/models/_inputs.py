"""Tables an estimator cannot learn from, refused with one sentence: what, where, and what to do."""

import numpy as np
from scipy import sparse

from mlspl.errors import UserError

__all__ = ["check_values", "short_indices"]

# Distances and kernels square the values and add them up; beyond these a square leaves the float64 numbers.
LARGEST, SMALLEST = 1e140, 1e-140


def check_values(X, owner, names=None, *, allow_nan=False, training=False) -> None:
    """Refuse NaN, infinities, and values whose squares are no longer numbers."""
    values = X.data if sparse.issparse(X) else X
    if not values.size:
        return
    largest, smallest = (np.fmax, np.fmin) if allow_nan else (np.maximum, np.minimum)
    size = float(max(largest.reduce(values, axis=None), -smallest.reduce(values, axis=None)))
    if np.isnan(size):
        if allow_nan:  # all values are NaN
            return
        raise UserError(
            f"{_first(X, names, np.isnan)}: {owner} needs a number in every cell. Fill the gaps first, for "
            "instance with sklearn.impute.SimpleImputer."
        )
    if size == np.inf:
        raise UserError(f"{_first(X, names, np.isinf)}: {owner} needs finite numbers.")
    if size > LARGEST:
        raise UserError(
            f"{_first(X, names, lambda cells: np.abs(cells) > LARGEST)}, too large for {owner} to square. "
            "Scale the features first, for instance with sklearn.preprocessing.MaxAbsScaler."
        )
    if training and 0 < size < SMALLEST:
        raise UserError(
            f"No value of X is larger than {size:g}, too small for {owner} to square. "
            "Scale the features first, for instance with sklearn.preprocessing.MaxAbsScaler."
        )


def short_indices(X):
    """Return a CSR matrix with 32-bit indices if they suffice; others are returned as they are.

    scikit-learn's trees, liblinear and LIBSVM refuse 64-bit ones.
    """
    if not sparse.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _first(X, names, wrong) -> str:
    """The first cell of which `wrong` holds, with its value."""
    if sparse.issparse(X):
        X = X.tocoo()
        place = np.flatnonzero(wrong(X.data))[0]
        i, j, value = X.row[place], X.col[place], X.data[place]
    else:
        i, j = np.argwhere(wrong(X))[0]
        value = X[i, j]
    where = f"X[{i}, {j}]" + ("" if names is None else f" (column {names[j]!r})")
    return f"{where} is {'NaN' if np.isnan(value) else format(value, 'g')}"
