"""JSON Lines, Parquet and Excel files."""

import json
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mlspl.datasets.columns import INDEX, NO_OPTIONS, RawTable, ReadOptions, check_names
from mlspl.datasets.files import check_archive, check_memory, explain_damage, read_lines, require_file
from mlspl.errors import DataFormatError, UserError, shorten

_ITEM = ".list.element"
_READABLE = "mlspl reads numbers, booleans, text, dates, categories and lists of labels."


def read_json_lines(path: Path, options: ReadOptions = NO_OPTIONS) -> RawTable:
    """Read one JSON object per line; a list is a label set, null and an absent key are missing values."""
    rows, lines = [], []
    for line, text in enumerate(read_lines(path, options.encoding).split(b"\n"), 1):
        if text.strip():
            rows.append(_parse_object(text, path, line))
            lines.append(line)
    names = list(dict.fromkeys(name for row in rows for name in row))
    check_memory(16.0 * len(rows) * len(names), path, f"a table of {len(rows)} rows × {len(names)} keys")
    cells = ([row.get(name) for row in rows] for name in names)
    return _build_table(path, names, cells, options, lines)


def _parse_object(text: bytes, path: Path, line: int) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"this is not JSON ({shorten(str(error), 100)}). Write one object per line."
        raise DataFormatError(message, path, line) from None
    if not isinstance(row, dict) or not row:
        message = f'{shorten(text.decode())!r} is not an object with columns, such as {{"size": 3}}.'
        raise DataFormatError(message, path, line)
    for name, value in row.items():
        is_list = isinstance(value, list) and all(isinstance(part, str | int) for part in value)
        message = ""
        if not is_list and not (value is None or isinstance(value, str | int | float)):
            message = f"{shorten(json.dumps(value))}. {_READABLE}"
        elif isinstance(value, float | int) and not abs(value) < 1.8e308:
            message = f"{shorten(str(value))}, which is not a finite number."
        if message:
            raise DataFormatError(f"{shorten(name)!r} is {message}", path, line)
    return row


def _build_table(
    path: Path, names: list[str], columns: Iterable[Sequence[Any]], options: ReadOptions, lines: list[int]
) -> RawTable:
    check_names(names, path, lines[0])
    options.check(names, path)
    typed = {name: _build_column(cells) for name, cells in zip(names, columns, strict=True)}
    return RawTable(path, pd.DataFrame(typed, copy=False), names, options, lines.__getitem__)


def _build_column(cells: Sequence[Any]) -> Any:
    """Return numbers, times, or words as they are written."""
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        return np.array([np.nan if cell is None else cell for cell in cells], float)
    if all(cell is None or isinstance(cell, datetime) for cell in cells):
        return np.array(cells, "datetime64[us]")
    return pd.Series([_spell(cell) for cell in cells], dtype=object)


def _spell(value: Any) -> Any:
    """Return a cell as a word; a list as a tuple, which is hashable."""
    if isinstance(value, list):
        return tuple(map(str, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    return value if value is None or isinstance(value, str) else repr(value).removesuffix(".0")


def read_excel(path: Path, options: ReadOptions = NO_OPTIONS) -> RawTable:
    """Read the first sheet of an Excel file, whose first row holds the names of the columns."""
    try:
        import openpyxl
    except ImportError:
        raise UserError('.xlsx needs openpyxl, which is not installed: pip install "mlspl[excel]"') from None
    require_file(path)
    rows: list[tuple] = []
    lines, n_cells = [], 0
    with explain_damage(path, "a readable Excel file"):
        check_archive(path, "the workbook")
        with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as workbook:
            # A sheet may announce many more cells than it has.
            for line, row in enumerate(workbook.worksheets[0].iter_rows(values_only=True), 1):
                n_cells += len(row) + 1
                check_memory(16.0 * n_cells, path, "the sheet")
                if any(cell is not None for cell in row):
                    rows.append(row)
                    lines.append(line)
    if len(rows) < 2:
        raise DataFormatError("its first sheet has no rows below a header.", path)
    width = max(j + 1 for row in rows for j, cell in enumerate(row) if cell is not None)
    check_memory(16.0 * width * len(rows), path, "the sheet")
    header, *rows = [(*row[:width], *[None] * (width - len(row))) for row in rows]
    names = ["" if name is None else str(_spell(name)).strip() for name in header]
    names[0] = names[0] or INDEX
    return _build_table(path, names, zip(*rows, strict=True), options, lines[1:])


def require_pyarrow() -> Any:
    """Return `pyarrow.parquet`, or raise an error that says how to install it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            'Parquet needs pyarrow, which is not installed: pip install "mlspl[parquet]"'
        ) from None
    return pyarrow.parquet


def read_parquet(path: Path, options: ReadOptions = NO_OPTIONS) -> RawTable:
    """Read a Parquet file; lists are label sets."""
    require_pyarrow()
    require_file(path)
    with explain_damage(path, "a readable Parquet file"):
        frame = _read_frame(path).reset_index(drop=True)
        frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
        check_names(list(frame.columns), path, None)
        options.check(frame.columns, path)
        for name in frame.select_dtypes("category"):
            frame[name] = frame[name].cat.rename_categories(str)
    if not len(frame):
        raise DataFormatError("it has no rows.", path)
    return RawTable(path, frame, list(frame.columns), options)


def _read_frame(path: Path) -> pd.DataFrame:
    """Return the columns; the file is refused by the types and sizes it announces, then by bytes read."""
    import pyarrow
    from pyarrow import parquet, types

    with parquet.ParquetFile(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
    text, lists = [], []
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        item = kind.value_type if types.is_list(kind) or types.is_large_list(kind) else None
        if types.is_string(kind) or types.is_large_string(kind):
            text += [field.name] if kind == field.type else []
        elif item is not None and (
            types.is_integer(item) or types.is_string(item) or types.is_large_string(item)
        ):
            lists.append(field.name)
        elif not (types.is_primitive(kind) or types.is_null(kind)) or types.is_duration(kind):
            message = f"column {shorten(field.name)!r} is of type {shorten(str(field.type))}. {_READABLE}"
            raise DataFormatError(message, path)
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    size = 8 * metadata.num_rows * metadata.num_columns
    size += sum(group.column(j).total_uncompressed_size for group in groups for j in range(group.num_columns))
    check_memory(size, path, "the table")
    # Dictionaries hold a repeated word once.
    batches, size = [], 0
    with parquet.ParquetFile(path, read_dictionary=[*text, *(name + _ITEM for name in lists)]) as file:
        for batch in file.iter_batches():
            size += batch.nbytes
            check_memory(size, path, "the table")
            batches.append(batch)
        table = pyarrow.Table.from_batches(batches, file.schema_arrow)
    frame = table.drop_columns(lists).to_pandas(ignore_metadata=len(schema) == len(lists))
    frame = frame.astype(dict.fromkeys({*text} & {*frame.columns}, object))
    for name in lists:
        cells = [cell for chunk in table.column(name).chunks for cell in _list_cells(chunk)]
        frame.insert(schema.get_field_index(name), name, pd.Series(cells, frame.index, dtype=object))
    return frame


def _list_cells(column: Any) -> list[tuple[Any, ...] | None]:
    """Return lists as tuples; equal words are one object, because a file may repeat a long one."""
    items = column.flatten()
    words = items.dictionary.to_pylist() if hasattr(items, "dictionary") else None
    values = items.to_pylist() if words is None else [words[code] for code in items.indices.to_pylist()]
    cells, start = [], 0
    for length in column.value_lengths().to_pylist():
        cells.append(None if length is None else tuple(values[start : start + length]))
        start += length or 0
    return cells
