"""ARFF in the dialects of Mulan and MEKA: dense and sparse rows, nominal, numeric and missing values."""

from pathlib import Path

import numpy as np
from scipy import sparse

from mlspl.datasets import lexer
from mlspl.datasets.arff_header import Header, read_header, unquote
from mlspl.datasets.arff_rows import BINARY, IGNORED, NOMINAL, NUMERIC, scan_arff
from mlspl.datasets.errors import DataFormatError
from mlspl.datasets.source import parse_number, read_lines
from mlspl.datasets.table import Column, Table

__all__ = ["read_arff"]

_KINDS = {"numeric": NUMERIC, "nominal": NOMINAL, "text": IGNORED}
_BINARY_VALUES = ("0", "1")

_FAULTS = {
    lexer.EMPTY_VALUE: "a value is missing between separators. Write ? for an unknown value.",
    lexer.UNCLOSED_QUOTE: "a quoted value is not closed on its line.",
    lexer.TEXT_AFTER_QUOTE: "text follows a closing quote. Within a value, write \\ before the quote.",
    lexer.BAD_INDEX: "no index and value where a sparse row needs them: {{index value, index value, …}}.",
    lexer.OUT_OF_RANGE: "a sparse index is out of range: {n} attributes are declared, so 0 … {last}.",
    lexer.REPEATED_INDEX: "index {detail} stands twice in one sparse row. Remove one of them.",
    lexer.UNCLOSED_BRACE: "a sparse row is not closed with }}. Was the file cut off?",
    lexer.TEXT_AFTER_ROW: "text follows the closing }} of a sparse row. Begin a new line.",
    lexer.WRONG_COUNT: "{detail} values for {n} attributes. Quote values that hold blanks; ? is unknown.",
}


def read_arff(path: Path) -> Table:
    """Read all columns of an ARFF file; ``Table.to_dataset`` tells features from labels."""
    text = read_lines(path)
    header = read_header(text, path)
    rows = text[header.data_start :] + b"\n"
    buffer = np.frombuffer(rows, np.uint8)
    fault, place, detail, values, columns, row_stop, row_start, hard, any_sparse = scan_arff(
        buffer, *_scanner_tables(header.columns)
    )
    n_columns = len(header.columns)
    if fault != lexer.FINE:
        message = _FAULTS[fault].format(detail=detail, n=n_columns, last=n_columns - 1)
        raise DataFormatError(message, path, _line(rows, place, header))
    if not len(row_stop):
        raise DataFormatError("no rows follow @data. Was the file cut off?", path, header.data_line - 1)
    _read_hard_values(hard, rows, values, columns, header, path)
    if any_sparse:
        indptr = np.concatenate([[0], row_stop])
        cells = sparse.csr_array((values, columns, indptr), shape=(len(row_stop), n_columns))
        cells.sort_indices()
        cells.eliminate_zeros()
    else:
        cells = values.reshape(-1, n_columns)
    lines = header.data_line + np.searchsorted(np.flatnonzero(buffer == lexer.NEWLINE), row_start)
    return Table(path, header.columns, cells, lines, header.counted)


def _scanner_tables(columns: list[Column]) -> tuple[np.ndarray, ...]:
    """Kinds and declared values of the columns, as `scan_arff` takes them."""
    kinds, words, codes, first_word = [], [], [], [0]
    for column in columns:
        if column.values == _BINARY_VALUES:
            kinds.append(BINARY)
        else:
            kinds.append(_KINDS[column.kind])
            spelled = [value.encode() for value in column.values]
            order = sorted(range(len(spelled)), key=spelled.__getitem__)
            words += [spelled[code] for code in order]
            codes += order
        first_word.append(len(words))
    return (
        np.array(kinds, np.int8),
        np.frombuffer(b"".join(words), np.uint8),
        np.cumsum([0, *map(len, words)], dtype=np.int64),
        np.array(first_word, np.int64),
        np.array(codes, np.int64),
    )


def _read_hard_values(
    hard: np.ndarray, rows: bytes, values: np.ndarray, columns: np.ndarray, header: Header, path: Path
) -> None:
    """Read what the scanner left: quoted values, long or extreme numbers; or say why one cannot be read."""
    codes: dict[int, dict[str, int]] = {}
    for number, start, stop in hard.tolist():
        j = int(columns[number])
        column = header.columns[j]
        word = unquote(rows[start:stop].decode())
        if column.kind == "numeric":
            try:
                values[number] = parse_number(word)
            except ValueError:
                message = f"attribute {column.name!r} is numeric, {word!r} is no finite number. Unknown is ?."
                raise DataFormatError(message, path, _line(rows, start, header)) from None
        else:
            if j not in codes:
                codes[j] = {value: code for code, value in enumerate(column.values)}
            if word not in codes[j]:
                message = (
                    f"attribute {column.name!r} has no value {word!r}; declared are {column.shown_values}."
                )
                raise DataFormatError(message, path, _line(rows, start, header))
            values[number] = codes[j][word]


def _line(rows: bytes, place: int, header: Header) -> int:
    return header.data_line + rows.count(b"\n", 0, place)
