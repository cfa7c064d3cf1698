"""`Schema`: the columns that a model is fitted on, their kinds, and new rows in the same form."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from mlspl._names import join_names
from mlspl.datasets import KINDS, Dataset, column_kind, days_since_1970, is_numeric, one_hot, spell_numbers
from mlspl.errors import UserError, listed, shorten

LAYOUTS = ("frame", "dense", "sparse", "any")
"""What a model takes: a DataFrame, a dense array, a CSR array, or either array."""

# A column with more values than this, most of them in one row only, is an identifier.
_FEW_CATEGORIES = 20
# In fewer rows, a column may count by chance.
_FEW_ROWS = 20


@dataclass(frozen=True)
class Schema:
    """The columns that a model learns from, in their order.

    `names` is None if columns have no names; `n_features` is 0 for a model of something else than columns,
    such as texts. `kinds` has the columns that are not numeric, `categories` the values of the categorical
    ones, with what stood for a missing value (NaN or None) last. `layout` is what the model takes: "frame",
    "dense", "sparse" or "any". `dropped` are columns of the training file that are not learnt from.
    """

    names: Sequence[str] | None
    n_features: int
    kinds: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    layout: str = "frame"
    n_rows: int | None = None
    dropped: Sequence[str] = ()

    @classmethod
    def from_dataset(cls, dataset: Dataset, text: Collection[str] | None = None) -> Schema:
        """Return the schema of a data set, read with ``encode=False``, and these columns of text (all)."""
        n_rows = dataset.X.shape[0]
        if sparse.issparse(dataset.X):
            return cls(tuple(dataset.feature_names), dataset.X.shape[1], layout="sparse", n_rows=n_rows)
        names: list[str] = []
        dropped: list[str] = []
        kinds: dict[str, str] = {}
        categories: dict[str, tuple[Any, ...]] = {}
        for name, column in dataset.frame().items():
            kind = "text" if name in (text or ()) else column_kind(column)
            if kind == "text" and text is not None and name not in text:
                dropped.append(name)
                continue
            if kind == "categorical" and not _is_binary(column.cat.categories):
                if column.nunique() > max(_FEW_CATEGORIES, n_rows / 2):
                    dropped.append(name)
                    continue
                categories[name] = (*column.cat.categories, *([np.nan] if column.isna().any() else []))
                kinds[name] = kind
            elif kind in ("text", "date"):
                kinds[name] = kind
            names.append(name)
        if not names:
            hint = f" To learn from the words: --text '{join_names(dropped)}'"
            why = f": {listed(dropped)} differs in most rows.{hint}" if dropped else "."
            raise UserError(f"{dataset.name}: no features are left to learn from{why}")
        return cls(tuple(names), len(names), kinds, categories, "frame", n_rows, tuple(dropped))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Schema:
        """Return the schema of a DataFrame: columns that are not numbers or dates hold categories."""
        names = tuple(map(str, frame.columns))
        kinds, categories = {}, {}
        for name, (_, column) in zip(names, frame.items(), strict=True):
            if (kind := column_kind(column)) != "numeric":
                kinds[name] = "date" if kind == "date" else "categorical"
            values = set(column.dropna()) if kinds.get(name) == "categorical" else ()
            if values and all(isinstance(value, str) for value in values):
                categories[name] = (*sorted(values), *column[column.isna()].to_numpy(object)[:1])
        return cls(names, len(names), kinds, categories, "frame", len(frame))

    @classmethod
    def from_model(cls, model: Any) -> Schema:
        """Return as much of the schema of a fitted model or pipeline as its attributes show."""
        names = getattr(model, "feature_names_in_", None)
        categories = {} if names is None else _encoded_columns(model)
        kinds = dict.fromkeys(categories, "categorical")
        takes_sparse = get_tags(model).input_tags.sparse
        layout = "frame" if names is not None else "any" if takes_sparse else "dense"
        names = None if names is None else tuple(map(str, names))
        n_features = getattr(model, "n_features_in_", len(names or ()))
        return cls(names, int(n_features), kinds, categories, layout)

    @classmethod
    def from_json(cls, told: Any) -> Schema:
        """Read what `to_json` returned; raise a ValueError for anything else."""
        if not isinstance(told, dict) or set(told) != set(cls.__dataclass_fields__):
            raise ValueError("it has other fields than a schema")
        names, kinds, categories, dropped = (told[key] for key in ("names", "kinds", "categories", "dropped"))
        if not (
            (names is None or (_are_names(names) and len(names) == told["n_features"]))
            and (type(told["n_features"]) is int and told["n_features"] >= 0)
            and (isinstance(kinds, dict) and set(kinds) <= set(names or ()))
            and all(isinstance(kind, str) and kind in KINDS for kind in kinds.values())
            and (isinstance(categories, dict) and set(categories) <= set(kinds))
            and all(_are_categories(values) for values in categories.values())
            and told["layout"] in LAYOUTS
            and (told["n_rows"] is None or type(told["n_rows"]) is int)
            and _are_names(dropped)
        ):
            raise ValueError("its names, kinds or categories are damaged")
        return cls(**told)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as what JSON can hold."""
        names = None if self.names is None else list(self.names)
        categories = {name: _spell(values) for name, values in self.categories.items()}
        return vars(self) | {"names": names, "categories": categories, "dropped": list(self.dropped)}

    def kind(self, name: str) -> str:
        """Return the kind of a column."""
        return self.kinds.get(name, "numeric")

    def match(self, dataset: Dataset) -> tuple[Any, list[str]]:
        """Return rows, read with ``encode=False``, in the form that the model takes; and unused columns.

        Columns are found by name. Without names on both sides, rows must be as wide as the model.
        """
        X: Any = dataset.X
        given, wanted = dataset.feature_names, list(self.names or ())
        is_numbered = sparse.issparse(X) and _is_numbered(given)
        by_count = self.names is None or (is_numbered and not _is_numbered(wanted))
        if isinstance(X, pd.DataFrame) and (by_count or self.layout != "frame"):
            X, given = one_hot(X, Path(dataset.name))
        if by_count:
            given, wanted = list(map(str, range(X.shape[1]))), list(map(str, range(self.n_features)))
        position = {name: j for j, name in enumerate(given)}
        missing = [name for name in wanted if name not in position]
        known = {*wanted, *self.dropped}
        extra = [name for name in given if name not in known]
        if by_count and (extra or (missing and not sparse.issparse(X))):
            raise UserError(
                f"{dataset.name} has {len(given)} features and the model takes {self.n_features}; without "
                "names on both sides they must be as many, in the same order."
            )
        # Features that sparse rows of numbers do not mention are 0.
        if missing and not (by_count or is_numbered):
            what = "a column" if len(missing) == 1 else f"{len(missing)} columns"
            raise UserError(f"{dataset.name} lacks {what} that the model needs: {listed(missing)}.")
        if self.layout == "frame" and not by_count:
            return self._frame(dataset), extra
        if given != wanted:
            X = _take_columns(X, [position.get(name, -1) for name in wanted])
        if self.layout == "sparse":
            return sparse.csr_array(X), extra
        if self.layout != "any" and sparse.issparse(X):
            X = X.toarray()
        if self.layout == "frame":
            X = pd.DataFrame(X, columns=list(self.names or range(self.n_features)))
        return X, extra

    def _frame(self, dataset: Dataset) -> pd.DataFrame:
        frame, names = dataset.frame(), list(self.names or ())
        if list(frame.columns) != names:
            frame = frame.reindex(columns=names, fill_value=0.0)
        if not self.kinds and is_numeric(frame):
            # Sums over a column, and so the scale, depend in their last bit on the order in memory.
            return pd.DataFrame(np.ascontiguousarray(frame.to_numpy()), columns=names, copy=False)
        columns = {name: _convert(frame[name], self.kind(name), dataset.name) for name in names}
        return pd.DataFrame(columns, copy=False)


def _is_binary(values: Collection[str]) -> bool:
    """Return whether categories are 0 and 1, or false and true, and so can be used as numbers."""
    words = {value.lower() for value in values}
    return words <= {"0", "1"} or words <= {"false", "true"}


def _convert(column: pd.Series, kind: str, source: str) -> Any:
    """Return a column in the form that a pipeline takes for its kind."""
    given = column_kind(column)
    if kind in ("categorical", "text"):
        words = spell_numbers(column) if given == "numeric" else column.astype(object)
        return words.where(words.notna(), "" if kind == "text" else np.nan)
    if given == "numeric" or given == kind == "date":
        return column
    if kind == "date":
        raise UserError(
            f"{source}: column {column.name!r} holds no dates such as 2024-12-31, as the model needs."
        )
    if given == "date":
        return days_since_1970(column)
    words = column.astype(object)
    if _is_binary(words.dropna().unique()):
        words = words.map(lambda word: float(word.lower() in ("1", "true")), na_action="ignore")
    numbers = pd.to_numeric(words, errors="coerce")
    if (wrong := words[numbers.isna() & words.notna()]).size:
        text = shorten(str(wrong.iloc[0]))
        raise UserError(
            f"{source}: column {column.name!r} holds text, such as {text!r}, but the model needs numbers."
        )
    return numbers.to_numpy(float)


def _encoded_columns(model: Any) -> dict[str, tuple[Any, ...]]:
    """The columns that a fitted model encodes before anything else, with their categories."""
    first = model
    while isinstance(first, Pipeline):
        first = first.steps[0][1]
    if isinstance(first, ColumnTransformer):
        # What is dropped or passed through is a word there.
        found: dict[str, tuple[Any, ...]] = {}
        for _, part, names in first.transformers_:
            if hasattr(part, "feature_names_in_") and not isinstance(names, str):
                found |= _encoded_columns(part)
        return found
    if not hasattr(first, "categories_") or not hasattr(first, "feature_names_in_"):
        return {}
    return {
        str(name): tuple(_spell(values))
        for name, values in zip(first.feature_names_in_, first.categories_, strict=True)
    }


def _spell(categories: Sequence[Any]) -> list[str | None]:
    """The categories as text, None for a missing one."""
    return [None if value is None or value != value else str(value) for value in categories]


def _take_columns(X: Any, positions: list[int]) -> Any:
    """These columns of an array; at position -1 is a column of zeros."""
    if not sparse.issparse(X):
        return X[:, positions]
    X = sparse.csc_array(X)
    X.resize(X.shape[0], X.shape[1] + 1)
    return X[:, positions].tocsr()


def _is_numbered(names: Sequence[str]) -> bool:
    """Whether these are the names that readers give to the features of svmlight files without names."""
    return all(name[:1] == "x" and name[1:].isdecimal() for name in names)


def _are_names(names: Any) -> bool:
    """Whether this is a list of different texts."""
    is_list = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return is_list and len(set(names)) == len(names)


def _are_categories(values: Any) -> bool:
    return isinstance(values, list) and all(value is None or isinstance(value, str) for value in values)


def find_counters(table: pd.DataFrame | sparse.csr_array) -> list[str]:
    """Return the names of the columns of numbers that grow by one from row to row."""
    if sparse.issparse(table) or len(table) <= _FEW_ROWS:
        return []
    numeric = table.select_dtypes("number").columns
    return [str(name) for name in numeric if (np.diff(table[name]) == 1).all()]


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """Return the rows at these positions of a DataFrame or array."""
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]
