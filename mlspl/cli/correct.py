"""`mlspl correct`: the decisions of a review, applied to a copy of the file."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mlspl._text import shown
from mlspl.cli.reading import Reading, open_dataset, with_reading
from mlspl.cli.sources import STANDARD, check_target, counted, file_name, note
from mlspl.errors import UserError

__all__ = ["correct"]

_MOST_LABELS = 10


@with_reading()
def correct(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The file that was audited, or its known name.")
    ],
    decisions: Annotated[
        Path, typer.Argument(metavar="DECISIONS", help="The decisions.csv that the page exported.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The corrected copy, of the same format.")
    ],
    reading: Reading,
) -> None:
    """Apply reviewed decisions to a copy of the data.

    What was accepted is turned, what was unsure becomes unknown, what was
    rejected stays. Nothing else of the file is changed. Read it with the
    options of the audit: decisions that were made for other data are refused.
    """
    from mlspl.datasets import list_datasets, relabel_file, write_dataset
    from mlspl.pages import read_decisions

    if data == STANDARD:
        raise UserError("a copy of standard input cannot be corrected. Name the file.")
    check_target(out, data, decisions, reading.labels)
    dataset = open_dataset(data, reading)
    decided = read_decisions(decisions, dataset)
    changes = decided[
        ~((decided["given"] == decided["value"]) | decided[["given", "value"]].isna().all(axis=1))
    ]
    if dataset.label_column and changes["value"].isna().any():
        unsure = int(changes["value"].isna().sum())
        note(f"label sets have no word for unknown: {counted(unsure, 'unsure label')} kept as given.")
        changes = changes[changes["value"].notna()]
    changed = list(zip(changes["row"], changes["label"], changes["value"], strict=True))
    if data in list_datasets():
        path = write_dataset(dataset.with_labels(changed), out)
    else:
        path = relabel_file(data, out, dataset, changed, na_values=reading.na_values)
    console = Console(highlight=False)
    names = [dataset.label_names[j] for j in changes["label"]]
    table = changes.assign(
        label=names, to=changes["value"].map({0.0: "taken off", 1.0: "added"}).fillna("unknown")
    )
    counts = decided["decision"].value_counts()
    said = ", ".join(
        f"{counts[name]} {name}" for name in ("accepted", "rejected", "unsure") if name in counts
    )
    console.print(f"{counted(len(decided), 'decision')} on {shown(file_name(data))}: {said}", soft_wrap=True)
    console.print(_changes_table(table))
    console.print(f"Wrote {shown(str(path))}: {counted(len(changed), 'label')} changed", soft_wrap=True)


def _changes_table(changes) -> Table:
    """How many labels were added, taken off and made unknown, label by label."""
    table = Table(box=None, pad_edge=False)
    table.add_column("label", overflow="fold")
    kinds = ("added", "taken off", "unknown")
    for kind in kinds:
        table.add_column(kind, justify="right")
    counts = changes.groupby(["label", "to"]).size().unstack(fill_value=0)
    counts = counts.reindex(columns=list(kinds), fill_value=0)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    for name in order[:_MOST_LABELS]:
        table.add_row(shown(str(name)), *(str(counts.loc[name, kind]) for kind in kinds))
    if len(order) > _MOST_LABELS:
        rest = counts.loc[order[_MOST_LABELS:]].sum()
        table.add_row(f"{len(order) - _MOST_LABELS} more", *(str(rest[kind]) for kind in kinds))
    return table
