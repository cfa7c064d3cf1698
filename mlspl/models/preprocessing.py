"""From the columns of a file to what an estimator takes: a table, and what must be done to it first.

A dense file becomes a DataFrame with numbers and, for categories, text, so that a fitted pipeline takes the
user's own frames too. A sparse one stays sparse, its categories one-hot encoded.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mlspl.datasets import Dataset
from mlspl.datasets.dataset import as_dense
from mlspl.datasets.encoding import one_hot

__all__ = ["as_table", "categories", "column", "counters", "encoded", "identifiers", "preprocessed"]

# A column of text with this many values, most of them in one row only, tells rows apart and no more.
_FEW_CATEGORIES = 20
# One-hot columns of more cells than this are kept sparse if they make the table ten times as wide.
_DENSE_CELLS = 10**7


def as_table(dataset: Dataset) -> tuple[pd.DataFrame | sparse.csr_array, list[str]]:
    """The features as a DataFrame, or as a CSR array if they are sparse; and their names.

    Parameters
    ----------
    dataset : Dataset
        Read with ``encode=False``. Categories become text, except that 0 and 1 stay numbers, and false and
        true become them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[120.0, 1.0], [64.0, np.nan]])
    >>> songs = Dataset(X, np.eye(2), ["tempo", "key"], ["happy", "calm"], {"key": ("C", "F")})
    >>> table, names = as_table(songs)
    >>> table["key"].tolist()
    ['F', nan]
    """
    if sparse.issparse(dataset.X):
        X, names = encoded(dataset)
        return sparse.csr_array(X), names
    columns = {name: column(dataset, j, name) for j, name in enumerate(dataset.feature_names)}
    return pd.DataFrame(columns, copy=False), dataset.feature_names


def categories(table: pd.DataFrame | sparse.csr_array) -> list[str]:
    """Names of the columns that hold categories as text.

    Parameters
    ----------
    table : DataFrame or CSR array
        Of `as_table`.

    Examples
    --------
    >>> categories(pd.DataFrame({"tempo": [120.0, 64.0], "key": ["C", "F"]}))
    ['key']
    """
    if sparse.issparse(table):
        return []
    return [str(name) for name in table.columns if not pd.api.types.is_numeric_dtype(table[name].dtype)]


def identifiers(table: pd.DataFrame | sparse.csr_array) -> list[str]:
    """Names of the columns of text that tell rows apart, with a value of its own for most of them.

    Parameters
    ----------
    table : DataFrame or CSR array
        Of `as_table`.

    Examples
    --------
    >>> identifiers(pd.DataFrame({"song": [f"song {i}" for i in range(50)], "key": ["C", "F"] * 25}))
    ['song']
    """
    return [
        name for name in categories(table) if table[name].nunique() > max(_FEW_CATEGORIES, len(table) / 2)
    ]


def counters(table: pd.DataFrame | sparse.csr_array) -> list[str]:
    """Names of the columns of numbers that grow by one from row to row.

    Parameters
    ----------
    table : DataFrame or CSR array
        Of `as_table`.

    Examples
    --------
    >>> counters(pd.DataFrame({"id": np.arange(7.0, 50.0), "tempo": 120.0}))
    ['id']
    """
    if sparse.issparse(table) or len(table) <= _FEW_CATEGORIES:
        return []
    numeric = table.columns.difference(categories(table), sort=False)
    return [str(name) for name in numeric if (np.diff(table[name]) == 1).all()]


def preprocessed(estimator: BaseEstimator, table: pd.DataFrame | sparse.csr_array) -> Pipeline:
    """Put before an estimator what its table needs: missing values filled, categories one-hot, all scaled.

    Missing numbers become the median of their column; a missing category is a category of its own; a category
    that the training rows do not have counts as none. Sparse tables are divided but not centred.

    Parameters
    ----------
    estimator : estimator
        The method.
    table : DataFrame or CSR array
        The training rows, of `as_table`; nothing is fitted here.

    Returns
    -------
    Pipeline
        With the steps fill or columns, scale, and model.

    Examples
    --------
    >>> from mlspl import MLkNNClassifier
    >>> frame = pd.DataFrame({"tempo": [120.0, 64.0, np.nan], "key": ["C", "F", "C"]})
    >>> model = preprocessed(MLkNNClassifier(k=1), frame).fit(frame, np.array([[1, 0], [0, 1], [1, 0]]))
    >>> model.predict(pd.DataFrame({"key": ["H", "F"], "tempo": [118.0, np.nan]})).shape
    (2, 2)
    """
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    if sparse.issparse(table):
        return Pipeline([("fill", fill), ("scale", StandardScaler(with_mean=False)), ("model", estimator)])
    nominal = categories(table)
    width = len(table.columns) + sum(table[name].nunique() for name in nominal)
    keep_sparse = len(table) * width > _DENSE_CELLS and width > 10 * len(table.columns)
    encode = OneHotEncoder(handle_unknown="ignore", sparse_output=keep_sparse)
    numeric = [name for name in table.columns if name not in set(nominal)]
    parts = [("numbers", fill, numeric), ("categories", encode, nominal)]
    columns = ColumnTransformer(
        [part for part in parts if part[2]], sparse_threshold=1.0 if keep_sparse else 0.0
    )
    scale = StandardScaler(with_mean=not keep_sparse)
    return Pipeline([("columns", columns), ("scale", scale), ("model", estimator)])


def encoded(dataset: Dataset) -> tuple[Any, list[str]]:
    """The features, dense or sparse, with a column for every category; and their names."""
    return one_hot(dataset.X, dataset.feature_names, dataset.nominal, Path(dataset.name))


def column(dataset: Dataset, j: int, name: str) -> np.ndarray:
    """Column j: numbers, or text as objects with NaN for missing ones."""
    cells = as_dense(dataset.X[:, [j]])[:, 0]
    values = dataset.nominal.get(name)
    if values is None:
        return cells
    words = [value.lower() for value in values]
    if set(words) <= {"0", "1"} or set(words) <= {"false", "true"}:
        numbers = [float(word in ("1", "true")) for word in words]
        return np.array([*numbers, np.nan])[np.nan_to_num(cells, nan=-1).astype(int)]
    return np.array([*values, np.nan], dtype=object)[np.nan_to_num(cells, nan=-1).astype(int)]
