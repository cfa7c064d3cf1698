"""What several annotators said, from columns of a file or from a file of votes."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mlspl._names import split_names
from mlspl.cli.options import flag, option
from mlspl.cli.output import make_table
from mlspl.errors import UserError, guess_column, listed

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from mlspl.curriculum import Consensus

AnnotatorsOption = Annotated[
    str, option("COLUMNS", "Columns with a label set per annotator: a pattern such as 'rater_*', or names.")
]
VotesOption = Annotated[
    Path | None, option("FILE", "Instead: a CSV file with the columns annotator, labels and that of --ids.")
]
SkipEmptyOption = Annotated[bool, flag("--skip-empty", "An annotator's empty label set means: not judged.")]

_NOT_JUDGED = ("?", "NA", "nan", "null")


def read_annotations(
    table: "pd.DataFrame",
    data: object,
    annotators: str,
    votes: Path | None,
    ids: str | None,
    separator: str,
    skip_empty: bool,
) -> "tuple[pd.DataFrame, list[str]]":
    """Return a row per annotated row and annotator, and the columns of `table` that hold annotations.

    `table` has the cells of DATA: those of the annotators, or the ids if there is a file of votes. The result
    has the columns row (a position), annotator and labels: a list, or None where the row was not judged.
    """
    import pandas as pd

    if bool(annotators) == (votes is not None):
        raise UserError("say who annotated: give --annotators for columns of DATA, or --votes for a file.")
    columns: list[str] = []
    if votes is not None:
        if ids is None:
            raise UserError("--votes needs --ids, the column that names the rows in both files.")
        said = _read_votes(votes, ids, pd.Index(table[ids]), data)
    else:
        columns = _matching_columns(list(table.columns), annotators, data)
        parts = ({"row": range(len(table)), "annotator": who, "labels": table[who]} for who in columns)
        said = pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)

    def split(cell: str) -> list[str] | None:
        labels = [part.strip() for part in cell.split(separator) if part.strip()]
        return None if cell.strip() in _NOT_JUDGED or (skip_empty and not labels) else labels

    # A column of objects: pandas would turn None into NaN in others.
    return said.assign(labels=said["labels"].astype(object).map(split)), columns


def annotator_table(found: "Consensus") -> "Table":
    """Return the table of annotators with their rates."""
    rates = ("sensitivity", "specificity")
    rows = (
        (name, row["rows"], *(f"{row[r]:.2f} ({row[r + '_low']:.2f}–{row[r + '_high']:.2f})" for r in rates))
        for name, row in found.annotators.astype({"rows": object}).iterrows()
    )
    return make_table(("annotator", "rows", *rates), rows, "Annotators, with 95 % intervals")


def _read_votes(path: Path, ids: str, index: "pd.Index", data: object) -> "pd.DataFrame":
    from mlspl.pages import read_cells

    if not index.is_unique:
        raise UserError(f"{data} has {index[index.duplicated()][0]!r} twice in {ids!r}. Ids must be unique.")
    lines = read_cells(path, ids, "annotator", "labels")
    lines = lines.assign(row=index.get_indexer(lines[ids]))
    if (unknown := lines["row"] < 0).any():
        raise UserError(f"--votes has the id {lines[ids][unknown].iloc[0]!r}, which {data} does not have.")
    if (twice := lines.duplicated(["row", "annotator"])).any():
        row, who = lines.loc[twice.idxmax(), [ids, "annotator"]]
        raise UserError(f"--votes: annotator {who!r} has the id {row!r} twice. Keep one of them.")
    return lines[["row", "annotator", "labels"]]


def _matching_columns(columns: Sequence[str], wanted: str, data: object) -> list[str]:
    """Return the columns that the names and patterns mean."""
    found = []
    for name in split_names(wanted) or [wanted]:
        matching = [column for column in columns if name == column or fnmatchcase(column, name)]
        if not matching:
            raise UserError(
                f"unknown annotator: {data} has no column {name!r}.{guess_column(name, columns)} "
                f"Its columns are {listed(list(columns))}."
            )
        found += matching
    return list(dict.fromkeys(found))
