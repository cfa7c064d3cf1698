"""`build_pipeline`: the preprocessing that a table needs before an estimator; `DateParts`."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from mlspl.recipes.schema import Schema

# One-hot columns of more cells than this are kept sparse if they make the table ten times as wide.
_DENSE_CELLS = 10**7
# Per column of text: rarer words and pairs of words are left out.
_MOST_WORDS = 50_000


_DATE_PARTS = ("days", "year", "month", "day", "weekday", "hour")


class DateParts(TransformerMixin, BaseEstimator):
    """Turn every column of dates into elapsed days, year, month, day, weekday and hour.

    Columns are days since 1970, as `Dataset` holds dates, or dates of pandas. Missing dates stay missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from mlspl.recipes import DateParts
    >>> DateParts().fit_transform(pd.DataFrame({"heard": pd.to_datetime(["1970-01-02 06:00"])}))
    array([[1.25e+00, 1.97e+03, 1.00e+00, 2.00e+00, 4.00e+00, 6.00e+00]])
    """

    _contents: ClassVar[dict[str, Any]] = {"n_features_in_": "int", "feature_names_in_": "values (features)"}

    def fit(self, X: pd.DataFrame, y=None):
        """Learn nothing but the columns."""
        self.n_features_in_ = X.shape[1]
        self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
        return self

    def transform(self, X: pd.DataFrame) -> np.ndarray:
        """Return the parts of all columns, side by side."""
        return np.hstack([_parts_of(X.iloc[:, j]) for j in range(X.shape[1])])

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Return names such as ``heard year``."""
        names = [f"{name} {part}" for name in self.feature_names_in_ for part in _DATE_PARTS]
        return np.array(names, dtype=object)


def _parts_of(column: pd.Series) -> np.ndarray:
    is_time = pd.api.types.is_datetime64_any_dtype(column.dtype)
    times = column if is_time else pd.to_datetime(column.astype(float), unit="D", errors="coerce")
    times = (times if times.dt.tz is None else times.dt.tz_convert("UTC")).dt.tz_localize(None)
    days = (times - pd.Timestamp(0)) / pd.Timedelta(days=1)
    parts = [days, times.dt.year, times.dt.month, times.dt.day, times.dt.day_of_week, times.dt.hour]
    return np.column_stack([part.to_numpy(dtype=float, na_value=np.nan) for part in parts])


def build_pipeline(schema: Schema, estimator: BaseEstimator) -> Pipeline:
    """Return a pipeline that prepares the columns for an estimator.

    Missing numbers become the median of their column. A missing category is a category of its own; a new
    category is none. Dates become their parts and elapsed days. Text becomes TF-IDF weights of words and
    word pairs. Columns get mean 0 and variance 1. In sparse tables, missing values become 0, and columns are
    divided by their largest value, so that a rare word counts no more than a frequent one.

    The last step is called ``model``.

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
        scale = _make_scaler(is_sparse=schema.layout != "dense")
        return Pipeline([("fill", fill), ("scale", scale), ("model", estimator)])
    width = schema.n_features + sum(len(values) for values in schema.categories.values())
    is_wide = (schema.n_rows or 0) * width > _DENSE_CELLS and width > 10 * schema.n_features
    keep_sparse = is_wide or "text" in schema.kinds.values()
    parts: list[tuple[str, Any, Any]] = []
    for kind in ("numeric", "categorical", "date", "text"):
        names = [name for name in schema.names or () if schema.kind(name) == kind]
        if kind == "text":
            parts += [(f"{kind}: {name}", _make_transformer(kind, [], keep_sparse), name) for name in names]
        elif names:
            categories = [schema.categories.get(name) for name in names]
            parts.append((kind, _make_transformer(kind, categories, keep_sparse), names))
    columns = ColumnTransformer(parts, sparse_threshold=1.0 if keep_sparse else 0.0)
    return Pipeline([("columns", columns), ("model", estimator)])


def encode_table(schema: Schema, table: Any, scale: bool = False) -> tuple[Any, list[str]]:
    """Return a table from ``schema.match`` as numbers, scaled or not, and the names of its columns."""
    steps = build_pipeline(schema, "passthrough")[:-1]
    changes: dict[str, Any] = {}
    for name in steps.get_params():
        if name.endswith("feature_name_combiner"):
            changes[name] = "{}={}".format
        elif name.endswith("scale") and not scale:
            changes[name] = "passthrough"
    X = steps.set_params(**changes).fit_transform(table)
    if schema.layout != "frame":
        return X, [str(name) for name in schema.names or range(schema.n_features)]
    return X, [name.split("__", 1)[1] for name in steps.get_feature_names_out()]


def scores_and_labels(model: Any, table: Any) -> tuple[Any, Any]:
    """Return scores and 0/1 labels of shape (n, L); the scores of our estimators are computed once."""
    final = model[-1] if isinstance(model, Pipeline) else model
    if not hasattr(final, "_scores_and_labels"):
        return model.decision_function(table), model.predict(table)
    return final._scores_and_labels(model[:-1].transform(table) if final is not model else table)


def _make_scaler(is_sparse: bool) -> BaseEstimator:
    # The variance of a rare word is small: divided by it, one occurrence outweighs all else in a row.
    return MaxAbsScaler() if is_sparse else StandardScaler()


def _make_transformer(kind: str, categories: Sequence[Any], keep_sparse: bool) -> BaseEstimator:
    """Return the preprocessing of the columns of one kind."""
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    if kind == "text":
        return TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), max_features=_MOST_WORDS)
    if kind == "date":
        return Pipeline([("parts", DateParts()), ("fill", fill), ("scale", StandardScaler())])
    if kind == "numeric":
        return Pipeline([("fill", fill), ("scale", StandardScaler())])
    known = all(values is not None for values in categories)
    encode = OneHotEncoder(
        categories=[np.array(values, dtype=object) for values in categories] if known else "auto",
        handle_unknown="ignore",
        sparse_output=keep_sparse,
    )
    return Pipeline([("encode", encode), ("scale", _make_scaler(keep_sparse))])
