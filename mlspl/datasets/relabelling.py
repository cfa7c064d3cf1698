"""`relabel_file`: a copy of a file in which only the decided labels are changed."""

import json
import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mlspl._files import check_output, write_file
from mlspl._label_sets import LIST, write_set
from mlspl.datasets.arff import read_header, split_row, unquote
from mlspl.datasets.dataset import Dataset, as_dense
from mlspl.datasets.delimited import field_spans, find_delimiter, unquote_field
from mlspl.datasets.files import data_suffix, decode_text, read_bytes
from mlspl.datasets.frames import require_pyarrow
from mlspl.datasets.labels import parse_set, xml_beside
from mlspl.datasets.reading import read_dataset
from mlspl.datasets.writing import write_dataset
from mlspl.errors import UserError

Change = tuple[int, int, float]
"""Row, label and the new value: 0, 1, or NaN for unknown."""

_OPPOSITES = {"0": "1", "no": "yes", "false": "true"}
_OPPOSITES |= {yes: no for no, yes in _OPPOSITES.items()} | {"-1": "1"}
_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|$)")
_ARFF_DATA = re.compile(rb"\s*@data\b", re.IGNORECASE)


def relabel_file(
    source: str | PathLike,
    target: str | PathLike,
    dataset: Dataset,
    changes: Sequence[Change],
    *,
    force: bool = False,
    **spelling: Any,
) -> Path:
    r"""Write a copy of a file with changed labels, in the same format.

    All other cells of CSV and ARFF files stay as they are written, and so do all other lines of JSON Lines
    and all other columns of Parquet files; svmlight is written anew. The copy is read again before it takes
    its name. Its path is returned.

    Parameters
    ----------
    source, target : paths
        The file and its copy, with the same suffix. An XML beside the file that names its labels is copied.
    dataset : Dataset
        What `read_dataset` read from the file.
    changes : sequence of (row, label, value)
        Positions in Y, and the new value: 0, 1 or NaN for unknown. In a column of label sets, a single label
        cannot be unknown.
    force : bool, default=False
        Replace an existing file; the source is never replaced.
    **spelling
        `na_values`, `decimal`, `thousands` and `encoding`, as given to `read_dataset`.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl.datasets import read_dataset, relabel_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.csv"
    ...     _ = path.write_text("tempo,happy,calm\n120.0,yes,no\n64,no,yes\n")
    ...     songs = read_dataset(path, labels=["happy", "calm"])
    ...     copy = relabel_file(path, Path(folder) / "copy.csv", songs, [(0, 1, 1.0), (1, 0, float("nan"))])
    ...     print(copy.read_text())
    tempo,happy,calm
    120.0,yes,yes
    64,,yes
    <BLANKLINE>
    """
    source, target = Path(source), Path(target)
    suffix = data_suffix(source)
    if target.suffix.lower() != suffix:
        raise UserError(f"{target}: the copy of {source.name} is written as {suffix}. Use this suffix.")
    if suffix == ".xlsx":
        raise UserError(
            f"{source}: mlspl does not write .xlsx. Save the sheet as 'CSV UTF-8' and audit that file."
        )
    check_output(target, [source], force=force)
    expected = dataset.with_labels(changes)
    if suffix not in _EDITORS:
        return write_dataset(expected, target, force=force)
    editor = _EDITORS[suffix](source, spelling.get("encoding"))
    if dataset.label_column:
        _edit_sets(editor, dataset, changes)
    else:
        spellings = {j: _spell_label(editor, dataset, j) for j in {label for _, label, _ in changes}}
        for row, label, value in changes:
            cell = editor.unknown if value != value else spellings[label][int(value)]
            editor.put(row, dataset.label_names[label], cell)
    content = editor.content()
    _verify(content, suffix, expected, source, **spelling)
    xml = xml_beside(source)
    if xml and not target.with_suffix(".xml").exists():
        write_file(target.with_suffix(".xml"), xml.read_bytes())
    return write_file(target, content)


def _spell_label(editor: Any, dataset: Dataset, label: int) -> tuple[Any, Any]:
    """Return how the file writes 0 and 1 of a label: as in other rows, or the opposite of what they say."""
    cells = editor.cells(dataset.label_names[label])
    given = as_dense(dataset.Y[:, [label]])[:, 0]
    absent, present = (next((cells[row] for row in np.flatnonzero(given == value)), None) for value in (0, 1))
    if absent is None and present is None:
        return ("0", "1") if isinstance(editor.unknown, str) else (0, 1)
    return _opposite(present) if absent is None else absent, _opposite(absent) if present is None else present


def _opposite(cell: Any) -> Any:
    if not isinstance(cell, str):
        return type(cell)(cell != 1)
    word = cell.strip()
    if word.lower() not in _OPPOSITES:
        return str(int(not float(word)))
    turned = _OPPOSITES[word.lower()]
    return turned.upper() if word.isupper() else turned.capitalize() if word.istitle() else turned


def _edit_sets(editor: Any, dataset: Dataset, changes: Sequence[Change]) -> None:
    """Add labels to and remove labels from the label sets of the changed rows."""
    if any(value != value for _, _, value in changes):
        raise UserError(
            f"column {dataset.label_column!r} holds label sets, in which a single label cannot be unknown."
        )
    cells = editor.cells(dataset.label_column)
    for row, label, value in changes:
        name, cell = dataset.label_names[label], cells[row]
        names = parse_set(() if cell is None else cell, dataset.label_joint)
        names = [*names, name] if value else [other for other in names if other != name]
        cells[row] = write_set(names, dataset.label_joint) if isinstance(cell, str) else names
        editor.put(row, dataset.label_column, cells[row])


def _verify(content: bytes, suffix: str, expected: Dataset, source: Path, **options: Any) -> None:
    """Raise an error if the labels of the copy are not the expected ones."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # The same warnings were given when the source was read.
        warnings.simplefilter("ignore")
        copy = Path(folder) / f"copy{suffix}"
        write_file(copy, content)
        columns = [expected.label_column] if expected.label_column else expected.label_names
        joint = expected.label_joint
        label_sep = None if joint in ("", LIST) else joint.strip() or joint
        again = read_dataset(copy, columns, encode=False, label_sep=label_sep, **options)
    found = dict(zip(again.label_names, as_dense(again.Y).T, strict=True))
    absent = np.zeros(again.Y.shape[0])
    labels = np.transpose([found.pop(name, absent) for name in expected.label_names])
    if found or not np.array_equal(labels, as_dense(expected.Y), equal_nan=True):
        raise UserError(
            f"{source}: its labels cannot be changed cell by cell. Convert it with `mlspl datasets convert`, "
            "and audit the converted file."
        )


class _TextEditor:
    """Bytes, the lines of the rows in them, and the replacements: (start, stop) to the new bytes.

    All editors have `cells(name)`, a column as it is written; `put(row, name, cell)`; `content()`, the
    changed file; and `unknown`, the cell of an unknown label.
    """

    def __init__(self, path: Path, encoding: str | None):
        self.encoding = encoding or "utf-8"
        self.text = read_bytes(path)
        if encoding is not None:
            self.text = decode_text(self.text, encoding, path)
        self.start = len(_BOM) if self.text.startswith(_BOM) else 0
        self.rows = [line.span(1) for line in _LINE.finditer(self.text, self.start) if line[1].strip()]
        self.replaced: dict[tuple[int, int], bytes] = {}

    def line(self, row: int) -> bytes:
        return self.replaced.get(self.rows[row], self.text[slice(*self.rows[row])])

    def content(self) -> bytes:
        parts, last = [], 0
        for (start, stop), new in sorted(self.replaced.items()):
            parts += [self.text[last:start], new]
            last = stop
        content = b"".join([*parts, self.text[last:]])
        return content if self.encoding == "utf-8" else content.decode().encode(self.encoding)


class _CsvEditor(_TextEditor):
    unknown = ""

    def __init__(self, path: Path, encoding: str | None):
        super().__init__(path, encoding)
        text = self.text.decode()
        head = re.sub(r'"[^"]*"', "", text[self.start :]).lstrip("\r\n").partition("\n")[0]
        delimiter, is_announced = find_delimiter(head, path)
        self.delimiter = delimiter.encode()
        self.records = list(field_spans(self.text, self.delimiter, self.start))
        del self.records[: int(is_announced)]
        self.names = [self._read(span).strip() for span in self.records.pop(0)]

    def _read(self, span: tuple[int, int]) -> str:
        return unquote_field(self.text[slice(*span)].decode())

    def cells(self, name: str) -> list[str]:
        j = self.names.index(name)
        return [self._read(record[j]) for record in self.records]

    def put(self, row: int, name: str, cell: str) -> None:
        new = cell.encode()
        if re.search(rb'["\r\n]|' + re.escape(self.delimiter), new):
            new = b'"' + new.replace(b'"', b'""') + b'"'
        self.replaced[self.records[row][self.names.index(name)]] = new


class _ArffEditor(_TextEditor):
    unknown = "?"

    def __init__(self, path: Path, encoding: str | None):
        super().__init__(path, encoding)
        text = self.text[self.start :].replace(b"\r\n", b"\n").replace(b"\r", b"\n") + b"\n"
        attributes = read_header(text, path).attributes
        self.names = [attribute.name for attribute in attributes]
        self.zeros = [attribute.values[0] if attribute.values else "0" for attribute in attributes]
        first = next(row for row in range(len(self.rows)) if _ARFF_DATA.match(self.line(row)))
        self.rows = [span for span in self.rows[first + 1 :] if self.text[slice(*span)].lstrip()[:1] != b"%"]

    def _values(self, row: int) -> dict[int, bytes]:
        line = self.line(row)
        spans = split_row(line, len(self.names)) or {}
        return {j: line[slice(*span)] for j, span in spans.items()}

    def cells(self, name: str) -> list[str]:
        j = self.names.index(name)
        words = (self._values(row).get(j) for row in range(len(self.rows)))
        return [self.zeros[j] if word is None else unquote(word.decode()) for word in words]

    def put(self, row: int, name: str, cell: str) -> None:
        j, line = self.names.index(name), self.line(row)
        if line.lstrip()[:1] != b"{":
            start, stop = (split_row(line, len(self.names)) or {})[j]
            self.replaced[self.rows[row]] = line[:start] + cell.encode() + line[stop:]
            return
        values = self._values(row) | {j: cell.encode()}
        if cell == self.zeros[j]:  # which sparse rows leave out
            del values[j]
        pairs = b",".join(b"%d %s" % (i, values[i]) for i in sorted(values))
        self.replaced[self.rows[row]] = b"{" + pairs + line[line.rindex(b"}") :]


class _JsonLinesEditor(_TextEditor):
    unknown = None

    def cells(self, name: str) -> list[Any]:
        return [json.loads(self.line(row)).get(name) for row in range(len(self.rows))]

    def put(self, row: int, name: str, cell: Any) -> None:
        values = json.loads(self.line(row)) | {name: cell}
        self.replaced[self.rows[row]] = json.dumps(values, ensure_ascii=False).encode()


class _ParquetEditor:
    unknown = None

    def __init__(self, path: Path, encoding: str | None):
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
            position = table.schema.get_field_index(name)
            kind = table.schema.field(position).type
            # pandas has missing numbers, but no missing booleans.
            if pyarrow.types.is_boolean(kind) and None in cells:
                kind = pyarrow.int8()
                cells = [None if cell is None else int(cell) for cell in cells]
            table = table.set_column(position, pyarrow.field(name, kind), pyarrow.array(cells, kind))
        stream = pyarrow.BufferOutputStream()
        require_pyarrow().write_table(table, stream)
        return stream.getvalue().to_pybytes()


_EDITORS: dict[str, Callable[[Path, str | None], Any]] = {
    ".csv": _CsvEditor,
    ".tsv": _CsvEditor,
    ".arff": _ArffEditor,
    ".jsonl": _JsonLinesEditor,
    ".parquet": _ParquetEditor,
}
