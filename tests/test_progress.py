"""One way to show progress: a bar on a terminal, lines in a log, nothing where nobody asked."""

import io
import time

import pytest
from rich.console import Console

from mlspl import _progress
from mlspl._progress import show_progress


def shown(terminal, steps=3, **options):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=200, highlight=False)
    with show_progress("trials", 5, done=2, console=console, **options) as advance:
        for i in range(steps):
            advance(f"[bold]trial {i}\x1b[2J")
    return stream.getvalue()


def test_a_terminal_gets_a_bar_with_what_was_done_last():
    text = shown(terminal=True)
    assert "5/5" in text
    assert "· [bold]trial 2" in text
    assert "\x1b[2J" not in text


def test_work_that_ends_early_is_done():
    assert "3/3" in shown(terminal=True, steps=1)


@pytest.mark.parametrize(("first", "between", "printed"), [(0, 0, "345"), (0, 60, "35"), (60, 60, "")])
def test_a_log_gets_lines_once_the_work_takes_long(monkeypatch, first, between, printed):
    monkeypatch.setattr(_progress, "_SECONDS_TO_FIRST_LINE", first)
    monkeypatch.setattr(_progress, "_SECONDS_BETWEEN_LINES", between)
    lines = shown(terminal=False, lines=True).splitlines()
    lines = [line for line in lines if not line.startswith("2 of ")]  # of the timer, before the first step
    assert [line.split(" of ")[0] for line in lines] == list(printed)
    assert lines[-1:] == ["5 of 5 trials · [bold]trial 2�[2J"] * bool(printed)
    # One step does not tell how long the others take, and after the last none is left.
    assert [" s left" in line for line in lines] == [text == "4" for text in printed]


def test_a_log_gets_a_line_while_the_first_step_runs(monkeypatch):
    monkeypatch.setattr(_progress, "_SECONDS_TO_FIRST_LINE", 0.05)
    stream = io.StringIO()
    with show_progress("trials", 5, lines=True, console=Console(file=stream)):
        time.sleep(0.5)
        assert stream.getvalue() == "0 of 5 trials\n"


def test_nothing_is_shown_where_nobody_asked():
    assert shown(terminal=False) == ""
    assert shown(terminal=True, hidden=True) == ""
