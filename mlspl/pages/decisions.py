"""`read_decisions`: what a reviewer decided on the page of an audit."""

import re
import warnings
from io import StringIO
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from mlspl._text import safe_cell
from mlspl.datasets import DataFormatError, Dataset
from mlspl.errors import UserError, guess_column, shorten
from mlspl.pages.label_studio import check_fingerprint, read_annotations

DECISIONS = ("accepted", "rejected", "unsure")
"""What can be decided: the label is wrong and is turned; it is right; nobody knows."""

_COLUMNS = ("fingerprint", "row", "label", "suggested", "decision")


def read_cells(path: Path, *needed: str) -> pd.DataFrame:
    """Return the cells of a delimited file as they are written, with the needed columns, indexed by line."""
    if not path.is_file():
        raise UserError(f"{path} is not a file. Name a CSV file.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        # Excel announces the delimiter in a line before the header.
        skipped = int(text[:4].lower() == "sep=")
        text = text.partition("\n")[2] if skipped else text
        separator = max(",;\t", key=text.partition("\n")[0].count)
        with warnings.catch_warnings():
            # Given for rows of too many fields.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            cells = pd.read_csv(
                StringIO(text), sep=separator, dtype=str, keep_default_na=False, index_col=False
            )
    except (pd.errors.ParserWarning, ValueError) as error:
        raise DataFormatError(f"this is no CSV in UTF-8 ({error}). Save it as 'CSV UTF-8'.", path) from None
    if absent := [name for name in needed if name not in cells]:
        hint = guess_column(absent[0], cells.columns)
        raise DataFormatError(f"there is no column {absent[0]!r}.{hint}", path, 1 + skipped)
    return cells.fillna("").set_index(pd.RangeIndex(2 + skipped, 2 + skipped + len(cells)))


def read_decisions(path: str | PathLike, dataset: Dataset) -> pd.DataFrame:
    r"""Read a decisions.csv, and check that it is about these data.

    Parameters
    ----------
    path : path
        Exported from `audit.html`; `issues.csv` with its column `decision` filled in; or a JSON or JSON-MIN
        file that Label Studio exported. A column `given` is compared with the labels if it is there.
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
    if path.suffix.lower() == ".json":
        return read_annotations(path, dataset)
    cells = read_cells(path, *_COLUMNS)
    cells["decision"] = cells["decision"].str.strip().str.lower()
    # A name that a spreadsheet would take for a formula has an apostrophe before it.
    positions: dict[str, set[int]] = {}
    for j, name in enumerate(dataset.label_names):
        for spelling in (name, safe_cell(name)):
            positions.setdefault(spelling, set()).add(j)
    n_rows = dataset.Y.shape[0]
    found: dict[tuple[int, int], tuple[str, float, float]] = {}
    cells = cells[cells["decision"] != ""]
    check_fingerprint(cells["fingerprint"], dataset, path)
    for line, cell in cells.to_dict("index").items():
        name, row, decision = cell["label"], cell["row"], cell["decision"]

        def refuse(message: str, line=line) -> DataFormatError:
            return DataFormatError(message, path, line)

        labels = positions.get(name, set())
        if len(labels) > 1:
            raise refuse(f"{shorten(name)!r} can mean two labels. Rename one of them, and audit again.")
        if not labels or not re.fullmatch("[0-9]{1,18}", row) or int(row) >= n_rows:
            raise refuse(f"{dataset.name} has no row {shorten(row)!r} with a label {shorten(name)!r}.")
        if decision not in DECISIONS or cell["suggested"] not in ("0", "1"):
            raise refuse(f"a decision is one of {', '.join(DECISIONS)}.")
        (label,) = labels
        given = float(dataset.Y[int(row), label])
        if "given" in cell and not _is_given(cell["given"], given):
            raise refuse(
                f"label {shorten(name)!r} of row {row} was {shorten(cell['given'] or 'unknown')} when "
                f"it was reviewed, and is {'unknown' if given != given else int(given)} in {dataset.name}. "
                "Were label columns renamed or exchanged? Name the file that was audited, or audit this one."
            )
        value = {"accepted": float(cell["suggested"]), "rejected": given, "unsure": np.nan}[decision]
        before = found.setdefault((int(row), label), (decision, given, value))
        if before[0] != decision or (decision == "accepted" and before[2] != value):
            raise refuse(
                f"row {row} and label {shorten(name)!r} have two different decisions. Remove one of them."
            )
    if not found:
        raise DataFormatError("it holds no decisions.", path)
    return pd.DataFrame(
        [(*pair, *what) for pair, what in found.items()],
        columns=["row", "label", "decision", "given", "value"],
    )


def _is_given(cell: str, given: float) -> bool:
    """Whether a cell says what the label is; an empty one says that it is unknown."""
    try:
        said = float(cell or "nan")
    except ValueError:
        return False
    return said == given or (said != said and given != given)
