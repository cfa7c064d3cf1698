"""ARFF in the dialects of Mulan and MEKA: dense and sparse rows, nominal, numeric and missing values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlspl.datasets import arff_rows
from mlspl.datasets.columns import NO_OPTIONS, RawTable, ReadOptions, decode
from mlspl.datasets.dataset import build_csr
from mlspl.datasets.files import is_number, read_lines
from mlspl.errors import DataFormatError, UserError, shorten

__all__ = ["Header", "quote", "read_arff", "read_header", "unquote"]

_KEYWORD = re.compile(r"@(\w+)[ \t]*")
# A quoted word with backslash escapes, or a bare word. No text matches in two ways.
_NAME = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|[^\s'\"{][^\s{]*")
_VALUE = re.compile(r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|[^\s,'\"{}%][^\s,}]*")
_FAULTS = {
    arff_rows.NO_VALUE: "a value is missing beside a separator. Write ? for an unknown value.",
    arff_rows.OPEN_QUOTE: "a quoted value is not closed on its line.",
    arff_rows.TEXT_AFTER_QUOTE: "text follows a closing quote. Within a value, write \\ before the quote.",
    arff_rows.NO_PAIR: "a sparse row needs pairs of index and value: {{index value, index value, …}}.",
    arff_rows.OUT_OF_RANGE: "a sparse index is out of range: {n} attributes are declared, so 0 … {last}.",
    arff_rows.REPEATED_INDEX: "index {detail} occurs twice in one sparse row. Remove one of them.",
    arff_rows.OPEN_BRACE: "a sparse row is not closed with }}. Is the file complete?",
    arff_rows.TEXT_AFTER_ROW: "text follows the closing }} of a sparse row. Begin a new line.",
    arff_rows.WRONG_COUNT: "{detail} values for {n} attributes. Quote values that hold blanks; ? is unknown.",
}
# Values with blanks or a comma between, and perhaps a comment.
_VALUES = re.compile(rf"\{{\s*((?:(?:{_VALUE.pattern})(?:\s*,\s*(?!\}})|\s*))*+)\}}\s*(?:%.*)?")
# MEKA's label count, in a relation such as 'Music: -C 6'.
_LABEL_COUNT = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\d)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_KINDS = {**dict.fromkeys(("numeric", "real", "integer"), "numeric"), "string": "text", "date": "date"}


@dataclass(frozen=True)
class Attribute:
    """An attribute: numeric, categorical with declared values, text or date."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """Return the kind of the values for `scan_rows`."""
        if self.kind == "numeric":
            return arff_rows.NUMERIC
        return arff_rows.BINARY if self.values == ("0", "1") else arff_rows.WORD

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
    """Read all columns of an ARFF file."""
    text = read_lines(path, options.encoding)
    header = read_header(text, path)
    attributes = header.attributes
    names = [attribute.name for attribute in attributes]
    options.check(names, path)

    def line_at(position: int) -> int:
        return text.count(b"\n", 0, header.data_start + position) + 1

    body = np.frombuffer(text, np.uint8)[header.data_start :]
    kinds = np.array([attribute.code for attribute in attributes])
    *scanned, fault, place, detail = arff_rows.scan_rows(body, kinds)
    values, columns, hard, row_start, row_stop, is_sparse = scanned
    if fault != arff_rows.FINE:
        message = _FAULTS[fault].format(detail=detail, n=len(names), last=len(names) - 1)
        raise DataFormatError(message, path, line_at(place))
    if not len(row_stop):
        raise DataFormatError("no rows follow @data. Is the file complete?", path, line_at(0) - 1)
    if is_sparse and options.kinds and not options.lenient:
        raise UserError(f"{path}: kinds of columns can be named for dense files only.")
    declared = {a.name: a.kind for a in attributes if a.kind in ("text", "date")}
    coded = [j for j, a in enumerate(attributes) if a.kind == "categorical" and a.code == arff_rows.WORD]
    texts: dict[int, str] = {}
    for number, start, stop in hard.tolist():
        attribute = attributes[columns[number]]
        word = body[start:stop].tobytes().decode()
        try:
            if attribute.name in declared:
                texts[number] = unquote(word)
            else:
                values[number] = attribute.parse(word)
        except ValueError as error:
            raise DataFormatError(str(error), path, line_at(start)) from None
    table: Any
    if is_sparse:
        # Words of text attributes are 0, because text is no sparse feature.
        table = build_csr(values, columns, row_stop, len(names))
        table.sort_indices()
        table.eliminate_zeros()
    elif not coded and not declared:
        cells = values.reshape(-1, len(names))
        table = pd.DataFrame(cells, columns=pd.Index(names, dtype=object), copy=False)
    else:
        typed: dict[str, Any] = {name: values[j :: len(names)] for j, name in enumerate(names)}
        for j in coded:
            typed[names[j]] = decode(typed[names[j]], attributes[j].values)
        for name in declared:
            words = [texts.get(number) for number in range(names.index(name), len(values), len(names))]
            typed[name] = pd.Series(words, dtype=object)
        table = pd.DataFrame(typed, copy=False)
    categories = {j: attributes[j].values for j in coded if is_sparse}
    return RawTable(
        path, table, names, lambda row: line_at(row_start[row]), header.n_labels, categories, declared
    )


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
