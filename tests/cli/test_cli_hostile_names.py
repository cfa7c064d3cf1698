"""Hostile names in files: no command lets them control a terminal, Rich, a spreadsheet or a folder."""

import csv
import io
import json
import sys
import unicodedata
from importlib.util import find_spec

import numpy as np
import pytest
import typer

from mlspl import MLkNNClassifier, experiments, pacing, save_model
from mlspl._text import safe_cell
from mlspl.cli.main import app
from mlspl.datasets import read_dataset
from mlspl.experiments import Outcome, Store, Trial
from mlspl.experiments.report import write_results
from mlspl.experiments.tables import text_tables
from mlspl.recipes import Schema

# An escape sequence, a control character of C1, a changed direction, and markup that closes what is not open.
EVIL = "\x1b[31m\x9b2J\u202e\u2066[/bold][link=x]$\\frac{"
LABELS = [f"=cmd|{EVIL}", f"b{EVIL}", "[/bold]"]
FEATURES = [f"f1{EVIL}", "f2"]


def write_decisions(home):
    """As the page of an audit exports them."""
    data = read_dataset(home / "data.csv", -3, encode=False)
    with (home / "votes.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(
            [["annotator_1", "annotator_2"], *[[f"{EVIL[:4]}|b", "b"], ["b", ""]] * 5]
        )
    with (home / "decisions.csv").open("w", newline="", encoding="utf-8") as stream:
        write = csv.writer(stream).writerow
        write(["fingerprint", "row", "label", "suggested", "decision"])
        for row, name in enumerate(LABELS):
            write([data.fingerprint(), row, safe_cell(name), 1 - int(data.Y[row, row]), "accepted"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files with such names in them: data, a model, results."""
    home = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 2)), (rng.random((40, 3)) < 0.4).astype(int)
    with (home / "data.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([FEATURES + LABELS, *np.hstack([X, Y]).tolist()])
    write_decisions(home)
    schema = Schema(tuple(FEATURES), 2, layout="any")
    save_model(MLkNNClassifier(k=3).fit(X, Y), home / "m.skops", schema=schema, label_names=LABELS)
    with (home / "scores.csv").open("w", newline="", encoding="utf-8") as stream:
        write = csv.writer(stream).writerow
        write(["dataset", "method", "split", "one_error", f"other{EVIL}"])
        for data in (f"../d{EVIL}", "=1+1", "[/bold]"):
            for number, method in enumerate((f"=m{EVIL}", "[/bold]", "@sum", "plain")):
                for split in range(6):
                    write([data, method, split, number / 10 + split / 100, split])
    with Store(home / "results.db") as store:
        for split in range(6):
            for number, method in enumerate((f"=m{EVIL}", "[/bold]", "bsvm")):
                for data in (f"../d{EVIL}", "../../d", "[/bold]"):
                    outcome = Outcome(scores={"one_error": number / 10 + split / 100}, warnings=[EVIL])
                    store.record(Trial(data, data, method, {"k": EVIL}, split), outcome)
    return home


COMMANDS = {
    ("fit",): ["data.csv", "--labels=-3", "--method", "ml-knn", "-o", "new.skops", "--test-size", "0.3"],
    ("predict",): ["m.skops", "data.csv", "-o", "out.csv", "--top", "2"],
    ("evaluate",): ["m.skops", "data.csv", "-o", "out.csv", "--all"],
    ("audit",): ["data.csv", "--labels=-3", "--method", "ml-knn", "-o", EVIL[:4]],
    ("consensus",): ["votes.csv", "--annotators", "annotator_*", "--votes-only", "-o", f"{EVIL[:4]}.csv"],
    ("export",): ["m.skops", "-o", "out.onnx"],
    ("correct",): ["data.csv", "decisions.csv", "--labels=-3", "-o", f"{EVIL[:4]}.csv"],
    ("reproduce",): ["--quick", "--methods", "ml-knn", "--splits", "1", "--jobs", "1", "--out", EVIL[:4]],
    ("compare",): ["scores.csv", "--criterion", "one_error", "--higher", f"other{EVIL}", "--out", EVIL[:4]],
    ("datasets", "list"): [],
    ("datasets", "info"): ["data.csv", "--labels=-3", "--all"],
    ("datasets", "fetch"): ["digits-traits"],
    ("datasets", "convert"): ["data.csv", "out[bold].arff", "--labels=-3"],
    ("pacing", "list"): [],
    ("pacing", "plot"): ["linear", "-o", f"{EVIL[:4]}.svg"],
    ("pacing", "derive"): ["exp(-t)"],
    ("pacing", "verify"): ["linear"],
}


def paths(command, path=()):
    inner = getattr(command, "commands", None)
    return [path] if inner is None else [p for name, c in inner.items() for p in paths(c, (*path, name))]


def assert_harmless(*texts):
    for text in texts:
        bad = {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf") and sign not in "\n\r\t"}
        assert not bad, bad


@pytest.mark.parametrize("path", paths(typer.main.get_command(app)), ids=" ".join)
def test_no_command_hands_on_what_a_name_orders(mlspl, folder, tmp_path, path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    code, out, errors = mlspl(*path, *COMMANDS[path])
    # MLkNN has no ONNX form; without the package no model has.
    no_form = "cannot be exported" if find_spec("onnx") else "mlspl[onnx]"
    refused = {"convert": "XML cannot hold", "export": no_form}.get(path[-1])
    assert code == 0 or (refused and refused in errors), errors
    assert_harmless(out, errors)
    # What correct writes is the user's own file, of which it changes labels only.
    own = ("data.csv", "scores.csv", f"{EVIL[:4]}.csv")
    for file in tmp_path.rglob("*.csv"):
        if file.name not in own:
            text = file.read_text(encoding="utf-8")
            cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
            assert not [cell for cell in cells if cell[:1] in "=@" and cell]


def test_a_hostile_store_stays_in_its_folder(mlspl, folder, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "results.db").write_bytes((folder / "results.db").read_bytes())
    code, out, errors = mlspl("compare", "a/results.db", "--criterion", "one_error", "--out", "a/out")
    assert code == 0, errors
    assert_harmless(out, errors)
    with Store(tmp_path / "a" / "results.db") as store:
        keys = store.frame()
        trials = [
            Trial(row.dataset, row.fingerprint, row.method, row.parameters, row.split)
            for row in keys.itertuples()
        ]
        results = write_results(store, trials, tmp_path / "a")
    assert all(path.resolve().parent == tmp_path / "a" for path in results.files)
    assert {path.name for path in tmp_path.iterdir()} == {"a"}
    assert text_tables(results.summary, 80)


def test_methods_compared_on_hostile_data(mlspl, folder, tmp_path):
    (tmp_path / f"{EVIL[:4]}.csv").write_bytes((folder / "data.csv").read_bytes())
    command = (f"{EVIL[:4]}.csv", "--labels=-3", "--methods", "ml-knn", "--folds", 2, "--jobs", 1)
    code, out, errors = mlspl("compare", *command)
    assert code == 0, errors
    assert_harmless(out, errors, *(path.name for path in (tmp_path / "comparison").iterdir()))


def test_trials_that_all_fail_are_listed(mlspl, monkeypatch):
    """There was an internal error, KeyError: 'block', and no word of what had failed."""

    def fail(trials, data, store, *others):
        for trial in trials:
            store.record(trial, Outcome(error=f"no luck{EVIL}"))

    monkeypatch.setattr(experiments, "run_trials", fail)
    code, out, errors = mlspl("reproduce", "--quick", "--methods", "ml-knn", "--jobs", "1")
    assert (code, errors) == (1, "")
    assert "2 trials failed" in out
    assert "ml-knn on split 0 of digits-traits: no luck" in out
    assert_harmless(out)


def test_output_that_cannot_show_everything(mlspl, monkeypatch, tmp_path):
    """Latin-1 has no Ω. What is written to files is whole, and comes first."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)
    rows = ["é,b,Ω", *(f"{i},{i % 3},{i % 2}" for i in range(20))]
    (tmp_path / "Ω.csv").write_text("\n".join(rows), encoding="utf-8")
    assert mlspl("pacing", "list")[0] == 0
    assert mlspl("fit", "Ω.csv", "--labels=-1", "--method", "ml-knn", "-o", "Ω.skops")[0] == 0
    assert mlspl("evaluate", "Ω.skops", "Ω.csv", "-o", "Ω.csv.json")[0] == 0
    stream.flush()
    assert b"sigmoid" in stream.buffer.getvalue()
    assert b"? " in stream.buffer.getvalue()
    assert "Ω" in json.loads((tmp_path / "Ω.csv.json").read_text())["labels"]


def test_closed_standard_input(mlspl, folder, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, _, errors = mlspl("predict", folder / "m.skops", "-")
    assert code == 2
    assert errors.startswith("error: standard input is closed")
    assert errors.count("\n") == 1


def test_without_docstrings(mlspl, monkeypatch):
    """As with python -OO."""
    for name in pacing.names():
        monkeypatch.setattr(type(pacing.get(name)), "__doc__", None)
    code, out, errors = mlspl("pacing", "list")
    assert code == 0, errors
    assert "sigmoid" in out
