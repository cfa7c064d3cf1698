"""The kinds of columns: how the cells of each are read, and what is done to them before an estimator.

A further kind is a further row of `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.recipes.dates import DateParts

__all__ = ["KINDS", "Kind", "is_binary", "make_scaler"]

# Of each column of text: rarer words than the fifty thousand most frequent say too little of too few rows.
_MOST_WORDS = 50_000


@dataclass(frozen=True)
class Kind:
    """A kind of column."""

    read: Callable[[Dataset, int], np.ndarray]
    transform: Callable[[Sequence[Any], bool], BaseEstimator]
    alone: bool = False


def is_binary(values: Sequence[str]) -> bool:
    """Whether categories are 0 and 1, or false and true, and so as good as numbers."""
    words = {value.lower() for value in values}
    return words <= {"0", "1"} or words <= {"false", "true"}


def _read_numbers(dataset: Dataset, j: int) -> np.ndarray:
    name = dataset.feature_names[j]
    values = dataset.nominal.get(name)
    if values is None:
        return _cells(dataset, j)
    if is_binary(values):
        return _decode(dataset, j, [float(value.lower() in ("1", "true")) for value in values], float)
    try:
        return _decode(dataset, j, [float(value) for value in values], float)
    except ValueError:
        text = next(value for value in values if not _is_number(value))
        raise UserError(
            f"{dataset.name}: column {name!r} holds text, such as {text[:40]!r}; the model learnt numbers."
        ) from None


def _read_words(dataset: Dataset, j: int) -> np.ndarray:
    values = dataset.nominal.get(dataset.feature_names[j])
    if values is not None:
        return _decode(dataset, j, values, object)
    numbers = _cells(dataset, j).tolist()
    return np.array([repr(n).removesuffix(".0") if n == n else np.nan for n in numbers], dtype=object)


def _read_text(dataset: Dataset, j: int) -> np.ndarray:
    words = _read_words(dataset, j)
    words[pd.isna(words)] = ""
    return words


def _read_dates(dataset: Dataset, j: int) -> np.ndarray:
    name = dataset.feature_names[j]
    if dataset.kind(name) in ("date", "numeric"):
        return _cells(dataset, j)
    raise UserError(
        f"{dataset.name}: column {name!r} holds no dates such as 2024-12-31; the model learnt dates."
    )


def _cells(dataset: Dataset, j: int) -> np.ndarray:
    X: Any = dataset.X
    return X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]


def _decode(dataset: Dataset, j: int, values: Sequence[Any], dtype: type) -> np.ndarray:
    """The values that the codes of a nominal column stand for; NaN where there is none."""
    codes = np.nan_to_num(_cells(dataset, j), nan=-1).astype(int)
    return np.array([*values, np.nan], dtype=dtype)[codes]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def make_scaler(is_sparse: bool) -> BaseEstimator:
    """What makes columns comparable: variance 1, or a largest value of 1 where most cells are 0.

    The variance of a rare word is small: divided by it, one occurrence outweighs all else in a row.
    """
    return MaxAbsScaler() if is_sparse else StandardScaler()


def _scale_numbers(categories: Sequence[Any], keep_sparse: bool) -> Pipeline:
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return Pipeline([("fill", fill), ("scale", StandardScaler())])


def _encode_categories(categories: Sequence[Any], keep_sparse: bool) -> Pipeline:
    known = all(values is not None for values in categories)
    encode = OneHotEncoder(
        categories=[np.array(values, dtype=object) for values in categories] if known else "auto",
        handle_unknown="ignore",
        sparse_output=keep_sparse,
    )
    return Pipeline([("encode", encode), ("scale", make_scaler(keep_sparse))])


def _split_dates(categories: Sequence[Any], keep_sparse: bool) -> Pipeline:
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    return Pipeline([("parts", DateParts()), ("fill", fill), ("scale", StandardScaler())])


def _weigh_words(categories: Sequence[Any], keep_sparse: bool) -> TfidfVectorizer:
    return TfidfVectorizer(sublinear_tf=True, max_features=_MOST_WORDS)


KINDS: dict[str, Kind] = {
    "numeric": Kind(_read_numbers, _scale_numbers),
    "categorical": Kind(_read_words, _encode_categories),
    "date": Kind(_read_dates, _split_dates),
    "text": Kind(_read_text, _weigh_words, alone=True),
}
"""Every kind of column. Missing numbers and dates become the median of their column; a missing category is
one of its own; a category or a word that was not there when the model was fitted counts as none."""
