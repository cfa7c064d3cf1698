"""ARFF in the dialects of Mulan and MEKA: dense and sparse rows, nominal, numeric and missing values."""

from pathlib import Path

import numpy as np

from mlspl.datasets import lexer
from mlspl.datasets.arff_header import read_header, unquote
from mlspl.datasets.arff_rows import BINARY, NOMINAL, NUMERIC, WORDS, scan_arff
from mlspl.datasets.column import Column
from mlspl.datasets.dataset import csr_rows
from mlspl.datasets.options import PLAIN, ReadOptions
from mlspl.datasets.source import parse_number, read_lines, shorten
from mlspl.datasets.table import Table
from mlspl.datasets.words import Words, read_words
from mlspl.errors import DataFormatError, UserError

__all__ = ["read_arff"]

_KINDS = {"numeric": NUMERIC, "categorical": NOMINAL, "text": WORDS, "date": WORDS}
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


def read_arff(path: Path, options: ReadOptions = PLAIN) -> Table:
    """Read all columns of an ARFF file; ``Table.to_dataset`` tells features from labels."""
    text = read_lines(path)
    header = read_header(text, path)
    options.check([column.name for column in header.columns], path)

    def line_at(place: int) -> int:
        return text.count(b"\n", 0, header.data_start + place) + 1

    rows = np.frombuffer(text, np.uint8)[header.data_start :]
    fault, place, detail, values, columns, row_stop, row_start, hard, any_sparse = scan_arff(
        rows, *_scanner_tables(header.columns)
    )
    n_columns = len(header.columns)
    if fault != lexer.FINE:
        message = _FAULTS[fault].format(detail=detail, n=n_columns, last=n_columns - 1)
        raise DataFormatError(message, path, line_at(place))
    if not len(row_stop):
        raise DataFormatError("no rows follow @data. Was the file cut off?", path, line_at(0) - 1)
    codes: dict[int, dict[str, int]] = {}
    spelled: dict[int, dict[int, str]] = {
        j: {} for j, column in enumerate(header.columns) if _KINDS[column.kind] == WORDS
    }
    for number, start, stop in hard.tolist():
        word = unquote(rows[start:stop].tobytes().decode())
        if (found := spelled.get(int(columns[number]))) is not None:
            found[int(np.searchsorted(row_stop, number, side="right"))] = word
            values[number] = 0.0
            continue
        try:
            values[number] = _read_hard_value(word, int(columns[number]), header.columns, codes)
        except ValueError as error:
            raise DataFormatError(str(error), path, line_at(start)) from None
    if any_sparse:
        cells = csr_rows(values, columns, row_stop, n_columns)
        cells.sort_indices()
        cells.eliminate_zeros()
    else:
        cells = values.reshape(-1, n_columns)

    def fault_at(row: int, message: str) -> DataFormatError:
        return DataFormatError(message, path, line_at(row_start[row]))

    def words_of(j: int) -> Words | None:
        if j not in spelled:
            return None
        return Words.of([spelled[j].get(row) for row in range(len(row_stop))])

    table = list(header.columns)
    if any_sparse and options.kinds and not options.lenient:
        raise UserError(f"{path}: the kinds of columns can be said of dense files only.")
    asked = {
        j for j, column in enumerate(table) if options.kinds.get(column.name, column.kind) != column.kind
    }
    for j in sorted({*spelled} | asked) if not any_sparse else ():
        name, declared = table[j].name, table[j].kind
        words = words_of(j) or Words.of_column(table[j], cells[:, j])
        kind = options.kinds.get(name, "text" if declared == "text" else None)

        def read(
            kind: str | None, words: Words = words, column: Column = table[j]
        ) -> tuple[Column, np.ndarray]:
            day_first = options.day_first.get(column.name)
            return read_words(words, column.name, kind, options.missing, fault_at, column.line, day_first)

        table[j], cells[:, j] = read(kind)
        if declared == "date" and kind is None and table[j].kind != "date":
            table[j], cells[:, j] = read("text")
    return Table(path, table, cells, lambda row: line_at(row_start[row]), header.counted, words_of)


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


def _read_hard_value(word: str, j: int, columns: list[Column], codes: dict[int, dict[str, int]]) -> float:
    """Read what the scanner left, a quoted value or an extreme number; or say why it cannot be read."""
    column = columns[j]
    if column.kind == "numeric":
        try:
            return parse_number(word)
        except ValueError:
            raise ValueError(
                f"attribute {column.name!r} is numeric, {shorten(word)!r} is no finite number. Unknown is ?."
            ) from None
    if j not in codes:
        codes[j] = {value: code for code, value in enumerate(column.values)}
    if word not in codes[j]:
        raise ValueError(
            f"attribute {column.name!r} has no value {shorten(word)!r}; declared are {column.shown_values}."
        )
    return codes[j][word]
