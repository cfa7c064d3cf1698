"""One-hot columns for nominal features; a binary one stays a single column."""

from pathlib import Path

import numpy as np
from scipy import sparse

from mlspl.datasets.dataset import as_dense
from mlspl.errors import DataFormatError

__all__ = ["one_hot"]

# A small file can declare a feature of very many values: beyond these cells the result is sparse, or refused.
_DENSE_CELLS = 10**7
_MOST_CODES = 5 * 10**7


def one_hot(
    X: np.ndarray | sparse.csr_array, names: list[str], nominal: dict[str, tuple[str, ...]], path: Path
) -> tuple[np.ndarray | sparse.csr_array, list[str]]:
    """Replace each nominal feature by one 0/1 column per value, named ``feature=value``, in its place.

    Of two values one column stays: 1 for the second declared value, except that ``{1,0}`` keeps the meaning
    of its digits. A missing value is NaN in all columns of its feature. A dense X comes back sparse only
    where one-hot columns blow it up (beyond 10 million cells and tenfold).

    Parameters
    ----------
    X : array or CSR array of shape (n_rows, n_features)
        Numbers, and codes of nominal values.
    names : list of str
        Of the features.
    nominal : dict
        The values of each nominal feature.
    path : Path
        What an error calls the data.

    Examples
    --------
    >>> one_hot(np.array([[2.0], [0.0]]), ["key"], {"key": ("C", "F", "a")}, Path("songs.csv"))
    (array([[0., 0., 1.],
           [1., 0., 0.]]), ['key=C', 'key=F', 'key=a'])
    """
    is_expanded = np.array([_is_expanded(nominal.get(name, ())) for name in names])
    if not is_expanded.any():
        return X, names
    expanded, plain = np.flatnonzero(is_expanded), np.flatnonzero(~is_expanded)
    n_rows, n_expanded = X.shape[0], len(expanded)
    width = np.array([len(nominal[names[j]]) for j in expanded])
    too_many = (
        f"{n_expanded} nominal features × {n_rows} rows are too many to one-hot encode. Pass encode=False."
    )
    if n_rows * n_expanded > _MOST_CODES:
        raise DataFormatError(too_many, path)
    codes = as_dense(X[:, expanded])
    if np.isnan(codes).sum(axis=0) @ width > _MOST_CODES:
        raise DataFormatError(too_many, path)
    kept: list[int] = []
    owner = plain.tolist()
    new_names = [names[j] for j in plain]
    for j, start in zip(expanded.tolist(), (np.cumsum(width) - width).tolist(), strict=True):
        values = nominal[names[j]]
        # Of {1,0} the column of the 1, the first declared value, is enough.
        count = len(values) if len(values) > 2 else 1
        kept += range(start, start + count)
        owner += [j] * count
        new_names += [f"{names[j]}={value}" for value in values] if count > 1 else [names[j]]
    if len(set(new_names)) < len(new_names):
        raise DataFormatError("one-hot names such as 'feature=value' are taken. Rename the columns.", path)

    order = np.argsort(owner, kind="stable")
    new_names = [new_names[column] for column in order]
    indicators = _indicators(codes, width)[:, kept]
    cells = n_rows * len(order)
    if sparse.issparse(X) or (cells > _DENSE_CELLS and cells > 10 * n_rows * len(names)):
        joined = sparse.hstack([sparse.csr_array(X[:, plain]), indicators], format="csr")
        return joined[:, order], new_names
    return np.hstack([X[:, plain], indicators.toarray()])[:, order], new_names


def _indicators(codes: np.ndarray, width: np.ndarray) -> sparse.csr_array:
    """Side by side for each column of codes, one indicator column per code; NaN makes all of them NaN."""
    start = np.cumsum(width) - width
    row, feature = np.nonzero(~np.isnan(codes))
    column = start[feature] + codes[row, feature].astype(int)
    missing_row, missing_feature = np.nonzero(np.isnan(codes))
    spread = width[missing_feature]
    offset = np.arange(spread.sum()) - np.repeat(np.cumsum(spread) - spread, spread)
    values = np.concatenate([np.ones(len(row)), np.full(len(offset), np.nan)])
    rows = np.concatenate([row, np.repeat(missing_row, spread)])
    columns = np.concatenate([column, np.repeat(start[missing_feature], spread) + offset])
    return sparse.csr_array((values, (rows, columns)), shape=(len(codes), width.sum()))


def _is_expanded(values: tuple[str, ...]) -> bool:
    return len(values) > 2 or values == ("1", "0")
