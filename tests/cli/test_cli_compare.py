"""`mlspl compare` on a store, on a CSV, and on mistakes."""

import sys

import pandas as pd
import pytest

from mlspl.cli.main import main
from mlspl.experiments import Outcome, Store, Trial

SCORES = {"a": 0.1, "b": 0.2, "c": 0.3}


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["mlspl", "compare", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "140")
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code or 0


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "results.db"
    with Store(path) as store:
        for dataset in ("x", "y"):
            for method, score in SCORES.items():
                for split in range(8):
                    trial = Trial(dataset, dataset, method, {}, split)
                    store.record(trial, Outcome(scores={"one_error": score + split / 100}))
    return path


def test_a_store_gives_ranks_pairs_and_a_diagram(monkeypatch, store, capsys):
    assert run(monkeypatch, store, "--criterion", "one_error") == 0
    shown = capsys.readouterr().out
    assert "Average ranks over 2 data sets" in shown
    assert "1.00  2.00  3.00" in shown
    pairs = pd.read_csv(store.parent / "pairs.csv")
    assert len(pairs) == 2 * 3
    assert pairs["p_holm"].tolist() == pytest.approx([3 * 2 / 2**8] * 6)
    assert "0.0234" in shown
    assert (store.parent / "critical-difference.svg").exists()
    assert "4–0" in shown
    assert "0–4" in shown


def test_a_csv_from_elsewhere_with_columns_of_its_own(monkeypatch, tmp_path, capsys):
    rows = [(d, m, s, 1 - score - s / 100, 5) for d in "xyz" for m, score in SCORES.items() for s in range(3)]
    path = tmp_path / "scores.csv"
    pd.DataFrame(rows, columns=["dataset", "method", "split", "accuracy", "hours"]).to_csv(path, index=False)
    out = tmp_path / "there"
    out.mkdir()
    assert run(monkeypatch, path, "--higher", "accuracy", "--lower", "hours", "--out", out) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "accuracy 1.00 2.00 3.00 0.0498" in shown
    assert "hours 2.00 2.00 2.00 1.0000" in shown
    assert {path.name for path in out.iterdir()} == {
        "pairs.csv",
        "critical-difference.png",
        "critical-difference.svg",
    }


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "name yours with --higher or --lower"),
        (["--higher", "recall"], "no column 'recall'; it has accuracy"),
        (["--higher", "accuracy", "--alpha", "5"], "between 0 and 1; it is 5"),
    ],
)
def test_mistakes_are_sentences(monkeypatch, tmp_path, capsys, options, sentence):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,accuracy\nx,a,0,0.5\nx,b,0,0.6\n")
    assert run(monkeypatch, path, *options) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_direction_is_asked_for(monkeypatch, tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,one_error,cost\nx,a,0,0.5,1\nx,b,0,0.6,2\n")
    assert run(monkeypatch, path, "--criterion", "cost") == 2
    assert "Is more cost better or worse?" in capsys.readouterr().err


def test_one_data_set_is_told_apart_from_several(monkeypatch, tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,one_error\nx,a,0,0.5\nx,b,0,0.6\nx,a,1,0.5\nx,b,1,0.6\n")
    assert run(monkeypatch, path) == 0
    assert "at least two data sets" in capsys.readouterr().out


def test_a_file_that_is_not_there(monkeypatch, tmp_path, capsys):
    assert run(monkeypatch, tmp_path / "results.db") == 2
    assert "There is no file" in capsys.readouterr().err
