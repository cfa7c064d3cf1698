"""Multi-label svmlight, as LIBSVM, scikit-learn, the XMC repository and mlspl write it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from scipy import sparse

from mlspl._names import split_names
from mlspl._validation import Labels
from mlspl.datasets import lexer
from mlspl.datasets.compression import data_stem
from mlspl.datasets.dataset import Dataset, csr_rows, labels_as_table
from mlspl.datasets.labels import Labels as WhichLabels
from mlspl.datasets.source import parse_number, read_lines, shorten
from mlspl.datasets.svmlight_rows import scan_svmlight
from mlspl.errors import DataFormatError, UserError

__all__ = ["read_svmlight", "write_svmlight"]

# An index makes a named column, so a stray large one must not make millions of them.
_LARGEST_INDEX = 2**20
_NAMES = "# mlspl "
_SIZES = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*")

_FAULTS = {
    lexer.BAD_LABEL: "a row must begin with its labels, whole numbers with commas between, such as 0,3,7.",
    lexer.BAD_INDEX: "a feature must be written index:value, with a whole number for the index.",
    lexer.OUT_OF_RANGE: "a feature index is larger than {largest}, the largest there can be.",
    lexer.REPEATED_INDEX: "feature index {detail} does not exceed the one before. Sort each row by index.",
    lexer.EMPTY_VALUE: "a feature has no value after its colon.",
}


@dataclass(frozen=True)
class _Announcement:
    """What the first line of a file says of its rows; None where it does not."""

    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    first_index: int | None = None
    n_rows: int | None = None


def read_svmlight(path: Path, labels: WhichLabels, unlabelled: bool = False) -> Dataset:
    """Read a multi-label svmlight file; `unlabelled` leaves the labels alone, present or not.

    Indices count from 1 unless index 0 occurs; labels are named as the file numbers them. A first line
    ``rows features labels`` (the XMC repository's) or mlspl's own comment with the names settles both.
    """
    if isinstance(labels, str) and "," in labels:
        labels = split_names(labels)
    if labels is not None and not isinstance(labels, list | tuple):
        raise UserError(
            f"{path}: svmlight rows name their labels. Pass labels only as the list of all names."
        )
    text = read_lines(path)
    first_line, _, below = text.partition(b"\n")
    announced = _read_first_line(first_line, path)
    if announced.n_rows is not None:
        # Scanned as an empty line, so that lines keep their numbers.
        text = b"\n" + below
    first, names = announced.first_index, announced.feature_names
    largest = _LARGEST_INDEX if names is None or first is None else len(names) - 1 + first

    def error(message: str, place: int) -> DataFormatError:
        return DataFormatError(message, path, text.count(b"\n", 0, place) + 1)

    fault, place, detail, values, indices, row_stop, row_start, hard, numbers, label_stop = scan_svmlight(
        np.frombuffer(text, np.uint8), largest
    )
    if fault != lexer.FINE:
        raise error(_FAULTS[fault].format(detail=detail, largest=largest), place)
    for number, start, stop in hard.tolist():
        word = text[start:stop].decode()
        try:
            values[number] = parse_number(word)
        except ValueError:
            raise error(f"the value {shorten(word)!r} is no finite number.", start) from None
    n_rows = len(row_stop)
    if announced.n_rows not in (None, n_rows):
        raise error(f"{announced.n_rows} rows are announced, {n_rows} follow. Was the file cut off?", 0)
    if not len(values):
        raise DataFormatError("no row has a feature. Was the file cut off?", path)
    if first is None:
        first = 1 if indices.min() > 0 else 0
    elif indices.min() < first:
        row = np.searchsorted(row_stop, np.argmin(indices), side="right")
        raise error(f"feature index 0, but the indices of this file count from {first}.", row_start[row])
    if names is None:
        names = _numbered("x", first, int(indices.max()) + 1 - first)
    X = csr_rows(values, indices - first, row_stop, len(names))
    X.eliminate_zeros()
    if unlabelled:
        return Dataset(X, np.empty((n_rows, 0), np.int64), names, [], {}, data_stem(path))

    label_names = announced.label_names
    if label_names is None:
        present, numbers = np.unique(numbers, return_inverse=True)
        label_names = [str(label) for label in present.tolist()]
    elif len(wrong := np.flatnonzero((numbers < 0) | (numbers >= len(label_names)))):
        row = np.searchsorted(label_stop, wrong[0], side="right")
        message = (
            f"label {numbers[wrong[0]]} is out of range: {len(label_names)} labels are announced, from 0."
        )
        raise error(message, row_start[row])
    if labels is not None:
        numbers, label_names = _reordered(numbers, label_names, [str(label) for label in labels], path)
    if not label_names:
        raise DataFormatError("no row has a label. A row is written label,label index:value …", path)
    rows = np.repeat(np.arange(n_rows), np.diff(label_stop, prepend=0))
    Y = sparse.csr_array((np.ones(len(rows), bool), (rows, numbers)), shape=(n_rows, len(label_names)))
    Y.sum_duplicates()
    return Dataset(X, labels_as_table(Labels(Y)), names, label_names, {}, data_stem(path))


def _read_first_line(line: bytes, path: Path) -> _Announcement:
    if sizes := _SIZES.fullmatch(line):
        n_rows, n_features, n_labels = map(int, sizes.groups())
        for what, size in (("features", n_features), ("labels", n_labels)):
            if not 0 < size <= _LARGEST_INDEX:
                message = f"{size} {what} are announced; mlspl reads 1 … {_LARGEST_INDEX}."
                raise DataFormatError(message, path, 1)
        return _Announcement(_numbered("x", 0, n_features), _numbered("", 0, n_labels), 0, n_rows)
    if not line.startswith(_NAMES.encode()):
        return _Announcement()
    try:
        names = json.loads(line.removeprefix(_NAMES.encode()))
        features, labels = names["features"], names["labels"]
    except (ValueError, KeyError, TypeError, RecursionError):
        features = labels = None
    for group in (features, labels):
        if not isinstance(group, list) or not group or not all(isinstance(name, str) for name in group):
            message = "the comment with the names is damaged. Remove the line to read the file without names."
            raise DataFormatError(message, path, 1)
        if len(set(group)) < len(group):
            raise DataFormatError("a feature or a label is named twice. Rename it.", path, 1)
    return _Announcement(features, labels, 1)


def _numbered(prefix: str, first: int, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(first, first + count)]


def _reordered(
    numbers: np.ndarray, names: list[str], wanted: list[str], path: Path
) -> tuple[np.ndarray, list[str]]:
    """The label numbers and names after the columns were put into the order the user wants."""
    column_of = {name: column for column, name in enumerate(wanted)}
    for number in np.unique(numbers):
        if names[number] not in column_of:
            message = (
                f"label {names[number]!r} is not among the labels asked for. Name all labels of the file."
            )
            raise DataFormatError(message, path)
    return np.array([column_of.get(name, -1) for name in names], int)[numbers], list(column_of)


def write_svmlight(dataset: Dataset, stream: IO[str]) -> None:
    """Write rows with indices from 1 and label numbers from 0, below a comment that holds the names."""
    if dataset.nominal:
        raise UserError("svmlight holds numbers only. Load the data with encode=True before writing it.")
    if np.isnan(dataset.Y.data if sparse.issparse(dataset.Y) else dataset.Y).any():
        raise UserError("svmlight cannot tell an unknown label from an absent one. Write ARFF instead.")
    names = json.dumps({"features": dataset.feature_names, "labels": dataset.label_names})
    stream.write(f"{_NAMES}{names}\n")
    X = sparse.csr_array(dataset.X, copy=True)
    X.sum_duplicates()
    Y = sparse.csr_array(dataset.Y, copy=True)
    Y.eliminate_zeros()
    Y.sort_indices()
    for row, (start, stop) in enumerate(zip(X.indptr[:-1], X.indptr[1:], strict=True)):
        labels = ",".join(map(str, Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()))
        pairs = zip((X.indices[start:stop] + 1).tolist(), X.data[start:stop].tolist(), strict=True)
        # A row of nothing would be an empty line, which readers skip.
        features = " ".join([f"{index}:{value!r}" for index, value in pairs]) or "1:0"
        stream.write(f"{labels} {features}\n")
