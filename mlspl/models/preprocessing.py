"""From the columns of a file to what an estimator takes: one table to learn from, and one like it to predict.

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
from mlspl.errors import UserError
from mlspl.models.persistence import ModelInfo

__all__ = ["as_table", "categories", "identifiers", "match_table", "preprocessed"]

_MOST_NAMED = 10
# A column of text with this many values, most of them in one row only, tells rows apart and no more.
_FEW_CATEGORIES = 20
# One-hot columns of more cells than this are kept sparse if they make the table ten times as wide.
_DENSE_CELLS = 10**7


def as_table(dataset: Dataset) -> tuple[pd.DataFrame | sparse.csr_array, list[str]]:
    """The features as a DataFrame, or as a CSR array if they are sparse; and their names.

    Parameters
    ----------
    dataset : Dataset
        Read with ``encode=False``. Categories become text, except that 0 and 1 stay numbers.

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
        X, names = _encoded(dataset)
        return sparse.csr_array(X), names
    columns = {name: _column(dataset, j, name) for j, name in enumerate(dataset.feature_names)}
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


def match_table(dataset: Dataset, info: ModelInfo, model: Any) -> tuple[Any, list[str]]:
    """Give new rows the columns of a model, matched by name.

    Parameters
    ----------
    dataset : Dataset
        The new rows, read with ``encode=False``.
    info : ModelInfo
        What the model's file says.
    model : estimator
        The model.

    Returns
    -------
    table : DataFrame, array or CSR array
        What the model takes.
    extra : list of str
        Columns that the model does not know.

    Raises
    ------
    UserError
        Lists the columns that are missing.

    Examples
    --------
    >>> from mlspl import MLkNNClassifier
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]})
    >>> model = MLkNNClassifier(k=1).fit(frame, np.array([[1, 0], [0, 1], [1, 1]]))
    >>> info = ModelInfo(["x", "y"], ["a", "b"])
    >>> new = Dataset(np.array([[5.0, 1.0, 7.0]]), np.empty((1, 0)), ["c", "b", "a"], [])
    >>> table, extra = match_table(new, info, model)
    >>> table.columns.tolist(), extra
    (['a', 'b'], ['c'])
    """
    takes_frame = hasattr(model, "feature_names_in_")
    numbered = sparse.issparse(dataset.X) and _is_numbered(dataset.feature_names)
    if info.feature_names is None or (numbered and not _is_numbered(info.feature_names)):
        return _match_count(dataset, info, model), []
    if takes_frame:
        X, names = dataset.X, dataset.feature_names
    else:
        X, names = _encoded(dataset)
    position = {name: j for j, name in enumerate(names)}
    missing = [name for name in info.feature_names if name not in position]
    if missing and not numbered:
        some = ", ".join(map(repr, missing[:_MOST_NAMED]))
        more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        what = "a column" if len(missing) == 1 else f"{len(missing)} columns"
        raise UserError(f"{dataset.name} lacks {what} that the model needs: {some}{more}.")
    wanted = set(info.feature_names)
    extra = [name for name in names if name not in wanted]
    if takes_frame:
        categories = None if info.nominal is None else frozenset(info.nominal)
        columns = {
            name: _matched(dataset, position.get(name), name, categories) for name in info.feature_names
        }
        return pd.DataFrame(columns, copy=False), extra
    X = sparse.csc_array(X)
    X.resize(X.shape[0], X.shape[1] + 1)
    # Features that a file of numbered ones does not mention are 0, as the empty last column is.
    X = X[:, [position.get(name, -1) % X.shape[1] for name in info.feature_names]].tocsr()
    return X if info.summary.get("sparse") else X.toarray(), extra


def _match_count(dataset: Dataset, info: ModelInfo, model: Any) -> Any:
    """The rows as they are, if they have as many columns as the model; absent last ones are 0 if sparse."""
    X, _ = _encoded(dataset)
    wanted, given = model.n_features_in_, X.shape[1]
    if given > wanted or (given < wanted and not sparse.issparse(X)):
        raise UserError(
            f"{dataset.name} has {given} features and the model takes {wanted}; without names on both sides "
            "they must be as many, in the same order."
        )
    if sparse.issparse(X):
        X = sparse.csr_array(X, copy=True)
        X.resize(X.shape[0], wanted)
    if info.summary.get("sparse"):
        return sparse.csr_array(X)
    X = X.toarray() if sparse.issparse(X) else X
    return pd.DataFrame(X, columns=info.feature_names) if hasattr(model, "feature_names_in_") else X


def _encoded(dataset: Dataset) -> tuple[Any, list[str]]:
    return one_hot(dataset.X, dataset.feature_names, dataset.nominal, Path(dataset.name))


def _is_numbered(names: list[str]) -> bool:
    """Whether these are the names that readers give to the features of svmlight files without names."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)


def _column(dataset: Dataset, j: int, name: str) -> np.ndarray:
    """Numbers, or text as objects with NaN for missing ones."""
    cells = as_dense(dataset.X[:, [j]])[:, 0]
    values = dataset.nominal.get(name)
    if values is None:
        return cells
    if set(values) <= {"0", "1"}:
        return np.array([*map(float, values), np.nan])[np.nan_to_num(cells, nan=-1).astype(int)]
    return np.array([*values, np.nan], dtype=object)[np.nan_to_num(cells, nan=-1).astype(int)]


def _matched(dataset: Dataset, j: int | None, name: str, nominal: frozenset[str] | None) -> np.ndarray:
    """A column in the kind the model learnt it in; `nominal` None takes it in its own."""
    if j is None:
        return np.zeros(dataset.X.shape[0])
    column = _column(dataset, j, name)
    if nominal is None or (name in nominal) == (column.dtype == object):
        return column
    if name in nominal:
        text = [repr(value).removesuffix(".0") if value == value else np.nan for value in column.tolist()]
        return np.array(text, dtype=object)
    try:
        return column.astype(float)
    except ValueError:
        text = next(value for value in column if not _is_number(value))
        raise UserError(
            f"{dataset.name}: column {name!r} holds text, such as {text[:40]!r}; the model learnt numbers."
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
