"""Long work is shown while it lasts, and Ctrl-C says what was kept."""

import os
import signal
import subprocess
import sys
import time

import pytest

from mlspl import _progress
from mlspl.datasets import load_dataset, write_dataset
from tests.songs import songs


@pytest.mark.parametrize(
    ("command", "progress"),
    [
        ("fit songs.csv --labels=-3 -o m.skops", "steps of MLSPLClassifier"),
        ("fit songs.csv --labels=-3 --method ml-knn --tune macro_f1 -o m.skops", "20 of 20 settings"),
        ("audit songs.csv --labels=-3 --method ml-knn -o found", "folds of the audit"),
    ],
)
def test_long_work_shows_how_far_it_is(mlspl, tmp_path, monkeypatch, command, progress):
    monkeypatch.setattr(_progress, "_SECONDS_TO_FIRST_LINE", 0.0)
    monkeypatch.setattr("mlspl.cli.fit._PAIRS_OF_A_LONG_FIT", 0)
    (tmp_path / "songs.csv").write_text(songs(100))
    code, _, errors = mlspl(*command.split())
    assert (code, progress in errors) == (0, True)


def test_ctrl_c_says_that_nothing_was_written(tmp_path):
    """A real SIGINT in the midst of tuning: a hundred fits."""
    write_dataset(load_dataset("digits-traits"), tmp_path / "digits.csv")
    command = [sys.executable, "-m", "mlspl", "fit", "digits.csv", "--tune", "average_precision"]
    process = subprocess.Popen(
        [*command, "-o", "m.skops"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        while "gaps" not in process.stdout.readline():
            pass
        time.sleep(1.0)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Ctrl-C: nothing was written to m.skops" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "m.skops").exists()
