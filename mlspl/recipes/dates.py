"""`DateParts`: what a model can learn from a date."""

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

__all__ = ["DateParts"]

_PARTS = ("days", "year", "month", "day", "weekday", "hour")


class DateParts(TransformerMixin, BaseEstimator):
    """Turn every column of dates into elapsed days, year, month, day, weekday and hour.

    Columns are days since 1970, as `Dataset` holds dates, or dates of pandas; what is missing stays missing.

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
        names = [f"{name} {part}" for name in self.feature_names_in_ for part in _PARTS]
        return np.array(names, dtype=object)


def _parts_of(column: pd.Series) -> np.ndarray:
    is_time = pd.api.types.is_datetime64_any_dtype(column.dtype)
    times = column if is_time else pd.to_datetime(column.astype(float), unit="D", errors="coerce")
    times = (times if times.dt.tz is None else times.dt.tz_convert("UTC")).dt.tz_localize(None)
    days = (times - pd.Timestamp(0)) / pd.Timedelta(days=1)
    parts = [days, times.dt.year, times.dt.month, times.dt.day, times.dt.day_of_week, times.dt.hour]
    return np.column_stack([part.to_numpy(dtype=float, na_value=np.nan) for part in parts])
