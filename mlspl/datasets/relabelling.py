"""`relabel_file`: a copy of a file in which some labels are others, and nothing else is."""

import tempfile
import warnings
from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mlspl._files import write_file
from mlspl._label_sets import LIST, write_set
from mlspl.datasets.compression import data_suffix
from mlspl.datasets.dataset import Dataset, as_dense
from mlspl.datasets.editing import EDITORS, Editor
from mlspl.datasets.label_sets import read_set
from mlspl.datasets.labels import xml_beside
from mlspl.datasets.reading import read_dataset
from mlspl.datasets.writing import write_dataset
from mlspl.errors import UserError

__all__ = ["Change", "relabel_file"]

Change = tuple[int, int, float]
"""Row, label and its new value: 0, 1, or NaN for unknown."""

_OPPOSITES = {"0": "1", "no": "yes", "false": "true"}
_OPPOSITES |= {yes: no for no, yes in _OPPOSITES.items()} | {"-1": "1"}


def relabel_file(
    source: str | PathLike,
    target: str | PathLike,
    dataset: Dataset,
    changes: Sequence[Change],
    *,
    na_values: Collection[str] | None = None,
) -> Path:
    r"""Write a copy of a file with other labels, in the same format.

    Cells of CSV, ARFF, JSON Lines and Parquet files that are not changed stay as they were written; svmlight
    is written anew. The copy is read again before it is put in its place.

    Parameters
    ----------
    source, target : paths
        The file, and its copy, with the same suffix.
    dataset : Dataset
        What `read_dataset` read from the file.
    changes : sequence of (row, label, value)
        Positions in Y, and the new value: 0, 1 or NaN for unknown. A column of label sets cannot say that one
        label is unknown.
    na_values : optional
        As the file was read with.

    Returns
    -------
    Path
        The copy. An XML beside the file that names its labels is copied, too.

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
        raise UserError(f"{target}: the copy of {source.name} is written as {suffix}. Name it so.")
    expected = dataset.with_labels(changes)
    if suffix not in EDITORS:
        return write_dataset(expected, target)
    editor = EDITORS[suffix](source)
    if dataset.label_column:
        _edit_sets(editor, dataset, changes)
    else:
        # All words are found before the first cell is changed: they are taken from other rows.
        words = {label: _spell_label(editor, dataset, label) for label in {label for _, label, _ in changes}}
        for row, label, value in changes:
            word = editor.unknown if value != value else words[label][int(value)]
            editor.put(row, dataset.label_names[label], word)
    content = editor.content()
    _verify(content, suffix, expected, source, na_values=na_values)
    xml = xml_beside(source)
    if xml and not target.with_suffix(".xml").exists():
        write_file(target.with_suffix(".xml"), xml.read_bytes())
    write_file(target, content)
    return target


def _spell_label(editor: Editor, dataset: Dataset, label: int) -> tuple[Any, Any]:
    """How the file says 0 and 1 of a label: as it does in its rows, or the opposite of what they say."""
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


def _edit_sets(editor: Editor, dataset: Dataset, changes: Sequence[Change]) -> None:
    """Add to and take from the label sets of the changed rows."""
    if any(value != value for _, _, value in changes):
        raise UserError(
            f"column {dataset.label_column!r} holds label sets, which cannot say that one label is unknown."
        )
    cells = editor.cells(dataset.label_column)
    for row, label, value in changes:
        name, cell = dataset.label_names[label], cells[row]
        names = read_set(() if cell is None else cell, dataset.label_joint)
        names = [*names, name] if value else [other for other in names if other != name]
        cells[row] = write_set(names, dataset.label_joint) if isinstance(cell, str) else names
        editor.put(row, dataset.label_column, cells[row])


def _verify(content: bytes, suffix: str, expected: Dataset, source: Path, **options: Any) -> None:
    """Refuse a copy whose labels do not read as they should."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # What there is to warn of was said when the source was read.
        warnings.simplefilter("ignore")
        copy = Path(folder) / f"copy{suffix}"
        copy.write_bytes(content)
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
            "and audit that."
        )
