"""New rows for a model of a file: its columns, found by name."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl.datasets import Dataset
from mlspl.errors import UserError, listed
from mlspl.models.preprocessing import column, encoded
from mlspl.persistence.model_file import ModelInfo

__all__ = ["match_table"]


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
        X, names = encoded(dataset)
    position = {name: j for j, name in enumerate(names)}
    missing = [name for name in info.feature_names if name not in position]
    if missing and not numbered:
        what = "a column" if len(missing) == 1 else f"{len(missing)} columns"
        raise UserError(f"{dataset.name} lacks {what} that the model needs: {listed(missing)}.")
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
    X, _ = encoded(dataset)
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


def _is_numbered(names: list[str]) -> bool:
    """Whether these are the names that readers give to the features of svmlight files without names."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)


def _matched(dataset: Dataset, j: int | None, name: str, nominal: frozenset[str] | None) -> np.ndarray:
    """A column in the kind the model learnt it in; `nominal` None takes it in its own."""
    if j is None:
        return np.zeros(dataset.X.shape[0])
    cells = column(dataset, j, name)
    if nominal is None or (name in nominal) == (cells.dtype == object):
        return cells
    if name in nominal:
        text = [repr(value).removesuffix(".0") if value == value else np.nan for value in cells.tolist()]
        return np.array(text, dtype=object)
    try:
        return cells.astype(float)
    except ValueError:
        text = next(value for value in cells if not _is_number(value))
        raise UserError(
            f"{dataset.name}: column {name!r} holds text, such as {text[:40]!r}; the model learnt numbers."
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
