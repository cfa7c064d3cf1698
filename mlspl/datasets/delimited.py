"""CSV files: pandas parses them; a second look finds the line of a mistake."""

import csv
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from mlspl.datasets.columns import INDEX, NO_OPTIONS, RawTable, ReadOptions, check_names, parse_dates
from mlspl.datasets.files import data_suffix, is_number, read_lines
from mlspl.datasets.labels import label_set_columns
from mlspl.errors import DataFormatError, shorten

DELIMITERS = ",;\t|"
EXACT: dict = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)
"""Options with which pandas reads numbers to the last bit, as it does by default since version 3.1."""

# Excel reads this line before the header.
_EXCEL = re.compile(r"sep=([,;\t|])", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL = re.compile(r"[+-]?\d+[.,]\d+")
_SAMPLE = 2**16
_NO_HEADER = "the first line holds {}, but should hold the names of the columns. Write a header."
_OPEN_QUOTE = "this is not a CSV file: a quote is not closed. Close all quotes."


def read_csv(path: Path, options: ReadOptions = NO_OPTIONS) -> RawTable:
    """Read a CSV file with a header; a line ``sep=;`` before it names the delimiter."""
    text = read_lines(path, options.encoding)
    start, stop = _find_header(text, path)
    delimiter, is_announced = find_delimiter(text[start:stop].decode(), path)
    if is_announced:
        start, stop = _find_header(text, path, stop)
    line = text.count(b"\n", 0, start) + 1
    names = [name.strip() for name in next(read_fields(text[start:stop], delimiter))[0]]
    names[0] = names[0] or INDEX
    _check_header(names, path, line)
    options.check(names, path)
    body = text[stop:]
    first_line = text.count(b"\n", 0, stop) + 1
    raw = {*label_set_columns(names, options.labels, path)}
    raw |= {name for name in names if options.kinds.get(name, "numeric") != "numeric"}
    na_values = ["", *options.missing]
    # pandas would read 31.12.2024 as a number, so `parse_words` reads numbers with points between thousands.
    has_points = options.thousands == "."
    has_commas = has_points or _has_decimal_commas(body[:_SAMPLE], delimiter)
    try:
        with warnings.catch_warnings():
            # Given for rows of too many fields.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(
                io.BytesIO(body),
                sep=delimiter,
                header=None,
                names=names,
                index_col=False,
                dtype=dict.fromkeys(raw, str),
                na_values={name: na_values for name in names if name not in raw} if raw else na_values,
                keep_default_na=False,
                decimal=options.decimal or ("," if has_commas else "."),
                thousands=None if has_points else options.thousands,
                low_memory=False,
                **EXACT,
            )
        error: Exception | None = None
    except (pd.errors.ParserWarning, ValueError) as caught:
        error = caught
    if isinstance(error, pd.errors.EmptyDataError) or (error is None and not len(frame)):
        raise DataFormatError("no rows follow the header. Is the file complete?", path, line)
    if error is not None or _has_short_rows(frame, body, delimiter):
        _refuse_unequal_rows(body, delimiter, len(names), path, first_line)
    if error is not None:
        raise DataFormatError(f"this is not a CSV file ({shorten(str(error))}).", path, line)
    if _is_row(frame):
        raise DataFormatError(_NO_HEADER.format("values like those below it"), path, line)

    def line_of(row: int) -> int:
        records = read_fields(body, delimiter)
        place = next(place for number, (_, place) in enumerate(records) if number == row)
        return first_line + body.count(b"\n", 0, place)

    return RawTable(path, frame, names, options, line_of)


def find_delimiter(head: str, path: Path) -> tuple[str, bool]:
    """Return the delimiter of a CSV file by its first line, and whether this line only announces it."""
    if announced := _EXCEL.fullmatch(head.strip("\r\n")):
        return announced[1], True
    head = _QUOTED.sub("", head)
    is_tabbed = data_suffix(path) == ".tsv" and "\t" in head
    return "\t" if is_tabbed else max(DELIMITERS, key=head.count), False


def read_fields(text: bytes, delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Yield the fields of each record that is not blank, and the position where the record starts."""
    for record in field_spans(text, delimiter.encode()):
        cells = [text[start:stop].decode() for start, stop in record]
        yield [unquote_field(cell) for cell in cells], record[0][0]


def unquote_field(cell: str) -> str:
    return cell[1:].rpartition('"')[0].replace('""', '"') if cell.startswith('"') else cell


def field_spans(text: bytes, delimiter: bytes, start: int = 0) -> Iterator[list[tuple[int, int]]]:
    """Yield where the fields of each record that is not blank start and stop."""
    rest = rb"[^\r\n" + re.escape(delimiter) + rb"]*+"
    field = re.compile(rb'("[^"]*+(?:""[^"]*+)*+"' + rest + rb"|" + rest + rb")(\r\n|\r|\n|.?)", re.DOTALL)
    record: list[tuple[int, int]] = []
    while start < len(text):
        match = field.match(text, start)
        assert match is not None
        record.append(match.span(1))
        start = match.end()
        if match[2] == delimiter and start == len(text):
            record.append((start, start))
        elif match[2] == delimiter:
            continue
        if len(record) > 1 or match[1].strip():
            yield record
        record = []


def _has_short_rows(frame: pd.DataFrame, body: bytes, delimiter: str) -> bool:
    """Return whether some rows have too few fields, which pandas leaves empty."""
    last = frame.iloc[:, -1].to_numpy(dtype=object)
    if not (pd.isna(last) | (last == "")).any():
        return False
    records = csv.reader(io.StringIO(body.decode(), newline=""), delimiter=delimiter)
    try:
        return not all(len(record) in (0, frame.shape[1]) for record in records)
    except csv.Error:
        return True


def _refuse_unequal_rows(body: bytes, delimiter: str, n_columns: int, path: Path, first_line: int) -> None:
    for record in field_spans(body, delimiter.encode()):
        message = ""
        if any(body[a:b].startswith(b'"') and b'"' not in body[a + 1 : b] for a, b in record):
            message = _OPEN_QUOTE
        elif len(record) != n_columns:
            message = f"{len(record)} values under {n_columns} names. Quote values that hold a {delimiter!r}."
        if message:
            raise DataFormatError(message, path, first_line + body.count(b"\n", 0, record[0][0]))


def _find_header(text: bytes, path: Path, start: int = 0) -> tuple[int, int]:
    """Return start and stop of the next line that is not blank; quotes may hold line ends."""
    while text[start : start + 1] == b"\n":
        start += 1
    if start == len(text):
        raise DataFormatError("no header follows. Is the file complete?", path, text.count(b"\n"))
    stop = start
    while True:
        stop = text.find(b"\n", stop) + 1
        if stop == 0:
            raise DataFormatError(_OPEN_QUOTE, path, text.count(b"\n", 0, start) + 1)
        if text.count(b'"', start, stop) % 2 == 0:
            return start, stop


def _check_header(names: list[str], path: Path, line: int) -> None:
    """Refuse a header that is a row of numbers; 0, 1, 2, … are names that pandas gives."""
    given = [name for name in names if name]
    numbers = list(map(float, given)) if all(map(is_number, given)) else []
    if numbers and numbers not in (list(range(len(names))), list(range(1, len(names) + 1))):
        raise DataFormatError(_NO_HEADER.format("numbers"), path, line)
    check_names(names, path, line)


def _is_row(frame: pd.DataFrame) -> bool:
    """Return whether the names are a row: a date above dates, or decimals beside a word that occurs below."""
    words = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name].dtype)]
    for name in words:
        if (
            parse_dates([name]) is not None
            and parse_dates(frame[name].dropna().iloc[:1].tolist()) is not None
        ):
            return True
    has_decimals = any(_DECIMAL.fullmatch(name) for name in frame.columns if name not in words)
    return has_decimals and any((frame[name] == name).any() for name in words)


def _has_decimal_commas(sample: bytes, delimiter: str) -> bool:
    """Return whether numbers have decimal commas and none has a point; not if the comma delimits."""
    if delimiter == ",":
        return False
    ends = rb"[" + re.escape(delimiter.encode()) + rb'\n" ]'
    found = {
        point: re.search(ends + rb"[+-]?\d+" + re.escape(point) + rb"\d+(?=" + ends + rb")", b"\n" + sample)
        for point in (b",", b".")
    }
    return found[b","] is not None and found[b"."] is None
