"""JSON Lines: one object a line, its keys the names of the columns."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from mlspl.datasets.column import Column
from mlspl.datasets.options import PLAIN, ReadOptions
from mlspl.datasets.source import read_lines, shorten
from mlspl.datasets.table import Table, check_column_names
from mlspl.datasets.words import Words, read_words
from mlspl.errors import DataFormatError

__all__ = ["read_json_lines"]


def read_json_lines(path: Path, options: ReadOptions = PLAIN) -> Table:
    """Read a file of JSON objects; a list of words is a set of labels, null and an absent key are missing."""
    rows, lines = [], []
    for line, text in enumerate(read_lines(path).split(b"\n"), 1):
        if text.strip():
            rows.append(_read_row(text, path, line))
            lines.append(line)
    names = list(dict.fromkeys(name for row in rows for name in row))
    check_column_names(names, path, lines[0])
    options.check(names, path)
    cells = np.empty((len(rows), len(names)))
    columns: list[Column] = []
    all_words: dict[int, Words] = {}
    for j, name in enumerate(names):
        column = [row.get(name) for row in rows]
        are_numbers = all(value is None or isinstance(value, int | float) for value in column)
        if are_numbers and options.kinds.get(name, "numeric") == "numeric":
            cells[:, j] = [np.nan if value is None else value for value in column]
            columns.append(Column(name))
            continue
        spelled = [_spell(value) for value in column]
        all_words[j] = Words.of(spelled)
        found, cells[:, j] = read_words(
            all_words[j],
            name,
            options.kind_of_words(name),
            options.missing,
            lambda row, message: DataFormatError(message, path, lines[row]),
            lines[0],
            options.day_first.get(name),
        )
        columns.append(found)
    return Table(path, columns, cells, lambda row: lines[row], words=all_words.get)


def _read_row(text: bytes, path: Path, line: int) -> dict[str, Any]:
    try:
        row = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise DataFormatError(f"this is no JSON ({error}). Write one object a line.", path, line) from None
    if not isinstance(row, dict) or not row:
        message = f'{shorten(text.decode())!r} is no object with columns, such as {{"size": 3}}.'
        raise DataFormatError(message, path, line)
    for name, value in row.items():
        is_list = isinstance(value, list) and all(isinstance(part, str | int) for part in value)
        if not is_list and not (value is None or isinstance(value, str | int | float)):
            message = (
                f"{name!r} is {shorten(json.dumps(value))}: a value is a number, a text, or a list of labels."
            )
            raise DataFormatError(message, path, line)
        if isinstance(value, float | int) and not abs(value) < 1e308:
            raise DataFormatError(f"{name!r} is {shorten(str(value))}, no finite number.", path, line)
    return row


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is no finite number; null is a missing one")


def _spell(value: Any) -> Any:
    """A cell as a word: lists as tuples, which can be told apart quickly."""
    if isinstance(value, list):
        return tuple(map(str, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str) else repr(value).removesuffix(".0")
