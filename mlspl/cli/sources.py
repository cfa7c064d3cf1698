"""What the commands share: files or standard input, notes on standard error."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from mlspl._files import check_writable
from mlspl._text import shown
from mlspl.errors import UserError

__all__ = [
    "STANDARD",
    "check_folder",
    "check_target",
    "counted",
    "file_name",
    "note",
    "notes",
    "spooled",
]

STANDARD = "-"
"""How the command line spells standard input and output."""


@contextmanager
def spooled(source: str) -> Iterator[Path]:
    """The path of a file; of standard input, that of a copy, which errors and notes call standard input.

    Readers go by the suffix, so the first bytes tell which format standard input is in. What readers warn of
    is said on standard error.
    """
    if source != STANDARD:
        with notes():
            yield Path(source)
        return
    from mlspl.datasets import guess_suffix

    if sys.stdin is None:
        raise UserError("standard input is closed. Pipe a file into the command, or name one.")
    if sys.stdin.isatty():
        raise UserError("standard input is a terminal. Pipe a file into the command, or name one.")
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


def check_target(out: str | Path, *inputs: str | Path | None) -> None:
    """Refuse a target that cannot be written or is one of the inputs, before any work is done for it."""
    path = Path(out)
    if out == STANDARD:
        return
    if path.is_file() and any(read and Path(read).is_file() and path.samefile(read) for read in inputs):
        raise UserError(f"{path} is what is to be read, and would be lost. Name another file to write.")
    if path.is_dir():
        raise UserError(f"{path} is a folder. Name a file in it.")
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist. Make it first.")
    if path.exists() and not path.is_file():  # a pipe or a device
        return
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"the folder {path.parent} cannot be written to. Name another.")
    if path.exists() and not os.access(path, os.W_OK):
        raise UserError(f"{path} is write-protected. Name another file.")
    check_writable(path)


def check_folder(out: Path) -> None:
    """Refuse a folder that cannot be made or written to, before any work is done for it."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file. Name a folder.")
    above = out
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise UserError(f"the folder {out} cannot be written to. Name another.")


def counted(number: int, what: str) -> str:
    """A number of things, as one says it.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def note(text: str) -> None:
    """Say something on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"[yellow]note:[/] {shown(text)}")


@contextmanager
def notes(hidden: str = "") -> Iterator[None]:
    """Turn the warnings of the work inside into notes, each said at once, and once.

    A hidden path is called standard input.
    """
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
