"""Long work at the shell: what shows that it goes on, and what Ctrl-C leaves of it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from mlspl.cli.sources import note

__all__ = ["exit_on_interrupt", "show_waiting"]

_SECONDS_BETWEEN_LINES = 15.0


@contextmanager
def show_waiting(what: str) -> Iterator[None]:
    """Show that work without steps goes on: a clock on a terminal, elsewhere a line every 15 seconds."""
    console = Console(stderr=True, highlight=False)
    if console.is_terminal:
        columns = (SpinnerColumn(), TextColumn(what), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as clock:
            clock.add_task(what, total=None)
            yield
        return
    done, started = Event(), time.monotonic()

    def print_lines() -> None:
        while not done.wait(_SECONDS_BETWEEN_LINES):
            console.print(f"{what}: {time.monotonic() - started:.0f} s", soft_wrap=True)

    printer = Thread(target=print_lines, daemon=True)
    printer.start()
    try:
        yield
    finally:
        done.set()
        printer.join()


@contextmanager
def exit_on_interrupt(message: str) -> Iterator[None]:
    """On Ctrl-C, print a message and exit with code 130."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"stopped by Ctrl-C: {message}")
        raise typer.Exit(130) from None
