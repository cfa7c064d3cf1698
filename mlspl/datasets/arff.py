"""ARFF in the dialects of Mulan and MEKA: dense and sparse rows, nominal, numeric and missing values."""

from __future__ import annotations

import io
import re
import warnings
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl.datasets.columns import NO_OPTIONS, RawTable, ReadOptions, decode, parse_dates
from mlspl.datasets.dataset import as_dense, build_csr
from mlspl.datasets.files import check_memory, is_number, read_lines
from mlspl.errors import DataFormatError, UserError, shorten

_KEYWORD = re.compile(r"@(\w+)[ \t]*")
# A quoted word with backslash escapes, or a bare word. No text matches in two ways.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_NAME = re.compile(rf"{_QUOTED}|[^\s'\"{{][^\s{{]*")
_VALUE = re.compile(rf"{_QUOTED}|[^\s,'\"{{}}%][^\s,}}]*")
# Values with blanks or a comma between, and perhaps a comment.
_VALUES = re.compile(rf"\{{\s*((?:(?:{_VALUE.pattern})(?:\s*,\s*(?!\}})|\s*))*+)\}}\s*(?:%.*)?")
# The cells of dense and of sparse rows; groups are the index, the value, and a comma behind it.
_CELL = re.compile(rf"()({_QUOTED}|[^ \t,'\"%][^ \t,]*)(?=[ \t,]|$)[ \t]*(,?)[ \t]*".encode())
_PAIR = re.compile(
    rf"(\d+)[ \t]+({_QUOTED}|[^ \t,'\"%{{}}][^ \t,}}]*)(?=[ \t,}}]|$)[ \t]*(,?)[ \t]*".encode()
)
# Sparse rows of numbers without their digits: a blank in every pair, commas between, and signs of values.
_VALUE_SIGNS = rb" (?:\?|[-+.eE]*+)"
_SIGNS = re.compile(rb"(?:\{(?:%b(?:,%b)*+)?+\}\n)++" % (_VALUE_SIGNS, _VALUE_SIGNS))
_QUOTED_CELL = re.compile(rf"(?:\d+[ \t]+)?(?:{_QUOTED})".encode())
_OPEN_QUOTE = re.compile(rb"(?:\d+[ \t]+)?['\"]")
# MEKA's label count, in a relation such as 'Music: -C 6'.
_LABEL_COUNT = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\d)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_KINDS = {**dict.fromkeys(("numeric", "real", "integer"), "numeric"), "string": "text", "date": "date"}
_BINARY = ("0", "1")
# The cells of all rows, as an array or CSR array; their lines; and texts by row and column.
_Rows = tuple[Any, Sequence[int], dict[tuple[int, int], str]]


@dataclass(frozen=True)
class Attribute:
    """An attribute: numeric, categorical with declared values, text or date."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Return whether the cells are numbers as they are written."""
        return self.kind == "numeric" or self.values == _BINARY

    @cached_property
    def codes(self) -> dict[str, int]:
        """Return the position of each declared value."""
        return {value: code for code, value in enumerate(self.values)}

    def parse(self, word: str) -> float:
        """Return a number or the code of a declared value."""
        word, name = unquote(word), shorten(self.name)
        if self.kind != "numeric":
            if word in self.codes:
                return self.codes[word]
            declared = shorten("{" + ",".join(self.values[:20]) + "}")
            raise ValueError(f"attribute {name!r} has no value {shorten(word)!r}; declared are {declared}.")
        if not is_number(word):
            message = f"attribute {name!r} is numeric, {shorten(word)!r} is not a finite number."
            raise ValueError(f"{message} Unknown is ?.")
        return float(word)


class Header(NamedTuple):
    """The attributes, MEKA's label count if there is one, and the byte where the data start."""

    attributes: list[Attribute]
    n_labels: int | None
    data_start: int


def read_arff(path: Path, options: ReadOptions = NO_OPTIONS) -> RawTable:
    """Read all columns of an ARFF file; as a CSR array if rows are sparse and all columns hold numbers."""
    text = read_lines(path, options.encoding)
    attributes, n_labels, start = read_header(text, path)
    names = [attribute.name for attribute in attributes]
    options.check(names, path)
    first_line = text.count(b"\n", 0, start) + 1
    rows = _parse_numbers(text[start:], attributes, first_line)
    table, lines, texts = rows or _parse_rows(text[start:], attributes, first_line, path)
    line_of = lines.__getitem__
    if sparse.issparse(table) and all(attribute.is_plain for attribute in attributes):
        if options.kinds and not options.lenient:
            raise UserError(f"{path}: kinds of columns can be named for dense files only.")
        table.eliminate_zeros()
        return RawTable(path, table, names, options, line_of, n_labels)
    check_memory(8.0 * table.shape[0] * len(names), path, "sparse rows of nominal values")
    frame = pd.DataFrame(as_dense(table), columns=pd.Index(names, dtype=object), copy=False)
    strings: list[str] = []
    for j, attribute in enumerate(attributes):
        if attribute.kind in ("text", "date"):
            words = [texts.get((i, j)) for i in range(len(frame))]
            frame[names[j]] = pd.Series(words, dtype=object)
            if attribute.kind == "text" or parse_dates([*filter(None, words)]) is None:
                strings.append(attribute.name)
        elif not attribute.is_plain:
            frame[names[j]] = decode(frame[names[j]].to_numpy(), attribute.values)
    kinds = {**dict.fromkeys(strings, "text"), **options.kinds}
    return RawTable(path, frame, names, replace(options, kinds=kinds), line_of, n_labels)


def _parse_numbers(body: bytes, attributes: list[Attribute], first_line: int) -> _Rows | None:
    """Read rows of plain numbers quickly; None if they hold anything else, or mistakes."""
    first_line += len(body) - len(body.lstrip(b"\n"))
    body = body.strip(b"\n")
    n_rows = body.count(b"\n") + 1
    if not body or not all(attribute.is_plain for attribute in attributes):
        return None
    cells: Any
    try:
        if body.startswith(b"{"):
            cells = _parse_pairs(body, len(attributes))
        else:
            content = io.BytesIO(body.replace(b"?", b"nan"))
            cells = np.loadtxt(content, delimiter=",", comments=None, ndmin=2)
    except (ValueError, OverflowError, DeprecationWarning):
        return None
    if cells is None or cells.shape != (n_rows, len(attributes)):
        return None
    labels = cells[:, [j for j, attribute in enumerate(attributes) if attribute.values == _BINARY]]
    numbers, bits = (part.data if sparse.issparse(part) else part for part in (cells, labels))
    if np.isinf(numbers).any() or not np.all((bits == 0) | (bits == 1) | np.isnan(bits)):
        return None
    return cells, range(first_line, first_line + n_rows), {}


def _parse_pairs(body: bytes, n_columns: int) -> sparse.csr_array | None:
    """Read sparse rows of plain numbers; None if anything is out of place."""
    body = body.replace(b", ", b",") + b"\n"
    signs = body.translate(None, b"0123456789")
    # Without a gap, each pair has at least two numbers, so their count shows that it has two.
    if not _SIGNS.fullmatch(signs) or any(gap in body for gap in (b"{ ", b", ", b" ,", b" }")):
        return None
    is_whole = not signs.translate(None, b" ,{}\n")  # integers are parsed three times as fast
    text = body.translate(bytes.maketrans(b"{},\n", b"    ")).replace(b"?", b"nan")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # of numpy before 2.3, for text that is no number
        numbers = np.fromstring(text, np.int64 if is_whole else np.float64, sep=" ")
    marks = np.frombuffer(signs, np.uint8)
    pairs, ends = (np.flatnonzero(marks == ord(sign)) for sign in " \n")
    row_stop = np.searchsorted(pairs, ends)
    columns, values = numbers[::2], numbers[1::2].astype(np.float64)
    if len(numbers) != 2 * len(pairs) or columns.max(initial=0) >= n_columns:
        return None
    if is_whole and values.max(initial=0) > 2**62:  # what does not fit becomes the largest integer
        return None
    cells = build_csr(values, columns, row_stop, n_columns)
    return cells if cells.has_canonical_format else None


def _parse_rows(body: bytes, attributes: list[Attribute], first_line: int, path: Path) -> _Rows:
    """Read rows one by one, however they are written; raise the error about the first mistake."""
    values, columns, row_stop = array("d"), array("i"), array("q")
    lines: list[int] = []
    texts: dict[tuple[int, int], str] = {}
    is_sparse = False
    for line, row in enumerate(body.split(b"\n"), first_line):
        try:
            spans = split_row(row, len(attributes))
            if spans is None:
                continue
            is_sparse = is_sparse or row.lstrip().startswith(b"{")
            for j, (start, stop) in spans.items():
                word = row[start:stop].decode()
                if attributes[j].kind in ("text", "date"):
                    if word != "?":
                        texts[len(lines), j] = unquote(word)
                    value = 0.0
                else:
                    value = np.nan if word == "?" else attributes[j].parse(word)
                values.append(value)
                columns.append(j)
        except ValueError as error:
            raise DataFormatError(str(error), path, line) from None
        row_stop.append(len(values))
        lines.append(line)
    if not lines:
        raise DataFormatError("no rows follow @data. Is the file complete?", path, first_line - 1)
    if not is_sparse:
        return np.array(values).reshape(-1, len(attributes)), lines, texts
    cells = build_csr(np.array(values), np.array(columns), np.array(row_stop), len(attributes))
    return cells, lines, texts


def split_row(row: bytes, n_columns: int) -> dict[int, tuple[int, int]] | None:
    """Return where the value of each column stands in a row; None for a blank line or a comment."""
    start = len(row) - len(row.lstrip(b" \t"))
    is_sparse = row.startswith(b"{", start)
    if row[start : start + 1] in (b"", b"%"):
        return None
    if is_sparse:
        start += 1 + len(row[start + 1 :]) - len(row[start + 1 :].lstrip(b" \t"))
    spans: dict[int, tuple[int, int]] = {}
    comma = b""
    while cell := (_PAIR if is_sparse else _CELL).match(row, start):
        number = cell[1].decode() or str(len(spans))
        if is_sparse and (len(number) > 9 or int(number) >= n_columns):
            last = n_columns - 1
            raise ValueError(
                f"a sparse index is out of range: {n_columns} attributes are declared, so 0 … {last}."
            )
        if int(number) in spans:
            raise ValueError(f"index {number} occurs twice in one sparse row. Remove one of them.")
        spans[int(number)] = cell.span(2)
        start, comma = cell.end(), cell[3]
    rest = row[start:]
    if is_sparse and b"}" not in rest:
        raise ValueError("a sparse row is not closed with }. Is the file complete?")
    if _QUOTED_CELL.match(rest):
        raise ValueError("text follows a closing quote. Within a value, write \\ before the quote.")
    if _OPEN_QUOTE.match(rest):
        raise ValueError("a quoted value is not closed on its line.")
    if comma or rest.startswith(b","):
        raise ValueError("a value is missing beside a separator. Write ? for an unknown value.")
    if is_sparse and not rest.startswith(b"}"):
        raise ValueError("a sparse row needs pairs of index and value: {index value, index value, …}.")
    if is_sparse and rest[1:].strip()[:1] not in (b"", b"%"):
        raise ValueError("text follows the closing } of a sparse row. Begin a new line.")
    if not is_sparse and len(spans) != n_columns:
        raise ValueError(
            f"{len(spans)} values for {n_columns} attributes. Quote values that hold blanks; ? is unknown."
        )
    return spans


def read_header(text: bytes, path: Path) -> Header:
    """Read up to and including the line ``@data``."""
    attributes: dict[str, Attribute] = {}
    n_labels = None
    start, line = 0, 0
    while start < len(text):
        stop = text.index(b"\n", start)
        line += 1
        content = text[start:stop].decode("utf-8").strip(" \t")
        start = stop + 1
        if not content or content[0] == "%":
            continue
        keyword = _KEYWORD.match(content)
        word = keyword[1].lower() if keyword else ""
        rest = content[keyword.end() :] if keyword else content
        try:
            if word == "data" and (not rest or rest[0] == "%"):
                if not attributes:
                    raise ValueError("no @attribute stands before @data.")
                return Header(list(attributes.values()), n_labels, start)
            if word == "relation":
                match = _LABEL_COUNT.search(unquote(rest.strip(" \t")))
                n_labels = int(match[1]) if match else None
            elif word == "attribute":
                attribute = _parse_attribute(rest)
                if attribute.name in attributes:
                    raise ValueError(f"two attributes are called {shorten(attribute.name)!r}. Rename one.")
                attributes[attribute.name] = attribute
            else:
                raise ValueError(f"{shorten(content)!r} where @relation, @attribute or @data is expected.")
        except ValueError as error:
            raise DataFormatError(str(error), path, line) from None
    if not attributes:
        raise DataFormatError("no @attribute and no @data: this is no ARFF file.", path, line)
    raise DataFormatError("the file ends before @data. Was it cut off?", path, line)


def _parse_attribute(text: str) -> Attribute:
    """Read what follows ``@attribute``."""
    match = _NAME.match(text)
    if not match:
        raise ValueError(f"@attribute without a readable name: {shorten(text)!r}.")
    rest, name = text[match.end() :].lstrip(" \t"), unquote(match[0])
    if rest[:1] == "{":
        return Attribute(name, "categorical", _parse_values(rest))
    words = rest.partition("%")[0].split() or [""]
    kind = _KINDS.get(words[0].lower())
    if kind is None or (kind == "numeric" and len(words) > 1):
        readable = "numeric, real, integer, {a,b}, string and date"
        raise ValueError(f"attribute {name!r} has the type {shorten(rest)!r}. mlspl reads {readable}.")
    return Attribute(name, kind)


@lru_cache  # most are {0,1}
def _parse_values(text: str) -> tuple[str, ...]:
    """Return the declared values in ``{a, 'b c', d}``."""
    match = _VALUES.fullmatch(text)
    if not match:
        raise ValueError(f"the values are not readable: {shorten(text)!r}. Write {{a,b,c}}.")
    values = [unquote(word) for word in _VALUE.findall(match[1])]
    if len(set(values)) < len(values):
        raise ValueError(f"a value is declared twice: {shorten(text)!r}.")
    return tuple(values)


def unquote(word: str) -> str:
    """Return the text that a word of the file stands for: escapes count only within quotes."""
    if word[:1] not in ("'", '"'):
        return word
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), word[1:-1], flags=re.DOTALL)


def quote(word: str) -> str:
    """Return a word as ARFF spells it: bare where that is safe, else in single quotes."""
    if re.fullmatch(r"[^\s,'\"{}%@?\\][^\s,'\"{}%\\]*", word):
        return word
    escaped = re.sub(r"['\\]", r"\\\g<0>", word)
    return "'" + escaped.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t") + "'"
