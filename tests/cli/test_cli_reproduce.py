"""`mlspl reproduce` as a user meets it: results, resuming, mistakes, Ctrl-C, no network."""

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from mlspl.cli.main import main
from mlspl.experiments import Store
from tests.songs import songs

QUICK = ["reproduce", "--quick", "--methods", "ml-knn,tram", "--jobs", "1"]


def run(monkeypatch, *arguments):
    """The command in this process; its exit code."""
    monkeypatch.setattr(sys, "argv", ["mlspl", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "120")
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0


def test_it_prints_a_real_table_and_goes_on_where_it_stopped(monkeypatch, tmp_path, capsys):
    assert run(monkeypatch, *QUICK, "--out", tmp_path, "--dry-run") == 0
    assert "4 trials: 0 done, 4 to do" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []

    assert run(monkeypatch, *QUICK, "--out", tmp_path, "--splits", "1") == 0
    assert run(monkeypatch, *QUICK, "--out", tmp_path, "--dry-run") == 0
    listed = capsys.readouterr().out
    assert "4 trials: 2 done, 2 to do" in listed
    assert "done   digits-traits ml-knn split=0 train=0.3 k=auto" in listed

    assert run(monkeypatch, *QUICK, "--out", tmp_path) == 0
    shown = capsys.readouterr().out
    assert "2 of 4 trials were done before." in shown
    assert "digits-traits (30 % training rows, 2 splits)" in shown
    table = pd.read_csv(tmp_path / "means.csv").set_index(["criterion", "method"])
    assert f"{table.loc[('ranking_loss', 'tram'), 'mean']:.4f}" in shown
    assert (table["splits"] == 2).all()
    assert {path.name for path in tmp_path.iterdir()} >= {
        "results.db",
        "report.html",
        "tables.md",
        "tables.tex",
        "pairs.csv",
    }
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"{table.loc[('ranking_loss', 'tram'), 'mean']:.4f}" in page
    assert "mlspl reproduce --quick --methods ml-knn,tram --jobs 1 --out" in page

    with Store(tmp_path / "results.db") as store:
        before = store.frame()
    assert run(monkeypatch, *QUICK, "--out", tmp_path) == 0
    assert "4 of 4 trials were done before." in capsys.readouterr().out
    with Store(tmp_path / "results.db") as store:
        assert store.frame().equals(before)


def test_options_reach_the_trials(monkeypatch, tmp_path, capsys):
    options = ["--train", "0.1,0.2", "--corrupt", "swap:0.1", "--tune", "one_error", "--splits", "1"]
    assert run(monkeypatch, *QUICK, *options, "--out", tmp_path, "--dry-run") == 0
    listed = capsys.readouterr().out
    settings = "corrupt=swap:0.1 tune=one_error k=['auto', 1, 2,"
    assert f"to do  digits-traits tram split=0 train=0.2 {settings}" in listed
    assert "4 trials" in listed


def test_failed_trials_are_told_and_end_in_code_1(monkeypatch, tmp_path, capsys):
    """Three training rows are too few for ten neighbours."""
    assert run(monkeypatch, *QUICK, "--train", "0.002", "--splits", "1", "--out", tmp_path) == 1
    shown = capsys.readouterr().out
    assert "1 trial failed." in shown
    assert "ml-knn on split 0 of digits-traits:" in shown


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--methods", "svm"], "There is no method 'svm'"),
        (["--datasets", "flag"], "Did you mean 'flags'?"),
        (["--train", "third"], "'third' is no number"),
        (["--corrupt", "flip"], "flip:0.2"),
        (["--tune", "accuracy"], "no criterion 'accuracy'"),
    ],
)
def test_mistakes_are_sentences_and_end_in_code_2(monkeypatch, tmp_path, capsys, options, sentence):
    assert run(monkeypatch, *QUICK, "--out", tmp_path / "out", *options) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert error.startswith("error:")
    assert sentence in error
    assert not (tmp_path / "out").exists()


def test_another_programs_file_is_left_alone(monkeypatch, tmp_path, capsys):
    (tmp_path / "results.db").write_text("mine")
    assert run(monkeypatch, *QUICK, "--out", tmp_path) == 2
    assert "not a database" in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "results.db").read_text() == "mine"


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No data on the disk, and a network that refuses."""
    monkeypatch.delenv("MLSPL_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_network_the_default_list_is_what_can_be_had(monkeypatch, tmp_path, capsys, offline):
    arguments = ["reproduce", "--methods", "ml-knn", "--out", tmp_path / "out", "--dry-run"]
    assert run(monkeypatch, *arguments) == 0
    shown = capsys.readouterr().out
    for name in ("flags", "emotions", "scene"):
        assert f"Without {name}: it could not be downloaded" in shown
    assert "10 trials: 0 done, 10 to do" in shown


def test_a_named_set_that_cannot_be_had_is_a_mistake(monkeypatch, tmp_path, capsys, offline):
    assert run(monkeypatch, "reproduce", "--datasets", "flags", "--out", tmp_path / "out") == 2
    assert "flags could not be downloaded" in " ".join(capsys.readouterr().err.split())


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path):
    """The whole process group gets SIGINT, as from a terminal, while one worker or both still start."""
    command = [
        sys.executable,
        "-m",
        "mlspl",
        "reproduce",
        "--datasets",
        "digits-traits",
        "--methods",
        "ml-knn",
    ]
    command += ["--splits", "5000", "--jobs", "2", "--out", str(tmp_path)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        finished = 0
        while finished < 1:
            time.sleep(0.1)
            assert process.poll() is None, process.stderr.read()
            if (tmp_path / "results.db").exists():
                with Store(tmp_path / "results.db") as store:
                    finished = len(store.finished())
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Ctrl-C: finished trials are stored" in err
    assert "Traceback" not in out + err


def test_a_file_of_ones_own_is_a_data_set(monkeypatch, tmp_path, capsys):
    (tmp_path / "songs.csv").write_text(songs())
    arguments = ["--datasets", f"{tmp_path / 'songs.csv'},digits-traits", "--labels=-3", "--splits", "1"]
    assert run(monkeypatch, "reproduce", *arguments, "--methods", "bsvm", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "to do  songs bsvm split=0 train=0.3" in shown
    assert "to do  digits-traits bsvm split=0 train=0.3" in shown
