"""`Table`: what every tabular reader makes first, all columns alike, and how it becomes a `Dataset`."""

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mlspl._validation import check_labels
from mlspl.datasets.column import Column
from mlspl.datasets.compression import data_stem
from mlspl.datasets.dataset import Dataset, labels_as_table
from mlspl.datasets.encoding import one_hot
from mlspl.datasets.label_sets import read_label_sets
from mlspl.datasets.labels import Labels, label_columns, xml_beside
from mlspl.datasets.words import Words
from mlspl.errors import DataFormatError, UserError, listed

__all__ = ["INDEX", "Table", "check_column_names"]

INDEX = "Unnamed: 0"
"""What pandas calls the first column of a CSV if it has no name: the row numbers that it once wrote there."""

# Y is dense; a small file can still announce more pairs than any memory holds.
_LARGEST_Y_BYTES = 2**31
_LABEL_VALUES = {"0": 0, "1": 1, "-1": 0, "false": 0, "true": 1, "no": 0, "yes": 1}
# A column of one of these names holds the labels, where nobody says which do.
_LABEL_NAMES = ("labels", "tags")


@dataclass(frozen=True)
class Table:
    """All columns of a file: numbers, codes of values, NaN for missing ones.

    `line_of` says on which line a row stands, and is None where the format has no lines; `counted` is the
    number of labels the file itself announces; `words` gives the cells of a column as they were written.
    """

    path: Path
    columns: list[Column]
    cells: np.ndarray | sparse.csr_array
    line_of: Callable[[int], int] | None = None
    counted: int | None = None
    words: Callable[[int], Any] | None = None

    def to_dataset(self, labels: Labels, encode: bool, options: Any) -> Dataset:
        """Split the columns into features and labels, and one-hot encode the features if asked."""
        names = [column.name for column in self.columns]
        if labels is None and self.counted is None and xml_beside(self.path) is None:
            labels = self._recognise_labels()
        is_label = label_columns(names, labels, self.path, self.counted)
        chosen = np.flatnonzero(is_label)
        if options.label_sep is not None or (len(chosen) == 1 and not self._is_binary(chosen[0])):
            Y, label_names, joint = self._label_sets(chosen, options)
            held = names[chosen[0]]
        else:
            Y, label_names, held, joint = self._label_matrix(chosen), [names[j] for j in chosen], "", ""
        is_dropped = np.isin(names, [*options.drop, INDEX])
        if both := [names[j] for j in np.flatnonzero(is_dropped & is_label)]:
            raise UserError(f"{self.path}: {listed(both)} cannot be a label and be dropped.")
        dataset = self._dataset(~is_label & ~is_dropped, Y, label_names, encode)
        return replace(dataset, label_column=held, label_joint=joint)

    def to_unlabelled(self, ignored: Collection[str]) -> Dataset:
        """All columns but those of these names as features, categories as codes; no labels."""
        ignored = frozenset(ignored)
        is_feature = np.array([column.name not in ignored for column in self.columns])
        return self._dataset(is_feature, np.empty((self.cells.shape[0], 0), np.int64), [], encode=False)

    def to_labels(self, options: Any) -> tuple[Any, list[str], str, str]:
        """All columns as labels; or the one that holds label sets, its name and what joins them last."""
        position = self._recognise_labels()
        if position is None and len(self.columns) == 1 and not self._is_binary(0):
            position = self.columns[0].name
        names = [column.name for column in self.columns]
        if position is not None:
            Y, label_names, joint = self._label_sets(np.array([names.index(position)]), options)
            return Y, label_names, position, joint
        return self._label_matrix(np.arange(len(names))), names, "", ""

    def _recognise_labels(self) -> str | None:
        """The one column that holds lists, or that is called labels or tags and holds words."""
        lists = [column.name for column in self.columns if column.kind == "list"]
        called = [
            column.name
            for column in self.columns
            if column.name.lower() in _LABEL_NAMES and column.kind in ("categorical", "text")
        ]
        found = lists or called
        return found[0] if len(found) == 1 else None

    def _is_binary(self, j: int) -> bool:
        """Whether the column looks like one label, written in numbers or words."""
        column = self.columns[j]
        if column.kind == "numeric":
            return True
        return column.kind == "categorical" and all(value.lower() in _LABEL_VALUES for value in column.values)

    def _label_sets(self, chosen: np.ndarray, options: Any) -> tuple[Any, list[str], str]:
        if len(chosen) != 1:
            given = listed([self.columns[j].name for j in chosen])
            raise UserError(
                f"{self.path}: label_sep is for one column of label sets, and labels are {given}."
            )
        column = self.columns[chosen[0]]
        words = None if self.words is None else self.words(int(chosen[0]))
        if words is None:
            if sparse.issparse(self.cells):
                self._values_of_codes(column)
            words = Words.of_column(column, self.cells[:, chosen[0]])
        found = read_label_sets(words, column.name, options.label_sep, options.missing, self._fault)
        if found is None:
            message = (
                f"label {column.name!r} is {column.kind} {column.shown_values}. A label must be 0 or 1, "
                "false or true, no or yes; several labels have |, ; or a comma between them, or what "
                "label_sep names (--label-sep ' '). If every row has one, name a sign that never comes: "
                "--label-sep '|'."
            )
            raise DataFormatError(message, self.path, column.line)
        Y, names, joint = found
        alone = {value.strip() for value in words.values if isinstance(value, str)} & options.missing
        if both := sorted(alone & set(names)):
            warnings.warn(
                f"{self.path}: column {column.name!r}: {listed(both)} is a label beside others, and where it "
                "stands alone the labels count as unknown. If it is a label there too, name the words that "
                "mean a missing value (na_values, --na '?').",
                stacklevel=4,
            )
        return labels_as_table(check_labels(Y)), names, joint

    def _fault(self, row: int, message: str) -> DataFormatError:
        if self.line_of is None:
            return DataFormatError(f"row {row + 1}: {message}", self.path)
        return DataFormatError(message, self.path, self.line_of(row))

    def _dataset(self, wanted: np.ndarray, Y: Any, label_names: list[str], encode: bool) -> Dataset:
        """The wanted columns as features beside these labels; text stays out where it would be encoded."""
        kinds = np.array([column.kind for column in self.columns], dtype=object)
        if lists := [self.columns[j].name for j in np.flatnonzero((kinds == "list") & wanted)]:
            message = f"{listed(lists)} holds lists, which no feature can be. Pass it as labels, or drop it."
            raise DataFormatError(message, self.path)
        is_text = (kinds == "text") & (encode or sparse.issparse(self.cells))
        if left_out := [self.columns[j].name for j in np.flatnonzero(is_text & wanted)]:
            warnings.warn(
                f"{self.path}: text is left out of the features: {listed(left_out)}. "
                "Turn it into numbers to use it, or fit with --text.",
                stacklevel=4,
            )
        is_feature = wanted & ~is_text
        if not is_feature.any():
            raise DataFormatError("no features are left: the other columns are text or left out.", self.path)
        features = [self.columns[j] for j in np.flatnonzero(is_feature)]
        if unclear := [column for column in features if column.ambiguous]:
            warnings.warn(
                f"{self.path}: dates are read with the month first, and could have the day first: "
                f"{listed([column.name for column in unclear])}, such as {unclear[0].ambiguous}. "
                "Write 2024-12-31 to be sure.",
                stacklevel=4,
            )
        X = _take_columns(self.cells, np.flatnonzero(is_feature))
        feature_names = [column.name for column in features]
        nominal = {
            column.name: column.values for column in features if column.kind in ("categorical", "text")
        }
        of_kind = {column.name: column.kind for column in features if column.kind in ("text", "date")}
        day_first = {column.name: column.day_first for column in features if column.day_first is not None}
        if encode:
            X, feature_names = one_hot(X, feature_names, nominal, self.path)
            nominal, of_kind, day_first = {}, {}, {}
        name = data_stem(self.path)
        return Dataset(X, Y, feature_names, label_names, nominal, name, of_kind, day_first=day_first)

    def _label_matrix(self, chosen: np.ndarray) -> Any:
        """The labels as 0/1, with NaN where some are missing; dense, or CSR where they are many and few."""
        Y: Any = self.cells[:, chosen]
        recoded = {}
        for position, j in enumerate(chosen):
            column = self.columns[j]
            if column.kind != "numeric" and column.values != ("0", "1"):
                values = self._values_of_codes(column)
                if not np.array_equal(values[:-1], np.arange(len(values) - 1)):
                    recoded[position] = values
        if recoded and sparse.issparse(Y):
            check_label_size(Y.shape, self.path)
            Y = Y.toarray()
        for position, values in recoded.items():
            Y[:, position] = values[np.nan_to_num(Y[:, position], nan=-1).astype(int)]
        if not sparse.issparse(Y):
            signed = ((Y == -1).any(axis=0)) & ~(Y == 0).any(axis=0)
            if signed.any():
                Y = np.where((Y == -1) & signed, 0.0, Y)
        stored = Y.data if sparse.issparse(Y) else Y
        if not np.all((stored == 0) | (stored == 1) | np.isnan(stored)):
            self._refuse_label_value(Y, chosen)
        return labels_as_table(check_labels(Y))

    def _values_of_codes(self, column: Column) -> np.ndarray:
        """The number each code of a label stands for, with NaN at the end, where code -1 finds it."""
        numbers = [_LABEL_VALUES.get(value.lower()) for value in column.values]
        if column.kind not in ("categorical", "text") or None in numbers or {"-1", "0"} <= set(column.values):
            message = (
                f"label {column.name!r} is {column.kind} {column.shown_values}. A label must be "
                "0 or 1, −1 or 1, false or true, no or yes."
            )
            raise DataFormatError(message, self.path, column.line)
        return np.array([*numbers, np.nan], float)

    def _refuse_label_value(self, Y: Any, chosen: np.ndarray) -> None:
        Y = sparse.coo_array(Y)
        first = np.flatnonzero((Y.data != 1) & ~np.isnan(Y.data))[0]
        row, name = Y.row[first], self.columns[chosen[Y.col[first]]].name
        where = "" if self.line_of else f" in row {row + 1}"
        message = f"label {name!r} is {Y.data[first]:g}{where}. A label must be 0 or 1, or else −1 or 1."
        raise DataFormatError(message, self.path, self.line_of(row) if self.line_of else None)


def _take_columns(cells: Any, columns: np.ndarray) -> Any:
    """These columns of a matrix; neighbours are copied as a block, which is ten times as fast."""
    first, count = columns[0], len(columns)
    if count == cells.shape[1]:
        return cells
    if columns[-1] - first == count - 1 and not sparse.issparse(cells):
        return np.ascontiguousarray(cells[:, first : first + count])
    return cells[:, columns]


def check_column_names(names: list[str], path: Path, line: int | None) -> None:
    """Refuse columns without a name, and two of one name."""
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if not name:
            raise DataFormatError(
                f"column {position} of {len(names)} has no name. Name it, or take it out; a separator at the "
                "end of every line makes one.",
                path,
                line,
            )
        if name in seen:
            raise DataFormatError(f"two columns are called {name!r}. Rename one of them.", path, line)
        seen.add(name)


def check_label_size(shape: tuple[int, int], path: Path) -> None:
    """Refuse a dense label matrix that would not fit into memory."""
    n_rows, n_labels = shape
    if n_rows * n_labels * 8 > _LARGEST_Y_BYTES:
        message = f"{n_rows} rows × {n_labels} labels are too many to recode. Declare the labels as {{0,1}}."
        raise DataFormatError(message, path)
