"""`mlspl correct`: the decisions of a review, applied to a copy of the file."""

import json
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Annotated

from rich.console import Console

from mlspl._text import printable, shown
from mlspl.cli import files, output
from mlspl.cli.options import ForceOption, Reading, argument, option, with_reading
from mlspl.errors import UserError

_MOST_LABELS = 10


@with_reading()
def correct(
    data: Annotated[str, argument("DATA", "The audited file, or data set's name.")],
    decisions: Annotated[
        Path,
        argument(
            "DECISIONS", "decisions.csv of the page, issues.csv with decisions, or Label Studio's .json."
        ),
    ],
    out: Annotated[Path, option("FILE", "Corrected copy to write, in the same format.", "--out", "-o")],
    reading: Reading,
    force: ForceOption = False,
) -> None:
    """Apply the decisions of a review to a copy of the data.

    Accepted suspicions invert the label, unsure ones make it unknown, rejected
    ones keep it. Nothing else in the file changes. Give the same reading
    options as to `mlspl audit`; decisions on other data are refused.
    """
    import pandas as pd

    from mlspl.datasets import list_datasets, relabel_file, write_dataset
    from mlspl.pages import read_decisions

    if data == files.STANDARD:
        raise UserError("a copy of standard input cannot be corrected. Name the file.")
    files.check_target(out, files.input_files(data, decisions, reading.labels), force)
    try:
        dataset = files.open_dataset(data, reading)
        decided = read_decisions(decisions, dataset)
    except UserError as error:
        raise _with_command(error, data, decisions, out, reading) from None
    changes = decided[
        ~((decided["given"] == decided["value"]) | decided[["given", "value"]].isna().all(axis=1))
    ]
    if dataset.label_column and changes["value"].isna().any():
        unsure = int(changes["value"].isna().sum())
        output.note(
            f"label sets have no word for unknown: {output.counted(unsure, 'unsure label')} kept as given."
        )
        changes = changes[changes["value"].notna()]
    changed = list(zip(changes["row"], changes["label"], changes["value"], strict=True))
    if data in list_datasets():
        path = write_dataset(dataset.with_labels(changed), out, force=force)
    else:
        path = relabel_file(data, out, dataset, changed, force=force, **reading.spelling())
    console = Console(highlight=False)
    made = decided["decision"].value_counts()
    said = ", ".join(f"{made[name]} {name}" for name in ("accepted", "rejected", "unsure") if name in made)
    console.print(
        f"{output.counted(len(decided), 'decision')} on {shown(files.file_name(data))}: {said}",
        soft_wrap=True,
    )
    kinds = ["added", "removed", "unknown"]
    to = changes["value"].map({1.0: "added", 0.0: "removed"}).fillna("unknown")
    names = changes["label"].map(dataset.label_names.__getitem__)
    counts = pd.crosstab(names, to).reindex(columns=kinds, fill_value=0)
    counts = counts.loc[counts.sum(axis=1).sort_values(ascending=False, kind="stable").index]
    rows = list(counts.head(_MOST_LABELS).itertuples())
    if len(counts) > _MOST_LABELS:
        rows.append((f"{len(counts) - _MOST_LABELS} more", *counts.iloc[_MOST_LABELS:].sum()))
    console.print(output.make_table(("label", *kinds), rows))
    console.print(
        f"Wrote {shown(str(path))}: {output.counted(len(changed), 'label')} changed", soft_wrap=True
    )


def _with_command(error: UserError, data: str, decisions: Path, out: Path, reading: Reading) -> UserError:
    """Return the error with the command that has the options of the audit, which decisions.csv keeps."""
    from mlspl.pages import read_cells

    known = {f"--{field.name.replace('_', '-')}" for field in fields(Reading)}
    try:
        audited = json.loads(read_cells(decisions, "options")["options"].iloc[0])
        command = shlex.join(["mlspl", "correct", data, str(decisions), *audited, "-o", str(out)])
        is_reading = {text.partition("=")[0] for text in audited} <= known
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        return error
    if audited == reading.to_arguments() or not is_reading:
        return error
    return UserError(f"{error} The options differ from those of the audit. Use: {printable(command)}")
