"""`read_decisions`: what a reviewer decided on the page of an audit."""

import csv
import re
from io import StringIO
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from mlspl._text import safe_cell
from mlspl.datasets import DataFormatError, Dataset
from mlspl.errors import UserError, shorten
from mlspl.pages.label_studio import read_annotations

DECISIONS = ("accepted", "rejected", "unsure")
"""What can be decided: the label is wrong and is turned; it is right; nobody knows."""

_COLUMNS = ("fingerprint", "row", "label", "suggested", "decision")


def read_decisions(path: str | PathLike, dataset: Dataset) -> pd.DataFrame:
    r"""Read a decisions.csv, and check that it is about these data.

    Parameters
    ----------
    path : path
        Exported from `audit.html`, or `issues.csv` with its column `decision` filled in, as a spreadsheet
        saves it; lines without a decision are left out. A column `given` is optional, and compared with the
        labels if it is there. Or a JSON or JSON-MIN file that Label Studio exported: an annotation decides on
        every label of its row; labels for which half of several annotations voted are unsure.
    dataset : Dataset
        The data that were audited, read with ``encode=False``.

    Returns
    -------
    DataFrame
        A row per decision, with `row` and `label`, positions in Y; `decision`; `given`, what the label is;
        and `value`, what it becomes: 0, 1, or NaN for unknown.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> songs = Dataset(np.ones((2, 1)), np.eye(2), ["tempo"], ["happy", "calm"])
    >>> head = "fingerprint,row,label,suggested,decision"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "decisions.csv"
    ...     _ = path.write_text(f"{head}\n{songs.fingerprint()},1,happy,1,accepted\n")
    ...     print(read_decisions(path, songs).to_string(index=False))
     row  label decision  given  value
       1      0 accepted    0.0    1.0
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(f"{path} is not a file. Export decisions from audit.html, and name that file.")
    if path.suffix.lower() == ".json":
        return read_annotations(path, dataset)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        # Excel announces the delimiter in a line before the header.
        skipped = int(text[:4].lower() == "sep=")
        text = text.partition("\n")[2] if skipped else text
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        table = list(csv.DictReader(StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataFormatError(f"this is no CSV in UTF-8 ({error}). Save it as 'CSV UTF-8'.", path) from None
    if not table:
        raise DataFormatError("it holds no decisions.", path)
    if absent := [name for name in _COLUMNS if name not in table[0]]:
        raise DataFormatError(f"there is no column {absent[0]!r}: this is no decisions.csv.", path, 1)
    fingerprint = dataset.fingerprint()
    # A name that a spreadsheet would take for a formula has an apostrophe before it.
    positions: dict[str, set[int]] = {}
    for j, name in enumerate(dataset.label_names):
        for spelling in (name, safe_cell(name)):
            positions.setdefault(spelling, set()).add(j)
    n_rows = dataset.Y.shape[0]
    found: dict[tuple[int, int], tuple[str, float, float]] = {}
    for line, cells in enumerate(table, 2 + skipped):
        if not (decision := (cells["decision"] or "").strip().lower()):
            continue
        if cells["fingerprint"] != fingerprint:
            raise UserError(
                f"{path}: these decisions were made for other data than {dataset.name}, or for other labels "
                "of it. Name the file that was audited, with the same --labels and other options of reading."
            )
        name, row = cells["label"] or "", cells["row"] or ""
        labels = positions.get(name, set())
        if len(labels) > 1:
            message = f"{shorten(name)!r} can mean two labels. Rename one of them, and audit the file again."
            raise DataFormatError(message, path, line)
        if not labels or not re.fullmatch("[0-9]{1,18}", row) or int(row) >= n_rows:
            message = f"{dataset.name} has no row {shorten(row)!r} with a label {shorten(name)!r}."
            raise DataFormatError(message, path, line)
        (label,) = labels
        if decision not in DECISIONS or cells["suggested"] not in ("0", "1"):
            raise DataFormatError(f"a decision is one of {', '.join(DECISIONS)}.", path, line)
        given = float(dataset.Y[int(row), label])
        if "given" in cells and not _is_given(cells["given"], given):
            raise DataFormatError(
                f"label {shorten(name)!r} of row {row} was {shorten(cells['given'] or 'unknown')} when "
                f"it was reviewed, and is {'unknown' if given != given else int(given)} in {dataset.name}. "
                "Were label columns renamed or exchanged? Name the file that was audited, or audit this one.",
                path,
                line,
            )
        value = {"accepted": float(cells["suggested"]), "rejected": given, "unsure": np.nan}[decision]
        before = found.setdefault((int(row), label), (decision, given, value))
        if before[0] != decision or (decision == "accepted" and before[2] != value):
            message = (
                f"row {row} and label {shorten(name)!r} have two different decisions. Remove one of them."
            )
            raise DataFormatError(message, path, line)
    if not found:
        raise DataFormatError("it holds no decisions: its column 'decision' is empty.", path)
    return pd.DataFrame(
        [(*pair, *what) for pair, what in found.items()],
        columns=["row", "label", "decision", "given", "value"],
    )


def _is_given(cell: str | None, given: float) -> bool:
    """Whether a cell says what the label is; an empty one says that it is unknown."""
    try:
        said = float(cell or "nan")
    except ValueError:
        return False
    return said == given or (said != said and given != given)
