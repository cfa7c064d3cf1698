"""No command replaces its input or a foreign file; disks that are full or read-only are an error message."""

import os

import pytest

from mlspl._files import OutputFolder, check_output
from mlspl.datasets import read_dataset
from mlspl.errors import UserError
from tests.disks import cannot_be_written, files_limited_to

# Every command that writes, its files of input and where its output goes; $ stands for the output.
WRITERS = {
    "fit": ("fit songs.csv --labels names.xml -o $", ["songs.csv", "names.xml"]),
    "fit beside": ("fit songs.npy -o $", ["songs.npy", "songs.labels.csv"]),
    "fit beside xml": ("fit songs.csv -o $", ["songs.xml"]),
    "predict": ("predict songs.skops songs.csv -o $", ["songs.skops", "songs.csv"]),
    "evaluate": (
        "evaluate songs.skops songs.csv --labels names.xml -o $",
        ["songs.skops", "songs.csv", "names.xml"],
    ),
    "correct": (
        "correct songs.csv decisions.csv --labels names.xml -o $",
        ["songs.csv", "decisions.csv", "names.xml"],
    ),
    "convert": ("datasets convert songs.csv $ --labels names.xml", ["songs.csv", "names.xml"]),
    "convert beside": ("datasets convert songs.npz $", ["songs.npz", "songs.labels.csv"]),
    "predict beside": ("predict songs.skops songs.npy -o $", ["songs.npy", "songs.labels.csv"]),
    "audit": (
        "audit songs.csv --labels names.xml --probabilities oof.csv -o $",
        ["songs.csv", "names.xml", "oof.csv"],
    ),
    "compare": ("compare songs.csv --labels names.xml --methods ml-knn --out $", ["songs.csv", "names.xml"]),
    "compare scores": ("compare scores.csv --out $", ["scores.csv"]),
    "reproduce": (
        "reproduce --datasets songs.csv --labels names.xml --methods ml-knn --out $",
        ["songs.csv", "names.xml"],
    ),
    "compare results": ("compare results.db --out $", ["results.db"]),
    "consensus": ("consensus songs.csv --votes votes.csv --ids id -o $", ["songs.csv", "votes.csv"]),
    "consensus beside": ("consensus a.weights.csv --annotators rater_* -o a.csv", ["a.weights.csv"]),
    "export": ("export songs.skops -o $", ["songs.skops"]),
    "votes": ("audit songs.csv --labels=-3 --votes votes.csv --ids id -o $", ["songs.csv", "votes.csv"]),
    "tasks": ("audit songs.csv --labels names.xml --export label-studio -o $", ["songs.csv", "names.xml"]),
}
# Commands that choose the names in their output folder, and one of these names.
FOLDERS = {
    "audit": "rows.csv",
    "compare": "means.csv",
    "compare scores": "pairs.csv",
    "compare results": "pairs.csv",
    "reproduce": "means.csv",
    "tasks": "label-studio.json",
    "votes": "issues.csv",
}
CASES = [(command, name) for command, (_, names) in WRITERS.items() for name in names]


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def spell(name, way):
    if way == "symlink":
        os.symlink(name, "link.csv")
    elif way == "hard link":
        os.link(name, "link.csv")
    return {"same": name, "spelling": f"./{name}", "symlink": "link.csv", "hard link": "link.csv"}[way]


@pytest.mark.parametrize("way", ["same", "spelling", "symlink", "hard link"])
@pytest.mark.parametrize(("command", "name"), CASES)
def test_an_input_is_never_replaced(mlspl, tmp_path, command, name, way):
    for each in {name for _, names in WRITERS.values() for name in names}:
        (tmp_path / each).write_text(f"precious {each}")
    out = spell(name, way)
    if command in FOLDERS:
        (tmp_path / "folder").mkdir()
        move = os.link if way == "hard link" else os.symlink if way == "symlink" else os.rename
        move(tmp_path / name, tmp_path / "folder" / FOLDERS[command])
        if move is os.rename:
            os.symlink(f"folder/{FOLDERS[command]}", name)
        out = "./folder" if way == "spelling" else "folder"
    before = contents(tmp_path)
    for force in ((), ("--force",)):
        code, _, errors = mlspl(*WRITERS[command][0].replace("$", out).split(), *force)
        assert (code, "input" in errors) == (2, True)
    assert contents(tmp_path) == before


FILES = {
    "fit": ("fit songs.csv --labels=-3 --method ml-knn -o out/a.skops", "out/a.skops"),
    "predict": ("predict songs.skops songs.csv -o out/a.csv", "out/a.csv"),
    "evaluate": ("evaluate songs.skops songs.csv -o out/a.csv", "out/a.csv"),
    "correct": ("correct songs.csv decisions.csv --labels=-3 -o out/a.csv", "out/a.csv"),
    "convert": ("datasets convert songs.csv out/a.arff --labels=-3", "out/a.arff"),
    "audit": ("audit songs.csv --labels=-3 --method ml-knn -o out", "out/labels.csv"),
    "compare": (
        "compare songs.csv --labels=-3 --methods ml-knn --folds 2 --jobs 1 --out out",
        "out/means.csv",
    ),
    "reproduce": (
        "reproduce --datasets songs.csv --labels=-3 --methods ml-knn --splits 2 --jobs 1 --out out",
        "out/means.csv",
    ),
    "consensus": ("consensus votes.csv --annotators rater_* --votes-only -o out/a.csv", "out/a.review.csv"),
    "export": ("export linear.skops -o out/a.onnx", "out/a.onnx"),
    "tasks": (
        "audit songs.csv --labels=-3 --method ml-knn --export label-studio -o out",
        "out/label-studio.xml",
    ),
    "plot": ("pacing plot hard -o out/a.png", "out/a.png"),
    "derive": ("pacing derive 1/(1+t) -o out/a.png", "out/a.png"),
}
SELF = {"fit", "audit", "tasks", "compare", "reproduce"}  # which know again what they wrote


@pytest.mark.parametrize("command", FILES)
def test_foreign_files_stay_and_a_full_or_read_only_disk_is_an_error_message(
    fitted, tmp_path, command, monkeypatch
):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # the audit's workers take long to start
    folder = tmp_path / "out"
    folder.mkdir()
    data = read_dataset("songs.csv", -3, encode=False).fingerprint()
    decided = f"fingerprint,row,label,suggested,decision\n{data},1,happy,1,accepted\n"
    (tmp_path / "decisions.csv").write_text(decided)
    (tmp_path / "votes.csv").write_text("rater_1,rater_2,rater_3\n" + "a,a|b,a\nb,b,a\na|b,b,b\n" * 4)
    if command == "export":
        pytest.importorskip("onnx")
        fitted("fit", "songs.csv", "--labels=-3", "--method", "logistic", "-o", "linear.skops")
    line, name = FILES[command]
    words, target = line.split(), tmp_path / name

    target.write_text("mine")
    code, _, errors = fitted(*words)
    assert (code, "--force" in errors, target.read_text()) == (2, True, "mine")
    assert fitted(*words, "--force")[0] == 0
    assert target.read_bytes() != b"mine"
    assert fitted(*words)[0] == (0 if command in SELF else 2)

    before = contents(folder)
    with files_limited_to(100):
        full = fitted(*words, "--force")
    with cannot_be_written(folder):
        forbidden = fitted(*words, "--force")
    for (code, _, errors), why in ((full, "large"), (forbidden, "written")):
        assert (code, why in errors) == (2, True), errors
    assert contents(folder) == before


def test_fetch_on_a_full_or_read_only_disk_leaves_nothing(mlspl, tmp_path, monkeypatch):
    monkeypatch.delenv("MLSPL_DATA", raising=False)
    monkeypatch.setattr("mlspl.datasets.loading.pooch.os_cache", lambda project: tmp_path)
    download = lambda address, target, _: target.write_bytes(b"?" * 10_000)  # noqa: E731
    monkeypatch.setattr("mlspl.datasets.loading.pooch.HTTPDownloader", lambda **_: download)
    with files_limited_to(5000):
        full = mlspl("datasets", "fetch", "flags")
    with cannot_be_written(tmp_path):
        forbidden = mlspl("datasets", "fetch", "flags")
    for (code, _, errors), why in ((full, "large"), (forbidden, "written")):
        assert (code, why in errors) == (2, True), errors
    assert contents(tmp_path) == {}


def test_a_changed_output_is_not_replaced(tmp_path):
    outputs = OutputFolder(tmp_path / "new", [tmp_path / "data.csv"])
    outputs.check(["a.csv"])
    for content in ("first", b"second"):
        outputs.write("a.csv", content)
    OutputFolder(tmp_path / "new").check(["a.csv"])
    (tmp_path / "new" / "a.csv").write_text("second, with my notes")
    with pytest.raises(UserError, match="force"):
        OutputFolder(tmp_path / "new").write("a.csv", "third")
    assert (tmp_path / "new" / "a.csv").read_text() == "second, with my notes"
    OutputFolder(tmp_path / "new", force=True).write("a.csv", "third")
    for broken in ("[", "[]", '{"a.csv": 3}', "[" * 100_000):
        (tmp_path / "new" / OutputFolder.RECORD).write_text(broken)
        with pytest.raises(UserError, match="force"):
            OutputFolder(tmp_path / "new").check(["a.csv"])


def test_a_link_to_nothing_is_an_existing_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="exists"):
        check_output(tmp_path / "link")
