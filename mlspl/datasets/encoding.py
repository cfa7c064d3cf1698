"""One-hot columns for nominal features; a binary one stays a single column."""

from pathlib import Path

import numpy as np
from scipy import sparse

from mlspl.datasets.dataset import as_dense
from mlspl.datasets.errors import DataFormatError

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
    blocks = _indicators(codes, width)
    owner = np.repeat(expanded, width)
    new_names = [
        (name, f"{name}={value}")[len(nominal[name]) > 2]
        for name in (names[j] for j in expanded)
        for value in nominal[name]
    ]
    # Of {1,0} only the column of the 1, the first declared value, is kept.
    kept = np.array([c == 0 or w > 2 for w in width for c in range(w)])
    order = np.argsort(np.concatenate([plain, owner[kept]]), kind="stable")
    all_names = [names[j] for j in plain] + [name for name, keep in zip(new_names, kept, strict=True) if keep]
    all_names = [all_names[j] for j in order]
    if len(set(all_names)) < len(all_names):
        raise DataFormatError("one-hot names such as 'feature=value' are taken. Rename the columns.", path)

    cells = n_rows * len(order)
    if sparse.issparse(X) or (cells > _DENSE_CELLS and cells > 10 * n_rows * len(names)):
        joined = sparse.hstack([sparse.csr_array(X[:, plain]), blocks[:, kept]], format="csr")
        return joined[:, order], all_names
    return np.hstack([X[:, plain], blocks[:, kept].toarray()])[:, order], all_names


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
