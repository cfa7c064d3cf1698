"""`relabel_file`: a copy of a file in which only the decided labels are changed."""

import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mlspl._files import check_output, write_file
from mlspl._label_sets import LIST, write_set
from mlspl.datasets.arff import quote, read_header, split_row, unquote
from mlspl.datasets.dataset import Dataset, as_dense
from mlspl.datasets.delimited import field_spans, find_delimiter, unquote_field
from mlspl.datasets.files import data_suffix, decode_text, read_bytes
from mlspl.datasets.labels import parse_set, xml_beside
from mlspl.datasets.reading import read_dataset
from mlspl.datasets.writing import write_dataset
from mlspl.errors import UserError

Change = tuple[int, int, float]
"""Row, label and the new value: 0, 1, or NaN for unknown."""

_OPPOSITES = {"0": "1", "no": "yes", "false": "true"}
_OPPOSITES |= {yes: no for no, yes in _OPPOSITES.items()} | {"-1": "1"}
_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"[^\r\n]+")
_ARFF_DATA = re.compile(rb"^\s*@data\b.*?$", re.IGNORECASE | re.MULTILINE)
_SVMLIGHT = (".svm", ".svmlight", ".libsvm")


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

    All other cells of CSV and ARFF files stay as they are written; svmlight is written anew. The copy is read
    again before it takes its name. Its path is returned.

    Parameters
    ----------
    source, target, dataset
        The file, its copy with the same suffix, and what `read_dataset` read. A labels XML is copied, too.
    changes : sequence of (row, label, value)
        Positions in Y, and the new value: 0, 1 or NaN for unknown, which label sets cannot hold.
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
    if suffix not in _SHEETS and suffix not in _SVMLIGHT:
        raise UserError(
            f"{source}: labels can be changed in CSV, ARFF and svmlight files. Convert it to .arff or .csv "
            "(mlspl datasets convert), and correct that file."
        )
    check_output(target, [source], force=force)
    expected = dataset.with_labels(changes)
    if suffix in _SVMLIGHT:
        return write_dataset(expected, target, force=force)
    encoding = spelling.get("encoding")
    text = read_bytes(source)
    sheet = _SHEETS[suffix](text if encoding is None else decode_text(text, encoding, source), source)
    (_edit_sets if dataset.label_column else _edit_columns)(sheet, dataset, changes)
    content = sheet.content() if encoding is None else sheet.content().decode().encode(encoding)
    _verify(content, suffix, expected, source, **spelling)
    xml = xml_beside(source)
    if xml and not target.with_suffix(".xml").exists():
        write_file(target.with_suffix(".xml"), xml.read_bytes())
    return write_file(target, content)


@dataclass
class _Sheet:
    """The text of a file, its columns, where the values of each row stand, and the text in their place.

    A sparse row lacks the columns of the value `zeros`, and has where it begins as column -1.
    """

    text: bytes
    names: list[str]
    rows: list[dict[int, tuple[int, int]]]
    unknown: str
    read: Callable[[str], str]
    write: Callable[[str], str]
    zeros: list[str] = field(default_factory=list)
    replaced: dict[tuple[int, int], bytes] = field(default_factory=dict)

    def cells(self, name: str) -> list[str]:
        """Return the values of a column."""
        j = self.names.index(name)
        spans = (row.get(j) for row in self.rows)
        return [
            self.zeros[j] if span is None else self.read(self.text[slice(*span)].decode()) for span in spans
        ]

    def put(self, row: int, name: str, cell: str) -> None:
        """Replace a value. In a sparse row, put a column that is missing before those to its right."""
        j, spans = self.names.index(name), self.rows[row]
        word = (cell if cell == self.unknown else self.write(cell)).encode()
        if j in spans:
            self.replaced[spans[j]] = word
        elif cell != self.zeros[j]:
            place = max(stop for i, (_, stop) in spans.items() if i < j)
            others = self.replaced.get((place, place), b"")
            is_first, is_last = place == spans[-1][1], len(spans) == 1 and not others
            pair = b"%d %s" % (j, word)
            pair = b"," + pair if not is_first else pair if is_last else pair + b","
            self.replaced[place, place] = pair + others

    def content(self) -> bytes:
        """Return the changed text."""
        parts, last = [], 0
        for (start, stop), new in sorted(self.replaced.items()):
            parts += [self.text[last:start], new]
            last = stop
        return b"".join([*parts, self.text[last:]])


def _open_csv(text: bytes, path: Path) -> _Sheet:
    start = len(_BOM) if text.startswith(_BOM) else 0
    head = re.sub(r'"[^"]*"', "", text[start:].decode()).lstrip("\r\n").partition("\n")[0]
    delimiter, is_announced = find_delimiter(head, path)
    header, *rows = list(field_spans(text, delimiter.encode(), start))[int(is_announced) :]
    names = [unquote_field(text[slice(*span)].decode()).strip() for span in header]

    def write(cell: str) -> str:
        needs_quotes = re.search(r'["\r\n]|' + re.escape(delimiter), cell)
        return '"' + cell.replace('"', '""') + '"' if needs_quotes else cell

    return _Sheet(text, names, [dict(enumerate(row)) for row in rows], "", unquote_field, write)


def _open_arff(text: bytes, path: Path) -> _Sheet:
    plain = text.removeprefix(_BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    attributes = read_header(plain + b"\n", path).attributes
    zeros = [attribute.values[0] if attribute.values else "0" for attribute in attributes]
    data = _ARFF_DATA.search(text.replace(b"\r", b"\n"))
    assert data is not None
    rows = []
    for line in _LINE.finditer(text, data.end()):
        start = line.start()
        if (spans := split_row(line[0], len(attributes))) is not None:
            row = {j: (start + first, start + stop) for j, (first, stop) in spans.items()}
            if line[0].lstrip().startswith(b"{"):
                row[-1] = (text.index(b"{", start) + 1,) * 2
            rows.append(row)
    names = [attribute.name for attribute in attributes]
    return _Sheet(text, names, rows, "?", unquote, quote, zeros)


_SHEETS = {".csv": _open_csv, ".tsv": _open_csv, ".arff": _open_arff}


def _edit_columns(sheet: _Sheet, dataset: Dataset, changes: Sequence[Change]) -> None:
    """Change columns of 0 and 1, in the words that the file has for them."""
    spellings = {label: _spell_label(sheet, dataset, label) for label in {label for _, label, _ in changes}}
    # From the last column to the first, as `put` needs it.
    for row, label, value in sorted(changes, key=lambda change: -change[1]):
        cell = sheet.unknown if value != value else spellings[label][int(value)]
        sheet.put(row, dataset.label_names[label], cell)


def _spell_label(sheet: _Sheet, dataset: Dataset, label: int) -> tuple[str, str]:
    """Return how the file writes 0 and 1 of a label: as in other rows, or the opposite of what they say."""
    cells = sheet.cells(dataset.label_names[label])
    given = as_dense(dataset.Y[:, [label]])[:, 0]
    absent, present = (next((cells[row] for row in np.flatnonzero(given == value)), None) for value in (0, 1))
    if absent is None and present is None:
        return "0", "1"
    return absent or _opposite(present), present or _opposite(absent)


def _opposite(cell: str | None) -> str:
    word = (cell or "").strip()
    if word.lower() not in _OPPOSITES:
        return str(int(not float(word)))
    turned = _OPPOSITES[word.lower()]
    return turned.upper() if word.isupper() else turned.capitalize() if word.istitle() else turned


def _edit_sets(sheet: _Sheet, dataset: Dataset, changes: Sequence[Change]) -> None:
    """Add labels to and remove labels from the label sets of the changed rows."""
    if any(value != value for _, _, value in changes):
        raise UserError(
            f"column {dataset.label_column!r} holds label sets, in which a single label cannot be unknown."
        )
    cells = sheet.cells(dataset.label_column)
    for row, label, value in changes:
        name, names = dataset.label_names[label], parse_set(cells[row], dataset.label_joint)
        names = [*names, name] if value else [other for other in names if other != name]
        cells[row] = write_set(names, dataset.label_joint)
        sheet.put(row, dataset.label_column, cells[row])


def _verify(content: bytes, suffix: str, expected: Dataset, source: Path, **options: Any) -> None:
    """Raise an error if the labels of the copy are not the expected ones."""
    columns = [expected.label_column] if expected.label_column else expected.label_names
    joint = expected.label_joint
    label_sep = None if joint in ("", LIST) else joint.strip() or joint
    with tempfile.TemporaryDirectory() as folder:
        copy = write_file(Path(folder) / f"copy{suffix}", content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given when the file itself was read
            again = read_dataset(copy, columns, encode=False, label_sep=label_sep, **options)
    found = dict(zip(again.label_names, as_dense(again.Y).T, strict=True))
    absent = np.zeros(again.Y.shape[0])
    labels = np.transpose([found.pop(name, absent) for name in expected.label_names])
    if found or not np.array_equal(labels, as_dense(expected.Y), equal_nan=True):
        raise UserError(
            f"{source}: its labels cannot be changed cell by cell. Convert it with `mlspl datasets convert`, "
            "and audit the converted file."
        )
