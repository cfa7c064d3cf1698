"""CSV and Parquet: one column a feature or a label, under a header of names."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mlspl.datasets.source import parse_number, read_text
from mlspl.datasets.table import Column, Table
from mlspl.errors import DataFormatError, UserError

__all__ = ["DELIMITERS", "read_csv", "read_parquet", "require_pyarrow"]

_MISSING = {"", "?", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL", "None"}
DELIMITERS = ",;\t"
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_QUOTED = re.compile(r'"[^"]*"')
_MOST_CELLS = 2**28


def read_csv(path: Path) -> Table:
    """Read a CSV file with a header line; comma, semicolon or tab, whichever stands most between its names.

    A column of numbers is numeric, one of words nominal, with its values in sorted order. Empty fields, ``?``
    and ``NA`` are missing values.
    """
    text = read_text(path).decode()
    first_line = _QUOTED.sub("", text).lstrip("\r\n").partition("\n")[0]
    delimiter = max(DELIMITERS, key=first_line.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if not row:
                continue
            if rows and len(row) != len(rows[0]):
                message = (
                    f"{len(row)} values under {len(rows[0])} names. Quote values that hold a {delimiter!r}."
                )
                raise DataFormatError(message, path, reader.line_num)
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise DataFormatError(
            f"this is no CSV ({error}). Are all quotes closed?", path, reader.line_num
        ) from None
    if len(rows) < 2:
        raise DataFormatError(
            "no rows follow the header. Was the file cut off?", path, lines[0] if lines else None
        )
    names = [name.strip() for name in rows[0]]
    _check_names(names, path, lines[0])
    columns, cells = [], np.empty((len(rows) - 1, len(names)))
    for j, (name, words) in enumerate(zip(names, zip(*rows[1:], strict=True), strict=True)):
        values, cells[:, j] = _read_column(words, name, path, lines)
        columns.append(Column(name, "nominal" if values else "numeric", values, lines[0]))
    return Table(path, columns, cells, lambda row: lines[row + 1])


def read_parquet(path: Path) -> Table:
    """Read a Parquet file; text and categories are nominal, dates are left out."""
    pyarrow_parquet = require_pyarrow()
    if not path.is_file():
        raise UserError(f"{path} is not a file. Check the name and the folder.")
    try:
        size = pyarrow_parquet.read_metadata(path)
        if size.num_rows * size.num_columns > _MOST_CELLS:
            message = f"{size.num_rows} rows × {size.num_columns} columns are more than {_MOST_CELLS} values."
            raise DataFormatError(message + " Select rows or columns first.", path)
        text = [
            field.name for field in pyarrow_parquet.read_schema(path) if str(field.type).endswith("string")
        ]
        # Without its dictionary, a word of a megabyte would be held once for each row.
        frame = pd.read_parquet(path, engine="pyarrow", read_dictionary=text)
    except DataFormatError:
        raise
    except Exception as error:
        # Whatever a decoder trips over in damaged bytes, the file is at fault.
        reason = " ".join(str(error).split())[:200]
        raise DataFormatError(f"this is no readable Parquet file ({reason}).", path) from None
    if not len(frame):
        raise DataFormatError("it has no rows.", path)
    names = [str(name) for name in frame.columns]
    _check_names(names, path, None)
    for name in frame.columns.intersection(text):
        frame[name] = frame[name].cat.set_categories(sorted(frame[name].dropna().unique()))
    columns, cells = [], np.zeros(frame.shape)
    for j, name in enumerate(names):
        column, cells[:, j] = _frame_column(frame.iloc[:, j], name, path)
        columns.append(column)
    return Table(path, columns, cells)


def require_pyarrow():
    """`pyarrow.parquet`, or the sentence that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            'Parquet needs pyarrow, which is not installed: pip install "mlspl[parquet]"'
        ) from None
    return pyarrow.parquet


def _check_names(names: list[str], path: Path, line: int | None) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if not name:
            message = f"column {position} has no name. Name it, or write the file without its row index."
            raise DataFormatError(message, path, line)
        if name in seen:
            raise DataFormatError(f"two columns are called {name!r}. Rename one of them.", path, line)
        seen.add(name)


def _read_column(
    words: Sequence[str], name: str, path: Path, lines: list[int]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Values () and numbers, or the sorted values and their codes."""
    try:
        return (), np.array([*map(parse_number, words)])
    except ValueError:
        pass
    words = [word.strip() for word in words]
    numbers = np.full(len(words), np.nan)
    is_text = np.zeros(len(words), bool)
    for row, word in enumerate(words):
        if word not in _MISSING:
            try:
                numbers[row] = parse_number(word)
            except ValueError:
                is_text[row] = True
    if not is_text.any():
        return (), numbers
    # One slip in a column of numbers must not make a category of every number.
    if np.isfinite(numbers).sum() > is_text.sum():
        row = int(np.argmax(is_text))
        message = (
            f"column {name!r} is numeric, {words[row]!r} is no finite number. Leave it empty if unknown."
        )
        raise DataFormatError(message, path, lines[row + 1])
    if all(_DECIMAL_COMMA.fullmatch(words[row]) for row in np.flatnonzero(is_text)):
        row = int(np.argmax(is_text))
        message = f"column {name!r} has decimal commas, such as {words[row]!r}. Write decimal points."
        raise DataFormatError(message, path, lines[row + 1])
    values = sorted(set(words) - _MISSING)
    code = {value: float(position) for position, value in enumerate(values)}
    return tuple(values), np.array([code.get(word, np.nan) for word in words])


def _frame_column(series: pd.Series, name: str, path: Path) -> tuple[Column, np.ndarray]:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy(float)
        values = tuple(map(str, dtype.categories))
        if len(set(values)) < len(values):
            raise DataFormatError(f"column {name!r} has categories of the same name.", path)
        return Column(name, "nominal", values), np.where(codes < 0, np.nan, codes)
    if pd.api.types.is_bool_dtype(dtype) or (
        pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
    ):
        numbers = series.to_numpy(float, na_value=np.nan)
        if np.isinf(numbers).any():
            row = int(np.argmax(np.isinf(numbers))) + 1
            raise DataFormatError(
                f"column {name!r} is infinite in row {row}. Leave it empty if unknown.", path
            )
        return Column(name), numbers
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Column(name, "text"), np.zeros(len(series))
    known = series[series.notna()]
    if not all(isinstance(value, str) for value in known):
        message = f"column {name!r} is of type {dtype}. mlspl reads numbers, booleans, text and categories."
        raise DataFormatError(message, path)
    values = tuple(sorted(set(known)))
    codes = pd.Categorical(series, values).codes.astype(float)
    return Column(name, "nominal", values), np.where(codes < 0, np.nan, codes)
