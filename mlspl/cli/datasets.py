"""`mlspl datasets`: what there is, what is in it, getting it, turning it into another format."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mlspl._text import shown
from mlspl.cli.sources import STANDARD, check_target, spooled
from mlspl.datasets import (
    EMBEDDED,
    Dataset,
    fetch_dataset,
    find_entry,
    list_datasets,
    load_dataset,
    locate_dataset,
    read_dataset,
    write_dataset,
)
from mlspl.errors import UserError

__all__ = ["LabelsOption", "app", "open_dataset", "parse_labels"]

app = typer.Typer(no_args_is_help=True, help="List, inspect, download and convert multi-label data sets.")

_SHOWN_LABELS = 20

LabelsOption = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="WHICH",
        help="Label columns of a file: an XML, names with commas between, a pattern such as 'TAG_*', or "
        "their number (negative: the last columns). By default the XML beside the file or MEKA's -C says.",
    ),
]


def parse_labels(text: str | None) -> str | int | list[str] | None:
    """What ``--labels`` means: a number, a list of names, or the pattern or XML path it is."""
    if text is None:
        return None
    if text.lstrip("+-").isdecimal():
        return int(text)
    return text.split(",") if "," in text else text


def open_dataset(source: str, labels: str | Sequence[str] | None = None, encode: bool = True) -> Dataset:
    """The registered data set of that name, the file of that path, or standard input if it is ``-``.

    What was left out is said on stderr. `labels` is what ``--labels`` takes, or a list of names.
    """
    if source in list_datasets():
        if labels is not None:
            raise UserError(f"{source} is known by name, labels and all. --labels is for files of your own.")
        return load_dataset(source, encode=encode)
    if source != STANDARD and not Path(source).exists() and not Path(source).suffix:
        find_entry(source)
    which = parse_labels(labels) if labels is None or isinstance(labels, str) else list(labels)
    with spooled(source) as path:
        return read_dataset(path, which, encode)


@app.command("list", epilog="Example: mlspl datasets list")
def list_command() -> None:
    """List the data sets known by name, and whether each is on this machine."""
    table = Table(title="Data sets", caption="mlspl datasets fetch NAME gets a data set that is not here.")
    for heading in ("name", "domain"):
        table.add_column(heading, no_wrap=True)
    for heading in ("rows", "features", "labels", "cardinality"):
        table.add_column(heading, justify="right")
    table.add_column("here")
    for name in list_datasets():
        if name == EMBEDDED:
            embedded = load_dataset(name).describe()
            size = (embedded.n_rows, embedded.n_features, embedded.n_labels, embedded.cardinality)
            domain, here = "images", "embedded"
        else:
            entry = find_entry(name)
            size = (entry.n_rows, entry.n_features, entry.n_labels, entry.cardinality)
            domain, here = entry.domain, "yes" if locate_dataset(name) else "no"
        *counts, cardinality = size
        table.add_row(name, domain, *map(str, counts), f"{cardinality:.2f}", here)
    Console().print(table)


@app.command("info", epilog="Example: mlspl datasets info emotions")
def info_command(
    source: Annotated[str, typer.Argument(metavar="NAME-or-FILE", help="A known name, or a file of yours.")],
    labels: LabelsOption = None,
    every: Annotated[bool, typer.Option("--all", help=f"Show all labels, not {_SHOWN_LABELS}.")] = False,
) -> None:
    """Show the size of a data set, its label statistics, and the imbalance of every label."""
    dataset = open_dataset(source, labels, encode=False)
    statistics = dataset.describe()
    summary = Table(title=shown(dataset.name), show_header=False)
    summary.add_column(style="bold")
    summary.add_column(justify="right")
    rows = {
        "rows": statistics.n_rows,
        "features": statistics.n_features,
        "nominal features": len(dataset.nominal),
        "labels": statistics.n_labels,
        "cardinality (labels a row)": f"{statistics.cardinality:.4f}",
        "density": f"{statistics.density:.4f}",
        "distinct label sets": statistics.label_sets,
        "rows without a label": statistics.unlabelled_rows,
        "mean imbalance": f"{statistics.mean_imbalance:.2f}",
        "missing feature values": statistics.missing_features,
        "unknown labels": statistics.missing_labels,
    }
    for what, value in rows.items():
        summary.add_row(what, str(value))
    Console().print(summary)

    frame = statistics.labels.sort_values("positives", ascending=False, kind="stable")
    table = Table(caption="imbalance = most frequent label / this label")
    table.add_column("label", overflow="fold")
    for heading in ("rows with it", "share", "imbalance"):
        table.add_column(heading, justify="right")
    hidden = 0 if every else max(0, len(frame) - _SHOWN_LABELS)
    for position, (name, row) in enumerate(frame.iterrows()):
        if hidden and position == _SHOWN_LABELS // 2:
            table.add_row(f"… {hidden} more, shown by --all", "", "", "")
        if hidden and _SHOWN_LABELS // 2 <= position < len(frame) - _SHOWN_LABELS // 2:
            continue
        table.add_row(shown(str(name)), f"{row.positives:.0f}", f"{row.share:.1%}", f"{row.imbalance:.2f}")
    Console().print(table)


@app.command("fetch", epilog="Example: mlspl datasets fetch flags emotions scene")
def fetch_command(
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="Names from mlspl datasets list.")],
) -> None:
    """Download data sets into your cache, unless they are on this machine already."""
    console = Console(soft_wrap=True)
    for name in names:
        if name != EMBEDDED:
            find_entry(name)
    for name in names:
        if name == EMBEDDED:
            console.print(f"{name}: embedded, nothing to download")
            continue
        path = locate_dataset(name)
        if path is None:
            with console.status(f"downloading {name}"):
                path = fetch_dataset(name)
        console.print(f"{name}: {shown(str(path))}")


@app.command("convert", epilog="Example: mlspl datasets convert emotions emotions.csv")
def convert_command(
    source: Annotated[str, typer.Argument(metavar="IN", help="A known name, or a file of yours.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A file; its suffix says the format.")],
    labels: LabelsOption = None,
) -> None:
    """Write a data set as ARFF, CSV or Parquet, with the XML that names its labels, or as svmlight."""
    check_target(target, source, labels)
    holds_categories = target.suffix.lower() in (".arff", ".csv", ".tsv", ".parquet")
    dataset = open_dataset(source, labels, encode=not holds_categories)
    path = write_dataset(dataset, target)
    Console(soft_wrap=True).print(f"{shown(str(dataset))}\nwritten to {shown(str(path))}", highlight=False)
