"""`mlspl audit --export label-studio` and back by `mlspl correct`; the same in a spreadsheet's CSV.

Checked against label-studio-sdk where it is installed: see `make test-label-studio`.
"""

import base64
import copy
import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import sparse

from mlspl.datasets import Dataset, load_dataset, read_dataset
from mlspl.pages import read_decisions
from mlspl.pages._images import picture_address
from tests.watched import little_memory

NAMES = ['=prime "7"', "even & <odd>", "größer, später"]


@pytest.fixture
def audited(mlspl, tmp_path):
    """A file with texts and label sets, a tenth of the rows wrong in one label, and its audit."""
    digits = load_dataset("digits-traits")
    Y = digits.Y[:120, :3].astype(int)
    Y[::10, 1] = 1 - Y[::10, 1]
    with (tmp_path / "digits.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "note", *digits.feature_names, *NAMES])
        for i, (x, y) in enumerate(zip(digits.X[:120].tolist(), Y.tolist(), strict=True)):
            writer.writerow([f"digit {i}", f"the <b>{i}th</b>\nthat was drawn", *x, *y])

    def run(*options, code=0):
        command = ("audit", "digits.csv", "--labels=-3", "--ids", "id", "--method", "bsvm", "-o", "found")
        ended, out, errors = mlspl(*command, "--export", "label-studio", *options)
        assert ended == code, errors
        return json.loads((tmp_path / "found/label-studio.json").read_text("utf-8")), out

    return run


@pytest.fixture
def correct(mlspl, tmp_path):
    """Write an export, correct the file by it, and return exit code, output and the changed pairs."""

    def run(tasks, name="export.json"):
        content = tasks if isinstance(tasks, bytes) else json.dumps(tasks).encode()
        (tmp_path / name).write_bytes(content)
        command = ("correct", "digits.csv", name, "--labels=-3", "-o", "copy.csv", "--force")
        code, out, errors = mlspl(*command)
        if code:
            return code, " ".join(errors.split()), None
        before, after = (
            read_dataset(tmp_path / name, -3, encode=False).Y for name in ("digits.csv", "copy.csv")
        )
        changed = {(int(i), int(j)): after[i, j] for i, j in np.argwhere(~np.equal(before, after))}
        return code, out, changed

    return run


def annotate(task, *sets, **fields):
    """A task as Label Studio exports it, with an annotation per set of labels."""
    annotations = []
    for k, names in enumerate(sets):
        value = {"from_name": "labels", "to_name": "item", "type": "choices", "value": {"choices": names}}
        result = [value | {"id": f"r{k}", "origin": "manual"}] if names else []
        annotations.append({"id": k, "completed_by": 1, "result": result, "was_cancelled": False} | fields)
    return {"id": 1, "annotations": annotations, "drafts": [], **copy.deepcopy(task)}


def test_tasks_have_the_documented_fields(audited, tmp_path):
    tasks, out = audited("--show", "note")
    assert "label-studio.xml" in out
    data = read_dataset(tmp_path / "digits.csv", -3, encode=False)
    config = ElementTree.parse(tmp_path / "found/label-studio.xml").getroot()
    choices, item = config.find("Choices"), config.find("Text")
    assert [choice.get("value") for choice in choices] == NAMES
    assert (choices.get("toName"), choices.get("choice")) == (item.get("name"), "multiple")
    scores = []
    for task in tasks:
        (prediction,) = task["predictions"]
        assert all(f"${name}" in {tag.get("value") for tag in config} for name in ("text", "note"))
        row = task["data"]["row"]
        assert task["data"]["text"] == f"the <b>{row}th</b>\nthat was drawn"
        assert task["data"]["given"] == [name for name, y in zip(NAMES, data.Y[row], strict=True) if y == 1]
        for result in prediction["result"]:
            names = choices.get("name"), item.get("name")
            assert (result["from_name"], result["to_name"], result["type"]) == (*names, "choices")
            assert set(result["value"]["choices"]) <= set(NAMES)
        scores.append(prediction["score"])
    assert sorted(scores, reverse=True) == scores
    assert 0 < min(scores) <= max(scores) <= 1
    issues = list(csv.DictReader(io.StringIO((tmp_path / "found/issues.csv").read_text("utf-8"))))
    assert {int(issue["row"]) for issue in issues} == {task["data"]["row"] for task in tasks}
    assert len(tasks) < 120


def test_features_are_shown_where_there_is_no_text_and_pictures_are_embedded(audited, tmp_path):
    tasks, _ = audited("--drop", "note")
    assert " = " in tasks[0]["data"]["text"]
    address = picture_address(np.eye(8))
    (tmp_path / "pictures").mkdir()
    for i in range(120):
        (tmp_path / f"pictures/{i}.png").write_bytes(base64.b64decode(address.partition(",")[2]))
    text = (tmp_path / "digits.csv").read_text("utf-8")
    for i in range(120):
        text = text.replace(f'"the <b>{i}th</b>\nthat was drawn"', f"{i}.png")
    (tmp_path / "digits.csv").write_text(text, encoding="utf-8")
    tasks, _ = audited("--show", "note", "--pictures", "pictures")
    assert tasks[0]["data"]["image"] == address
    config = ElementTree.parse(tmp_path / "found/label-studio.xml").getroot()
    assert config.find("Image").get("value") == "$image"


def test_annotations_correct_the_file(audited, correct):
    tasks, _ = audited("--show", "note")
    first, second, third, fourth = tasks[:4]
    given = [task["data"]["given"] for task in tasks[:4]]
    flipped = [name for name in NAMES if (name in given[0]) != (name == NAMES[1])]
    one_less = given[1][1:]
    export = [
        annotate(first, flipped),
        annotate(second, one_less, given[1], one_less),  # more than half
        annotate(third, NAMES, was_cancelled=True),  # skipped
        annotate(fourth, []),
        annotate(tasks[4]),
    ]
    code, out, changed = correct(export)
    assert code == 0
    expected = {(first["data"]["row"], 1): float(NAMES[1] in flipped)}
    for task, names, kept in ((second, given[1], one_less), (fourth, given[3], [])):
        for name in set(names) - set(kept):
            expected[task["data"]["row"], NAMES.index(name)] = 0.0
    assert changed == expected
    assert f"{len(changed)} label" in out
    # The same from JSON-MIN, which has an entry per annotation and one name alone as text.
    small = [
        task["data"] | {"annotation_id": 1, "annotator": 1} | extra
        for task, extra in (
            (first, {"labels": {"choices": flipped} if len(flipped) > 1 else "".join(flipped)}),
            (second, {"labels": {"choices": one_less}}),
            (fourth, {}),
        )
    ]
    assert correct(small)[2] == changed


def test_annotators_who_disagree_make_a_label_unknown(audited, correct):
    tasks, _ = audited()
    row, given = tasks[0]["data"]["row"], tasks[0]["data"]["given"]
    other = [name for name in NAMES if (name in given) != (name == NAMES[1])]
    code, out, changed = correct([annotate(tasks[0], given, other)])
    assert code == 0
    assert "1 unsure" in out
    assert list(changed) == [(row, 1)]
    assert np.isnan(changed[row, 1])


def test_many_annotations_of_a_row_are_counted_one_by_one(tmp_path):
    names = [f"label {j}" for j in range(2000)]
    data = Dataset(np.ones((2, 1)), sparse.csr_array((2, 2000)), ["x"], names)
    task = {"row": 0, "given": [], "fingerprint": data.fingerprint()}
    (tmp_path / "export.json").write_text(
        json.dumps([{"data": task, "annotations": [{"result": []}] * 20_000}])
    )
    with little_memory(5e7):
        assert (read_decisions(tmp_path / "export.json", data)["decision"] == "rejected").all()


def test_bad_exports_are_refused(audited, correct, tmp_path):
    tasks, _ = audited()
    good = annotate(tasks[0], ["even & <odd>"])

    def changed(**data):
        return [good | {"data": good["data"] | data}]

    for export, word in (
        (b"[[[", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"\xff\xfe[]", "no JSON"),
        ({"a": 1}, "list of tasks"),
        ([1], "list of tasks"),
        ([], "no annotations"),
        ([{"id": 1}], "task 1"),
        (tasks, "task 1"),  # never annotated
        ([annotate(tasks[0])], "no annotations"),
        (changed(fingerprint="0"), "other data"),
        (changed(row=120), "'120'"),
        (changed(row=True), "'True'"),
        (changed(row="0"), "no row"),
        (changed(given=["even"]), "renamed"),
        ([annotate(tasks[0], ["even & <od>"])], "Did you mean 'even & <odd>'"),
        ([annotate(tasks[0], [3])], "no label '3'"),
        ([annotate(tasks[0], [["a"]])], "task 1"),
        ([annotate(tasks[0], ["a"]) | {"annotations": [3]}], "task 1"),
        ([annotate(tasks[0], ["a"]) | {"annotations": [{"result": [{"type": "choices"}]}]}], "task 1"),
        ([annotate(tasks[0], ["a"]) | {"annotations": [{"result": 3}]}], "task 1"),
    ):
        code, errors, _ = correct(export)
        assert (code, word in errors) == (2, True), errors
    assert not (tmp_path / "copy.csv").exists()


def test_labels_that_label_studio_cannot_show_are_refused(audited, mlspl, tmp_path):
    audited()
    text = (tmp_path / "digits.csv").read_text("utf-8")
    (tmp_path / "digits.csv").write_text(text.replace("even & <odd>", "US$even"), encoding="utf-8")
    command = ("audit", "digits.csv", "--labels=-3", "--ids", "id", "--method", "bsvm", "-o", "other")
    code, _, errors = mlspl(*command, "--export", "label-studio")
    assert (code, "US$even" in errors) == (2, True)
    assert mlspl(*command, "--export", "doccano")[0] == 2


def _excel(rows):
    """As Excel saves it where commas are decimal: semicolons, BOM, CRLF."""
    cells = [[cell.replace(".", ",") if _is_number(cell) else cell for cell in row] for row in rows]
    csv.writer(stream := io.StringIO(newline=""), delimiter=";").writerows([*cells, [""] * len(cells[0])])
    return ("\ufeff" + stream.getvalue()).encode()


def _announced(rows):
    """With the line by which Excel is told the delimiter."""
    return b"\xef\xbb\xbfsep=;\r\n" + _excel(rows)[3:]


def _libre_office(rows):
    """As LibreOffice saves it with all texts quoted."""
    csv.writer(stream := io.StringIO(newline=""), quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def _tabs(rows):
    csv.writer(stream := io.StringIO(newline=""), delimiter="\t").writerows(rows)
    return stream.getvalue().encode()


def _is_number(cell):
    return cell.replace(".", "", 1).isdigit()


@pytest.mark.parametrize("save", [_excel, _announced, _libre_office, _tabs])
def test_decisions_saved_by_a_spreadsheet(audited, correct, tmp_path, save):
    audited()
    rows = list(csv.reader(io.StringIO((tmp_path / "found/issues.csv").read_text("utf-8"), newline="")))
    decision, row, label, given = (rows[0].index(name) for name in ("decision", "row", "label", "given"))
    rows[1][decision], rows[2][decision], rows[3][decision] = "Accepted", " rejected ", "unsure"
    code, out, changed = correct(save(rows), "issues.csv")
    assert code == 0, out
    pairs = [(int(rows[k][row]), NAMES.index(rows[k][label].lstrip("'"))) for k in (1, 3)]
    assert set(changed) == set(pairs)
    assert changed[pairs[0]] == 1 - float(rows[1][given])
    assert np.isnan(changed[pairs[1]])
    cut = save([*rows[:1], [*rows[1][:decision], "perhaps", *rows[1][decision + 1 :]]])
    assert "accepted" in correct(cut, "issues.csv")[1]
    assert "CSV UTF-8" in correct("größer".encode("utf-16"), "issues.csv")[1]


def test_label_studio_reads_what_is_written(audited, correct, tmp_path):
    """The SDK accepts configuration, tasks and predictions; its converter's JSON-MIN corrects the file."""
    interface = pytest.importorskip("label_studio_sdk.label_interface")
    converter = pytest.importorskip("label_studio_sdk.converter")
    tasks, _ = audited("--show", "note")
    config = (tmp_path / "found/label-studio.xml").read_text("utf-8")
    known = interface.LabelInterface(config)
    known.validate()
    for task in tasks:
        assert known.validate_task({"data": task["data"]})
        for prediction in task["predictions"]:
            assert known.validate_prediction(prediction)
    results = [task["predictions"][0]["result"] for task in tasks[:9]]
    chosen = [[name for part in result for name in part["value"]["choices"]] for result in results]
    export = [annotate(task, names) for task, names in zip(tasks, chosen, strict=False)]
    (tmp_path / "export.json").write_text(json.dumps(export), encoding="utf-8")
    code, _, changed = correct(export)
    assert code == 0
    assert changed
    made = converter.Converter(config, str(tmp_path), output_tags=["labels"])
    made.convert_to_json_min(str(tmp_path / "export.json"), str(tmp_path / "min"), is_dir=False)
    small = json.loads((tmp_path / "min/result.json").read_text("utf-8"))
    assert correct(small)[2] == changed
