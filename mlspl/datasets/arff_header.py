"""The header of an ARFF file: relation, attributes, and where the data start."""

import re
from dataclasses import dataclass
from pathlib import Path

from mlspl.datasets.column import Column
from mlspl.datasets.source import shorten
from mlspl.errors import DataFormatError

__all__ = ["Header", "quote", "read_header", "unquote"]

_KEYWORD = re.compile(r"@(\w+)[ \t]*")
# A quoted word with backslash escapes, or a bare one; no text matches in two ways, so no search explodes.
_NAME = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"{][^\s{]*")
_VALUE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s,'\"{}][^\s,}]*")
_SEPARATOR = re.compile(r"[ \t]*(,?)[ \t]*")
_LABEL_COUNT = re.compile(r"(?:^|[\s:])-C\s+(-?\d{1,9})(?!\d)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC = {"numeric", "real", "integer"}


@dataclass(frozen=True)
class Header:
    """The columns, MEKA's label count if there is one, and the byte where the data start."""

    columns: list[Column]
    counted: int | None
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
    columns: list[Column] = []
    declarations: dict[str, tuple[str, ...]] = {}
    lines: dict[str, int] = {}
    counted = None
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
            if not columns:
                raise DataFormatError("no @attribute stands before @data.", path, line)
            return Header(columns, counted, start)
        if word == "relation":
            counted = _label_count(rest)
        elif word == "attribute":
            column = _attribute(rest, declarations, path, line)
            if column.name in lines:
                message = (
                    f"attribute {column.name!r} stands on line {lines[column.name]} too. Rename one of them."
                )
                raise DataFormatError(message, path, line)
            lines[column.name] = line
            columns.append(column)
        else:
            message = f"{shorten(content)!r} where @relation, @attribute or @data is expected."
            raise DataFormatError(message, path, line)
    if not columns:
        raise DataFormatError("no @attribute and no @data: this is no ARFF file.", path, line)
    raise DataFormatError("the file ends before @data. Was it cut off?", path, line)


def _label_count(relation: str) -> int | None:
    """MEKA's ``-C n`` in a relation name such as ``'Music: -C 6'``."""
    match = _LABEL_COUNT.search(unquote(relation.strip(" \t")))
    return int(match[1]) if match else None


def _attribute(text: str, declarations: dict[str, tuple[str, ...]], path: Path, line: int) -> Column:
    """Read what follows ``@attribute``; `declarations` remembers value lists, most of which are ``{0,1}``."""
    name = _NAME.match(text)
    if not name:
        raise DataFormatError(f"@attribute without a readable name: {shorten(text)!r}.", path, line)
    rest = text[name.end() :].lstrip(" \t")
    title = unquote(name[0])
    if rest[:1] == "{":
        if rest not in declarations:
            declarations[rest] = _nominal_values(rest, title, path, line)
        return Column(title, "categorical", declarations[rest], line)
    kind, _, after = rest.partition("%")[0].strip(" \t").partition(" ")
    kind = kind.partition("\t")[0].lower()
    if kind in _NUMERIC and not after.strip(" \t"):
        return Column(title, "numeric", (), line)
    if kind in ("string", "date"):
        return Column(title, "text" if kind == "string" else "date", (), line)
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
