"""Progress of long work: a bar on a terminal; elsewhere a line now and then, after five seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

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

_SECONDS_TO_FIRST_LINE, _SECONDS_BETWEEN_LINES = 5.0, 15.0


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
    """Show the progress of some work; yields a function to call after each step."""
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
        # Work may end before the last step.
        bar.update(task, total=bar.tasks[0].completed)


@contextmanager
def _show_lines(what: str, total: int, done: int, console: Console) -> Iterator[Advance]:
    before, started = done, time.monotonic()
    due = started + _SECONDS_TO_FIRST_LINE
    any_line = False

    def advance(note: str = "", steps: int = 1) -> None:
        nonlocal done, due, any_line
        done += steps
        now = time.monotonic()
        if now < due and not (any_line and done == total):
            return
        due, any_line = now + _SECONDS_BETWEEN_LINES, True
        # The first step may compile, so it does not predict the others.
        seconds = (total - done) * (now - started) / max(done - before, 1)
        left = f", {seconds:.0f} s left" if done - before > 1 and done < total else ""
        note = f" · {note}" if note else ""
        console.print(shown(f"{done} of {total} {what}{left}{note}"), soft_wrap=True)

    def begin() -> None:
        if not any_line:
            console.print(shown(f"{done} of {total} {what}"), soft_wrap=True)

    timer = Timer(_SECONDS_TO_FIRST_LINE, begin)  # the first step may take long
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()


@contextmanager
def _show_nothing(what: str, total: int, done: int, console: Console) -> Iterator[Advance]:
    yield lambda note="", steps=1: None
