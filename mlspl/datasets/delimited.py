"""CSV: numbers by a compiled scanner, words by what they are, every fault with its line."""

import csv
import io
import re
from pathlib import Path

import numpy as np

from mlspl.datasets.column import Column
from mlspl.datasets.compression import data_suffix
from mlspl.datasets.csv_rows import find_fields, scan_csv
from mlspl.datasets.lexer import COMMA, DOT, FINE, TEXT_AFTER_QUOTE, UNCLOSED_QUOTE, WRONG_COUNT
from mlspl.datasets.options import PLAIN, ReadOptions
from mlspl.datasets.source import parse_number, read_lines
from mlspl.datasets.table import INDEX, Table, check_column_names
from mlspl.datasets.words import Words, read_days, read_words
from mlspl.errors import DataFormatError

__all__ = ["DELIMITERS", "find_delimiter", "read_csv"]

DELIMITERS = ",;\t|"
# What Excel looks for in front of the header.
_EXCEL = re.compile(r"sep=([,;\t|])", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL = re.compile(r"[+-]?\d+[.,]\d+")
_SAMPLE = 2**16
_TOGETHER = 8

_NO_HEADER = "the first line holds {}, where the names of the columns should stand. Write a header."
_FAULTS = {
    UNCLOSED_QUOTE: "this is no CSV: a quote is not closed. Are all quotes closed?",
    TEXT_AFTER_QUOTE: "this is no CSV: text follows a closing quote. Write a quote within a value twice.",
    WRONG_COUNT: "{detail} values under {n} names. Quote values that hold a {delimiter!r}.",
}


def read_csv(path: Path, options: ReadOptions = PLAIN) -> Table:
    """Read a CSV file with a header line; of comma, semicolon, tab and bar the one most between its names.

    A line ``sep=;`` in front of the header, as Excel has it, says which it is.

    A column of numbers is numeric; what is not is a date, text or a category, by its words. Empty fields,
    ``?`` and ``NA`` are missing values. With another separator than the comma, decimals may have a comma.
    """
    text = read_lines(path)
    start, stop = _find_header(text, path)
    delimiter, is_said = find_delimiter(text[start:stop].decode(), path)
    if is_said:
        start, stop = _find_header(text, path, stop)
    line = text.count(b"\n", 0, start) + 1
    try:
        header = io.StringIO(text[start:stop].decode(), newline="")
        names = [name.strip() for name in next(csv.reader(header, delimiter=delimiter, strict=True))]
    except csv.Error as error:
        raise DataFormatError(f"this is no CSV ({error}). Are all quotes closed?", path, line) from None
    names[0] = names[0] or INDEX
    _check_header(names, path, line)
    options.check(names, path)

    def fault(place: int, message: str) -> DataFormatError:
        return DataFormatError(message, path, text.count(b"\n", 0, stop + place) + 1)

    body = np.frombuffer(text, np.uint8)[stop:]
    point = COMMA if _has_decimal_commas(text[stop : stop + _SAMPLE], delimiter) else DOT
    code, place, detail, cells, n_words, row_start = scan_csv(body, ord(delimiter), point, len(names))
    if code != FINE:
        raise fault(place, _FAULTS[code].format(detail=detail, n=len(names), delimiter=delimiter))
    if not len(cells):
        raise DataFormatError("no rows follow the header. Was the file cut off?", path, line)

    def words_of(columns: list[int]) -> list[Words]:
        """The words of columns, in ascending order, as they were written."""
        places = find_fields(body, ord(delimiter), row_start, np.array(columns, np.int64))
        return [_decode(text, stop, of_column) for of_column in places]

    columns = [Column(name, line=line) for name in names]
    wordy = [
        j for j, name in enumerate(names) if n_words[j] or options.kinds.get(name, "numeric") != "numeric"
    ]
    for first in range(0, len(wordy), _TOGETHER):
        some = wordy[first : first + _TOGETHER]
        for j, words in zip(some, words_of(some), strict=True):
            if point == COMMA:
                words = _with_points(words)
            columns[j], cells[:, j] = read_words(
                words,
                names[j],
                options.kind_of_words(names[j]),
                options.missing,
                lambda row, message: fault(row_start[row], message),
                line,
                options.day_first.get(names[j]),
            )
    if _is_row(columns):
        raise DataFormatError(_NO_HEADER.format("values like those below it"), path, line)
    return Table(
        path,
        columns,
        cells,
        lambda row: text.count(b"\n", 0, stop + row_start[row]) + 1,
        words=lambda j: words_of([j])[0],
    )


def find_delimiter(head: str, path: Path) -> tuple[str, bool]:
    """What separates the values of a CSV file, by its first line, and whether that only says so."""
    if said := _EXCEL.fullmatch(head.strip("\r\n")):
        return said[1], True
    head = _QUOTED.sub("", head)
    is_tabbed = data_suffix(path) == ".tsv" and "\t" in head
    return "\t" if is_tabbed else max(DELIMITERS, key=head.count), False


def _find_header(text: bytes, path: Path, start: int = 0) -> tuple[int, int]:
    """First byte and last byte + 1 of the next line that is not blank; quotes may hold line ends."""
    while text[start : start + 1] == b"\n":
        start += 1
    if start == len(text):
        raise DataFormatError("no header follows. Was the file cut off?", path, text.count(b"\n"))
    stop = start
    while True:
        stop = text.find(b"\n", stop) + 1
        if stop == 0:
            raise DataFormatError(_FAULTS[UNCLOSED_QUOTE], path, text.count(b"\n", 0, start) + 1)
        if text.count(b'"', start, stop) % 2 == 0:
            return start, stop


def _check_header(names: list[str], path: Path, line: int) -> None:
    """Refuse a header that is a row of numbers; 0, 1, 2, … are names that pandas gives."""
    try:
        numbers = [parse_number(name) for name in names if name]
    except ValueError:
        numbers = []
    if numbers and numbers not in (list(range(len(names))), list(range(1, len(names) + 1))):
        raise DataFormatError(_NO_HEADER.format("numbers"), path, line)
    check_column_names(names, path, line)


def _is_row(columns: list[Column]) -> bool:
    """Whether the names are a row: a date above dates, or decimals beside a word that stands below too."""
    if any(column.kind == "date" and read_days([column.name]) is not None for column in columns):
        return True
    has_decimals = any(column.kind == "numeric" and _DECIMAL.fullmatch(column.name) for column in columns)
    return has_decimals and any(column.name in column.values for column in columns)


def _has_decimal_commas(sample: bytes, delimiter: str) -> bool:
    """Whether numbers have decimal commas and none a point; never where the comma separates."""
    if delimiter == ",":
        return False
    ends = rb"[" + re.escape(delimiter.encode()) + rb'\n" ]'
    found = {
        point: re.search(ends + rb"[+-]?\d+" + re.escape(point) + rb"\d+(?=" + ends + rb")", b"\n" + sample)
        for point in (b",", b".")
    }
    return found[b","] is not None and found[b"."] is None


def _decode(text: bytes, offset: int, places: np.ndarray) -> Words:
    """The words at these places; quotes and what they protect are taken off."""
    raw = Words.of([text[start:stop] for start, stop in (places + offset).tolist()])
    values = [
        word[1:-1].replace(b'""', b'"').decode() if word[:1] == b'"' else word.decode() for word in raw.values
    ]
    return Words(raw.codes, values)


def _with_points(words: Words) -> Words:
    """Numbers with decimal commas, spelled with points."""
    return Words(words.codes, [re.sub(r"^(\s*[+-]?\d+),(\d+\s*)$", r"\1.\2", word) for word in words.values])
