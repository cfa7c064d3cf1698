"""`mlspl predict`: columns found by name, labels written by name, forged files refused."""

import json
import os
import pickle
import shlex
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from mlspl import MLkNNClassifier, load_model, save_model
from mlspl.datasets import Dataset, load_dataset, read_dataset, write_dataset
from mlspl.metrics import top_labels
from tests.songs import songs, table


def test_columns_are_matched_by_name_whatever_their_order(fitted, tmp_path):
    frame = pd.read_csv(tmp_path / "songs.csv")
    frame[["dance", "loud", "key", "tempo"]].to_csv(tmp_path / "turned.csv", index=False)
    assert fitted("predict", "songs.skops", "turned.csv") == fitted("predict", "songs.skops", "songs.csv")


def test_extra_columns_are_reported_and_missing_ones_listed(fitted):
    code, out, errors = fitted("predict", "songs.skops", "-", given="key,band,loud,tempo\nC,Abba,-5,120\n")
    assert (code, len(table(out))) == (0, 2)
    assert errors == "note: not used by the model: 'band'.\n"
    code, out, errors = fitted("predict", "songs.skops", "-", given="key,band\nC,Abba\n")
    assert (code, out) == (2, "")
    assert errors == "error: standard input lacks 2 columns that the model needs: 'tempo', 'loud'.\n"


def test_words_in_columns_that_are_not_used_are_no_mistake(fitted):
    rows = "".join(f"C,{price},-5,120\n" for price in (1, 2, 3, "cheap"))
    code, _, errors = fitted("predict", "songs.skops", "-", given="key,price,loud,tempo\n" + rows)
    assert (code, errors) == (0, "note: not used by the model: 'price'.\n")


def test_many_missing_columns_are_cut(mlspl, tmp_path):
    write_dataset(load_dataset("digits-traits"), tmp_path / "digits.csv")
    mlspl("fit", "digits.csv", "--method", "ml-knn", "-o", "digits.skops")
    code, _, errors = mlspl("predict", "digits.skops", "-", given="pixel_0_0\n1\n")
    assert code == 2
    assert "lacks 63 columns" in errors
    assert "and 53 more." in errors


def test_new_categories_and_missing_values_are_no_mistake(fitted):
    given = "key,loud,tempo\nH,?,120\n,,\nC,-5,\n"
    code, out, errors = fitted("predict", "songs.skops", "-", "--proba", given=given)
    assert (code, errors) == (0, "")
    assert all(0 < float(cell) < 1 for row in table(out)[1:] for cell in row)


def test_words_where_numbers_were_learnt_are_a_mistake(fitted):
    code, _, errors = fitted("predict", "songs.skops", "-", given="key,loud,tempo\nC,-5,fast\nF,-3,slow\n")
    assert code == 2
    assert "'fast'" in errors


def test_scores_probabilities_and_the_best_names_agree(fitted, tmp_path):
    """Numbers are written so that they read back to the last bit."""
    model, frame = load_model(tmp_path / "songs.skops"), pd.read_csv(tmp_path / "songs.csv")
    for option, answer in (("--scores", "decision_function"), ("--proba", "predict_proba")):
        code, out, _ = fitted("predict", "songs.skops", "songs.csv", option)
        assert code == 0
        written = np.array(table(out)[1:], float)
        np.testing.assert_array_equal(written, getattr(model, answer)(frame))
    code, out, _ = fitted("predict", "songs.skops", "songs.csv", "--top", "2")
    names = np.array(["happy", "calm", "dance"])
    best = np.argsort(-model.decision_function(frame), axis=1, kind="stable")[:, :2]
    assert table(out) == [["label_1", "label_2"], *names[best].tolist()]


def test_predictions_go_to_a_file_all_at_once(fitted, tmp_path):
    code, out, _ = fitted("predict", "songs.skops", "songs.csv", "-o", "out.csv")
    assert (code, out) == (0, "Wrote out.csv: 80 rows\n")
    assert (tmp_path / "out.csv").read_text() == fitted("predict", "songs.skops", "songs.csv")[1]
    assert not list(tmp_path.glob(".*"))


def test_names_that_look_like_formulas_stay_text_in_a_spreadsheet(mlspl, tmp_path):
    text = songs().replace("happy", "=1+1").replace("calm", "@calm")
    (tmp_path / "songs.csv").write_text(text)
    mlspl("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "songs.skops")
    assert table(mlspl("predict", "songs.skops", "songs.csv")[1])[0] == ["'=1+1", "'@calm", "dance"]
    mlspl("evaluate", "songs.skops", "songs.csv", "-o", "scores.csv")
    assert "\n'=1+1," in (tmp_path / "scores.csv").read_text()


def test_svmlight_without_names_is_matched_by_count(mlspl, tmp_path):
    digits = load_dataset("digits-traits")
    digits = Dataset(digits.X[:80], digits.Y[:80], digits.feature_names, digits.label_names)
    named = write_dataset(digits, tmp_path / "named.svm")
    # Without the line of names and without labels, as a row to predict comes.
    rows = ["\t" + line.partition(" ")[2] for line in named.read_text().splitlines()[1:]]
    (tmp_path / "bare.svm").write_text("\n".join(rows) + "\n")
    for source in (named, write_dataset(digits, tmp_path / "named.csv")):
        mlspl("fit", source, "--method", "ml-knn", "-o", "d.skops")
        assert mlspl("predict", "d.skops", "bare.svm")[1] == mlspl("predict", "d.skops", "named.svm")[1]
    (tmp_path / "wide.svm").write_text(" 1:1 65:1\n")
    code, _, errors = mlspl("predict", "d.skops", "wide.svm")
    assert code == 2
    assert "wide.svm has 65 features and the model takes 64" in errors
    (tmp_path / "train.svm").write_text(named.read_text().partition("\n")[2])
    mlspl("fit", "train.svm", "--method", "ml-knn", "-o", "bare.skops")
    (tmp_path / "short.svm").write_text(" 3:1\n 4:1\n")
    assert mlspl("predict", "bare.skops", "short.svm")[0] == 0


def test_a_model_saved_in_python_predicts_from_the_shell(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs())
    data = read_dataset(tmp_path / "songs.csv", labels=-3)
    X = np.nan_to_num(data.X)
    save_model(MLkNNClassifier(k=3).fit(X, data.Y), tmp_path / "bare.skops", label_names=data.label_names)
    pd.DataFrame(X).to_csv(tmp_path / "bare.csv", index=False)
    code, out, _ = mlspl("predict", "bare.skops", "bare.csv")
    assert (code, len(table(out))) == (0, 81)
    code, _, errors = mlspl("predict", "bare.skops", "-", given="a,b\n1,2\n")
    assert code == 2
    assert "has 2 features and the model takes" in errors


def test_a_model_of_a_single_column_predicts_from_the_shell(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs())
    frame = pd.read_csv(tmp_path / "songs.csv")[["tempo", "dance"]]
    model = MLkNNClassifier(k=3).fit(frame[["tempo"]], frame["dance"])
    save_model(model, tmp_path / "dance.skops", label_names=["dance"])
    code, out, _ = mlspl("predict", "dance.skops", "songs.csv", "--proba")
    assert code == 0
    np.testing.assert_array_equal(
        np.array(table(out)[1:], float)[:, 0], model.predict_proba(frame[["tempo"]])[:, 1]
    )


def test_a_model_that_breaks_when_it_works_is_the_files_fault(fitted, monkeypatch):
    """Files are checked part by part; what is wrong all the same is found when the model is asked."""

    def fail(model, X):
        raise IndexError("index 7 is out of bounds")

    monkeypatch.setattr(MLkNNClassifier, "predict", fail)
    code, out, errors = fitted("predict", "songs.skops", "songs.csv")
    assert (code, out) == (2, "")
    assert "the model in songs.skops fails on these rows (IndexError: index 7" in errors


class Attack:
    def __reduce__(self):
        return os.mkdir, ("mlspl_was_here",)


def test_a_hostile_model_is_refused_from_the_shell_and_runs_nothing(fitted, tmp_path):
    (tmp_path / "evil.skops").write_bytes(pickle.dumps(Attack()))
    for command in ("predict", "evaluate"):
        code, out, errors = fitted(command, "evil.skops", "songs.csv")
        assert (code, out) == (2, "")
        assert errors.startswith("error: evil.skops was refused: it is a pickle, which could run any code.")
    assert not (tmp_path / "mlspl_was_here").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_written_to_and_not_replaced(fitted, tmp_path):
    """Nor is /dev/null, when root runs the command."""
    pipe = tmp_path / "labels"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as threads:
        read = threads.submit(pipe.read_text)
        code, _, errors = fitted("predict", "songs.skops", "songs.csv", "-o", "labels")
        assert (code, errors) == (0, "")
        assert pipe.is_fifo()
        assert read.result(timeout=60).startswith("happy,calm,dance\n")


def test_a_model_file_gives_the_terminal_no_orders(fitted, tmp_path):
    """Its own words, quoted in the refusal, could be escape sequences."""
    with zipfile.ZipFile("songs.skops") as old, zipfile.ZipFile("evil.skops", "w") as new:
        for name in old.namelist():
            tree = json.loads(old.read(name)) if name == "schema.json" else None
            text = tree and json.dumps(tree | {"__module__": "\x1b]0;title\x07\x1b[31m"})
            new.writestr(name, text or old.read(name))
    code, _, errors = fitted("predict", "evil.skops", "songs.csv")
    assert code == 2
    assert "\N{REPLACEMENT CHARACTER}]0;title" in errors
    assert "\x1b" not in errors


def test_a_reader_that_stops_early_is_no_error(fitted, tmp_path):
    command = f"{shlex.quote(sys.executable)} -m mlspl predict songs.skops songs.csv --proba | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("happy,calm,dance\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "songs.csv", "--labels=-3", "-o", "songs.csv"),
        ("predict", "songs.skops", "songs.csv", "-o", "./songs.csv"),
        ("predict", "songs.skops", "songs.csv", "-o", "songs.skops"),
        ("evaluate", "songs.skops", "songs.csv", "-o", "songs.csv"),
        ("datasets", "convert", "songs.csv", "songs.csv", "--labels=-3"),
    ],
    ids=" ".join,
)
def test_what_is_read_is_never_written_over(fitted, tmp_path, arguments):
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    code, _, errors = fitted(*arguments)
    assert (code, errors.count("\n")) == (2, 1)
    assert "would be lost" in errors
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_booleans_are_the_same_in_every_spelling(mlspl, tmp_path):
    """A column of booleans is 0 and 1, as CSV writes them, as other programs do, and in Parquet."""
    flag = np.random.default_rng(0).random(80) < 0.5
    frame = pd.DataFrame({"flag": flag, "noise": np.arange(80.0) % 7, "on": flag * 1, "off": ~flag * 1})
    frame.to_csv(tmp_path / "flags.csv", index=False)
    frame.to_parquet(tmp_path / "flags.parquet")
    frame.assign(flag=frame["flag"].map({True: "TRUE", False: "FALSE"})).to_csv("capitals.csv", index=False)
    frame.assign(flag=flag * 1).to_csv("numbers.csv", index=False)
    names = ["flags.csv", "flags.parquet", "capitals.csv", "numbers.csv"]
    answers = {}
    for learnt in names[:2]:
        assert mlspl("fit", learnt, "--labels=-2", "--method", "ml-knn", "-o", "m.skops")[0] == 0
        for name in names:
            code, answers[learnt, name], _ = mlspl("predict", "m.skops", name)
            assert code == 0
    (answer,) = set(answers.values())
    assert [row[0] for row in table(answer)[1:]] == [str(int(on)) for on in flag]


def test_equal_scores_rank_the_later_label_first():
    """The rule of the metrics, in `predict_top` and `--top` alike."""
    model = MLkNNClassifier(k=1).fit(np.eye(4), np.ones((4, 3), dtype=int))
    assert model.predict_top(np.eye(4), k=2)[0].tolist() == [[2, 1]] * 4
    assert top_labels(model.decision_function(np.eye(4)), 2).tolist() == [[2, 1]] * 4
