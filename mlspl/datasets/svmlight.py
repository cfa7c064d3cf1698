"""Multi-label svmlight, as LIBSVM, scikit-learn, the XMC repository and mlspl write it."""

import io
import json
import re
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from mlspl._names import split_names
from mlspl._validation import Labels
from mlspl.datasets.columns import ReadOptions, is_numeric
from mlspl.datasets.dataset import Dataset, labels_as_table
from mlspl.datasets.files import data_stem, read_lines
from mlspl.errors import DataFormatError, UserError, shorten

# An index makes a named column, so a single large index must not make millions of them.
_LARGEST_INDEX = 2**20
_NAMES = "# mlspl "
_SIZES = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*")
_FAULTS = (ValueError, OverflowError, MemoryError)


def read_svmlight(path: Path, options: ReadOptions) -> Dataset:
    """Read svmlight; indices count from 1 unless 0 occurs, or as XMC's or our own first line says."""
    labels, unlabelled = options.labels, options.labels == ()
    if not options.lenient and (options.label_sep or options.na_values or options.drop or options.kinds):
        raise UserError(
            f"{path}: svmlight has numbers only; label_sep, na_values, drop and kinds are for tables."
        )
    if isinstance(labels, str) and "," in labels:
        labels = split_names(labels)
    if labels is not None and not isinstance(labels, list | tuple):
        raise UserError(
            f"{path}: svmlight rows hold their labels. Pass labels only as the list of all names."
        )
    text = read_lines(path, options.encoding)
    first_line, _, below = text.partition(b"\n")
    names, label_names, first, n_rows = _read_first_line(first_line, path)
    if n_rows is not None:
        # An empty line instead, so that lines keep their numbers.
        text = b"\n" + below
    largest = _LARGEST_INDEX if names is None or first is None else len(names) - 1 + first
    n_labels = None if label_names is None or unlabelled else len(label_names)
    bounds = first or 0, largest, *((-1e18, 1e18) if n_labels is None else (0, n_labels - 1))
    try:
        X, sets, given = _parse_rows(text, *bounds)
    except _FAULTS:
        raise _find_fault(text, path, bounds) from None
    if n_rows not in (None, X.shape[0]):
        message = f"{n_rows} rows are announced, {X.shape[0]} follow. Is the file complete?"
        raise DataFormatError(message, path, 1)
    if not X.nnz:
        raise DataFormatError("no row has a feature. Is the file complete?", path)
    n_rows = X.shape[0]
    first = int(X.indices.min() > 0) if first is None else first
    names = _numbered("x", first, X.shape[1] - first) if names is None else names
    X = sparse.csr_array((X.data, X.indices - first, X.indptr), shape=(n_rows, len(names)))
    X.eliminate_zeros()
    if unlabelled:
        return Dataset(X, np.empty((n_rows, 0), np.int64), names, [], data_stem(path))
    numbers = given.astype(np.int64)
    if label_names is None:
        present, numbers = np.unique(numbers, return_inverse=True)
        label_names = [str(label) for label in present.tolist()]
    if labels is not None:
        wanted = {str(label): column for column, label in enumerate(dict.fromkeys(labels))}
        if absent := [label_names[n] for n in np.unique(numbers) if label_names[n] not in wanted]:
            message = f"label {absent[0]!r} is not among the labels asked for. Name all labels of the file."
            raise DataFormatError(message, path)
        numbers = np.array([wanted.get(name, -1) for name in label_names], int)[numbers]
        label_names = list(wanted)
    if not label_names:
        raise DataFormatError("no row has a label. A row is written label,label index:value …", path)
    rows = np.repeat(np.arange(n_rows), list(map(len, sets)))
    Y = sparse.csr_array((np.ones(len(rows), bool), (rows, numbers)), shape=(n_rows, len(label_names)))
    Y.sum_duplicates()
    return Dataset(X, labels_as_table(Labels(Y)), names, label_names, data_stem(path))


def _parse_rows(
    text: bytes, smallest: int, largest: int, lowest: float, highest: float
) -> tuple[sparse.csr_matrix, list[tuple[float, ...]], np.ndarray]:
    """Return features, label sets and all labels; a ValueError if indices or labels are out of range."""
    X, sets = load_svmlight_file(io.BytesIO(text), multilabel=True, zero_based=True)
    labels = np.array([label for labels_of_row in sets for label in labels_of_row], float)
    if X.nnz and not smallest <= X.indices.min() <= X.indices.max() <= largest:
        raise ValueError(f"feature indices must lie between {smallest} and {largest}")
    if np.isinf(X.data).any():
        raise ValueError("a feature is infinite")
    if not np.all((np.trunc(labels) == labels) & (lowest <= labels) & (labels <= highest)):
        raise ValueError("labels must be whole numbers, and among those that are announced")
    return X, sets, labels


def _find_fault(text: bytes, path: Path, bounds: tuple[Any, ...]) -> DataFormatError:
    """Return the error about the first row that cannot be read."""
    row_format = "A row is written label,label index:value …, such as 0,3 1:0.5 4:2, with ascending indices."
    for line, row in enumerate(text.split(b"\n"), 1):
        try:
            _parse_rows(row or b"#", *bounds)
        except _FAULTS as error:
            return DataFormatError(f"{shorten(str(error).rstrip('.'), 100)}. {row_format}", path, line)
    return DataFormatError(f"this is not a readable svmlight file. {row_format}", path)


def _read_first_line(
    line: bytes, path: Path
) -> tuple[list[str] | None, list[str] | None, int | None, int | None]:
    """Return names of features and labels, the first index and the number of rows, if the line has them."""
    if sizes := _SIZES.fullmatch(line):
        n_rows, n_features, n_labels = map(int, sizes.groups())
        for what, size in (("features", n_features), ("labels", n_labels)):
            if not 0 < size <= _LARGEST_INDEX:
                message = f"{size} {what} are announced; mlspl reads 1 … {_LARGEST_INDEX}."
                raise DataFormatError(message, path, 1)
        return _numbered("x", 0, n_features), _numbered("", 0, n_labels), 0, n_rows
    if not line.startswith(_NAMES.encode()):
        return None, None, None, None
    try:
        names = json.loads(line.removeprefix(_NAMES.encode()))
        features, labels = names["features"], names["labels"]
        is_sound = all(
            isinstance(group, list) and 0 < len(set(group)) == len(group) and set(map(type, group)) == {str}
            for group in (features, labels)
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        is_sound = False
    if not is_sound:
        message = "the comment with the names is damaged. Remove the line to read the file without names."
        raise DataFormatError(message, path, 1)
    return features, labels, 1, None


def _numbered(prefix: str, first: int, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(first, first + count)]


def write_svmlight(dataset: Dataset, stream: IO[str]) -> None:
    """Write rows with indices from 1 and label numbers from 0, below a comment that holds the names."""
    if isinstance(dataset.X, pd.DataFrame) and not is_numeric(dataset.X):
        raise UserError("svmlight holds numbers only. Load the data with encode=True before writing it.")
    if np.isnan(dataset.Y.data if sparse.issparse(dataset.Y) else dataset.Y).any():
        raise UserError("svmlight cannot tell an unknown label from an absent one. Write ARFF instead.")
    names = json.dumps({"features": dataset.feature_names, "labels": dataset.label_names})
    stream.write(f"{_NAMES}{names}\n")
    X = dataset.X if sparse.issparse(dataset.X) else np.asarray(dataset.X, float)
    X = sparse.csr_array(X, copy=True)
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
