"""Files as people have them, through fit, predict and evaluate: label sets, text, dates, ids."""

import csv
import gzip
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from mlspl.cli import predict as predict_command
from mlspl.datasets import load_dataset

N = 120


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def songs():
    """Moods that follow from words, town, day and tempo."""
    rng = np.random.default_rng(0)
    tempo = rng.normal(size=N).round(3)
    town = rng.choice(["NA", "DE"], N)
    sad = rng.random(N) < 0.5
    moods = [
        "|".join(
            name
            for name, is_so in (("fast", tempo[i] > 0), ("namibian", town[i] == "NA"), ("sad", sad[i]))
            if is_so
        )
        for i in range(N)
    ]
    return pd.DataFrame({
        "id": [f"{i:04d}" for i in range(N)],
        "tempo": tempo,
        "town": town,
        "heard": pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"),
        "review": [f"it {'made me weep all night' if s else 'let me dance'}, {i}" for i, s in enumerate(sad)],
        "moods": moods,
    })  # fmt: skip


def write_formats(songs, folder):
    songs.to_csv(folder / "songs.csv", index=False)
    songs.to_csv(folder / "bars.csv", index=False, sep=";", decimal=",")
    with gzip.open(folder / "songs.csv.gz", "wt") as stream:
        songs.to_csv(stream, index=False)
    with (folder / "songs.jsonl").open("w") as stream:
        for row in songs.to_dict("records"):
            stream.write(json.dumps({**row, "moods": row["moods"].split("|") if row["moods"] else []}) + "\n")
    return ["songs.csv", "bars.csv", "songs.csv.gz", "songs.jsonl"]


def test_label_sets_text_and_ids_all_the_way(mlspl, tmp_path, songs):
    """From every format the same model, which reads new rows as it was taught."""
    files = write_formats(songs, tmp_path)
    options = [
        "--labels",
        "moods",
        "--text",
        "review",
        "--na",
        "?",
        "--drop",
        "id",
        "--method",
        "extra-trees",
    ]
    code, out, errors = mlspl("fit", files[0], *options, "-o", "m.skops")
    assert (code, errors) == (0, "")
    assert f"songs.csv: {N} rows, 4 features, 3 labels" in out
    answers = []
    for name in files:
        code, out, errors = mlspl("predict", "m.skops", name, "--format", "names", "--keep", "id")
        assert (code, errors) == (0, "")
        answers.append(read(out))
        code, out, errors = mlspl("evaluate", "m.skops", name)
        assert (code, errors) == (0, "")
        assert "namibian" in out
    assert all(rows == answers[0] for rows in answers)
    assert list(answers[0][0]) == ["id", "moods"]
    assert [row["id"] for row in answers[0]] == songs["id"].tolist()
    agreement = np.mean([row["moods"] == mood for row, mood in zip(answers[0], songs["moods"], strict=True)])
    assert agreement > 0.9
    code, out, _ = mlspl("predict", "m.skops", files[0], "--top", "1", "--keep", "town,tempo")
    assert list(read(out)[0]) == ["town", "tempo", "label_1"]
    assert [row["town"] for row in read(out)] == songs["town"].tolist()
    assert [float(row["tempo"]) for row in read(out)] == songs["tempo"].tolist()


def test_a_label_that_no_new_row_has_is_not_missing(mlspl, tmp_path, songs):
    songs.to_csv(tmp_path / "songs.csv", index=False)
    few = songs[~songs["moods"].str.contains("sad")].assign(moods=lambda f: f["moods"] + "|unheard of")
    few.to_csv(tmp_path / "few.csv", index=False)
    mlspl("fit", "songs.csv", "--labels", "moods", "--label-sep", "|", "--method", "ml-knn", "-o", "m.skops")
    code, _, errors = mlspl("evaluate", "m.skops", "few.csv", "-o", "scores.json")
    assert code == 0
    assert "'unheard of'" in errors
    assert json.loads((tmp_path / "scores.json").read_text())["labels"]["sad"]["support"] == 0


def test_text_that_is_left_out_is_said_with_its_option(mlspl, tmp_path, songs):
    songs.to_csv(tmp_path / "songs.csv", index=False)
    options = ("songs.csv", "--labels", "moods", "--method", "ml-knn", "-o", "m.skops")
    code, _, errors = mlspl("fit", *options, "--text", "none")
    assert code == 0
    assert "--text 'review'" in errors
    assert "--drop 'id'" in errors
    code, out, errors = mlspl("fit", *options, "--dry-run")
    assert (code, "--text" in errors) == (0, False)
    assert re.search(r"review +text +words", out)


def test_kinds_are_remembered_for_new_rows(mlspl, tmp_path):
    """Codes with zeros in front are categories for the model and so for its new rows."""
    digits = load_dataset("digits-traits")
    frame = pd.DataFrame(
        {"code": np.where(digits.Y[:60, 0], "07", "7"), "x": digits.X[:60, 20], "y": digits.Y[:60, 0]}
    )
    frame.to_csv(tmp_path / "train.csv", index=False)
    frame.drop(columns="y")[frame["code"] == "07"].to_csv(tmp_path / "new.csv", index=False)
    options = ["--labels", "y", "--categorical", "code", "--method", "ml-knn", "-o", "m.skops"]
    assert mlspl("fit", "train.csv", *options)[0] == 0
    code, out, _ = mlspl("predict", "m.skops", "new.csv", "--keep", "code")
    assert code == 0
    assert {(row["code"], row["y"]) for row in read(out)} == {("07", "1")}


def test_dates_are_read_alike_in_every_notation(mlspl, tmp_path):
    when = pd.date_range("2022-01-01", periods=N, freq="6D")
    summer = when.month.isin([4, 5, 6, 7, 8, 9])
    days = pd.DataFrame({"when": when.strftime("%Y-%m-%d"), "summer": summer * 1, "winter": ~summer * 1})
    days.to_csv(tmp_path / "days.csv", index=False)
    fit = ["--labels", "summer,winter", "--method", "extra-trees", "-o", "m.skops"]
    code, _, errors = mlspl("fit", "days.csv", *fit)
    assert (code, errors) == (0, "")
    answers = []
    for row in ("2023-01-07", "07.01.2023", "01/07/2023", "?"):
        (tmp_path / "new.csv").write_text(f"id,when\n1,{row}\n")
        code, out, errors = mlspl("predict", "m.skops", "new.csv", "--scores")
        assert code == 0
        answers.append(read(out)[0])
    assert answers[0] == answers[1] == answers[2] != answers[3]
    assert float(answers[0]["winter"]) > float(answers[0]["summer"])
    days.assign(when=when.strftime("%d/%m/%Y")).to_csv(tmp_path / "slashed.csv", index=False)
    for command in (["fit", "slashed.csv", *fit[:-1], "n.skops"], ["predict", "m.skops", "slashed.csv"]):
        code, _, errors = mlspl(*command)
        assert code == 2
        assert "line 4" in errors
        assert "2024-12-31" in errors


def test_blocks_do_not_show(mlspl, tmp_path, songs, monkeypatch):
    songs.to_csv(tmp_path / "songs.csv", index=False)
    mlspl("fit", "songs.csv", "--labels", "moods", "--method", "ml-knn", "-o", "m.skops")
    whole = [mlspl("predict", "m.skops", "songs.csv", *options)[1] for options in ([], ["--top", "2"])]
    monkeypatch.setattr(predict_command, "_MOST_PAIRS", 30)
    assert [mlspl("predict", "m.skops", "songs.csv", *o)[1] for o in ([], ["--top", "2"])] == whole


def test_embeddings_with_a_file_of_labels(mlspl, tmp_path):
    digits = load_dataset("digits-traits")
    np.save(tmp_path / "e.npy", digits.X[:100].astype(np.float32))
    sets = ["|".join(np.array(digits.label_names)[row == 1]) for row in digits.Y[:100]]
    (tmp_path / "e.labels.csv").write_text("\n".join(["labels", *sets]) + "\n")
    assert mlspl("fit", "e.npy", "--method", "ml-knn", "-o", "m.skops")[0] == 0
    code, out, _ = mlspl("predict", "m.skops", "e.npy", "--format", "names")
    assert code == 0
    pairs = zip(read(out), sets, strict=True)
    assert np.mean([set(row["labels"].split("|")) == set(mood.split("|")) for row, mood in pairs]) > 0.5
    beside = mlspl("evaluate", "m.skops", "e.npy", "-o", "-")[1]
    (tmp_path / "e.labels.csv").rename(tmp_path / "moods.csv")
    code, _, errors = mlspl("evaluate", "m.skops", "e.npy")
    assert code == 2
    assert "give the path of one as labels (--labels)" in errors
    assert mlspl("evaluate", "m.skops", "e.npy", "--labels", "moods.csv", "-o", "-")[1] == beside


@pytest.mark.parametrize("spell", [", ".join, ";".join, json.dumps], ids=["commas", "semicolons", "JSON"])
def test_names_are_written_as_the_training_file_had_them(mlspl, tmp_path, songs, spell):
    songs = songs.assign(moods=[spell(sorted(text.split("|"))) if text else "" for text in songs["moods"]])
    songs.to_csv(tmp_path / "songs.csv", index=False)
    options = ["--labels", "moods", "--drop", "review,id", "--method", "extra-trees"]
    assert mlspl("fit", "songs.csv", *options, "-o", "m.skops")[0] == 0
    code, out, _ = mlspl("predict", "m.skops", "songs.csv", "--format", "names")
    assert code == 0
    same = [row["moods"] == text for row, text in zip(read(out), songs["moods"], strict=True)]
    assert np.mean(same) > 0.8


def test_labels_of_a_file_to_evaluate_may_be_called_otherwise(mlspl, tmp_path, songs):
    songs.to_csv(tmp_path / "songs.csv", index=False)
    renamed = songs.rename(columns={"moods": "mine"}).assign(mine=songs["moods"].str.replace("|", "/"))
    renamed.to_csv(tmp_path / "mine.csv", index=False)
    fit = ["--labels", "moods", "--drop", "review,id", "--method", "ml-knn", "-o", "m.skops"]
    assert mlspl("fit", "songs.csv", *fit)[0] == 0
    same = mlspl("evaluate", "m.skops", "songs.csv", "-o", "-")[1]
    code, out, _ = mlspl("evaluate", "m.skops", "mine.csv", "--labels", "mine", "--label-sep", "/", "-o", "-")
    assert (code, out) == (0, same)
    code, _, errors = mlspl("evaluate", "m.skops", "digits-traits", "--labels", "mine")
    assert code == 2
    assert "registered data set" in errors


BROKEN = {
    "no separator": (["--labels", "town"], "--label-sep"),
    "no such column": (
        ["--labels", "moods", "--drop", "tempi"],
        "Did you mean 'tempo'?",
    ),
    "no such text": (["--labels", "moods", "--text", "tempi"], "Did you mean 'tempo'?"),
    "two kinds": (
        ["--labels", "moods", "--text", "town", "--numeric", "town"],
        "cannot be both text and numeric",
    ),
    "no number": (["--labels", "moods", "--numeric", "town", "--na", "?"], "column 'town' is numeric, '"),
    "sets and columns": (["--labels", "moods,town", "--label-sep", "|"], "label_sep is for one column"),
    "a label is dropped": (["--labels", "moods", "--drop", "moods"], "cannot be a label and be dropped"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_is_one_sentence_and_writes_nothing(mlspl, tmp_path, songs, case):
    songs.to_csv(tmp_path / "songs.csv", index=False)
    options, sentence = BROKEN[case]
    code, out, errors = mlspl("fit", "songs.csv", *options, "-o", "m.skops")
    assert (code, out) == (2, "")
    assert sentence in " ".join(errors.split())
    assert [path.name for path in tmp_path.iterdir()] == ["songs.csv"]


def test_what_cannot_be_kept_is_said(mlspl, tmp_path, songs):
    songs.to_csv(tmp_path / "songs.csv", index=False)
    mlspl("fit", "songs.csv", "--labels", "moods", "--method", "ml-knn", "-o", "m.skops")
    for options, sentence in (
        (["--keep", "name"], "has no column 'name' to keep"),
        (["--format", "names", "--top", "1"], "exclude one another"),
        (["--format", "json"], "json"),
    ):
        code, out, errors = mlspl("predict", "m.skops", "songs.csv", *options)
        assert (code, out) == (2, "")
        assert sentence in errors


@pytest.fixture
def sizes(tmp_path):
    """A table with commas in the names of its columns."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=40), "y, of z": rng.integers(3, size=40)})
    table["words, many"] = [f"a{i} b{i % 7} c d" for i in range(40)]
    table["Größe, groß"] = (table["x"] > 0).astype(int)
    table["other"] = (table["y, of z"] > 1).astype(int)
    table.to_csv(tmp_path / "sizes.csv", index=False)
    return table


@pytest.mark.parametrize(
    ("which", "names"),
    [("Größe, groß", ["Größe, groß"]), ('"Größe, groß",other', ["Größe, groß", "other"])],
)
def test_columns_with_commas_are_named_as_in_csv(mlspl, tmp_path, sizes, which, names):
    options = ["--categorical", '"y, of z"', "--text", '"words, many"', "--method", "ml-knn", "-o", "m.skops"]
    code, _, errors = mlspl("fit", "sizes.csv", "--labels", which, *options)
    assert code == 0, errors
    code, out, errors = mlspl("predict", "m.skops", "sizes.csv", "--keep", 'x,"words, many"')
    assert code == 0, errors
    assert list(read(out)[0]) == ["x", "words, many", *names]
    assert [row["words, many"] for row in read(out)] == sizes["words, many"].tolist()


def test_a_column_with_commas_is_advised_as_it_is_to_be_written(mlspl, sizes):
    fit = ["fit", "sizes.csv", "--labels=-2", "--method", "ml-knn", "-o", "m.skops"]
    _, _, errors = mlspl(*fit, "--text", "none")
    assert """--text '"words, many"'""" in " ".join(errors.split())
    code, _, errors = mlspl(*fit, "--drop", "words, many")
    assert code == 2
    assert "Did you mean 'words, many'? In a list, put a name with commas in double quotes." in errors
    assert mlspl(*fit, "--drop", '"words, many"')[0] == 0


def test_advice_is_what_the_command_can_do(fitted, tmp_path):
    lines = (tmp_path / "songs.csv").read_text().splitlines()
    (tmp_path / "bad.csv").write_text("\n".join([*lines, "none,C,-9,1,1,1"]))
    code, _, errors = fitted("predict", "songs.skops", "bad.csv")
    assert code == 2
    assert "--na of fit" in " ".join(errors.split())
    (tmp_path / "few.csv").write_text("\n".join(lines[:11]))
    code, _, errors = fitted("fit", "few.csv", "--labels=-3", "--method", "ml-knn", "-o", "m.skops")
    assert code == 2
    assert "give more rows, a smaller k (in Python) or another method" in " ".join(errors.split())
