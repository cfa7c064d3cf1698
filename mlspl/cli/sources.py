"""What the commands share: files or standard input, notes on standard error."""

import csv
import io
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from glob import escape
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlspl._files import check_output
from mlspl._text import safe_cell, shown
from mlspl.errors import UserError, shorten

STANDARD = "-"
"""How the command line spells standard input and output."""


@contextmanager
def spooled(source: str) -> Iterator[Path]:
    """Give the path of a file, or of a copy of standard input; print the warnings of readers as notes.

    The first bytes of standard input determine its format. Messages call the copy standard input.
    """
    if source != STANDARD:
        with notes():
            yield Path(source)
        return
    from mlspl.datasets import guess_suffix

    if sys.stdin is None or sys.stdin.isatty():
        raise UserError("standard input is closed or a terminal. Pipe a file into the command, or name one.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "input"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        path = copy
        try:
            path = copy.rename(Path(folder) / f"standard input{guess_suffix(copy)}")
            with notes(hidden=str(path)):
                yield path
        except UserError as error:
            raise UserError(str(error).replace(str(path), "standard input")) from None


def file_name(source: str) -> str:
    """What messages call a source."""
    return "standard input" if source == STANDARD else Path(source).name


def check_target(
    out: str | Path,
    inputs: Iterable[str | Path | None],
    force: bool,
    is_ours: Callable[[Path], bool] = lambda path: False,
) -> None:
    """Check that a file can be written and replaces no input and no foreign file, before work starts."""
    if out != STANDARD:
        check_output(out, inputs, force=force, is_ours=is_ours)


def input_files(*sources: str | Path | None) -> Iterator[Path]:
    """Yield the files that a command reads, with label files beside them; lazy, because it imports much."""
    from mlspl.datasets import EMBEDDED, list_datasets, locate_dataset

    for source in sources:
        if not source:
            continue
        path: Path | None = Path(source)
        if source in list_datasets() and source != EMBEDDED:
            path = locate_dataset(str(source))
        if path is not None and path.is_file():
            stem = path.name.partition(".")[0]
            yield from (path, path.with_name(f"{stem}.xml"), *path.parent.glob(f"{escape(stem)}.labels.*"))


def counted(number: int, what: str) -> str:
    """Return a number of things: 1 row, 2 rows."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def to_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV; a text that a spreadsheet would take for a formula gets an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])
    return stream.getvalue()


def make_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", left: int = 1
) -> Table:
    """Return a table of plain text; the first `left` columns are text, the others numbers."""
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="left" if position < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else shown(str(cell)) for cell in row))
    return table


def note(text: str) -> None:
    """Say something on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(
        f"[yellow]note:[/] {shown(shorten(text, 4000))}"
    )


@contextmanager
def notes(hidden: str = "") -> Iterator[None]:
    """Print warnings as notes, each once; a hidden path is called standard input."""
    said = set()

    def say(message, category, filename, lineno, file=None, line=None):
        text = " ".join(str(message).split())
        if text not in said:
            said.add(text)
            note(text.replace(hidden, "standard input") if hidden else text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for technical in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, RuntimeWarning):
            warnings.simplefilter("ignore", technical)
        warnings.showwarning = say
        yield


@contextmanager
def exit_on_interrupt(message: str) -> Iterator[None]:
    """On Ctrl-C, print a message and exit with code 130."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"stopped by Ctrl-C: {message}")
        raise typer.Exit(130) from None
