"""`mlspl audit` and `mlspl correct` as a user meets them: from a file to a corrected copy."""

import base64
import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlspl.datasets import Dataset, load_dataset, read_dataset, write_dataset
from mlspl.pages._images import picture_address

HEAD = "fingerprint,row,id,label,given,suggested,suspicion,decision"
FAST = ("--method", "bsvm")


@pytest.fixture(scope="module")
def planted():
    """Digits, three of whose traits are wrong in every tenth row."""
    digits = load_dataset("digits-traits")
    Y = digits.Y[:120, :3].astype(int)
    Y[::10, 1] = 1 - Y[::10, 1]
    return Dataset(
        digits.X[:120], Y, digits.feature_names, ["even", "=prime", "[bold]loop\x1b[2J"], name="digits"
    )


@pytest.fixture
def digits(planted, tmp_path):
    """The same as a CSV with an id, a text and a picture per row."""
    names = ["id", "note", "picture", *planted.feature_names, *planted.label_names]
    with (tmp_path / "digits.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for i, (x, y) in enumerate(zip(planted.X.tolist(), planted.Y.tolist(), strict=True)):
            writer.writerow([f"=digit {i}", f"the <b>{i}th</b> that was drawn", f"{i}.png", *x, *y])
    return tmp_path / "digits.csv"


def document_of(path):
    text = path.read_text("utf-8")
    (found,) = re.findall(r'<script type="application/json" id="audit">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"))))


def test_an_audit_prints_what_it_found_and_writes_page_and_tables(mlspl, digits, tmp_path):
    arguments = ("--labels=-3", "--ids", "id", "--show", "note", *FAST)
    code, out, errors = mlspl("audit", digits, *arguments, "-o", "found")
    assert code == 0, errors
    assert re.search(r"About \d+ of 360 given labels are probably wrong", out)
    for title in ("Labels by estimated noise", "The strongest suspicions", "How many rows to review"):
        assert title in out
    assert "\x1b" not in out
    suspicions = out.split("The strongest suspicions")[1]
    assert suspicions.split()[:6] == ["row", "label", "given", "probably", "suspicion", "why"]
    assert "[bold]loop" in out, "names are text"
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == [
        ".mlspl-outputs.json",
        "audit.html",
        "issues.csv",
        "labels.csv",
        "rows.csv",
    ]
    issues, rows = table(tmp_path / "found/issues.csv"), table(tmp_path / "found/rows.csv")
    assert len(rows) == 120
    assert rows[3]["id"] == "'=digit 3"
    first = [int(issue["row"]) % 10 == 0 for issue in issues if issue["label"] == "'=prime"][:8]
    assert sum(first) > 4
    document = document_of(tmp_path / "found/audit.html")
    assert document["name"] == "digits.csv"
    assert document["items"]["id"][0] == "=digit 0"
    assert document["items"]["text"][0] == "the <b>0th</b> that was drawn"
    assert not any(name.startswith("id") for name in document["features"]), (
        "what names rows is not learnt from"
    )
    assert document["fingerprint"] == read_dataset(digits, -3, encode=False).fingerprint()


@pytest.mark.parametrize("embed", [False, True])
def test_pictures_are_linked_or_embedded(mlspl, digits, tmp_path, embed):
    content = picture_address(np.eye(2)).partition(",")[2]
    for i in range(119):
        (tmp_path / f"{i}.png").write_bytes(base64.b64decode(content))
    arguments = ("--labels=-3", "--ids", "id", "--show", "picture", *FAST, *(["--embed"] if embed else []))
    code, _, errors = mlspl("audit", digits, *arguments, "-o", "found")
    assert code == 0, errors
    assert "1 picture of 'picture' not found below" in errors
    items = document_of(tmp_path / "found/audit.html")["items"]
    expected = f"data:image/png;base64,{content}" if embed else f"../{items['row'][0]}.png"
    assert items["image"][0] == expected


@pytest.mark.parametrize("suffix", ["arff", "parquet", "svm"])
def test_other_formats_and_pipes_are_read(mlspl, planted, tmp_path, suffix):
    names = ["even", "prime", "loop"]
    data = write_dataset(
        Dataset(planted.X, planted.Y, planted.feature_names, names), tmp_path / f"digits.{suffix}"
    )
    if suffix == "arff":
        code, out, errors = mlspl("audit", "-", "--labels=-3", *FAST, "-o", "found", given=data.read_bytes())
        assert "standard input: 120 rows, 64 features, 3 labels" in out
    else:
        code, out, errors = mlspl("audit", data, *FAST, "-o", "found")
    assert code == 0, errors
    assert document_of(tmp_path / "found/audit.html")["labels"]["name"] == names


def decisions_of(path, dataset, decisions):
    """A decisions.csv as the page exports it."""
    lines = [HEAD]
    for row, label, decision in decisions:
        name, given = dataset.label_names[label], dataset.Y[row, label]
        given, suggested = ("", 1) if given != given else (int(given), 1 - int(given))
        name = f"'{name}" if name.startswith("=") else name
        lines.append(f'{dataset.fingerprint()},{row},,"{name}",{given},{suggested},0.9,{decision}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_decisions_are_applied_to_a_copy(mlspl, digits, tmp_path):
    before = digits.read_bytes()
    dataset = read_dataset(digits, -3, encode=False)
    decisions = [(0, 1, "accepted"), (10, 1, "accepted"), (5, 0, "rejected"), (7, 2, "unsure")]
    path = decisions_of(tmp_path / "decisions.csv", dataset, decisions)
    code, out, errors = mlspl("correct", digits, path, "--labels=-3", "-o", "corrected.csv")
    assert code == 0, errors
    assert "4 decisions on digits.csv: 2 accepted, 1 rejected, 1 unsure" in out
    assert out.endswith("Wrote corrected.csv: 3 labels changed\n")
    assert "\x1b" not in out
    again = read_dataset(tmp_path / "corrected.csv", -3, encode=False)
    expected = dataset.Y.astype(float)
    expected[[0, 10], 1] = 1 - expected[[0, 10], 1]
    expected[7, 2] = np.nan
    np.testing.assert_array_equal(again.Y, expected)
    assert digits.read_bytes() == before
    lines, copied = before.splitlines(), (tmp_path / "corrected.csv").read_bytes().splitlines()
    assert [i for i, pair in enumerate(zip(lines, copied, strict=True)) if len(set(pair)) == 2] == [1, 8, 11]


def test_label_sets_have_no_word_for_unknown(mlspl, tmp_path):
    data = tmp_path / "songs.csv"
    data.write_text("tempo,tags\n1,calm|slow\n2,calm\n3,slow\n")
    dataset = read_dataset(data, ["tags"], encode=False)
    path = decisions_of(tmp_path / "decisions.csv", dataset, [(0, 0, "accepted"), (1, 0, "unsure")])
    code, _, errors = mlspl("correct", data, path, "--labels", "tags", "-o", "copy.csv")
    assert (code, "1 unsure label kept" in errors) == (0, True)
    assert (tmp_path / "copy.csv").read_text() == "tempo,tags\n1,slow\n2,calm\n3,slow\n"


def test_text_is_learnt_from_and_label_sets_are_corrected(mlspl, tmp_path):
    """A table as people keep it: an id, a number, a text, a column of label sets with its own separator."""
    rng = np.random.default_rng(0)
    words = {
        "calm": ["rain", "harp", "slow"],
        "loud": ["drum", "shout", "fast"],
        "sad": ["tears", "alone", "grey"],
    }
    lines = ["title;length;lyrics;moods"]
    for i in range(90):
        moods = [mood for mood in words if rng.random() < 0.5] or ["sad"]
        lyrics = " ".join(rng.choice([word for mood in moods for word in words[mood]], 8))
        given = moods if i else ["calm" if "loud" in moods else "loud"]
        lines.append(f"song {i};{rng.integers(100, 400)};{lyrics};{'/'.join(given)}")
    (tmp_path / "songs.csv").write_text("\n".join(lines) + "\n")
    options = ("--labels", "moods", "--label-sep", "/", "--text", "lyrics")
    code, out, errors = mlspl(
        "audit", "songs.csv", *options, "--ids", "title", "--show", "lyrics", *FAST, "-o", "found"
    )
    assert code == 0, errors
    assert "song 0" in out
    document = document_of(tmp_path / "found/audit.html")
    assert {"length", "drum", "tears"} <= set(document["features"])
    dataset = read_dataset(
        tmp_path / "songs.csv", ["moods"], encode=False, label_sep="/", kinds={"lyrics": "text"}
    )
    assert document["fingerprint"] == dataset.fingerprint()
    loud = dataset.label_names.index("loud")
    path = decisions_of(tmp_path / "decisions.csv", dataset, [(0, loud, "accepted")])
    code, _, errors = mlspl("correct", "songs.csv", path, *options, "-o", "copy.csv")
    assert code == 0, errors
    before, after = ((tmp_path / name).read_text().splitlines() for name in ("songs.csv", "copy.csv"))
    assert before[2:] == after[2:]
    assert ("loud" in before[1].split(";")[3]) != ("loud" in after[1].split(";")[3])


def test_what_is_known_by_name_is_written_in_the_format_of_the_copy(mlspl, tmp_path):
    digits = load_dataset("digits-traits", encode=False)
    path = decisions_of(tmp_path / "decisions.csv", digits, [(3, 2, "accepted")])
    code, _, errors = mlspl("correct", "digits-traits", path, "-o", "copy.svm")
    assert code == 0, errors
    changed = read_dataset(tmp_path / "copy.svm").Y != digits.Y
    assert np.argwhere(changed).tolist() == [[3, 2]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: re.sub("^[0-9a-f]{64}", "0" * 64, text, flags=re.MULTILINE), "made for other data"),
        (lambda text: text.replace("accepted", "perhaps"), "a decision is one of accepted, rejected, unsure"),
        (lambda text: text.replace("even", "odd"), "'odd'"),
        (lambda text: text.replace(",0,,", ",120,,"), "'120'"),
        (lambda text: text.replace("decision\n", "verdict\n"), "no column 'decision'"),
        (
            lambda text: text + text.splitlines()[1].replace("accepted", "unsure") + "\n",
            "two different",
        ),
        (lambda text: HEAD + "\n", "holds no decisions"),
        (lambda text: text.replace('"even"', '"even'), "this is no CSV"),
    ],
)
def test_decisions_that_do_not_fit_are_refused_and_nothing_is_written(
    mlspl, digits, tmp_path, change, message
):
    dataset = read_dataset(digits, -3, encode=False)
    path = decisions_of(tmp_path / "decisions.csv", dataset, [(0, 0, "accepted")])
    path.write_text(change(path.read_text()))
    code, out, errors = mlspl("correct", digits, path, "--labels=-3", "-o", "copy.csv")
    assert (code, out) == (2, "")
    assert message in errors
    assert not (tmp_path / "copy.csv").exists()


def test_decisions_are_refused_where_headers_of_labels_were_exchanged(mlspl, tmp_path):
    text = "tempo,happy,calm\n1,1,0\n2,0,1\n3,1,1\n4,,0\n"
    (tmp_path / "songs.csv").write_text(text)
    dataset = read_dataset(tmp_path / "songs.csv", -2, encode=False)
    decided = [(2, 0, "accepted"), (0, 1, "rejected"), (3, 0, "accepted")]
    path = decisions_of(tmp_path / "decisions.csv", dataset, decided)
    (tmp_path / "swapped.csv").write_text(text.replace("happy,calm", "calm,happy"))
    code, out, errors = mlspl("correct", "swapped.csv", path, "--labels=-2", "-o", "copy.csv")
    assert (code, out) == (2, "")
    assert "line 3: label 'calm' of row 0 was 0 when it was reviewed, and is 1 in swapped" in errors
    assert not (tmp_path / "copy.csv").exists()
    assert mlspl("correct", "songs.csv", path, "--labels=-2", "-o", "copy.csv")[0] == 0
    assert (tmp_path / "copy.csv").read_text() == "tempo,happy,calm\n1,1,0\n2,0,1\n3,0,1\n4,1,0\n"
    # What was corrected is other data.
    code, _, errors = mlspl("correct", "copy.csv", path, "--labels=-2", "-o", "again.csv")
    assert (code, "made for other data" in errors) == (2, True)


@pytest.mark.parametrize(("given", "code"), [("1", 0), ("1.0", 0), ("0", 2), ("", 2), ("yes", 2)])
def test_what_was_given_is_a_number_however_a_spreadsheet_writes_it(mlspl, tmp_path, given, code):
    (tmp_path / "songs.csv").write_text("tempo,happy,calm\n1,1,0\n2,0,1\n")
    dataset = read_dataset(tmp_path / "songs.csv", -2, encode=False)
    path = decisions_of(tmp_path / "decisions.csv", dataset, [(0, 0, "accepted")])
    path.write_text(path.read_text().replace('"happy",1,', f'"happy",{given},'))
    assert mlspl("correct", "songs.csv", path, "--labels=-2", "-o", "copy.csv")[0] == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("audit", "digits.csv", "--labels=-3", "-o", "digits.csv"), "is a file. Name a folder"),
        (("audit", "digits.csv", "--labels=-3", "-o", "digits.csv/d"), "cannot be written to"),
        (("audit", "digits.csv", "--labels=-3", "--ids", "name", "-o", "d"), "no column 'name'"),
        (("audit", "digits.csv", "--labels=-3", "--embed", "-o", "d"), "--embed is for pictures"),
        (("audit", "digits.csv", "--labels=-3", "--embed", "--show", "note", "-o", "d"), "no file names"),
        (("audit", "digits.csv", "--labels=-3", "--method", "magic", "-o", "d"), "no method 'magic'"),
        (("audit", "digits.csv", "--labels", "none_*", "-o", "d"), "matches none of the"),
        (("correct", "digits.csv", "gone.csv", "--labels=-3", "-o", "copy.csv"), "is not a file"),
        (("correct", "-", "gone.csv", "-o", "copy.csv"), "standard input cannot be corrected"),
        (("correct", "digits.csv", "gone.csv", "--labels=-3", "-o", "digits.csv"), "would be lost"),
    ],
)
def test_mistakes_are_said_in_a_sentence_and_nothing_is_written(mlspl, digits, tmp_path, arguments, message):
    code, out, errors = mlspl(*arguments)
    assert (code, out) == (2, "")
    assert list(tmp_path.iterdir()) == [digits]
    assert message in " ".join(errors.split())


def test_probabilities_of_any_model_are_audited(mlspl, digits, planted, tmp_path):
    truth = load_dataset("digits-traits").Y[:120, :3]
    names = [planted.label_names[j] for j in (2, 0, 1)]
    own = np.abs((truth == 0) - np.random.default_rng(0).uniform(0.99, 0.999, truth.shape))
    with (tmp_path / "oof.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([names, *own[:, [2, 0, 1]].tolist()])
    audit = ("audit", digits, "--labels=-3", "-o", "found")
    code, _, errors = mlspl(*audit, "--probabilities", "oof.csv", "--most", "7")
    assert code == 0, errors
    issues = table(tmp_path / "found" / "issues.csv")
    sure = [row for row in issues if float(row["suspicion"]) > 0.5]
    assert {(row["label"], int(row["row"]) % 10) for row in sure} == {("'=prime", 0)}
    document = document_of(tmp_path / "found" / "audit.html")
    assert len(document["pairs"]["row"]) == document["low"] + 7

    (tmp_path / "few.csv").write_text("\n".join((tmp_path / "oof.csv").read_text().splitlines()[:50]))
    (tmp_path / "odds.csv").write_text((tmp_path / "oof.csv").read_text().replace("0.99", "9", 1))
    (tmp_path / "names.csv").write_text((tmp_path / "oof.csv").read_text().replace("even", "eevn"))
    for options, word in (
        (("--probabilities", "few.csv"), "49 rows"),
        (("--probabilities", "odds.csv"), "outside 0 to 1"),
        (("--probabilities", "names.csv"), "Did you mean 'eevn'"),
        (("--probabilities", "oof.csv", "--method", "bsvm"), "your own model"),
        (("--set", "C=1"), "--method"),
        (("--show", "note_"), "Did you mean 'note'"),
    ):
        code, _, errors = mlspl(*audit, *options)
        assert (code, word in errors) == (2, True), errors


def test_a_second_round_knows_the_decisions_of_the_first(mlspl, digits, tmp_path):
    arguments = ("audit", digits, "--labels=-3", "--drop", "id,note,picture", *FAST)
    assert mlspl(*arguments, "-o", "first")[0] == 0
    issues = pd.read_csv(tmp_path / "first/issues.csv")
    issues.head(3).assign(decision=["accepted", "rejected", "unsure"]).to_csv(
        tmp_path / "decided.csv", index=False
    )
    code, _, errors = mlspl(*arguments, "--reviewed", "decided.csv", "-o", "second")
    assert code == 0, errors
    pairs = [(issue["row"], issue["label"]) for issue in table(tmp_path / "second/issues.csv")]
    first = [(str(issue.row), issue.label) for issue in issues.head(3).itertuples()]
    assert [pair in pairs for pair in first] == [False, False, True]
    code, _, errors = mlspl(*arguments[:2], "--labels=-2", *FAST, "--reviewed", "decided.csv", "-o", "third")
    assert (code, "other data" in errors) == (2, True)
    assert not (tmp_path / "third").exists()


def test_correct_names_the_options_of_the_audit(mlspl, digits, tmp_path):
    data = read_dataset(digits, -3, encode=False, drop=["note"])
    evil = ["--labels=-3", "--drop=note"], ["--labels=$(touch hurt)"], [3], 3
    for options, said in zip(
        evil, ("--labels=-3 --drop=note", "'--labels=$(touch hurt)'", "", ""), strict=True
    ):
        with (tmp_path / "decisions.csv").open("w", newline="") as stream:
            row = [data.fingerprint(), 0, "", "even", "", 1, "", "accepted", json.dumps(options)]
            csv.writer(stream).writerows([[*HEAD.split(","), "options"], row])
        for given in ((), ("--labels=-3",)):
            code, _, errors = mlspl("correct", digits, "decisions.csv", *given, "-o", "copy.csv")
            assert code == 2
            assert (f"decisions.csv {said} -o copy.csv\n" in errors) == bool(said), errors
    assert not (tmp_path / "copy.csv").exists()


def test_issues_can_be_decided_in_a_spreadsheet(mlspl, digits, tmp_path):
    """Decisions typed into issues.csv, saved by a spreadsheet, are applied like exported ones."""
    assert mlspl("audit", digits, "--labels=-3", *FAST, "-o", "found")[0] == 0
    issues = table(tmp_path / "found/issues.csv")
    correct = ("correct", digits, "decided.csv", "--labels=-3", "-o", "copy.csv")

    def save():
        with (tmp_path / "decided.csv").open("w", newline="", encoding="utf-8-sig") as stream:
            writer = csv.DictWriter(stream, issues[0])
            writer.writeheader()
            writer.writerows(issues)

    save()
    code, _, errors = mlspl(*correct)
    assert (code, "holds no decisions" in errors) == (2, True)
    issues[0]["decision"], issues[1]["decision"] = "accepted", "rejected"
    save()
    code, _, errors = mlspl(*correct)
    assert code == 0, errors
    before, after = (read_dataset(path, -3, encode=False) for path in (digits, tmp_path / "copy.csv"))
    names = [f"'{name}" if name.startswith("=") else name for name in before.label_names]
    changed = [[int(issues[0]["row"]), names.index(issues[0]["label"])]]
    assert np.argwhere(before.Y != after.Y).tolist() == changed
    code, _, errors = mlspl("correct", digits, "decided.csv", "--labels=-2", "-o", "other.csv")
    assert (code, "Use: mlspl correct" in errors, "--labels=-3" in errors) == (2, True, True)


@pytest.fixture
def people(tmp_path):
    """300 rows with the label sets of three annotators; `labels` are those of the first one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)).round(3)
    table = pd.DataFrame(X, columns=["x", "y"]).assign(song=[f"s{i}" for i in range(300)])
    for who, rate in {"by_ann": 0.1, "by_bob": 0.05, "by_cid": 0.1}.items():
        said = (X > 0) ^ (rng.random(X.shape) < rate)
        table[who] = ["|".join(np.array(["p", "q"])[row]) for row in said]
    table.insert(0, "labels", table["by_ann"])
    table.loc[290:, "by_cid"] = "?"
    table.loc[0, "by_bob"] = "other|p"
    table.to_csv(tmp_path / "people.csv", index=False)
    return table


def test_annotators_of_columns_and_of_votes_give_the_same_page(mlspl, people):
    who = [name for name in people if name.startswith("by_")]
    votes = people.drop(columns="labels").melt(["song"], who, "annotator", "labels")
    votes.query("labels != '?'").to_csv("votes.csv", index=False)
    people.drop(columns=who).to_csv("plain.csv", index=False)
    options = ("--labels", "labels", "--ids", "song", *FAST)
    code, out, errors = mlspl("audit", "people.csv", "--annotators", "by_*", *options, "-o", "a")
    assert code == 0, errors
    assert "by_bob" in out
    assert "'other'" in errors
    assert mlspl("audit", "plain.csv", "--votes", "votes.csv", *options, "-o", "b")[0] == 0
    first, second = (pd.read_csv(f"{folder}/issues.csv") for folder in ("a", "b"))
    assert first["id"].tolist() == second["id"].tolist()
    truth = people.set_index("song")[["x", "y"]].gt(0).set_axis(["p", "q"], axis=1).stack()
    wrong = truth.loc[list(zip(first["id"], first["label"], strict=True))].to_numpy() != first["given"]
    assert wrong[:40].mean() > 0.9
    document = document_of(Path("a/audit.html"))
    assert document["annotators"]["name"] == who
    assert document["annotators"]["specificity"][1] > 0.9
    assert [row for row in document["votes"] if len(document["votes"][row]) == 3]
    assert document["features"] == ["x", "y"], "what annotators said is not learnt from"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--annotators", "rater_*"], "unknown annotator"),
        (["--annotators", "by_*", "--votes", "votes.csv"], "say who annotated"),
        (["--votes", "votes.csv"], "--ids"),
        (["--votes", "votes.csv", "--ids", "song"], "'s1' twice"),
    ],
)
def test_mistakes_about_annotators(mlspl, people, tmp_path, options, word):
    (tmp_path / "votes.csv").write_text("song,annotator,labels\ns1,ann,p\ns1,ann,p\n")
    code, _, errors = mlspl("audit", "people.csv", "--labels", "labels", *options, *FAST, "-o", "out")
    assert code == 2
    assert word in " ".join(errors.split())
