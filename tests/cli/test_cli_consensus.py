"""`mlspl consensus`: columns of annotators, a file of votes, outputs, mistakes."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def table(tmp_path):
    """300 rows with two features and the label sets of three annotators; the last row has none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).round(3)
    rows = pd.DataFrame(X, columns=["x", "y"]).assign(song=[f"s{i}" for i in range(300)])
    for k, wrong in enumerate((0.05, 0.1, 0.3)):
        flips = rng.random(X.shape) < wrong
        given = (X > 0) ^ flips
        rows[f"annotator_{k}"] = ["|".join(np.array(["p", "q, r"])[row]) for row in given]
    rows.loc[299, ["annotator_0", "annotator_1", "annotator_2"]] = "?"
    rows.to_csv(tmp_path / "songs.csv", index=False)
    return rows


def test_columns_of_annotators(mlspl, table):
    command = ("consensus", "songs.csv", "--annotators", "annotator_*", "--drop", "song", "-o", "out.csv")
    code, out, errors = mlspl(*command)
    assert (code, errors) == (0, "")
    assert "annotator_2" in out
    result = pd.read_csv("out.csv", keep_default_na=False)
    assert list(result.columns) == ["x", "y", "song", "labels"]
    truth = np.where(table["x"] > 0, "p", "")
    found = np.where(result["labels"].str.contains("p"), "p", "")
    assert (truth == found)[:299].mean() > 0.95
    assert result["labels"].iloc[299] == "?"
    weights = pd.read_csv("out.weights.csv")
    assert list(weights.columns) == ["p", "q, r"]
    assert (weights.iloc[299] == 0).all()
    people = pd.read_csv("out.annotators.csv", keep_default_na=False)
    assert people["specificity"][people["label"] == ""].is_monotonic_decreasing
    assert sorted(people["label"]) == [""] * 3 + ["p"] * 3 + ["q, r"] * 3
    assert list(pd.read_csv("out.agreement.csv")["label"]) == ["p", "q, r"]
    review = pd.read_csv("out.review.csv")
    assert set(review["label"]) <= {"p", "q, r"}
    assert review["gain"].is_monotonic_decreasing
    # What it wrote can be fitted; nothing is written over.
    assert (
        mlspl(
            "fit", "out.csv", "--labels", "labels", "--drop", "song", "--method", "ml-knn", "-o", "m.skops"
        )[0]
        == 0
    )
    code, _, errors = mlspl(*command)
    assert code == 2
    assert "out.csv already exists" in " ".join(errors.split())


def test_a_file_of_votes_says_the_same(mlspl, table):
    assert (
        mlspl("consensus", "songs.csv", "--annotators", "annotator_*", "--votes-only", "-o", "a.csv")[0] == 0
    )
    people = [name for name in table.columns if name.startswith("annotator")]
    votes = (
        table.melt(["song"], people, "annotator", "labels")
        .query("labels != '?'")
        .sample(frac=1, random_state=0)
    )
    # As spreadsheets write it elsewhere.
    votes.to_csv("votes.csv", index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
    table.drop(columns=people).to_csv("plain.csv", index=False, sep="\t")
    options = ("--votes", "votes.csv", "--ids", "song", "--votes-only", "-o", "b.csv")
    code, _, errors = mlspl("consensus", "plain.csv", *options)
    assert (code, errors) == (0, "")
    first, second = (pd.read_csv(name, keep_default_na=False)["labels"] for name in ("a.csv", "b.csv"))
    assert (first == second).all()
    review = pd.read_csv("b.review.csv")
    assert (review["id"] == "s" + review["row"].astype(str)).all()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--annotators", "rater_*"], "unknown annotator"),
        (["--annotators", "annotator_*", "--ids", "sonk"], "Did you mean 'song'"),
        ([], "--annotators"),
        (["--votes", "votes.csv"], "--ids"),
        (["--votes", "votes.csv", "--ids", "song"], "s999"),
        (["--votes", "songs.csv", "--ids", "song"], "no column 'annotator'"),
        (["--votes", "twice.csv", "--ids", "song", "--votes-only"], "'s1' twice"),
        (["--annotators", "annotator_0", "--votes-only"], "no two annotators"),
    ],
)
def test_mistakes(mlspl, table, tmp_path, options, word):
    (tmp_path / "votes.csv").write_text("song,annotator,labels\ns999,ann,p\n")
    (tmp_path / "twice.csv").write_text("song,annotator,labels\ns1,ann,p\ns1,ann,p\n")
    code, _, errors = mlspl("consensus", "songs.csv", *options, "-o", "out.csv")
    assert code == 2
    assert word in " ".join(errors.split())
    assert not (tmp_path / "out.csv").exists()
