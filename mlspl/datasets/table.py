"""`Table`: what every tabular reader makes first, all columns alike, and how it becomes a `Dataset`."""

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from mlspl.datasets.dataset import Dataset, as_dense
from mlspl.datasets.encoding import one_hot
from mlspl.datasets.labels import Labels, label_columns
from mlspl.datasets.source import shorten
from mlspl.errors import DataFormatError, listed

__all__ = ["Column", "Table", "check_label_size"]

# Y is dense; a small file can still announce more pairs than any memory holds.
_LARGEST_Y_BYTES = 2**31
_LABEL_VALUES = {"0": 0, "1": 1, "false": 0, "true": 1, "no": 0, "yes": 1}


@dataclass(frozen=True)
class Column:
    """A column: numeric, nominal (codes into `values`) or text, which no feature can be made of."""

    name: str
    kind: str = "numeric"
    values: tuple[str, ...] = ()
    line: int | None = None

    @property
    def shown_values(self) -> str:
        """The values as an error message shows them."""
        return shorten("{" + ",".join(self.values[:20]) + "}")


@dataclass(frozen=True)
class Table:
    """All columns of a file: numbers, codes of nominal values, NaN for missing ones.

    `line_of` says on which line a row stands, and is None where the format has no lines; `counted` is the
    number of labels the file itself announces.
    """

    path: Path
    columns: list[Column]
    cells: np.ndarray | sparse.csr_array
    line_of: Callable[[int], int] | None = None
    counted: int | None = None

    def to_dataset(self, labels: Labels, encode: bool) -> Dataset:
        """Split the columns into features and labels, and one-hot encode the features if asked."""
        names = [column.name for column in self.columns]
        is_label = label_columns(names, labels, self.path, self.counted)
        Y = self._label_matrix(np.flatnonzero(is_label))
        return self._dataset(~is_label, Y, [names[j] for j in np.flatnonzero(is_label)], encode)

    def to_unlabelled(self, ignored: Collection[str]) -> Dataset:
        """All columns but those of these names as features, categories as codes; no labels."""
        ignored = frozenset(ignored)
        is_feature = np.array([column.name not in ignored for column in self.columns])
        return self._dataset(is_feature, np.empty((self.cells.shape[0], 0), np.int8), [], encode=False)

    def _dataset(self, wanted: np.ndarray, Y: np.ndarray, label_names: list[str], encode: bool) -> Dataset:
        """The wanted columns, without text, as features beside these labels."""
        is_text = np.array([column.kind == "text" for column in self.columns])
        if left_out := [self.columns[j].name for j in np.flatnonzero(is_text & wanted)]:
            warnings.warn(
                f"{self.path}: text is left out of the features: {listed(left_out)}. "
                "Turn it into numbers to use it.",
                stacklevel=4,
            )
        is_feature = wanted & ~is_text
        if not is_feature.any():
            raise DataFormatError("no features are left: all other columns are text.", self.path)
        features = [self.columns[j] for j in np.flatnonzero(is_feature)]
        X = self.cells[:, is_feature]
        feature_names = [column.name for column in features]
        nominal = {column.name: column.values for column in features if column.kind == "nominal"}
        if encode:
            X, feature_names = one_hot(X, feature_names, nominal, self.path)
            nominal = {}
        return Dataset(X, Y, feature_names, label_names, nominal, self.path.stem)

    def _label_matrix(self, label_columns: np.ndarray) -> np.ndarray:
        """The labels as 0/1, int8, or float64 where some are NaN."""
        Y = self.cells[:, label_columns]
        recoded = [
            (position, self._values_of_codes(self.columns[j]))
            for position, j in enumerate(label_columns)
            if self.columns[j].kind != "numeric" and self.columns[j].values != ("0", "1")
        ]
        stored = Y.data if sparse.issparse(Y) else Y
        missing = np.isnan(stored)
        check_label_size(Y.shape, self.path, itemsize=8 if recoded or missing.any() else 1)
        for position, values in recoded:
            Y = as_dense(Y)
            Y[:, position] = values[np.nan_to_num(Y[:, position], nan=-1).astype(int)]
        stored = Y.data if sparse.issparse(Y) else Y
        if not np.all((stored == 0) | (stored == 1) | np.isnan(stored)):
            self._refuse_label_value(Y, label_columns)
        return as_dense(Y if missing.any() else Y.astype(np.int8))

    def _values_of_codes(self, column: Column) -> np.ndarray:
        """The number each code of a label stands for, with NaN at the end, where code -1 finds it."""
        numbers = [_LABEL_VALUES.get(value.lower()) for value in column.values]
        if column.kind == "text" or None in numbers:
            message = (
                f"label {column.name!r} is {column.kind} {column.shown_values}. A label must be "
                "0 or 1, false or true, no or yes."
            )
            raise DataFormatError(message, self.path, column.line)
        return np.array([*numbers, np.nan], float)

    def _refuse_label_value(self, Y: np.ndarray | sparse.csr_array, label_columns: np.ndarray) -> None:
        Y = sparse.coo_array(Y)
        first = np.flatnonzero((Y.data != 1) & ~np.isnan(Y.data))[0]
        row, name = Y.row[first], self.columns[label_columns[Y.col[first]]].name
        where = "" if self.line_of else f" in row {row + 1}"
        message = f"label {name!r} is {Y.data[first]:g}{where}. A label must be 0 or 1."
        raise DataFormatError(message, self.path, self.line_of(row) if self.line_of else None)


def check_label_size(shape: tuple[int, int], path: Path, itemsize: int = 1) -> None:
    """Refuse a label matrix that would not fit into memory."""
    n_rows, n_labels = shape
    if n_rows * n_labels * itemsize > _LARGEST_Y_BYTES:
        most = _LARGEST_Y_BYTES // itemsize
        message = (
            f"{n_rows} rows × {n_labels} labels are too many: mlspl keeps labels dense, here at most {most} "
            "pairs. Select labels or rows first."
        )
        raise DataFormatError(message, path)
