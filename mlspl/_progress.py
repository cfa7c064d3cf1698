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
    is_bar = (console.is_terminal or console.is_jupyter) and not hidden
    has_lines = lines and not is_bar and not hidden
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("left {task.fields[note]}"),
        console=console,
        disable=not is_bar,
        speed_estimate_period=300.0,
    )
    due = time.monotonic() + _SECONDS_TO_FIRST_LINE
    any_line = False
    with bar:
        name = bar.add_task(shown(what), total=total, completed=done, note="")
        (task,) = bar.tasks

        def print_line(note: str = "") -> None:
            left = f", {task.time_remaining:.0f} s left" if task.time_remaining else ""
            text = f"{task.completed:.0f} of {total} {shown(what)}{left} {note}"
            console.print(text.rstrip(), soft_wrap=True)

        def advance(note: str = "", steps: int = 1) -> None:
            nonlocal due, any_line
            note = f"· {shown(note)}" if note else ""
            bar.update(name, advance=steps, note=note)
            is_due = time.monotonic() >= due or (any_line and task.finished)
            if has_lines and is_due:
                due, any_line = time.monotonic() + _SECONDS_BETWEEN_LINES, True
                print_line(note)

        def print_first_line() -> None:
            if not any_line:
                print_line()

        timer = Timer(_SECONDS_TO_FIRST_LINE, print_first_line)  # the first step may take long
        timer.daemon = True
        if has_lines:
            timer.start()
        try:
            yield advance
        finally:
            timer.cancel()
        # Work may end before the last step.
        bar.update(name, total=task.completed)
