"""`mlspl datasets`: what there is, what is in it, getting it, turning it into another format."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from mlspl._text import shown
from mlspl.cli import files, output
from mlspl.cli.options import Command, ForceOption, Group, Reading, argument, flag, with_reading

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="List, inspect, download and convert multi-label data sets.",
    epilog="Example: mlspl datasets info songs.csv --labels 'mood_*'",
)


@app.command("list", cls=Command, epilog="Example: mlspl datasets list")
def list_command() -> None:
    """List the data sets that have a name, and whether each is on this computer."""
    from mlspl.datasets import EMBEDDED, find_entry, list_datasets, load_dataset, locate_dataset

    rows = []
    for name in list_datasets():
        size: Any = load_dataset(name).describe() if name == EMBEDDED else find_entry(name)
        domain, here = "images", "embedded"
        if name != EMBEDDED:
            domain, here = size.domain, "yes" if locate_dataset(name) else "no"
        rows.append(
            (name, domain, here, size.n_rows, size.n_features, size.n_labels, f"{size.cardinality:.2f}")
        )
    headings = ("name", "domain", "here", "rows", "features", "labels", "cardinality")
    Console().print(output.make_table(headings, rows, left=3))
    Console().print("mlspl datasets fetch NAME gets a data set that is not here.")


@app.command("info", cls=Command, epilog="Example: mlspl datasets info songs.csv --labels 'mood_*'")
@with_reading("labels", "label_sep")
def info_command(
    source: Annotated[str, argument("NAME-or-FILE", "Name of a data set, or a file.")],
    reading: Reading,
    every: Annotated[bool, flag("--all", f"Show all labels, not only {output.SHOWN_LABELS}.")] = False,
) -> None:
    """Show the size of a data set and the frequency and imbalance of its labels."""
    dataset = files.open_dataset(source, reading)
    rows = [
        (name.removeprefix("n_").replace("_", " "), f"{size:.0f}" if size % 1 == 0 else f"{size:.6g}")
        for name, size in dataset.describe().items()
    ]
    Console().print(output.make_table(("", ""), rows, shown(dataset.name)), "")
    frame = dataset.describe_labels().sort_values("positives", ascending=False, kind="stable")
    lines = [
        (name, f"{row.positives:.0f}", f"{row.share:.1%}", f"{row.imbalance:.2f}")
        for name, row in frame.iterrows()
    ]
    shown_lines = lines if every else output.leave_out_middle(lines)
    Console().print(output.make_table(("label", "rows with it", "share", "imbalance"), shown_lines))
    Console().print("imbalance = most frequent label / this label")


@app.command("fetch", cls=Command, epilog="Example: mlspl datasets fetch flags emotions scene")
def fetch_command(
    names: Annotated[list[str], argument("NAME…", "Names from `mlspl datasets list`.")],
) -> None:
    """Download data sets into the cache, unless they are on this computer."""
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
            with console.status(f"downloading {name}"), output.notes():
                path = fetch_dataset(name)
        console.print(f"{name}: {shown(str(path))}")


@app.command("convert", cls=Command, epilog="Example: mlspl datasets convert emotions emotions.csv")
@with_reading("labels", "label_sep", "drop", "na")
def convert_command(
    source: Annotated[str, argument("IN", "Name of a data set, or a file.")],
    target: Annotated[Path, argument("OUT", "File to write; its suffix sets the format.")],
    reading: Reading,
    force: ForceOption = False,
) -> None:
    """Convert a data set to ARFF, CSV or Parquet (with an XML file of its labels), or to svmlight."""
    files.check_target(target, files.input_files(source, reading.labels), force)
    from mlspl.datasets import write_dataset

    holds_categories = target.suffix.lower() in (".arff", ".csv", ".tsv", ".parquet")
    dataset = files.open_dataset(source, reading, encode=not holds_categories)
    path = write_dataset(dataset, target, force=force)
    Console(soft_wrap=True).print(f"{shown(str(dataset))}\nWrote {shown(str(path))}", highlight=False)
