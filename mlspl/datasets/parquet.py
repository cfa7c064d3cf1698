"""Parquet: columns of numbers, booleans, words, categories, dates, and lists of labels."""

from pathlib import Path

import numpy as np
import pandas as pd

from mlspl.datasets.column import Column
from mlspl.datasets.options import PLAIN, ReadOptions
from mlspl.datasets.table import Table, check_column_names
from mlspl.datasets.words import Words, days_of, read_words
from mlspl.errors import DataFormatError, UserError

__all__ = ["read_parquet", "require_pyarrow"]

_MOST_CELLS = 2**28


def read_parquet(path: Path, options: ReadOptions = PLAIN) -> Table:
    """Read a Parquet file; words are categories, text or dates by what they are, lists are labels."""
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
    check_column_names(names, path, None)
    options.check(names, path)
    single = all(dtype == np.float32 for dtype in frame.dtypes)
    columns, cells = [], np.zeros(frame.shape, np.float32 if single else np.float64)
    words: dict[int, Words] = {}
    for j, name in enumerate(names):
        series = frame.iloc[:, j]
        if name in text or series.dtype == object:
            words[j] = _words_of(series, name, path)
        column, cells[:, j] = _read_column(series, name, words.get(j), options, path)
        columns.append(column)
    return Table(path, columns, cells, words=words.get)


def require_pyarrow():
    """`pyarrow.parquet`, or the sentence that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            'Parquet needs pyarrow, which is not installed: pip install "mlspl[parquet]"'
        ) from None
    return pyarrow.parquet


def _words_of(series: pd.Series, name: str, path: Path) -> Words:
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes, values = series.cat.codes.to_numpy(), list(series.cat.categories)
        return Words(np.where(codes < 0, len(values), codes), [*values, None])
    cells = [tuple(cell) if isinstance(cell, np.ndarray | list) else cell for cell in series]
    for cell in cells:
        fine = cell is None or isinstance(cell, str) or cell != cell
        if not fine and not (isinstance(cell, tuple) and all(isinstance(part, str | int) for part in cell)):
            message = (
                f"column {name!r} is of type {series.dtype}. mlspl reads numbers, booleans, text, dates, "
            )
            raise DataFormatError(message + "categories and lists of labels.", path)
    return Words.of(cells)


def _read_column(
    series: pd.Series, name: str, words: Words | None, options: ReadOptions, path: Path
) -> tuple[Column, np.ndarray]:
    def fault(row: int, message: str) -> DataFormatError:
        return DataFormatError(f"row {row + 1}: {message}", path)

    def read(words: Words) -> tuple[Column, np.ndarray]:
        return read_words(words, name, kind, options.missing, fault, day_first=options.day_first.get(name))

    dtype, kind = series.dtype, options.kind_of_words(name)
    if words is not None:
        return read(words)
    if isinstance(dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy(float)
        values = tuple(map(str, dtype.categories))
        if len(set(values)) < len(values):
            raise DataFormatError(f"column {name!r} has categories of the same name.", path)
        column, codes = Column(name, "categorical", values), np.where(codes < 0, np.nan, codes)
        if kind in (None, "categorical"):
            return column, codes
        return read(Words.of_column(column, codes))
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Column(name, "date"), days_of(series)
    if not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_complex_dtype(dtype):
        message = (
            f"column {name!r} is of type {dtype}. mlspl reads numbers, booleans, text, dates and categories."
        )
        raise DataFormatError(message, path)
    numbers = series.to_numpy(float, na_value=np.nan)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers))) + 1
        raise DataFormatError(f"column {name!r} is infinite in row {row}. Leave it empty if unknown.", path)
    if kind in ("categorical", "text"):
        return read(Words.of_column(Column(name), numbers))
    return Column(name), numbers
