"""Long work is foretold from a probe, shown while it lasts, and Ctrl-C says what was kept."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from mlspl.cli import audit, fit, waiting
from mlspl.datasets import load_dataset, write_dataset
from tests.songs import songs


@pytest.fixture
def clock(monkeypatch):
    """Work that takes as long as it is told to, on a clock of its own."""
    now = [0.0]
    monkeypatch.setattr(waiting, "PATIENCE", 10.0)
    monkeypatch.setattr(waiting.time, "perf_counter", lambda: now[0])

    def work_of(seconds):
        sizes = []

        def work(rows):
            sizes.append(rows)
            now[0] += seconds(rows)

        return work, sizes

    return work_of


@pytest.mark.parametrize("power", [1.0, 2.0, 2.5])
def test_work_is_foretold_by_how_it_grows(clock, power):
    work, sizes = clock(lambda rows: 1e-6 * rows**power * 4000 ** (2.5 - power))
    probe = waiting.probe_rows(work, 4000)
    assert probe.growth == pytest.approx(power)
    assert probe.foretell(4000) == pytest.approx(1e-6 * 4000**2.5)
    assert sizes[0] == sizes[1] == 62  # the first compiles
    assert max(sizes) <= 1000


def test_compiling_does_not_count(clock):
    calls = []

    def seconds(rows):
        calls.append(rows)
        return 500.0 if len(calls) == 1 else 1e-3 * rows

    probe = waiting.probe_rows(clock(seconds)[0], 40_000)
    assert probe.foretell(40_000) == pytest.approx(40.0)


def test_an_overhead_is_no_sign_of_slow_growth(clock):
    """What takes a second on any sample is taken to be linear, not free, in the rows."""
    probe = waiting.probe_rows(clock(lambda rows: 1.0 + 1e-9 * rows)[0], 4000)
    assert probe.growth == 1.0


@pytest.mark.parametrize(("rows", "seconds"), [(4000, 1e-5), (100, 1.0)])
def test_short_work_and_few_rows_need_no_word(clock, rows, seconds):
    assert waiting.probe_rows(clock(lambda _: seconds)[0], rows) is None


@pytest.mark.parametrize(
    ("seconds", "words"), [(3, "10 seconds"), (84, "80 seconds"), (600, "10 minutes"), (7300, "2 hours")]
)
def test_durations_are_round(seconds, words):
    assert waiting.about(seconds) == words


def test_a_log_gets_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(waiting, "_SECONDS_BETWEEN_LINES", 0.01)
    with waiting.show_waiting("fitting", 40.0):
        time.sleep(0.1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 1
    assert set(lines) == {"fitting: 0 s of about 40 seconds"}


@pytest.fixture
def impatient(monkeypatch, mlspl):
    for module in (waiting, fit, audit):
        monkeypatch.setattr(module, "PATIENCE", 0.0)
    return mlspl


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["--method", "mlspl"], "steps of MLSPLClassifier"),
        (["--method", "ml-knn", "--tune", "macro_f1"], "20 of 20 settings"),
    ],
)
def test_a_long_fit_is_foretold_and_shown(impatient, tmp_path, options, shown):
    (tmp_path / "songs.csv").write_text(songs(200))
    code, out, errors = impatient("fit", "songs.csv", "--labels=-3", *options, "-o", "m.skops")
    assert code == 0
    assert re.search(r"note: this takes about \d+ \w+, as fits on up to \d+ rows foretell", errors)
    assert shown in errors
    assert "Wrote m.skops" in out


def test_a_long_audit_is_foretold_and_shown(impatient, tmp_path):
    (tmp_path / "songs.csv").write_text(songs(200))
    code, _, errors = impatient("audit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "found")
    assert code == 0
    assert re.search(r"note: this takes about \d+ \w+, as audits of up to \d+ rows foretell", errors)
    assert "6 of 6 steps of the audit" in errors


def test_ctrl_c_says_that_nothing_was_written(tmp_path):
    """A real SIGINT in the midst of tuning: a hundred fits."""
    digits = load_dataset("digits-traits")
    write_dataset(digits, tmp_path / "digits.csv")
    command = [sys.executable, "-m", "mlspl", "fit", "digits.csv", "--tune", "average_precision"]
    process = subprocess.Popen(
        [*command, "-o", "m.skops"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        first = process.stderr.readline()
        assert "this takes about" in first
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "stopped by Ctrl-C: nothing was written to m.skops." in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "m.skops").exists()
