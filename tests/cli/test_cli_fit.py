"""`mlspl fit` as a user meets it: what is printed and written, exit codes; and the walk of all commands."""

import bz2
import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlspl import load_model
from mlspl.datasets import Dataset, load_dataset, read_dataset, write_dataset
from mlspl.model_selection import protocol_split
from mlspl.persistence import read_model_info
from mlspl.recipes import METHODS
from tests.songs import songs, table


def test_numbers_categories_and_unknown_values_go_through_one_pipeline(fitted, tmp_path):
    code, out, errors = fitted("predict", "songs.skops", "songs.csv")
    assert (code, errors) == (0, "")
    rows = table(out)
    assert rows[0] == ["happy", "calm", "dance"]
    assert len(rows) == 81
    assert {cell for row in rows[1:] for cell in row} == {"0", "1"}
    model = load_model(tmp_path / "songs.skops")
    frame = pd.read_csv(tmp_path / "songs.csv")
    np.testing.assert_array_equal(np.array(rows[1:], float), model.predict(frame))
    assert read_model_info(tmp_path / "songs.skops").schema.kinds == {"key": "categorical"}


def test_held_out_scores_are_those_of_a_model_that_did_not_see_the_rows(mlspl, tmp_path):
    digits = load_dataset("digits-traits")
    digits = Dataset(digits.X[:300], digits.Y[:300], digits.feature_names, digits.label_names)
    write_dataset(digits, tmp_path / "digits.csv")
    arguments = ("fit", "digits.csv", "--method", "ml-knn", "--test-size", "0.25", "--seed", "3")
    code, out, errors = mlspl(*arguments, "-o", "digits.skops")
    assert (code, errors) == (0, "")
    assert "digits.csv: 300 rows, 64 features, 8 labels\n" in out
    assert "(64)" in out, "columns that are treated alike share a line"
    assert "75 held-out rows, fitted on the other 225:\n" in out
    assert out.endswith("ML-kNN fitted on all 300 rows\nWrote digits.skops\n")
    train, test = protocol_split(300, 3, 0.75)
    for name, rows in (("train", train), ("test", test)):
        part = Dataset(digits.X[rows], digits.Y[rows], digits.feature_names, digits.label_names)
        write_dataset(part, tmp_path / f"{name}.csv")
    mlspl("fit", "train.csv", "--method", "ml-knn", "--seed", "3", "-o", "train.skops")
    assert mlspl("evaluate", "train.skops", "test.csv", "-o", "scores.json")[0] == 0
    held_out = read_model_info(tmp_path / "digits.skops").summary["held_out_scores"]
    assert held_out == json.loads((tmp_path / "scores.json").read_text())["overall"]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "mlspl-cv"])
def test_every_method_can_be_fitted_from_the_shell(mlspl, tmp_path, method):
    if method == "net":
        pytest.importorskip("torch")
    (tmp_path / "songs.csv").write_text(songs(40))
    assert mlspl("fit", "songs.csv", "--labels=-3", "--method", method, "--proba", "-o", "m.skops")[0] == 0
    code, out, _ = mlspl("predict", "m.skops", "songs.csv", "--proba")
    assert (code, len(table(out))) == (0, 41)


def test_probabilities_are_prepared_unless_that_takes_long(mlspl, tmp_path, monkeypatch):
    (tmp_path / "songs.csv").write_text(songs(40))
    command = ("fit", "songs.csv", "--labels=-3", "--method", "bsvm", "-o", "m.skops")
    assert mlspl(*command)[0] == 0
    assert mlspl("predict", "m.skops", "songs.csv", "--proba")[0] == 0
    monkeypatch.setattr("mlspl.cli.fit._MOST_PAIRS_WITH_PROBABILITIES", 100)
    assert mlspl(*command, "--proba")[0] == mlspl("predict", "m.skops", "songs.csv", "--proba")[0] == 0
    assert mlspl(*command)[0] == mlspl("predict", "m.skops", "songs.csv")[0] == 0
    code, out, errors = mlspl("predict", "m.skops", "songs.csv", "--proba")
    assert (code, out) == (2, "")
    assert "saved without probabilities" in errors


def test_parameters_are_set_by_name(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs(40))
    fit = ("fit", "songs.csv", "--labels=-3", "-o", "m.skops")
    assert mlspl(*fit, "--method", "bsvm", "--set", "C=0.5", "--space", "linear")[0] == 0
    model = load_model(tmp_path / "m.skops")[-1]
    assert (model.C, model.space) == (0.5, "linear")
    assert mlspl(*fit, "--method", "ml-knn+", "--set", "k=3", "--tune", "macro_f1")[0] == 0
    assert read_model_info(tmp_path / "m.skops").summary["parameters"]["k"] == 3
    for options, word in (
        (("--method", "bsvm", "--set", "gama=1"), "'gamma'"),
        (("--method", "ml-knn", "--space", "linear"), "no parameter 'space'"),
        (("--method", "logistic", "--space", "gram"), "fixes"),
        (("--set", "C"), "such as C=0.1"),
        (("--method", "bsvm", "--set", "C=much"), "much"),
    ):
        code, _, errors = mlspl(*fit, *options)
        assert (code, word in errors) == (2, True), errors


def test_a_dry_run_shows_the_columns_and_fits_nothing(mlspl, tmp_path):
    lines = [
        f"{i},s{i},{i % 3}.5,{'' if i % 4 else 'red'},2024-01-{i % 28 + 1:02},{i % 2}" for i in range(40)
    ]
    (tmp_path / "songs.csv").write_text("\n".join(["id,title,tempo,colour,day,happy", *lines]) + "\n")
    code, out, errors = mlspl("fit", "songs.csv", "--labels", "happy", "--dry-run")
    assert code == 0
    assert "count the rows: 'id'" in errors
    rows = {words[0]: " ".join(words[1:]) for words in map(str.split, out.splitlines())}
    assert "dropped" in rows["title"]
    assert rows["tempo"].startswith("numeric number 0")
    assert rows["colour"].startswith("categorical categories 30")
    assert rows["day"].startswith("date year")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["songs.csv"]
    assert mlspl("fit", "songs.csv", "--labels", "happy")[0] == 2


def test_tuning_is_that_of_the_experiments(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs(40))
    arguments = ("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "--tune", "ranking_loss")
    code, out, _ = mlspl(*arguments, "-o", "songs.skops")
    assert code == 0
    summary = read_model_info(tmp_path / "songs.skops").summary
    assert summary["parameters"]["k"] in METHODS["ml-knn"].grid["k"]
    assert summary["criterion"] == "ranking_loss"
    assert f"tuned by ranking loss: k={summary['parameters']['k']}\n" in out
    assert load_model(tmp_path / "songs.skops")[-1].k == summary["parameters"]["k"]


@pytest.mark.parametrize("suffix", [".arff", ".csv", ".tsv", ".parquet", ".svm"])
def test_every_format_is_learnt_and_predicted_from(mlspl, tmp_path, suffix):
    digits = load_dataset("digits-traits")
    digits = Dataset(digits.X[:80], digits.Y[:80], digits.feature_names, digits.label_names)
    path = write_dataset(digits, tmp_path / f"digits{suffix}")
    assert mlspl("fit", path, "--method", "ml-knn", "-o", "digits.skops")[0] == 0
    code, out, errors = mlspl("predict", "digits.skops", path)
    assert (code, errors) == (0, "")
    assert table(out)[0] == digits.label_names
    given = mlspl("predict", "digits.skops", "-", given=path.read_bytes())
    assert given == (code, out, errors)
    labels = [] if suffix == ".svm" else ["--labels=-8"]
    code, model, _ = mlspl("fit", "-", *labels, "--method", "ml-knn", "-o", "-", given=path.read_bytes())
    assert code == 0
    (tmp_path / "piped.skops").write_bytes(model)
    assert mlspl("predict", "piped.skops", path)[1] == out


def test_sparse_files_stay_sparse_and_dense_rows_fit_them(mlspl, tmp_path):
    digits = load_dataset("digits-traits")
    digits = Dataset(digits.X[:80], digits.Y[:80], digits.feature_names, digits.label_names)
    sparse_path, dense_path = (write_dataset(digits, tmp_path / name) for name in ("d.svm", "d.csv"))
    assert mlspl("fit", sparse_path, "--method", "bsvm", "-o", "d.skops")[0] == 0
    model = load_model(tmp_path / "d.skops")
    np.testing.assert_array_equal(model.named_steps["scale"].max_abs_, np.abs(digits.X).max(axis=0))
    assert "csr" in type(model[-1].model_.X).__name__
    assert mlspl("predict", "d.skops", dense_path)[1] == mlspl("predict", "d.skops", sparse_path)[1]


def test_data_that_cannot_be_learnt_is_no_fault_of_ours(mlspl, tmp_path):
    arguments = ("--labels=-2", "--method", "ml-knn", "-o", "m.skops")
    huge = "a,y,z\n" + "\n".join(f"{1.7e308 * (-1) ** i},{i % 2},{int(i > 6)}" for i in range(14))
    code, _, errors = mlspl("fit", "-", *arguments, given=huge)
    assert (code, errors.count("\n")) == (2, 1)
    # No row has a label to rank above another, so no setting of the grid is better than the others.
    full = "a,y,z\n" + "\n".join(f"{i},1,1" for i in range(40))
    code, _, errors = mlspl("fit", "-", *arguments, "--tune", "ranking_loss", given=full)
    assert code == 2
    assert "error: ranking_loss is undefined" in errors
    assert not list(tmp_path.iterdir())


def test_text_that_tells_rows_apart_is_left_out(mlspl, tmp_path):
    lines = songs().splitlines()
    named = [f"title,{lines[0]}", *(f"Song {i},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "songs.csv").write_text("\n".join(named))
    code, out, errors = mlspl("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "songs.skops")
    assert code == 0
    assert "most rows have a value of their own: 'title'" in errors
    assert "3 features" in out


def test_a_column_of_nothing_is_learnt_around(mlspl):
    given = "a,empty,y,z\n" + "\n".join(f"{i},,{i % 2},{int(i > 6)}" for i in range(14))
    assert mlspl("fit", "-", "--labels=-2", "--method", "ml-knn", "-o", "m.skops", given=given)[0] == 0
    assert mlspl("predict", "m.skops", "-", given="a,empty\n3,7\n")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "songs.csv", "-o", "nowhere/m.skops"], "the folder nowhere does not exist"),
        (["fit", "songs.csv", "-o", "."], "is a folder"),
        # Said in place of the file that is not there: before anything is read.
        (["fit", "nowhere.csv", "-o", "m" * 300], "name too long"),
        (["fit", "nowhere.csv", "-o", "m\0.skops"], "no file can have this name"),
        (["fit", "songs.csv", "-o", "m.skops"], "which columns are labels?"),
        (["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--method", "magic"], "no method 'magic'"),
        (["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--tune", "magic"], "no criterion 'magic'"),
        (["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--test-size", "1"], "between 0 and 1"),
        (
            ["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--test-size", "0.99"],
            "leaves 0 of 80 rows",
        ),
        (["fit", "songs.csv", "-o", "m.skops", "--labels", "mood_*"], "matches none"),
        (["predict", "songs.skops", "songs.csv", "--top", "4"], "knows 3 labels only"),
        (["predict", "songs.skops", "songs.csv", "--proba", "--scores"], "exclude one another"),
        (["predict", "songs.skops", "songs.csv", "-o", "nowhere/o.csv"], "does not exist"),
        (["predict", "songs.csv", "songs.csv"], "songs.csv was refused"),
        (["predict", "nowhere.skops", "songs.csv"], "nowhere.skops is not a file"),
        (["predict", "songs.skops", "nowhere.csv"], "nowhere.csv is not a file"),
        (["evaluate", "songs.skops", "songs.csv", "-o", "scores.xlsx"], "must be .csv or .json"),
        (["evaluate", "songs.skops", "digits-traits"], "has no label 'happy'"),
    ],
)
def test_mistakes_end_with_one_sentence_and_code_2(fitted, tmp_path, arguments, message):
    before = sorted(tmp_path.iterdir())
    code, out, errors = fitted(*arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_a_protected_file_is_said_before_the_fit(mlspl, tmp_path, monkeypatch):
    kept = tmp_path / "kept.skops"
    kept.write_text("old")
    may = os.access  # root may write everywhere
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != kept.name and may(path, mode))
    code, _, errors = mlspl("fit", "nowhere.csv", "-o", kept.name, "--force")
    assert (code, kept.read_text()) == (2, "old")
    assert "kept.skops cannot be written" in errors


def test_one_row_and_one_label_are_said_so(mlspl, tmp_path):
    (tmp_path / "one.csv").write_text(
        "a,y\n" + "".join(f"{i},{'yes' if i % 2 else 'no'}\n" for i in range(12))
    )
    options = ["--labels", "y", "--method", "bsvm", "--test-size", "0.08", "-o", "m.skops"]
    out = mlspl("fit", "one.csv", *options)[1].splitlines()
    assert out[0] == "one.csv: 12 rows, 1 feature, 1 label"
    assert any("1 held-out row, fitted on the other 11:" in line for line in out)
    assert mlspl("predict", "m.skops", "-", "-o", "y.csv", given="a\n3\n")[1] == "Wrote y.csv: 1 row\n"


def test_help_has_an_example(mlspl):
    for command in ("fit", "predict", "evaluate"):
        code, out, _ = mlspl(command, "--help")
        assert code == 0
        assert f"Example: mlspl {command}" in out


@pytest.mark.parametrize("source", ["yeast", "music"])
def test_five_commands_on_real_files(mlspl, data_home, tmp_path, source):
    """From a file, through CSV where it is not, to predictions and scores."""
    if source == "yeast":
        assert mlspl("datasets", "convert", data_home / "yeast" / "yeast.arff", "yeast.csv")[0] == 0
        path, size = tmp_path / "yeast.csv", (2417, 103, 14)
    else:
        path, size = data_home / "music-meka" / "Music.arff", (592, 71, 6)
    code, out, _ = mlspl("fit", path, "--method", "ml-knn", "--test-size", "0.3", "-o", "model.skops")
    assert code == 0
    assert "{} rows, {} features, {} labels".format(*size) in out
    assert mlspl("predict", "model.skops", path, "-o", "labels.csv")[0] == 0
    labels = pd.read_csv(tmp_path / "labels.csv")
    data = read_dataset(path)
    assert labels.columns.tolist() == data.label_names
    code, out, _ = mlspl("predict", "model.skops", path, "--top", "3")
    assert (code, len(table(out))) == (0, size[0] + 1)
    assert mlspl("evaluate", "model.skops", path, "-o", "scores.json")[0] == 0
    written = json.loads((tmp_path / "scores.json").read_text())
    assert written["overall"]["hamming_loss"] == pytest.approx((labels.to_numpy() != data.Y).mean())


def test_what_does_not_fit_in_memory_is_refused_with_a_remedy(mlspl, tmp_path, monkeypatch):
    digits = load_dataset("digits-traits")
    write_dataset(replace(digits, X=digits.X[:800], Y=digits.Y[:800]), tmp_path / "digits.csv")
    monkeypatch.setenv("MLSPL_MEMORY", "4e6")
    code, _, errors = mlspl("fit", "digits.csv", "--labels=-8", "--method", "bsvm", "-o", "m.skops")
    assert code == 2
    assert "nystroem" in errors


def test_a_column_that_counts_the_rows_is_pointed_out(mlspl):
    lines = songs().splitlines()
    numbered = [f"id,{lines[0]}", *(f"{i + 17},{line}" for i, line in enumerate(lines[1:]))]
    given = "\n".join(numbered) + "\n"
    code, out, errors = mlspl("fit", "-", "--labels=-3", "--method", "ml-knn", "-o", "m.skops", given=given)
    assert code == 0
    assert "the numbers count the rows: 'id'." in errors
    assert "4 features" in out


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_standard_input_is_known_by_its_first_bytes(mlspl, pack):
    arguments = ("--labels=-3", "--method", "ml-knn", "-o", "m.skops")
    code, out, errors = mlspl("fit", "-", *arguments, given=pack(songs().encode()))
    assert (code, errors) == (0, "")
    assert "standard input: 80 rows, 3 features, 3 labels" in out
    code, _, errors = mlspl("fit", "-", *arguments, given=pack(songs().encode())[:40])
    assert code == 2
    assert errors.startswith("error: standard input: ")
    assert "decompressed" in errors


def test_json_lines_through_a_pipe(mlspl):
    lines = [json.dumps({"tempo": i, "tags": ["a"] if i % 2 else ["b"]}) for i in range(30)]
    code, out, _ = mlspl("fit", "-", "--method", "ml-knn", "-o", "m.skops", given="\n".join(lines))
    assert code == 0
    assert "standard input: 30 rows, 1 feature, 2 labels" in out
