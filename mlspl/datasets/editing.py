"""Files whose cells can be changed one by one: everything else stays as it was written."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from mlspl.datasets.arff import read_arff
from mlspl.datasets.compression import read_bytes
from mlspl.datasets.dataset import as_dense
from mlspl.datasets.delimited import find_delimiter
from mlspl.datasets.parquet import require_pyarrow
from mlspl.datasets.words import Words

__all__ = ["EDITORS", "Editor"]

_ARFF_FIELD = re.compile(r"""(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,'"])*""")


class Editor(Protocol):
    """A file in memory. `unknown` is how it says that nothing is known."""

    unknown: Any

    def cells(self, name: str) -> list[Any]:
        """The column of that name, as it is written."""

    def put(self, row: int, name: str, cell: Any) -> None:
        """Change a cell."""

    def content(self) -> bytes:
        """The file."""


class CsvFile:
    """CSV; rows that are not changed stay as they are, byte by byte."""

    unknown = ""

    def __init__(self, path: Path):
        text = read_bytes(path).decode("utf-8-sig")
        self.lines = list(io.StringIO(text, newline=""))
        head = re.sub(r'"[^"]*"', "", text).lstrip("\r\n").partition("\n")[0]
        self.delimiter, is_said = find_delimiter(head, path)
        reader = csv.reader(iter(self.lines), delimiter=self.delimiter, strict=True)
        # Each record with its first line and the one after its last.
        self.records: list[tuple[list[str], int, int]] = []
        start = 0
        for record in reader:
            if record:
                self.records.append((record, start, reader.line_num))
            start = reader.line_num
        if is_said:
            del self.records[0]
        self.names = [name.strip() for name in self.records.pop(0)[0]]

    def cells(self, name: str) -> list[str]:
        j = self.names.index(name)
        return [record[j] for record, _, _ in self.records]

    def put(self, row: int, name: str, cell: str) -> None:
        record, start, stop = self.records[row]
        record[self.names.index(name)] = cell
        line = self.lines[stop - 1] or self.lines[start]
        end = line[len(line.rstrip("\r\n")) :]
        stream = io.StringIO()
        csv.writer(stream, delimiter=self.delimiter, lineterminator=end).writerow(record)
        self.lines[start:stop] = [stream.getvalue(), *[""] * (stop - start - 1)]

    def content(self) -> bytes:
        return "".join(self.lines).encode()


class ArffFile:
    """ARFF, dense or sparse, a line a row; comments and everything else stay."""

    unknown = "?"

    def __init__(self, path: Path):
        self.table = read_arff(path)
        self.names = [column.name for column in self.table.columns]
        self.lines = list(io.StringIO(read_bytes(path).decode("utf-8-sig"), newline=""))

    def cells(self, name: str) -> list[str | None]:
        j = self.names.index(name)
        words = Words.of_column(self.table.columns[j], as_dense(self.table.cells[:, [j]])[:, 0])
        return [words.values[code] for code in words.codes.tolist()]

    def put(self, row: int, name: str, cell: str) -> None:
        j = self.names.index(name)
        at = self.table.line_of(row) - 1  # type: ignore[misc]
        if not self.lines[at].lstrip().startswith("{"):
            self.lines[at] = _put_dense(self.lines[at], j, cell)
            return
        # A sparse row leaves out zeros, which is the first of the declared values.
        is_zero = cell == (self.table.columns[j].values or ("0",))[0]
        self.lines[at] = _put_sparse(self.lines[at], j, None if is_zero else cell)

    def content(self) -> bytes:
        return "".join(self.lines).encode()


def _put_dense(line: str, j: int, cell: str) -> str:
    body = line.rstrip("\r\n")
    fields, start = [], 0
    while start <= len(body):
        field = _ARFF_FIELD.match(body, start).group()  # type: ignore[union-attr]
        fields.append(field)
        start += len(field) + 1
    old = fields[j].strip()
    fields[j] = fields[j].replace(old, cell) if old else cell
    return ",".join(fields) + line[len(body) :]


def _put_sparse(line: str, j: int, cell: str | None) -> str:
    start, stop = line.index("{") + 1, line.rindex("}")
    entries = [entry for entry in _ARFF_FIELD.findall(line[start:stop]) if entry.strip()]
    found = {int(entry.split(None, 1)[0]): entry for entry in entries}
    found.pop(j, None)
    if cell is not None:
        found[j] = f"{j} {cell}"
    return line[:start] + ",".join(found[i] for i in sorted(found)) + line[stop:]


class JsonLinesFile:
    """JSON Lines; lines that are not changed stay as they are."""

    unknown = None

    def __init__(self, path: Path):
        self.lines = read_bytes(path).decode("utf-8-sig").split("\n")
        self.places = [i for i, line in enumerate(self.lines) if line.strip()]

    def cells(self, name: str) -> list[Any]:
        return [json.loads(self.lines[place]).get(name) for place in self.places]

    def put(self, row: int, name: str, cell: Any) -> None:
        place = self.places[row]
        changed = json.loads(self.lines[place]) | {name: cell}
        end = "\r" if self.lines[place].endswith("\r") else ""
        self.lines[place] = json.dumps(changed, ensure_ascii=False) + end

    def content(self) -> bytes:
        return "\n".join(self.lines).encode()


class ParquetFile:
    """Parquet; other columns, types and metadata stay."""

    unknown = None

    def __init__(self, path: Path):
        self.table = require_pyarrow().read_table(path)
        self.changed: dict[str, list[Any]] = {}

    def cells(self, name: str) -> list[Any]:
        return self.table.column(name).to_pylist()

    def put(self, row: int, name: str, cell: Any) -> None:
        self.changed.setdefault(name, self.cells(name))[row] = cell

    def content(self) -> bytes:
        import pyarrow

        table = self.table
        for name, cells in self.changed.items():
            at = table.schema.get_field_index(name)
            kind = table.schema.field(at).type
            # pandas has no missing booleans, but missing numbers.
            if pyarrow.types.is_boolean(kind) and None in cells:
                kind = pyarrow.int8()
                cells = [None if cell is None else int(cell) for cell in cells]
            table = table.set_column(at, pyarrow.field(name, kind), pyarrow.array(cells, kind))
        stream = pyarrow.BufferOutputStream()
        require_pyarrow().write_table(table, stream)
        return stream.getvalue().to_pybytes()


EDITORS: dict[str, Callable[[Path], Editor]] = {
    ".csv": CsvFile,
    ".tsv": CsvFile,
    ".arff": ArffFile,
    ".jsonl": JsonLinesFile,
    ".parquet": ParquetFile,
}
"""Which formats can be changed, by their suffix."""
