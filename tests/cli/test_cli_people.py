"""Files as people have them: from spreadsheets, from pandas, from other programs."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RNG.normal(size=40).round(3), "b": RNG.normal(size=40).round(3)})
LABELS = pd.DataFrame({"rock": TABLE["a"] > 0, "pop": TABLE["b"] > 0.2, "calm": TABLE["a"] + TABLE["b"] > 0})
PLAIN = TABLE.join(LABELS.astype(int))
SETS = [[name for name in LABELS if row[name]] for _, row in LABELS.iterrows()]
COLUMNS, COLUMN = ("--labels", "rock,pop,calm"), ("--labels", "tags")


def csv(frame, **options):
    return frame.to_csv(index=False, **options)


def with_sets(spell, **further):
    return TABLE.assign(tags=[spell(labels) for labels in SETS], **further)


WORDS = {0: ["No", "no", "FALSE"], 1: ["yes", "YES", "True"]}
MIXED = PLAIN.assign(**{name: [WORDS[v][i // 20] for i, v in enumerate(PLAIN[name])] for name in LABELS})

FINE = {
    "a byte-order mark": ("d.csv", "\ufeff" + csv(PLAIN), COLUMNS),
    "Windows' line ends": ("d.csv", csv(PLAIN).replace("\n", "\r\n"), COLUMNS),
    "an old Macintosh's": ("d.csv", csv(PLAIN).replace("\n", "\r"), COLUMNS),
    "blank lines": ("d.csv", "\n" + csv(PLAIN).replace("\n", "\n\n"), COLUMNS),
    "blanks around names and labels": (
        "d.csv",
        csv(PLAIN).replace("a,b,rock,pop", "a , b, rock , pop").replace(",1,", ", 1 ,"),
        COLUMNS,
    ),
    "the index of pandas": ("d.csv", PLAIN.to_csv(), COLUMNS),
    "the index read and written again": ("d.csv", csv(PLAIN.reset_index(names="Unnamed: 0")), COLUMNS),
    "yes and no in any case": ("d.csv", csv(MIXED), COLUMNS),
    "labels with a point": ("d.csv", csv(PLAIN.astype(float)), COLUMNS),
    "bars between columns": ("d.csv", csv(PLAIN, sep="|"), COLUMNS),
    "tabs between columns": ("d.csv", csv(PLAIN, sep="\t"), COLUMNS),
    "a spreadsheet of Germany's": ("d.csv", csv(PLAIN, sep=";", decimal=","), COLUMNS),
    "an upper case suffix": ("D.CSV", csv(PLAIN), COLUMNS),
    "gzip": ("d.csv.gz", gzip.compress(csv(PLAIN).encode()), COLUMNS),
    "a constant column": ("d.csv", csv(PLAIN.assign(same=5)), COLUMNS),
    "rows twice": ("d.csv", csv(pd.concat([PLAIN[:20]] * 2)), COLUMNS),
    "a separator at the end": ("d.csv", csv(with_sets(lambda s: "|".join(s) + "|" * bool(s))), COLUMN),
    "lists of Python": ("d.csv", csv(with_sets(str)), COLUMN),
    "sets of Python": ("d.csv", csv(with_sets(lambda s: str(set(s)))), COLUMN),
    "lists of JSON": ("d.csv", csv(with_sets(json.dumps)), COLUMN),
    "JSON Lines": ("d.jsonl", with_sets(list).to_json(orient="records", lines=True), COLUMN),
    "line ends in quotes": (
        "d.csv",
        csv(with_sets("|".join, text=[f'he said "{i}",\nand left' for i in range(40)])),
        (*COLUMN, "--text", "text"),
    ),
    "text of ten thousand signs": (
        "d.csv",
        csv(with_sets("|".join, text=[f"word{i % 7} " * 1500 for i in range(40)])),
        (*COLUMN, "--text", "text"),
    ),
}


@pytest.mark.parametrize("kind", FINE)
def test_files_of_people_are_read_as_what_they_mean(mlspl, tmp_path, kind):
    name, content, options = FINE[kind]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    code, _, errors = mlspl("fit", name, *options, "--method", "ml-knn", "-o", "model.skops")
    assert (code, errors) == (0, "")
    code, out, errors = mlspl("predict", "model.skops", name, "--scores")
    assert (code, errors) == (0, "")
    assert sorted(out.partition("\n")[0].split(",")) == ["calm", "pop", "rock"]
    assert mlspl("evaluate", "model.skops", name, "-o", "scores.json")[0] == 0
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert scores["overall"]["average_precision"] > 0.8
    truth = pd.concat([LABELS[:20]] * 2) if kind == "rows twice" else LABELS
    assert {name: of_label["support"] for name, of_label in scores["labels"].items()} == dict(truth.sum())
    code, _, errors = mlspl("audit", name, *options, "--method", "ml-knn", "-o", "review")
    assert (code, errors) == (0, "")
    assert set(pd.read_csv("review/labels.csv")["label"]) == set(LABELS)


REFUSED = {
    "no label in any row": (csv(TABLE.assign(tags="")), COLUMN, "no label is known in any row"),
    "no known label": (csv(PLAIN.assign(rock="?", pop="?", calm="?")), COLUMNS, "no label is known"),
    "a comma behind every line": (csv(PLAIN).replace("\n", ",\n"), COLUMNS, "column 6 has no name"),
    "per cent": (csv(PLAIN.assign(a=[f"{v:.1%}" for v in TABLE["a"]])), COLUMNS, "such as '12.6%'"),
    "thousands": (
        csv(PLAIN.assign(a=[f"{v * 1e6:,.0f}".replace(",", "'") for v in TABLE["a"]])),
        COLUMNS,
        "--thousands",
    ),
    "money": (
        csv(PLAIN.assign(a=[f"€{v * 1e6:.0f}" for v in TABLE["a"]])),
        COLUMNS,
        "--drop",
    ),
    "a dash for nothing": (
        csv(PLAIN.astype({"a": object}).replace({"a": {TABLE["a"][7]: "-"}})),
        COLUMNS,
        "--na",
    ),
    "blanks between labels": (csv(with_sets(" ".join)), COLUMN, "--label-sep ' '"),
    "text alone": (
        csv(pd.DataFrame({"text": [f"song {i}" for i in range(40)], "tags": ["|".join(s) for s in SETS]})),
        COLUMN,
        "To learn from the words: --text 'text'",
    ),
    "Latin-1": (csv(PLAIN.assign(town="Köln")).encode("latin-1"), COLUMNS, "--encoding cp1252"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_they_cannot_mean_is_a_sentence_with_a_remedy(mlspl, tmp_path, kind):
    content, options, remedy = REFUSED[kind]
    (tmp_path / "d.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    for command in (["fit", "--method", "ml-knn"], ["audit"]):
        code, out, errors = mlspl(*command, "d.csv", *options, "-o", "result")
        assert (code, out) == (2, "")
        assert errors.startswith("error: d")
        assert errors.count("\n") == 1
        assert remedy in errors
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("d.txt", "call it .csv"),
        ("d.json", "lines=True"),
        ("d.ods", "CSV UTF-8"),
        ("d.csv.zip", "gzip"),
        ("d.pkl", "Write it as one of them"),
    ],
)
def test_other_formats_are_told_the_way_to_ours(mlspl, tmp_path, name, remedy):
    (tmp_path / name).write_bytes(b"something")
    code, _, errors = mlspl("fit", name, "--labels=-3", "-o", "model.skops")
    assert code == 2
    assert remedy in errors
    assert errors.count("\n") == 1


def test_labels_may_have_the_names_of_features(mlspl, tmp_path):
    rows = TABLE.assign(tags=["|".join({"rock": "a", "pop": "b"}.get(n, n) for n in s) for s in SETS])
    (tmp_path / "d.csv").write_text(csv(rows))
    assert mlspl("fit", "d.csv", *COLUMN, "--method", "ml-knn", "-o", "model.skops")[0] == 0
    code, out, errors = mlspl("predict", "model.skops", "d.csv")
    assert (code, errors) == (0, "")
    assert sorted(out.partition("\n")[0].split(",")) == ["a", "b", "calm"]


def test_labels_that_are_never_known_or_differ_in_case_are_named(mlspl, tmp_path):
    (tmp_path / "d.csv").write_text(csv(PLAIN.assign(sad="?").rename(columns={"pop": "ROCK"})))
    code, _, errors = mlspl("fit", "d.csv", "--labels=-4", "--method", "ml-knn", "-o", "model.skops")
    assert code == 0
    assert "known in no row: 'sad'" in errors
    assert "not the same: 'rock', 'ROCK'" in errors


def test_nothing_is_wrong_with_a_column_that_is_left_out(mlspl, tmp_path):
    slip = PLAIN.assign(price=["12"] * 39 + ["twelve"])
    (tmp_path / "d.csv").write_text(csv(slip))
    fit = ["fit", "d.csv", *COLUMNS, "--method", "ml-knn", "-o", "model.skops"]
    assert "'twelve' is not a finite number" in mlspl(*fit)[2]
    code, _, errors = mlspl(*fit, "--drop", "price")
    assert (code, errors) == (0, "")
    assert mlspl("predict", "model.skops", "d.csv")[::2] == (0, "")
    assert mlspl("evaluate", "model.skops", "d.csv")[::2] == (0, "")


def test_an_index_can_be_kept(mlspl, tmp_path):
    (tmp_path / "d.csv").write_text(PLAIN.set_axis([f"song {i}" for i in range(40)]).to_csv())
    assert mlspl("fit", "d.csv", *COLUMNS, "--method", "ml-knn", "-o", "model.skops")[0] == 0
    code, out, _ = mlspl("predict", "model.skops", "d.csv", "--keep", "Unnamed: 0")
    assert code == 0
    assert out.splitlines()[1].startswith("song 0,")


def test_too_few_rows_for_an_audit_are_said(mlspl, tmp_path):
    (tmp_path / "d.csv").write_text(csv(PLAIN[:3]))
    code, _, errors = mlspl("audit", "d.csv", *COLUMNS, "-o", "review")
    assert code == 2
    assert "3 rows cannot be audited: give 5 or more." in errors
    assert not (tmp_path / "review").exists()


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["--labels", "Rock,pop"], "'rock'"),
        (["--labels=-3", "--drop", "B"], "'b'"),
        (["--labels=-3", "--method", "mlknn"], "'ml-knn'"),
        (["--labels=-3", "--tune", "macro-f1"], "'macro_f1'"),
    ],
)
def test_slips_of_the_pen_are_asked_about(mlspl, tmp_path, options, meant):
    (tmp_path / "d.csv").write_text(csv(PLAIN))
    code, _, errors = mlspl("fit", "d.csv", *options, "-o", "model.skops")
    assert code == 2
    assert f" Did you mean {meant}? " in errors.replace("\n", " ")
