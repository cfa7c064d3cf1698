"""`mlspl fit`, `predict` and `evaluate` as a user meets them: what is printed and written, and exit codes."""

import csv
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from mlspl import MLkNNClassifier, load_model, metrics, save_model
from mlspl.cli import main as cli
from mlspl.datasets import Dataset, load_dataset, read_dataset, write_dataset
from mlspl.experiments import METHODS
from mlspl.model_selection import protocol_split
from mlspl.models import read_model_info

HEADER = "tempo,key,loud,happy,calm,dance"


@pytest.fixture
def mlspl(monkeypatch, capfdbinary, tmp_path):
    """Run the command in an empty folder; give its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)

    def run(*arguments, given=None):
        monkeypatch.setattr(sys, "argv", ["mlspl", *map(str, arguments)])
        if given is not None:
            data = given.encode() if isinstance(given, str) else given
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, errors = capfdbinary.readouterr()
        return ended.value.code or 0, out if b"schema.json" in out else out.decode(), errors.decode()

    return run


def songs(rows=80, seed=0):
    """Numbers, categories, missing values and unknown labels."""
    rng = np.random.default_rng(seed)
    lines = [HEADER]
    for i in range(rows):
        tempo, key, loud = rng.normal(110, 30), rng.choice(list("CFad")), rng.normal(-9, 3)
        labels = [int(key in "CF"), "?" if i % 13 == 5 else int(tempo < 105), int(tempo > 115)]
        cells = [f"{tempo:.1f}", "" if i % 11 == 3 else key, "" if i % 17 == 3 else f"{loud:.2f}", *labels]
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


@pytest.fixture
def fitted(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs())
    assert mlspl("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "songs.skops")[0] == 0
    return mlspl


def table(text):
    return list(csv.reader(io.StringIO(text)))


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
    assert read_model_info(tmp_path / "songs.skops").nominal == ["key"]


def test_columns_are_matched_by_name_whatever_their_order(fitted, tmp_path):
    frame = pd.read_csv(tmp_path / "songs.csv")
    frame[["dance", "loud", "key", "tempo"]].to_csv(tmp_path / "turned.csv", index=False)
    assert fitted("predict", "songs.skops", "turned.csv") == fitted("predict", "songs.skops", "songs.csv")


def test_extra_columns_are_reported_and_missing_ones_listed(fitted):
    code, out, errors = fitted("predict", "songs.skops", "-", given="key,band,loud,tempo\nC,Abba,-5,120\n")
    assert (code, len(table(out))) == (0, 2)
    assert errors == "note: the model does not know, and ignores, 'band'.\n"
    code, out, errors = fitted("predict", "songs.skops", "-", given="key,band\nC,Abba\n")
    assert (code, out) == (2, "")
    assert errors == "error: standard input lacks 2 columns that the model needs: 'tempo', 'loud'.\n"


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
    assert "column 'tempo' holds text, such as 'fast'; the model learnt numbers." in errors


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


def test_held_out_scores_are_those_of_a_model_that_did_not_see_the_rows(mlspl, tmp_path):
    digits = load_dataset("digits-traits")
    digits = Dataset(digits.X[:300], digits.Y[:300], digits.feature_names, digits.label_names)
    write_dataset(digits, tmp_path / "digits.csv")
    arguments = ("fit", "digits.csv", "--method", "ml-knn", "--test-size", "0.25", "--seed", "3")
    code, out, errors = mlspl(*arguments, "-o", "digits.skops")
    assert (code, errors) == (0, "")
    assert (
        "digits.csv: 300 rows, 64 features, 8 labels\nOn 75 rows held out, learnt from the other 225:\n"
        in out
    )
    assert out.endswith("ML-kNN fitted on all 300 rows\nWrote digits.skops\n")
    train, test = protocol_split(300, 3, 0.75)
    for name, rows in (("train", train), ("test", test)):
        part = Dataset(digits.X[rows], digits.Y[rows], digits.feature_names, digits.label_names)
        write_dataset(part, tmp_path / f"{name}.csv")
    mlspl("fit", "train.csv", "--method", "ml-knn", "--seed", "3", "-o", "train.skops")
    assert mlspl("evaluate", "train.skops", "test.csv", "-o", "scores.json")[0] == 0
    held_out = read_model_info(tmp_path / "digits.skops").summary["held_out_scores"]
    assert held_out == json.loads((tmp_path / "scores.json").read_text())["overall"]


def test_evaluate_is_the_metrics_of_the_predictions(fitted, tmp_path):
    code, out, errors = fitted("evaluate", "songs.skops", "songs.csv", "-o", "scores.json")
    assert (code, errors) == (0, "")
    data = read_dataset(tmp_path / "songs.csv", labels=-3)
    model, frame = load_model(tmp_path / "songs.skops"), pd.read_csv(tmp_path / "songs.csv")
    F, P = model.decision_function(frame), model.predict(frame)
    written = json.loads((tmp_path / "scores.json").read_text())
    assert np.isnan(data.Y).any()
    assert written["overall"] == metrics.score_all(data.Y, F, P) | metrics.score_others(data.Y, F, P)
    by_label = metrics.score_labels(data.Y, F, P)
    for j, name in enumerate(data.label_names):
        assert written["labels"][name] == {key: values[j] for key, values in by_label.items()}
    printed = {line.rsplit(maxsplit=2)[0]: line.split()[-1] for line in out.splitlines() if "er  " in line}
    assert printed["hamming loss"] == f"{written['overall']['hamming_loss']:.4f}"
    assert printed["macro F1"] == f"{written['overall']['macro_f1']:.4f}"
    fitted("evaluate", "songs.skops", "songs.csv", "-o", "scores.csv")
    rows = table((tmp_path / "scores.csv").read_text())
    assert rows[0] == ["label", "criterion", "value"]
    assert ["", "hamming_loss", repr(written["overall"]["hamming_loss"])] in rows
    assert ["calm", "recall", repr(written["labels"]["calm"]["recall"])] in rows


def test_labels_in_another_order_are_scored_by_name(fitted, tmp_path):
    frame = pd.read_csv(tmp_path / "songs.csv")
    frame[["dance", "calm", "tempo", "happy", "loud", "key"]].to_csv(tmp_path / "turned.csv", index=False)
    first, second = (fitted("evaluate", "songs.skops", name)[1] for name in ("songs.csv", "turned.csv"))
    assert first.partition("\n")[2] == second.partition("\n")[2]


def test_what_is_not_defined_is_a_dash_and_a_null(fitted, tmp_path):
    given = "key,loud,tempo,happy,calm,dance\nC,-5,120,1,0,1\nF,-5,130,1,0,1\n"
    code, out, _ = fitted("evaluate", "songs.skops", "-", "-o", "scores.json", given=given)
    assert code == 0
    assert "–" in out
    assert json.loads((tmp_path / "scores.json").read_text())["labels"]["calm"]["auc"] is None


@pytest.mark.parametrize("method", [name for name in METHODS if name != "mlspl-cv"])
def test_every_method_can_be_fitted_from_the_shell(mlspl, tmp_path, method):
    (tmp_path / "songs.csv").write_text(songs(40))
    assert mlspl("fit", "songs.csv", "--labels=-3", "--method", method, "-o", "songs.skops")[0] == 0
    code, out, _ = mlspl("predict", "songs.skops", "songs.csv", "--proba")
    assert (code, len(table(out))) == (0, 41)


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
    assert not model.named_steps["scale"].with_mean
    assert "csr" in type(model[-1].X_fit_).__name__
    assert mlspl("predict", "d.skops", dense_path)[1] == mlspl("predict", "d.skops", sparse_path)[1]


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


def test_data_that_cannot_be_learnt_is_no_fault_of_ours(mlspl, tmp_path):
    arguments = ("--labels=-2", "--method", "ml-knn", "-o", "m.skops")
    huge = "a,y,z\n" + "\n".join(f"{1.7e308 * (-1) ** i},{i % 2},{int(i > 6)}" for i in range(14))
    code, _, errors = mlspl("fit", "-", *arguments, given=huge)
    assert (code, errors.count("\n")) == (2, 1)
    # No row has a label to rank above another, so no setting of the grid is better than the others.
    full = "a,y,z\n" + "\n".join(f"{i},1,1" for i in range(40))
    code, _, errors = mlspl("fit", "-", *arguments, "--tune", "ranking_loss", given=full)
    assert code == 2
    assert "error: ML-kNN cannot be fitted on standard input: tuning could not score" in errors
    assert not list(tmp_path.iterdir())


def test_text_that_tells_rows_apart_is_left_out(mlspl, tmp_path):
    lines = songs().splitlines()
    named = [f"title,{lines[0]}", *(f"Song {i},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "songs.csv").write_text("\n".join(named))
    code, out, errors = mlspl("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "songs.skops")
    assert code == 0
    assert "left out of the features: 'title'" in errors
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
        (["fit", "songs.csv", "-o", "m.skops"], "which columns are labels?"),
        (["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--method", "magic"], "no method 'magic'"),
        (["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--tune", "magic"], "no criterion 'magic'"),
        (["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--test-size", "1"], "between 0 and 1"),
        (
            ["fit", "songs.csv", "-o", "m.skops", "--labels=-3", "--test-size", "0.99"],
            "leaves 0 of 80 rows to train on",
        ),
        (["fit", "songs.csv", "-o", "m.skops", "--labels", "mood_*"], "matches none"),
        (["predict", "songs.skops", "songs.csv", "--top", "4"], "knows 3 labels only"),
        (["predict", "songs.skops", "songs.csv", "--proba", "--scores"], "exclude one another"),
        (["predict", "songs.skops", "songs.csv", "-o", "nowhere/o.csv"], "does not exist"),
        (["predict", "songs.csv", "songs.csv"], "songs.csv was refused: it is no model file"),
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


ARFF = """@relation bad
@attribute size numeric
@attribute colour {red,green,blue}
@attribute sea {0,1}
@attribute sand {0,1}
@data
1.5,red,0,1
2,green,1,1
"""
XML = '<labels><label name="sea"/><label name="sand"/></labels>'
BROKEN = {
    "a short row": ("bad.arff", ARFF + "1,red,0\n"),
    "a long row": ("bad.arff", ARFF + "1,red,0,1,1\n"),
    "an empty value": ("bad.arff", ARFF + "1,,0,1\n"),
    "an unknown category": ("bad.arff", ARFF + "1,pink,0,1\n"),
    "an open quote": ("bad.arff", ARFF + "1,'red,0,1\n"),
    "text for a number": ("bad.arff", ARFF + "one,red,0,1\n"),
    "an infinite number": ("bad.arff", ARFF + "1e999,red,0,1\n"),
    "a label that is 2": ("bad.arff", ARFF.replace("sand {0,1}", "sand numeric") + "1,red,0,2\n"),
    "a label of text": ("bad.arff", ARFF.replace("sand {0,1}", "sand string")),
    "a name twice": ("bad.arff", ARFF.replace("sand", "sea")),
    "a bad header": ("bad.arff", ARFF.replace("@attribute sand", "@attrib sand")),
    "no data": ("bad.arff", ARFF[: ARFF.index("1.5")]),
    "a header cut off": ("bad.arff", ARFF[: ARFF.index("@data")]),
    "a sparse index out of range": ("bad.arff", ARFF + "{9 1}\n"),
    "a sparse index twice": ("bad.arff", ARFF + "{0 1,0 2}\n"),
    "a sparse row cut off": ("bad.arff", ARFF + "{0 1,2"),
    "nothing": ("bad.arff", ""),
    "a picture": ("bad.arff", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "UTF-16": ("bad.arff", ARFF.encode("utf-16")),
    "Latin-1": ("bad.arff", ARFF.replace("red", "grün").encode("latin-1")),
    "a ragged CSV": ("bad.csv", "a,b,sea,sand\n1,2,0,1\n1,2,0\n"),
    "an open quote in a CSV": ("bad.csv", 'a,b,sea,sand\n1,"2,0,1\n'),
    "a CSV without rows": ("bad.csv", "a,b,sea,sand\n"),
    "a CSV with a name twice": ("bad.csv", "a,a,sea,sand\n1,2,0,1\n"),
    "decimal commas": ("bad.csv", 'a;b;sea;sand\n"1,5";2;0;1\n"2,5";2;1;1\n'),
    "a slip in a CSV": ("bad.csv", "a,sea,sand\n1,0,1\n2,1,1\no,1,0\n"),
    "a CSV label that is 3": ("bad.csv", "a,sea,sand\n1,0,3\n2,1,1\n"),
    "a CSV of labels only": ("bad.csv", "sea,sand\n0,1\n"),
    "a CSV with unnamed columns": ("bad.csv", ",sea,sand\n1,0,1\n"),
    "an svmlight row without a value": ("bad.svm", "0 1:\n"),
    "svmlight indices out of order": ("bad.svm", "0 2:1 1:1\n"),
    "svmlight without features": ("bad.svm", "0\n"),
    "a Parquet file that is none": ("bad.parquet", b"PAR1 and nothing more"),
    "a format of others": ("bad.xlsx", b"PK\x03\x04"),
}
BROKEN_XML = {
    "a label that is no column": XML.replace("sand", "dune"),
    "a label twice": XML.replace("sand", "sea"),
    "an open tag": XML.replace("</labels>", ""),
    "no labels": "<labels/>",
    "a document type": f"<!DOCTYPE labels [<!ENTITY a 'sea'>]>{XML}",
    "no XML": "sea, sand",
    "nothing": "",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_one_sentence_and_leaves_nothing(mlspl, tmp_path, kind):
    name, content = BROKEN[kind]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "bad.xml").write_text(XML)
    assert_refused(mlspl, tmp_path, name)


@pytest.mark.parametrize("kind", BROKEN_XML)
def test_a_broken_xml_is_one_sentence_and_leaves_nothing(mlspl, tmp_path, kind):
    (tmp_path / "bad.arff").write_text(ARFF)
    (tmp_path / "bad.xml").write_text(BROKEN_XML[kind])
    assert_refused(mlspl, tmp_path, "bad.arff")


def assert_refused(mlspl, folder, name):
    before = sorted(folder.iterdir())
    code, out, errors = mlspl("fit", name, "-o", "model.skops")
    assert (code, out) == (2, "")
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert "bad." in errors
    assert sorted(folder.iterdir()) == before


def test_errors_on_standard_input_are_called_that(mlspl):
    code, _, errors = mlspl("fit", "-", "--labels=-2", "-o", "m.skops", given="a,sea,sand\n1,0\n")
    assert code == 2
    assert errors.startswith("error: standard input, line 2: 2 values under 3 names.")


def test_a_model_that_breaks_when_it_works_is_the_files_fault(fitted, tmp_path):
    """Types are checked; a value that makes no sense is found when the model is asked."""
    path = tmp_path / "changed.skops"
    with zipfile.ZipFile(tmp_path / "songs.skops") as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "schema.json":
                data = data.replace(b'"label_counts_"', b'"label_count__"')
            new.writestr(name, data)
    code, out, errors = fitted("predict", "changed.skops", "songs.csv")
    assert (code, out) == (2, "")
    assert "the model in changed.skops fails on these rows" in errors


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


def test_one_row_and_one_label_are_said_so(mlspl, tmp_path):
    (tmp_path / "one.csv").write_text(
        "a,y\n" + "".join(f"{i},{'yes' if i % 2 else 'no'}\n" for i in range(12))
    )
    options = ["--labels", "y", "--method", "bsvm", "--test-size", "0.08", "-o", "m.skops"]
    out = mlspl("fit", "one.csv", *options)[1].splitlines()
    assert out[:2] == ["one.csv: 12 rows, 1 feature, 1 label", "On 1 row held out, learnt from the other 11:"]
    assert mlspl("predict", "m.skops", "-", "-o", "y.csv", given="a\n3\n")[1] == "Wrote y.csv: 1 row\n"


def test_a_model_file_gives_the_terminal_no_orders(fitted, tmp_path):
    """Its own words, quoted in the refusal, could be escape sequences."""
    with zipfile.ZipFile("songs.skops") as old, zipfile.ZipFile("evil.skops", "w") as new:
        for name in old.namelist():
            tree = json.loads(old.read(name)) if name == "schema.json" else None
            text = tree and json.dumps(tree | {"__module__": "\x1b]0;title\x07\x1b[31m"})
            new.writestr(name, text or old.read(name))
    code, _, errors = fitted("predict", "evil.skops", "songs.csv")
    assert code == 2
    assert "what no model file may hold: \N{REPLACEMENT CHARACTER}]0;title" in errors
    assert "\x1b" not in errors


def test_a_reader_that_stops_early_is_no_error(fitted, tmp_path):
    command = f"{sys.executable} -m mlspl predict songs.skops songs.csv --proba | head -1"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("happy,calm,dance\n", "")


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
