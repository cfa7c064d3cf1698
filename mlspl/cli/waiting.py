"""Work that takes long: said beforehand from a probe, shown while it lasts, and what Ctrl-C leaves of it."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from mlspl.cli.sources import note

__all__ = ["PATIENCE", "Probe", "about", "keep_on_interrupt", "probe_rows", "show_waiting"]

PATIENCE = 10.0
"""Seconds that need no word."""

_SECONDS_BETWEEN_LINES = 15.0
_FEWEST_ROWS = 40
_MOST_GROWTH = 3.0
# A probe may take this share of what it foretells, or this many seconds.
_PROBE_SHARE, _PROBE_SECONDS = 0.05, 1.0


@dataclass(frozen=True)
class Probe:
    """What work on a sample took, and the power of the rows by which it grows."""

    rows: int
    seconds: float
    growth: float

    def foretell(self, rows: float) -> float:
        """The seconds of the same work on so many rows."""
        return self.seconds * (rows / self.rows) ** self.growth


def probe_rows(work: Callable[[int], None], n_rows: int, times: float = 1.0) -> Probe | None:
    """Time the work on ever larger samples of the rows, until it can be foretold for all of them.

    The first run compiles, and does not count. None where `times` the work is surely done within `PATIENCE`,
    or where there are too few rows to sample.
    """
    rows = max(_FEWEST_ROWS, n_rows // 64)
    if 4 * rows > n_rows:
        return None
    work(rows)
    probe, spent = None, 0.0
    while 4 * rows <= n_rows:
        started = time.perf_counter()
        work(rows)
        seconds = time.perf_counter() - started
        spent += seconds
        if times * Probe(rows, seconds, _MOST_GROWTH).foretell(n_rows) < PATIENCE:
            return None
        growth = 1.0 if probe is None else math.log2(max(seconds, 1e-9) / max(probe.seconds, 1e-9))
        probe = Probe(rows, seconds, min(max(growth, 1.0), _MOST_GROWTH))
        if spent + 2.0**probe.growth * seconds > max(_PROBE_SECONDS, _PROBE_SHARE * probe.foretell(n_rows)):
            break
        rows *= 2
    return probe


def about(seconds: float) -> str:
    """A duration in round words.

    Examples
    --------
    >>> about(38), about(260), about(20000)
    ('40 seconds', '4 minutes', '6 hours')
    """
    if seconds < 90:
        return f"{max(10, round(seconds, -1)):.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.0f} hours"


@contextmanager
def show_waiting(what: str, seconds: float = 0.0) -> Iterator[None]:
    """Show that work without steps goes on: a clock on a terminal, elsewhere a line now and then.

    Beside it stands how long it takes, if that was foretold.
    """
    console = Console(stderr=True, highlight=False)
    foretold = f" of about {about(seconds)}" if seconds > PATIENCE else ""
    if console.is_terminal:
        columns = (SpinnerColumn(), TextColumn(what), TimeElapsedColumn(), TextColumn(foretold))
        with Progress(*columns, console=console, transient=True) as clock:
            clock.add_task(what, total=None)
            yield
        return
    done, started = Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(_SECONDS_BETWEEN_LINES):
            console.print(f"{what}: {time.monotonic() - started:.0f} s{foretold}", soft_wrap=True)

    teller = Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


@contextmanager
def keep_on_interrupt(kept: str) -> Iterator[None]:
    """End with code 130 on Ctrl-C, and say what there is then."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"stopped by Ctrl-C: {kept}")
        raise typer.Exit(130) from None
