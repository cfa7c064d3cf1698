"""`mlspl compare` on a store, on a CSV, on data, and on mistakes."""

import gzip
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlspl.cli.main import main
from mlspl.experiments import Outcome, Store, Trial
from tests.songs import songs

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
    monkeypatch.chdir(store.parent)
    assert run(monkeypatch, store, "--criterion", "one_error") == 0
    shown = capsys.readouterr().out
    assert "Average ranks over 2 data sets" in shown
    lines = [line.split() for line in shown.splitlines()]
    assert [line[-1] for line in lines if line and line[0] in SCORES][:3] == ["1.00", "2.00", "3.00"]
    pairs = pd.read_csv(store.parent / "comparison" / "pairs.csv")
    assert len(pairs) == 2 * 3
    assert pairs["p_holm"].tolist() == pytest.approx([3 * 2 / 2**8] * 6)
    assert "0.0234" in shown
    assert (store.parent / "comparison" / "critical-difference.svg").exists()
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
    assert "accuracy hours" in shown
    assert all(f"{rank} 2.00" in shown for rank in ("1.00", "2.00", "3.00"))
    assert "Friedman's p 0.0498 1.0000" in shown
    assert {path.name for path in out.iterdir()} == {
        "pairs.csv",
        "critical-difference.png",
        "critical-difference.svg",
        ".mlspl-outputs.json",
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
    assert "direction of cost" in capsys.readouterr().err


def test_one_data_set_is_told_apart_from_several(monkeypatch, tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,one_error\nx,a,0,0.5\nx,b,0,0.6\nx,a,1,0.5\nx,b,1,0.6\n")
    assert run(monkeypatch, path, "--out", tmp_path / "out") == 0
    assert "at least two data sets" in capsys.readouterr().out


def test_a_file_that_is_not_there(monkeypatch, tmp_path, capsys):
    assert run(monkeypatch, tmp_path / "results.db") == 2
    assert "There is no file" in capsys.readouterr().err


def cross_validate(*arguments):
    return ("songs.csv", "--labels=-3", "--jobs", 1, "--folds", 3, *arguments)


def test_methods_are_cross_validated_on_ones_own_file(mlspl, tmp_path):
    """Each row is tested once; the same command goes on; the pairs and the page are there."""
    (tmp_path / "songs.csv").write_text(songs())
    command = ("compare", *cross_validate("--methods", "ml-knn,logistic", "--criterion", "macro_f1"))
    code, out, errors = mlspl(*command)
    assert (code, errors) == (0, "")
    assert "songs (3-fold cross-validation)" in out
    assert "at least 6 splits are needed" in out
    assert "macro F1: Wilcoxon" in out
    files = {path.name for path in (tmp_path / "comparison").iterdir()}
    assert {"results.db", "means.csv", "pairs.csv", "report.html", "tables.md"} <= files
    page = (tmp_path / "comparison" / "report.html").read_text(encoding="utf-8")
    assert "divided into 3 folds" in page
    assert "RandomState" not in page
    with Store(tmp_path / "comparison" / "results.db") as store:
        trials = store.frame()
    assert sorted(trials["split"]) == [0, 0, 1, 1, 2, 2]
    assert trials["scores"].map(lambda scores: scores["hamming_loss"]).nunique() > 2
    assert "6 of 6 trials were done before." in mlspl(*command)[1]


def test_tuning_by_any_criterion_shows_it(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs())
    code, out, errors = mlspl("compare", *cross_validate("--methods", "ml-knn", "--tune", "macro_f1"))
    assert (code, errors) == (0, "")
    assert "macro F1 ↑" in out


def test_text_is_learnt_from(mlspl, tmp_path):
    rng = np.random.default_rng(0)
    words = ["piano quiet night slow", "drums loud fast party"]
    rows = [f"{rng.normal():.3f},{words[i % 2]} number{i},{i % 2}" for i in range(60)]
    (tmp_path / "songs.csv").write_text("\n".join(["tempo,lyrics,dance", *rows]) + "\n")
    command = ("songs.csv", "--labels", "dance", "--jobs", 1, "--folds", 2, "--methods", "logistic")
    code, out, errors = mlspl("compare", *command, "--text", "none")
    assert code == 0
    assert "--text 'lyrics'" in errors
    without = float(re.search(r"hamming loss ↓ +\*?([\d.]+)", out)[1])
    code, out, errors = mlspl("compare", *command, "--out", "with")
    assert (code, errors) == (0, "")
    assert float(re.search(r"hamming loss ↓ +\*?([\d.]+)", out)[1]) < without - 0.2
    pages = [Path(folder, "report.html").read_text(encoding="utf-8") for folder in ("comparison", "with")]
    assert ["1 numeric<" in page for page in pages] == [True, False]
    assert ["1 numeric, 1 text<" in page for page in pages] == [False, True]
    assert ["TF-IDF" in page for page in pages] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["songs.csv", "--labels=-3"], "name the methods to compare on the data"),
        (["songs.csv"], "If these are data, name the --methods"),
        (["songs.csv", "--labels=-3", "--methods", "svm"], "There is no method 'svm'"),
        (["songs.csv", "--labels=-3", "--methods", "bsvm", "--folds", "900"], "2 to 80 folds"),
        (["songs.csv", "--labels=-3", "--methods", "bsvm", "--tune", "loss"], "no criterion 'loss'"),
        (["songs.csv", "--labels=-3", "--methods", "bsvm", "--criterion", "loss"], "no criterion 'loss'"),
        (["songs.csv", "--labels=-3", "--methods", "bsvm", "--higher", "x"], "are for scores"),
        (["digits-traits", "--labels=-3", "--methods", "bsvm"], "no file is named"),
        (["-", "--labels=-3", "--methods", "bsvm"], "Name the file"),
        (["songs.csv", "--labels=-3", "--methods", "bsvm", "--out", "songs.csv"], "is a file"),
    ],
)
def test_mistakes_about_data_are_sentences_and_write_nothing(mlspl, tmp_path, arguments, sentence):
    (tmp_path / "songs.csv").write_text(songs())
    code, out, errors = mlspl("compare", *arguments)
    assert (code, out) == (2, "")
    assert sentence in " ".join(errors.split())
    assert [path.name for path in tmp_path.iterdir()] == ["songs.csv"]


@pytest.mark.parametrize("kind", ["same", "link", "hard link", "other spelling"])
@pytest.mark.parametrize("name", ["pairs.csv", "means.csv"])
def test_no_input_is_overwritten(mlspl, tmp_path, name, kind):
    """The tables were written over data of the same name."""
    given, target = tmp_path / name, tmp_path / "out" / name
    target.parent.mkdir()
    given.write_text(songs() if name == "means.csv" else "dataset,method,split,one_error\nx,a,0,1\nx,b,0,2\n")
    before = given.read_bytes()
    out = target.parent
    if kind == "link":
        target.symlink_to(given)
    elif kind == "hard link":
        target.hardlink_to(given)
    else:
        out = tmp_path if kind == "same" else tmp_path / "out" / ".."
    command = [given, "--labels=-3", "--methods", "bsvm"] if name == "means.csv" else [given]
    code, _, errors = mlspl("compare", *command, "--out", out, "--force")
    assert code == 2
    assert name in errors
    assert given.read_bytes() == before
    assert not (out / "results.db").exists()


def test_other_files_are_kept_unless_forced_and_own_files_are_renewed(mlspl, tmp_path):
    (tmp_path / "scores.csv").write_text(
        "dataset,method,split,one_error\nx,a,0,1\nx,b,0,2\nx,a,1,1\nx,b,1,3\n"
    )
    (tmp_path / "out").mkdir()
    pairs = tmp_path / "out" / "pairs.csv"
    pairs.write_text("mine")
    command = ("compare", "scores.csv", "--out", "out")
    assert mlspl(*command)[0] == 2
    assert pairs.read_text() == "mine"
    assert mlspl(*command, "--force")[0] == 0
    assert mlspl(*command)[0] == 0
    pairs.write_text("mine")
    assert mlspl(*command)[0] == 2


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("dataset,method,split,one_error\nx,a,0,inf\nx,b,0,1\n", "finite"),
        ("dataset,method,split,one_error\n" + "".join(f"x,m{i},0,1\n" for i in range(1500)), "too many"),
    ],
)
def test_scores_that_cannot_be_compared_are_refused(mlspl, tmp_path, text, word):
    (tmp_path / "scores.csv").write_text(text)
    code, _, errors = mlspl("compare", "scores.csv")
    assert code == 2
    assert word in errors


def test_compressed_scores_are_not_unpacked(mlspl, tmp_path):
    """One megabyte became six gigabytes."""
    (tmp_path / "scores.csv.gz").write_bytes(gzip.compress(bytes(2**24)))
    code, _, errors = mlspl("compare", "scores.csv.gz")
    assert code == 2
    assert "unpack" in errors
