"""Progress of long work: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from mlspl._text import shown

__all__ = ["Advance", "show_progress"]

Advance = Callable[..., None]
"""Called with a note, such as what was done last, and the number of steps, 1 by default."""

_SECONDS_BETWEEN_LINES = 15.0


@contextmanager
def show_progress(
    what: str,
    total: int,
    *,
    done: int = 0,
    hidden: bool = False,
    lines: bool = False,
    console: Console | None = None,
) -> Iterator[Advance]:
    """Show how far some work is; yields what to call after each of its steps."""
    console = console or Console(stderr=True, highlight=False)
    show = _show_bar if console.is_terminal or console.is_jupyter else _show_lines if lines else _show_nothing
    show = _show_nothing if hidden else show
    with show(what, total, done, console) as advance:
        yield advance


@contextmanager
def _show_bar(what: str, total: int, done: int, console: Console) -> Iterator[Advance]:
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left {task.fields[note]}"),
        console=console,
        speed_estimate_period=300.0,
    )
    with bar:
        task = bar.add_task(shown(what), total=total, completed=done, note="")

        def advance(note: str = "", steps: int = 1) -> None:
            bar.update(task, advance=steps, note=f"· {shown(note)}" if note else "")

        yield advance
        # Work that is done earlier than it might have been is done.
        bar.update(task, total=bar.tasks[0].completed)


@contextmanager
def _show_lines(what: str, total: int, done: int, console: Console) -> Iterator[Advance]:
    before = done
    started = printed = time.monotonic()

    def advance(note: str = "", steps: int = 1) -> None:
        nonlocal done, printed
        done += steps
        now = time.monotonic()
        if now - printed < _SECONDS_BETWEEN_LINES and done < total:
            return
        printed = now
        seconds = (total - done) * (now - started) / (done - before)
        # The first step compiles, or is the longest: it does not tell how long the others take.
        left = f", {seconds:.0f} s left" if done - before > 1 and done < total else ""
        words = f"{done} of {total} {what}{left}" + (f" · {note}" if note else "")
        console.print(shown(words), soft_wrap=True)

    yield advance


@contextmanager
def _show_nothing(what: str, total: int, done: int, console: Console) -> Iterator[Advance]:
    yield lambda note="", steps=1: None
