"""`read_dataset` and `read_unlabelled`: the user's own file, in any format we read."""

import warnings
from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl.datasets.arff import read_arff
from mlspl.datasets.arrays import read_arrays
from mlspl.datasets.columns import (
    INDEX,
    LabelOption,
    RawTable,
    ReadOptions,
    as_numbers,
    column_kind,
    is_numeric,
    one_hot,
    parse_words,
    spell_numbers,
)
from mlspl.datasets.dataset import Dataset
from mlspl.datasets.delimited import read_csv
from mlspl.datasets.files import COMPRESSIONS, data_stem, data_suffix
from mlspl.datasets.frames import read_excel, read_json_lines, read_parquet
from mlspl.datasets.labels import (
    ReadLabels,
    find_label_columns,
    read_labels,
    recognise_label_column,
    xml_beside,
)
from mlspl.datasets.svmlight import read_svmlight
from mlspl.errors import DataFormatError, UserError, listed, shorten

_TABLES = {
    ".arff": read_arff,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_json_lines,
    ".parquet": read_parquet,
    ".xlsx": read_excel,
}
_OTHERS = {
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), read_svmlight),
    **dict.fromkeys((".npy", ".npz"), read_arrays),
}
_BINARY = (".parquet", ".xlsx", ".npy", ".npz")
SUFFIXES = (*_TABLES, *_OTHERS)
_REMEDIES = {
    ".xml": "Name the data file; its XML is found beside it.",
    ".txt": "If it is a table with a header, call it .csv.",
    ".json": "Write a row a line and call it .jsonl: DataFrame.to_json(…, orient='records', lines=True).",
    ".zip": "Unpack it, or pack it with gzip.",
} | dict.fromkeys((".xls", ".ods"), "Save the sheet as 'CSV UTF-8'.")


def read_dataset(
    path: str | PathLike,
    labels: LabelOption = None,
    encode: bool = True,
    *,
    label_sep: str | None = None,
    na_values: Collection[str] | None = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    strict: bool = True,
) -> Dataset:
    r"""Read a file of your own.

    Parameters
    ----------
    path : path
        ARFF of Mulan or MEKA (``.arff``), CSV (``.csv``, ``.tsv``), multi-label svmlight (``.svm``,
        ``.svmlight``, ``.libsvm``), JSON Lines (``.jsonl``), Parquet (``.parquet``), the first sheet of an
        Excel file (``.xlsx``), or arrays of NumPy (``.npy``, ``.npz``). Text may be compressed: ``.gz``,
        ``.bz2``, ``.zst``. A first column without a name is an index and left out.
    labels : optional
        Which columns are labels: the path of a Mulan XML, a name, a list of names (or a line of CSV with
        them), a pattern with ``*`` and ``?``, a compiled regular expression, or their number, negative for
        the last columns. By default the XML beside the file decides, then MEKA's ``-C``, then a column
        ``labels`` or ``tags``. A single column may hold the labels of each row, as ``a|b`` or a JSON list:
        empty is none, ``?`` or missing is unknown. For svmlight, a list fixes the columns of Y. For arrays,
        the path of a file of labels; by default the one beside, such as ``songs.labels.csv``.
    encode : bool
        Whether categories become one-hot columns and dates days since 1970; text is then left out with a
        warning. Otherwise X is a DataFrame with numbers, categories, dates and text.
    label_sep, encoding : str, optional
        What separates the labels in a single column, found out if not given; encoding if not UTF-8.
    na_values : collection of str, optional
        Words for a missing value, in place of ``?``, ``NA``, ``nan``, ``null`` and the like.
    drop, kinds : collection of str, mapping
        Columns to leave out, and kinds of columns that are not as they look: ``{"zip": "categorical"}``. A
        column is ``"numeric"``, ``"categorical"``, ``"text"`` or ``"date"``.
    decimal, thousands : str, optional
        Decimal sign and thousands separator of the numbers in a CSV file. By default each column decides:
        ``53.102,49`` and ``1,234.5`` are numbers. If ``1,234`` can be read in two ways, an error asks.
    strict : bool, default=True
        Whether `drop` and `kinds` may name only columns that the file has.

    Returns
    -------
    Dataset
        X is sparse if the file is. A `DataFormatError` names file and line of a mistake.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.csv"
    ...     _ = path.write_text("tempo,key,happy,calm\n120,C,1,0\n64,a,0,1\n98,F,1,1\n")
    ...     songs = read_dataset(path, labels=["happy", "calm"])
    >>> songs.feature_names
    ['tempo', 'key=C', 'key=F', 'key=a']
    >>> songs.Y.tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    spelling = {"decimal": decimal, "thousands": thousands, "encoding": encoding}
    options = ReadOptions(label_sep, na_values, drop, kinds or {}, not strict, labels, **spelling)
    return _read(Path(path), options, encode)


def read_unlabelled(path: str | PathLike, ignored: Collection[str] = (), **options: Any) -> Dataset:
    """Read the features alone of a file, to predict its labels.

    Parameters
    ----------
    path : path
        In any format of `read_dataset`.
    ignored : collection of str
        Columns that are no features, such as labels; their values are not read.
    **options
        `na_values`, `kinds`, `decimal`, `thousands` and `encoding`, as in `read_dataset`. They may name
        columns that the file does not have. `needed` names the columns that are used, if not all: others are
        read as categories, whatever they hold.

    Returns
    -------
    Dataset
        Without labels: Y has no columns. Categories are not one-hot encoded.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return _read(Path(path), ReadOptions(drop=ignored, lenient=True, labels=(), **given), encode=False)


def _read(path: Path, options: ReadOptions, encode: bool) -> Dataset:
    suffix = _check_suffix(path)
    if suffix in _OTHERS:
        return _OTHERS[suffix](path, options)
    raw = _TABLES[suffix](path, options)
    is_dropped = np.isin(raw.names, [*options.drop, *({INDEX} - options.kinds.keys())])
    labels = options.labels
    if labels == ():
        found = ReadLabels(np.empty((raw.table.shape[0], 0), np.int64), [])
        return _take_features(raw, np.flatnonzero(~is_dropped).tolist(), found, encode)
    if labels is None and raw.n_labels is None and xml_beside(path) is None:
        labels = recognise_label_column(raw)
    is_label = find_label_columns(raw.names, labels, path, raw.n_labels)
    if both := [raw.names[j] for j in np.flatnonzero(is_dropped & is_label)]:
        raise UserError(f"{path}: {listed(both)} cannot be a label and be dropped.")
    found = read_labels(raw, np.flatnonzero(is_label).tolist())
    return _take_features(raw, np.flatnonzero(~is_label & ~is_dropped).tolist(), found, encode)


def _take_features(raw: RawTable, chosen: list[int], labels: ReadLabels, encode: bool) -> Dataset:
    """Return the data set with these columns as features."""
    X: Any
    names = [raw.names[j] for j in chosen]
    X = raw.table[:, chosen] if sparse.issparse(raw.table) else _type_columns(raw, chosen)
    if encode and not sparse.issparse(X):
        texts = [] if is_numeric(X) else [name for name in names if column_kind(X[name]) == "text"]
        if texts:
            message = f"{raw.path}: text is left out of the features: {listed(texts)}. "
            warnings.warn(message + "Turn it into numbers to use it, or fit with --text.", stacklevel=4)
            X = X.drop(columns=texts)
        X, names = one_hot(X, raw.path)
    if not names:
        raise DataFormatError("no features are left: the other columns are text or dropped.", raw.path)
    return Dataset(X, labels.Y, names, labels.names, data_stem(raw.path), labels.column, labels.joint)


def _type_columns(raw: RawTable, chosen: list[int]) -> pd.DataFrame:
    """Return the features as numbers, categories, dates and text."""
    options = raw.options
    names = [raw.names[j] for j in chosen]
    frame = raw.table if len(chosen) == raw.table.shape[1] else raw.table.iloc[:, chosen]
    if is_numeric(frame) and not {*names} & {*options.kinds}:
        numbers = _check_finite(as_numbers(frame), raw, names)
        return pd.DataFrame(numbers, columns=pd.Index(names, dtype=object), copy=False)
    columns: dict[str, Any] = {}
    for name in names:
        column = frame[name]
        is_used = options.needed is None or name in options.needed
        kind, wanted = column_kind(column), options.kinds.get(name) if is_used else "categorical"
        if kind == "numeric":
            numbers = _check_finite(as_numbers(column.to_frame()), raw, [name])
            if wanted in (None, "numeric", "date"):
                columns[name] = numbers[:, 0]
                continue
            column = spell_numbers(column)
        elif kind == "date" or (kind == "categorical" and wanted in (None, "categorical")):
            columns[name] = column
            continue
        elif column.dtype == object and any(isinstance(cell, tuple) for cell in column):
            message = f"column {shorten(name)!r} holds lists. Pass it as labels, or drop it."
            raise DataFormatError(message, raw.path)
        columns[name] = parse_words(column, name, wanted, raw)
    return pd.DataFrame(columns, copy=False)


def _check_finite(numbers: np.ndarray, raw: RawTable, names: list[str]) -> np.ndarray:
    """Return the numbers, or raise an error if one is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = numbers.sum()
    if not np.isfinite(total) and np.isinf(numbers).any():
        row, j = np.argwhere(np.isinf(numbers))[0]
        message = f"column {shorten(names[j])!r} is infinite. Leave it empty if unknown."
        raise raw.fault(int(row), message)
    return numbers


def _check_suffix(path: Path) -> str:
    suffix = data_suffix(path)
    if suffix in _BINARY and path.suffix.lower() in COMPRESSIONS:
        raise UserError(f"{path}: of binary formats mlspl reads no compressed files. Decompress it first.")
    if suffix not in SUFFIXES:
        remedy = _REMEDIES.get(suffix, "Write it as one of them.")
        raise UserError(f"{path}: mlspl reads {', '.join(SUFFIXES)} and goes by the suffix. {remedy}")
    return suffix
