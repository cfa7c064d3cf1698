"""`build_pipeline`: what a table needs before an estimator, put there."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline

from mlspl.recipes.columns import KINDS, make_scaler
from mlspl.recipes.schema import Schema

__all__ = ["build_pipeline", "encode_table"]

# One-hot columns of more cells than this are kept sparse if they make the table ten times as wide.
_DENSE_CELLS = 10**7


def build_pipeline(schema: Schema, estimator: BaseEstimator) -> Pipeline:
    """Put before an estimator what the columns need: missing values filled, categories one-hot, all scaled.

    Missing numbers become the median of their column; a missing category is a category of its own; a category
    that the training rows do not have counts as none. Dates become their parts and elapsed days, text TF-IDF
    weights of its words. Columns get mean 0 and variance 1; those of sparse tables are divided by their
    largest value instead, so that a rare word counts no more than a frequent one, and what is missing there
    becomes 0.

    Parameters
    ----------
    schema : Schema
        Of the training rows.
    estimator : estimator
        The method; not fitted, not changed.

    Returns
    -------
    Pipeline
        Its last step is called ``model``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from mlspl import MLkNNClassifier
    >>> songs = pd.DataFrame({"tempo": [120.0, 64.0, np.nan], "key": ["C", "F", "C"]})
    >>> model = build_pipeline(Schema.from_frame(songs), MLkNNClassifier(k=1))
    >>> moods = np.array([[1, 0], [0, 1], [1, 0]])
    >>> model.fit(songs, moods).predict(pd.DataFrame({"key": ["H", "F"], "tempo": [118.0, np.nan]})).shape
    (2, 2)
    """
    if schema.layout != "frame":
        fill = SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True)
        scale = make_scaler(is_sparse=schema.layout != "dense")
        return Pipeline([("fill", fill), ("scale", scale), ("model", estimator)])
    keep_sparse = _is_wide(schema) or "text" in schema.kinds.values()
    parts: list[tuple[str, Any, Any]] = []
    for kind, of_kind in KINDS.items():
        names = [name for name in schema.names or () if schema.kind(name) == kind]
        if of_kind.alone:
            parts += [(f"{kind}: {name}", of_kind.transform([], keep_sparse), name) for name in names]
        elif names:
            categories = [schema.categories.get(name) for name in names]
            parts.append((kind, of_kind.transform(categories, keep_sparse), names))
    columns = ColumnTransformer(parts, sparse_threshold=1.0 if keep_sparse else 0.0)
    return Pipeline([("columns", columns), ("model", estimator)])


def encode_table(schema: Schema, table: Any, scale: bool = False) -> tuple[Any, list[str]]:
    """Return a table as numbers: missing values filled, categories one-hot, words weighed.

    Parameters
    ----------
    schema : Schema
        Of these rows.
    table : DataFrame, array or CSR array
        From ``schema.match``.
    scale : bool, default=False
        Scale the columns as a pipeline of :func:`build_pipeline` does, or leave them in their own units.

    Returns
    -------
    X : array or CSR array
        The numbers.
    names : list of str
        Of its columns.

    Examples
    --------
    >>> import pandas as pd
    >>> songs = pd.DataFrame({"tempo": [120.0, 64.0, 98.0], "key": ["C", "F", "C"]})
    >>> X, names = encode_table(Schema.from_frame(songs), songs)
    >>> names, X.tolist()
    (['tempo', 'key_C', 'key_F'], [[120.0, 1.0, 0.0], [64.0, 0.0, 1.0], [98.0, 1.0, 0.0]])
    """
    steps = build_pipeline(schema, "passthrough")[:-1]
    if not scale:
        scalers = [name for name in steps.get_params() if name.split("__")[-1] == "scale"]
        steps.set_params(**dict.fromkeys(scalers, "passthrough"))
    X = steps.fit_transform(table)
    if schema.layout != "frame":
        return X, [str(name) for name in schema.names or range(schema.n_features)]
    return X, [name.split("__", 1)[1] for name in steps.get_feature_names_out()]


def _is_wide(schema: Schema) -> bool:
    width = schema.n_features + sum(len(values) for values in schema.categories.values())
    return (schema.n_rows or 0) * width > _DENSE_CELLS and width > 10 * schema.n_features
