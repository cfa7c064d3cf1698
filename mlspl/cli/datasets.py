"""`mlspl datasets`: what there is, what is in it, getting it, turning it into another format."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from mlspl._text import shown
from mlspl.cli.reading import Reading, open_dataset, with_reading
from mlspl.cli.sources import check_target, notes

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="List, inspect, download and convert multi-label data sets.")

_SHOWN_LABELS = 20


@app.command("list", epilog="Example: mlspl datasets list")
def list_command() -> None:
    """List the data sets known by name, and whether each is on this machine."""
    from mlspl.datasets import EMBEDDED, find_entry, list_datasets, load_dataset, locate_dataset

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
@with_reading("labels", "label_sep")
def info_command(
    source: Annotated[str, typer.Argument(metavar="NAME-or-FILE", help="A known name, or a file of yours.")],
    reading: Reading,
    every: Annotated[bool, typer.Option("--all", help=f"Show all labels, not {_SHOWN_LABELS}.")] = False,
) -> None:
    """Show the size of a data set, its label statistics, and the imbalance of every label."""
    dataset = open_dataset(source, reading)
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
    from mlspl.datasets import EMBEDDED, fetch_dataset, find_entry, locate_dataset

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
            with console.status(f"downloading {name}"), notes():
                path = fetch_dataset(name)
        console.print(f"{name}: {shown(str(path))}")


@app.command("convert", epilog="Example: mlspl datasets convert emotions emotions.csv")
@with_reading("labels", "label_sep", "drop", "na")
def convert_command(
    source: Annotated[str, typer.Argument(metavar="IN", help="A known name, or a file of yours.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A file; its suffix says the format.")],
    reading: Reading,
) -> None:
    """Write a data set as ARFF, CSV or Parquet, with the XML that names its labels, or as svmlight."""
    check_target(target, source, reading.labels)
    from mlspl.datasets import write_dataset

    holds_categories = target.suffix.lower() in (".arff", ".csv", ".tsv", ".parquet")
    dataset = open_dataset(source, reading, encode=not holds_categories)
    path = write_dataset(dataset, target)
    Console(soft_wrap=True).print(f"{shown(str(dataset))}\nwritten to {shown(str(path))}", highlight=False)
