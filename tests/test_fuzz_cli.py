"""Argument lists of every kind given to every command: code 0 or 2, a sentence, never a traceback.

``MLSPL_FUZZ_EXAMPLES=5000 pytest tests/test_fuzz_cli.py`` searches longer than the usual run. The commands
run in this process, in a folder of their own and without a network.
"""

import io
import re
import shutil
import socket
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout

import matplotlib.pyplot as plt
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from mlspl import MLkNNClassifier, save_model
from mlspl.cli.main import app, main
from mlspl.datasets import Dataset, load_dataset, read_dataset, write_dataset
from mlspl.recipes import Schema
from tests.watched import Patience, fuzzing

HEAVY = {("audit",), ("pacing", "plot"), ("pacing", "list"), ("pacing", "verify"), ("pacing", "derive")}
FILES = [
    "good.csv", "good.arff", "good.svm", "model.skops", "new.csv", "scores.csv", "broken.csv", "broken.arff",
    "empty.csv", "bytes.skops", "bytes.parquet", "results.db", "folder", "folder/out.csv", "missing.arff",
    "decisions.csv", "out.csv", "out.skops", "out.png", "out.svg", "out.html", "out.xyz", "folder/", ".", "-",
    "",
]  # fmt: skip
WORDS = [
    "digits-traits", "emotions", "bsvm", "ml-knn", "tram", "ranksvm", "ml-loc", "mlspl", "BSVM", "mlspl,bsvm",
    ",", "hamming_loss", "average_precision", "coverage", "accuracy", "flip:0.2", "flip:", "swap:2",
    "1/(1+t)", "missing:nan", "sigmoid", "tanh", "gaussian,huber", "none", "scale", "shift", "t1,t2",
    "even,prime", "t", "even.*", "(", "[bold]", "[/]", "--", "--help", "-h", "exp(-t)", "9**9**9", "2", "0.3",
    "0.3,0.5", "é", "٣", "a=b", "\u202e", "$HOME", "%s", "{}", "\\", "'", '"', "\n", "\ud800",
]  # fmt: skip
NUMBERS = [
    "0", "1", "2", "-1", "3.5", "1e-9", "1e308", "nan", "inf", "-inf", str(2**63), str(10**30), "0x10", "1_0"
]  # fmt: skip
LABELS = "even,prime,closed loop"
VALID = {
    ("fit",): ["good.csv", "--labels", LABELS, "-o", "out.skops", "--method", "ml-knn", "--test-size", "0.3"],
    ("predict",): ["model.skops", "new.csv", "-o", "out.csv", "--top", "2"],
    ("evaluate",): ["model.skops", "good.arff", "-o", "out.csv"],
    ("audit",): ["good.csv", "--labels", LABELS, "-o", "folder", "--method", "ml-knn"],
    ("export",): ["model.skops", "-o", "out.onnx"],
    ("correct",): ["good.csv", "decisions.csv", "--labels", LABELS, "-o", "out.csv"],
    ("consensus",): ["votes.csv", "--annotators", "annotator_*", "--votes-only", "-o", "out.csv"],
    ("reproduce",): ["--datasets", "digits-traits", "--splits", "2", "--train", "0.3", "--methods", "bsvm"],
    ("compare",): ["scores.csv", "--alpha", "0.1", "--out", "folder", "--criterion", "hamming_loss"],
    ("datasets", "list"): [],
    ("datasets", "info"): ["good.csv", "--labels", LABELS],
    ("datasets", "fetch"): ["digits-traits"],
    ("datasets", "convert"): ["good.csv", "out.arff", "--labels", LABELS],
    ("pacing", "list"): [],
    ("pacing", "plot"): ["sigmoid", "-o", "out.svg", "--pace", "2", "--max-loss", "3"],
    ("pacing", "derive"): ["exp(-t)", "--family", "scale", "--exponent", "2", "--latex"],
    ("pacing", "verify"): ["tanh"],
}


def commands(command, path=()):
    """Every command with its path and its options, as (name, whether it is a flag)."""
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, name))
    else:
        options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
        yield path, [(name, parameter.is_flag) for parameter in options for name in parameter.opts]


COMMANDS = dict(commands(typer.main.get_command(app)))
texts = st.text(max_size=8).filter(lambda text: "/" not in text and ".." not in text and "~" not in text)
values = st.one_of(*map(st.sampled_from, (FILES, FILES, WORDS, NUMBERS)), texts)


@st.composite
def argument_lists(draw, path, options):
    """A list that works, with other values or options in it; now and then something out of place."""
    arguments = VALID[path][:]
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["value", "value", "value", "option", "option", "noise"]))
        places = [place for place, word in enumerate(arguments) if not word.startswith("-")]
        if kind == "value" and places:
            arguments[draw(st.sampled_from(places))] = draw(values)
        elif kind == "option" and options:
            name, is_flag = draw(st.sampled_from(options))
            arguments += [name] if is_flag else [name, draw(values)]
        elif kind == "noise":
            place = draw(st.integers(0, len(arguments)))
            arguments[place : place + draw(st.integers(0, 3))] = draw(st.lists(values, max_size=2))
    # What would train for hours only lists what it would do.
    alone = ["--jobs", "1"] if path == ("compare",) and "--methods" in arguments else []
    return [*path, *(["--dry-run"] if path == ("reproduce",) else []), *arguments, *alone]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with files good and bad."""
    home = tmp_path_factory.mktemp("fuzz")
    digits = load_dataset("digits-traits")
    few = Dataset(
        digits.X[:16, 20:24], digits.Y[:16, :3], digits.feature_names[20:24], digits.label_names[:3]
    )
    for name in ("good.csv", "good.arff", "good.svm"):
        write_dataset(few, home / name)
    model = MLkNNClassifier(k=3).fit(few.X, few.Y)
    save_model(model, home / "model.skops", schema=Schema.from_dataset(few), label_names=few.label_names)
    (home / "new.csv").write_text(",".join(few.feature_names) + "\n" + "1,2,3,4\n" * 3)
    rows = [f"{d},{m},{s},{0.1 * s + 0.01 * ord(m)}" for d in "xyz" for m in "abc" for s in range(3)]
    (home / "scores.csv").write_text("dataset,method,split,hamming_loss\n" + "\n".join(rows))
    fingerprint = read_dataset(home / "good.csv", LABELS.split(","), encode=False).fingerprint()
    head = "fingerprint,row,label,suggested,decision"
    (home / "decisions.csv").write_text(f"{head}\n{fingerprint},1,even,{1 - few.Y[1, 0]},accepted\n")
    votes = "\n".join(["even|prime,even", "prime,prime", ",even", "even,even|prime"] * 5)
    (home / "votes.csv").write_text(f"annotator_1,annotator_2\n{votes}\n")
    (home / "broken.csv").write_bytes(b'a,b\n1,2,3\n"')
    (home / "broken.arff").write_text("@relation x\n@attribute a {0,1\n@data\n")
    (home / "empty.csv").write_bytes(b"")
    for name in ("bytes.skops", "bytes.parquet", "results.db"):
        (home / name).write_bytes(bytes(range(256)))
    (home / "folder").mkdir()
    return home


@pytest.fixture
def alone(folder, tmp_path, monkeypatch):
    """A command in a copy of that folder, with nothing of the user's own and nobody to call."""

    def refuse(*arguments, **options):
        raise OSError("there is no network here")

    monkeypatch.delenv("MLSPL_DATA", raising=False)
    for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)

    def check(arguments):
        monkeypatch.chdir(tmp_path)
        shutil.rmtree(tmp_path / "work", ignore_errors=True)
        monkeypatch.chdir(shutil.copytree(folder, tmp_path / "work"))
        code, out, error = run(arguments, monkeypatch)
        assert code in (0, 2), error
        assert "Traceback" not in error
        assert not re.search(r"\.py:\d+: \w+", error), error
        assert code == 0 or re.search(r"\w", error) or b"Usage" in out
        return code

    return check


def run(arguments, monkeypatch):
    """Exit code, output and errors of the command, as the shell would see them."""
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace") for _ in range(2))
    monkeypatch.setattr(sys, "argv", ["mlspl", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,0\n2,1\n")))
    code = 0
    with redirect_stdout(out), redirect_stderr(error), warnings.catch_warnings(), Patience(60.0):
        warnings.simplefilter("default")
        warnings.showwarning = _print_warning
        try:
            main()
        except SystemExit as end:
            code = end.code
    plt.close("all")
    for stream in (out, error):
        stream.flush()
    return code or 0, out.buffer.getvalue(), error.buffer.getvalue().decode()


def _print_warning(message, category, filename, lineno, file=None, line=None):
    print(f"{filename}:{lineno}: {category.__name__}: {message}", file=sys.stderr)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_any_arguments(alone, path):
    @fuzzing(0.03 if path in HEAVY else 0.15)
    @given(argument_lists(path, COMMANDS[path]))
    def search(arguments):
        alone(arguments)

    code = alone([*path, *VALID[path], *(["--dry-run"] if path == ("reproduce",) else [])])
    assert code == (2 if path == ("export",) else 0)  # MLkNN has no ONNX form
    search()


@pytest.mark.timeout(0)
def test_words_that_are_no_command(alone):
    words = st.sampled_from([word for path in COMMANDS for word in path if word != "reproduce"])

    @fuzzing(0.15)
    @given(st.lists(st.one_of(values, words), max_size=3))
    def search(arguments):
        alone(arguments)

    search()


@pytest.mark.parametrize("splits", [str(10**9), str(2**63), str(10**30)])
def test_more_splits_than_can_be_listed(alone, splits):
    """Found by the search: the plan of so many trials never came to an end."""
    assert alone(["reproduce", "--dry-run", "--datasets", "digits-traits", "--splits", splits]) == 2
