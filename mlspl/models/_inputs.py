"""Tables an estimator cannot learn from, refused with one sentence: what, where, and what to do."""

import numpy as np
from scipy import sparse

from mlspl.errors import UserError

__all__ = ["check_names", "check_values", "explained", "short_indices", "unmasked"]

# Distances and kernels square the values and add them up; beyond these a square leaves the float64 numbers.
LARGEST, SMALLEST = 1e140, 1e-140


def unmasked(table):
    """Return the table; if it is a masked array, with NaN in place of what is masked.

    Parameters
    ----------
    table : object
        Whatever the user gave.

    Examples
    --------
    >>> import numpy as np
    >>> unmasked(np.ma.masked_array([[1, 2]], mask=[[0, 1]]))
    array([[ 1., nan]])
    """
    if isinstance(table, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(table), np.nan, np.ma.getdata(table))
    return table


def check_names(table, name) -> None:
    """Refuse a DataFrame with two columns of one name.

    Parameters
    ----------
    table : object
        Whatever the user gave.
    name : str
        What to call it.

    Examples
    --------
    >>> import pandas as pd
    >>> check_names(pd.DataFrame([[1, 2]], columns=["size", "size"]), "X")
    Traceback (most recent call last):
    mlspl.errors.UserError: X has two columns named 'size': give every column a name of its own.
    """
    columns = getattr(table, "columns", None)
    if columns is None:
        return
    seen = set()
    for column in columns:
        if column in seen:
            raise UserError(f"{name} has two columns named {column!r}: give every column a name of its own.")
        seen.add(column)


def check_values(X, owner, names=None, *, allow_nan=False, training=False) -> None:
    """Refuse NaN, infinities, and values whose squares are no longer numbers.

    Parameters
    ----------
    X : float64 array or CSR of shape (n, d)
        The features.
    owner : str
        Name of the estimator that cannot use them.
    names : sequence of str, optional
        Names of the features.
    allow_nan : bool, default=False
        Whether the estimator has a use for NaN.
    training : bool, default=False
        Whether to refuse features that are all too small, too; of new rows, which are compared with the
        training rows, they say enough.

    Examples
    --------
    >>> import numpy as np
    >>> check_values(np.array([[0.0, np.inf]]), "BSVMClassifier")
    Traceback (most recent call last):
    mlspl.errors.UserError: X[0, 1] is inf: BSVMClassifier needs finite numbers.
    """
    values = X.data if sparse.issparse(X) else X
    if not values.size:
        return
    largest, smallest = (np.fmax, np.fmin) if allow_nan else (np.maximum, np.minimum)
    size = max(largest.reduce(values, axis=None), -smallest.reduce(values, axis=None))
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

    Parameters
    ----------
    X : array or CSR
        The features.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> long = np.array([0, 1], dtype=np.int64)
    >>> short_indices(sparse.csr_array(([0.5], long[:1], long), shape=(1, 3))).indices.dtype
    dtype('int32')
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
    return f"{_cell('X', i, j, names)} is {'NaN' if np.isnan(value) else format(value, 'g')}"


def _cell(table, i, j, names) -> str:
    return f"{table}[{i}, {j}]" + ("" if names is None else f" (column {names[j]!r})")


def explained(error, table, name, columns) -> Exception:
    """The error scikit-learn's checks raised about a table, as a sentence that says where.

    Parameters
    ----------
    error : TypeError or ValueError
        What was raised.
    table : object
        What the user gave.
    name : str
        What to call it.
    columns : str
        What its columns are called: "features" or "labels".

    Returns
    -------
    Exception
        To be raised in its stead; the same where scikit-learn said it well.

    Examples
    --------
    >>> raise explained(ValueError(), [[1, "red"]], "X", "features")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mlspl.errors.UserError: X[0, 1] is 'red', not a number: give numbers, for instance one-hot features, ...
    """
    try:
        shape = np.shape(table)
    except ValueError:
        return UserError(f"{name} has rows of different lengths: give a table (n_samples, n_{columns}).")
    if table is None or len(shape) != 2:
        return UserError(
            f"{name} {'is None' if table is None else f'has shape {shape}'}: give a table "
            f"(n_samples, n_{columns}). Reshape your data if need be: {name}.reshape(-1, 1) is one column, "
            f"{name}.reshape(1, -1) one row."
        )
    if columns == "labels" and shape[1] == 0:
        return UserError(f"Y has shape {shape}: give at least one label.")
    if not sparse.issparse(table) and np.asarray(table).dtype.kind not in "biuf":
        cells = np.asarray(table, dtype=object)
        for i, j in np.ndindex(shape):
            where, value = _cell(name, i, j, getattr(table, "columns", None)), cells[i, j]
            if isinstance(value, complex | np.complexfloating):
                return UserError(f"Complex data not supported: {where} is {value}; give real numbers.")
            try:
                float(value)
            except ValueError:
                advice = (
                    "one-hot features, such as OneHotEncoder makes" if columns == "features" else "0 and 1"
                )
                return UserError(f"{where} is {value!r}, not a number: give numbers, for instance {advice}.")
            except TypeError:
                return TypeError(
                    f"{where} is of type {type(value).__name__}: the argument must be a number, or a string "
                    "that reads as a number."
                )
    return error
