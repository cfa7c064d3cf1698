"""ARFF in the dialects of Mulan and MEKA: dense and sparse rows, nominal, numeric and missing values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl.datasets.arff_rows import BINARY, NUMERIC, WORD, scan_rows
from mlspl.datasets.columns import NO_OPTIONS, RawTable, ReadOptions
from mlspl.datasets.dataset import build_csr
from mlspl.datasets.files import parse_number, read_lines
from mlspl.errors import DataFormatError, UserError, shorten

__all__ = ["Header", "quote", "read_arff", "read_header", "unquote"]

_KEYWORD = re.compile(r"@(\w+)[ \t]*")
# A quoted word with backslash escapes, or a bare word. No text matches in two ways.
_NAME = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|[^\s'\"{][^\s{]*")
_VALUE = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|[^\s,'\"{}%][^\s,}]*")
_DENSE_VALUE = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|[^\s,'\"%][^\s,]*")
_SEPARATOR = re.compile(r"[ \t]*(,?)[ \t]*")
_LABEL_COUNT = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\d)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC = {"numeric", "real", "integer"}
_BINARY = ("0", "1")


def read_arff(path: Path, options: ReadOptions = NO_OPTIONS) -> RawTable:
    """Read all columns of an ARFF file."""
    text = read_lines(path, options.encoding)
    header = read_header(text, path)
    attributes = header.attributes
    names = [attribute.name for attribute in attributes]
    options.check(names, path)
    body = text[header.data_start :]
    first_line = text.count(b"\n", 0, header.data_start) + 1

    def line_at(position: int) -> int:
        return first_line + body.count(b"\n", 0, position)

    kinds = np.array([attribute.code for attribute in attributes])
    rows = ScannedRows(*scan_rows(np.frombuffer(body, np.uint8), kinds))
    if not rows.is_sound:
        _refuse_row(body, header, path, first_line)
    if not len(rows.stops):
        raise DataFormatError("no rows follow @data. Is the file complete?", path, first_line - 1)
    if rows.is_sparse and options.kinds and not options.lenient:
        raise UserError(f"{path}: kinds of columns can be named for dense files only.")
    texts: dict[int, dict[int, str]] = {}
    for place, start, stop in rows.words.tolist():
        attribute = attributes[rows.columns[place]]
        word = body[start:stop].decode()
        if attribute.kind not in ("text", "date"):
            rows.values[place] = _parse_value(word, attribute, path, line_at, start)
        elif word != "?":
            texts.setdefault(int(rows.columns[place]), {})[place] = unquote(word)
    table = _build_sparse(rows, len(names)) if rows.is_sparse else _build_dense(rows, header, texts)
    categories = {
        j: attribute.values
        for j, attribute in enumerate(attributes)
        if rows.is_sparse and attribute.kind == "categorical" and attribute.code == WORD
    }
    declared = {a.name: a.kind for a in attributes if a.kind in ("text", "date")}
    return RawTable(
        path, table, names, lambda row: line_at(rows.starts[row]), header.n_labels, categories, declared
    )


class ScannedRows(NamedTuple):
    """What `scan_rows` returns."""

    values: np.ndarray
    columns: np.ndarray
    words: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    is_sparse: bool
    is_sound: bool


def _build_dense(rows: ScannedRows, header: Header, texts: dict[int, dict[int, str]]) -> pd.DataFrame:
    attributes = header.attributes
    values = rows.values.reshape(-1, len(attributes))
    if all(attribute.code != WORD for attribute in attributes):
        names = pd.Index([attribute.name for attribute in attributes], dtype=object)
        return pd.DataFrame(values, columns=names, copy=False)
    columns: dict[str, Any] = {}
    for j, attribute in enumerate(attributes):
        if attribute.code != WORD:
            columns[attribute.name] = values[:, j]
        elif attribute.kind == "categorical":
            codes = np.nan_to_num(values[:, j], nan=-1).astype(int)
            columns[attribute.name] = pd.Categorical.from_codes(
                codes, pd.Index(attribute.values, dtype=object)
            )
        else:
            cells = texts.get(j, {})
            words = [cells.get(place) for place in range(j, rows.values.size, len(attributes))]
            columns[attribute.name] = pd.Series(words, dtype=object)
    return pd.DataFrame(columns, copy=False)


def _build_sparse(rows: ScannedRows, n_columns: int) -> sparse.csr_array:
    """Return numbers and codes; words of text attributes are 0, because text is no sparse feature."""
    table = build_csr(rows.values, rows.columns, rows.stops, n_columns)
    table.sort_indices()
    table.eliminate_zeros()
    return table


def _refuse_row(body: bytes, header: Header, path: Path, first_line: int) -> NoReturn:
    """Raise the error about the first row with a mistake."""
    n = len(header.attributes)
    for line, text in enumerate(body.decode().split("\n"), first_line):
        if message := _find_mistake(text.strip(" \t"), n):
            raise DataFormatError(message, path, line)
    raise DataFormatError("the rows after @data are not ARFF.", path, first_line)


def _find_mistake(text: str, n: int) -> str:
    """Return what is wrong with a row of n attributes; empty if nothing is."""
    if not text or text[0] == "%":
        return ""
    is_sparse = text[0] == "{"
    pattern = _VALUE if is_sparse else _DENSE_VALUE
    words, position, comma = [], len(text) - len(text[1:].lstrip(" \t")) if is_sparse else 0, False
    while position < len(text) and text[position] != "%" and (not is_sparse or text[position] != "}"):
        match = pattern.match(text, position)
        if match is None:
            if text[position] in "'\"":
                return "a quoted value is not closed on its line."
            return "a value is missing between separators. Write ? for an unknown value."
        after = text[match.end() : match.end() + 1]
        if match[0][0] in "'\"" and after and after not in " \t," and not (is_sparse and after == "}"):
            return "text follows a closing quote. Within a value, write \\ before the quote."
        words.append(match[0])
        separator = _SEPARATOR.match(text, match.end())
        comma = bool(separator[1])  # type: ignore[index]
        position = separator.end()  # type: ignore[union-attr]
    if comma:
        return "a value is missing at the end of the row. Write ? for an unknown value."
    if not is_sparse:
        if len(words) == n:
            return ""
        return f"{len(words)} values for {n} attributes. Quote values that hold blanks; ? is unknown."
    if text[position : position + 1] != "}":
        return "a sparse row is not closed with }. Is the file complete?"
    if text[position + 1 :].lstrip(" \t")[:1] not in ("", "%"):
        return "text follows the closing } of a sparse row. Begin a new line."
    if len(words) % 2 or not all(word.isascii() and word.isdecimal() for word in words[::2]):
        return "a sparse row needs pairs of index and value: {index value, index value, …}."
    seen: set[int] = set()
    for index in words[::2]:
        j = int(index) if len(index) < 10 else n
        if j >= n:
            return f"index {shorten(index)} is out of range: {n} attributes are declared, so 0 … {n - 1}."
        if j in seen:
            return f"index {j} occurs twice in one sparse row. Remove one of them."
        seen.add(j)
    return ""


def _parse_value(
    word: str, attribute: Attribute, path: Path, line_at: Callable[[int], int], start: int
) -> float:
    """Return a number or the code of a declared value; NaN for ?."""
    if word == "?":
        return np.nan
    word = unquote(word)
    name = shorten(attribute.name)
    if attribute.kind == "numeric":
        try:
            return parse_number(word)
        except ValueError:
            message = (
                f"attribute {name!r} is numeric, {shorten(word)!r} is not a finite number. Unknown is ?."
            )
            raise DataFormatError(message, path, line_at(start)) from None
    if word not in attribute.codes:
        declared = shorten("{" + ",".join(attribute.values[:20]) + "}")
        message = f"attribute {name!r} has no value {shorten(word)!r}; declared are {declared}."
        raise DataFormatError(message, path, line_at(start))
    return attribute.codes[word]


@dataclass(frozen=True)
class Attribute:
    """An attribute: numeric, categorical with declared values, text or date."""

    name: str
    kind: str
    values: tuple[str, ...]
    line: int

    @property
    def code(self) -> int:
        """Return the kind of the values for `scan_rows`."""
        return NUMERIC if self.kind == "numeric" else BINARY if self.values == _BINARY else WORD

    @cached_property
    def codes(self) -> dict[str, int]:
        """Return the position of each declared value."""
        return {value: code for code, value in enumerate(self.values)}


@dataclass(frozen=True)
class Header:
    """The attributes, MEKA's label count if there is one, and the byte where the data start."""

    attributes: list[Attribute]
    n_labels: int | None
    data_start: int


def unquote(word: str) -> str:
    """The text a word of the file stands for: escapes count only within quotes."""
    if word[:1] not in ("'", '"'):
        return word
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), word[1:-1], flags=re.DOTALL)


def quote(word: str) -> str:
    """The word as ARFF spells it: bare where that is safe, else in single quotes."""
    if re.fullmatch(r"[^\s,'\"{}%@?\\][^\s,'\"{}%\\]*", word):
        return word
    escaped = re.sub(r"['\\]", r"\\\g<0>", word)
    return "'" + escaped.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t") + "'"


def read_header(text: bytes, path: Path) -> Header:
    """Read up to and including the line ``@data``."""
    attributes: list[Attribute] = []
    declarations: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
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
        if word == "data" and (not rest or rest[0] == "%"):
            if not attributes:
                raise DataFormatError("no @attribute stands before @data.", path, line)
            return Header(attributes, n_labels, start)
        if word == "relation":
            n_labels = _label_count(rest)
        elif word == "attribute":
            attribute = _parse_attribute(rest, declarations, path, line)
            if attribute.name in lines:
                first = lines[attribute.name]
                message = f"attribute {shorten(attribute.name)!r} is on line {first}, too. Rename one."
                raise DataFormatError(message, path, line)
            lines[attribute.name] = line
            attributes.append(attribute)
        else:
            message = f"{shorten(content)!r} where @relation, @attribute or @data is expected."
            raise DataFormatError(message, path, line)
    if not attributes:
        raise DataFormatError("no @attribute and no @data: this is no ARFF file.", path, line)
    raise DataFormatError("the file ends before @data. Was it cut off?", path, line)


def _label_count(relation: str) -> int | None:
    """MEKA's ``-C n`` in a relation name such as ``'Music: -C 6'``."""
    match = _LABEL_COUNT.search(unquote(relation.strip(" \t")))
    return int(match[1]) if match else None


def _parse_attribute(text: str, declarations: dict[str, tuple[str, ...]], path: Path, line: int) -> Attribute:
    """Read what follows ``@attribute``; `declarations` remembers value lists, most of which are ``{0,1}``."""
    name = _NAME.match(text)
    if not name:
        raise DataFormatError(f"@attribute without a readable name: {shorten(text)!r}.", path, line)
    rest = text[name.end() :].lstrip(" \t")
    title = unquote(name[0])
    if rest[:1] == "{":
        if rest not in declarations:
            declarations[rest] = _nominal_values(rest, title, path, line)
        return Attribute(title, "categorical", declarations[rest], line)
    kind, _, after = rest.partition("%")[0].strip(" \t").partition(" ")
    kind = kind.partition("\t")[0].lower()
    if kind in _NUMERIC and not after.strip(" \t"):
        return Attribute(title, "numeric", (), line)
    if kind in ("string", "date"):
        return Attribute(title, "text" if kind == "string" else "date", (), line)
    readable = "numeric, real, integer, {a,b}, string and date"
    message = f"attribute {title!r} has the type {shorten(rest)!r}. mlspl reads {readable}."
    raise DataFormatError(message, path, line)


def _nominal_values(text: str, name: str, path: Path, line: int) -> tuple[str, ...]:
    """The declared values in ``{a, 'b c', d}``."""
    values: dict[str, None] = {}
    pos = len(text) - len(text[1:].lstrip(" \t"))
    comma = False
    while text[pos : pos + 1] != "}" or comma:
        word = _VALUE.match(text, pos)
        if not word:
            message = f"the values of {name!r} are not readable at {shorten(text[pos:])!r}. Write {{a,b,c}}."
            raise DataFormatError(message, path, line)
        value = unquote(word[0])
        if value in values:
            raise DataFormatError(f"value {value!r} of {name!r} is declared twice.", path, line)
        values[value] = None
        gap = _SEPARATOR.match(text, word.end())
        assert gap is not None
        comma = bool(gap[1])
        pos = gap.end()
    after = text[pos + 1 :].lstrip(" \t")
    if after and after[0] != "%":
        raise DataFormatError(f"text after the values of {name!r}: {shorten(after)!r}.", path, line)
    return tuple(values)
