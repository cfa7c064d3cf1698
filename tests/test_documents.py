"""What README and the guides tell people to type is run here; what they show is compared.

`make test-wheel` runs it in an environment that holds the wheel and nothing of the checkout: its folder of
programs is MLSPL_INSTALLED.
"""

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mlspl import _progress
from mlspl.cli import main as cli
from mlspl.persistence import TRUSTED_TYPES

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = os.environ.get("MLSPL_INSTALLED")
PYTHON = f"{INSTALLED}/python" if INSTALLED else sys.executable
WALKS = [ROOT / "docs" / f"{name}.md" for name in ("first_use", "tutorial", "annotators")]
PAGES = [
    ROOT / "README.md",
    ROOT / "docs" / "tutorial.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("index", "user_guide", "audit", "annotators", "model_files")),
    *sorted((ROOT / "docs" / "methods").glob("*.md")),
]


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def shell_commands():
    lines = "\n".join(blocks(ROOT / "README.md", "sh")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("mlspl ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, capfd, tmp_path):
    examples = blocks(page, "python")
    assert examples
    for example in examples:
        if INSTALLED:
            subprocess.run([PYTHON, "-c", example], cwd=tmp_path, check=True)
        else:
            exec(compile(example, str(page), "exec"), {})
    assert capfd.readouterr().out.strip()


@pytest.mark.parametrize("command", shell_commands(), ids=" ".join)
def test_shell_examples_run(command, tmp_path, request):
    if any("flags" in word for word in command):
        request.getfixturevalue("data_home")
    environment = {**os.environ, "COLUMNS": "120"}
    if "MLSPL_DATA" in environment:
        environment["MLSPL_DATA"] = str(Path(environment["MLSPL_DATA"]).resolve())
    done = subprocess.run(
        [PYTHON, "-m", "mlspl", *command[1:]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


WAITING = re.compile(rb"\d+ of \d+ |fitting: ")  # on a slow machine
SCRIPT = re.compile(r"```\{code-block\} python\n:caption: (\w+\.py)\n\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?%?(?![\w])")


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Run a line of a page in a folder of its own; of a line that several pages show, recall the output.

    A pipe goes from stage to stage; unless an installed one is asked for, `mlspl` runs within this process,
    which has imported everything already.
    """
    folder, shown = tmp_path_factory.mktemp("walk"), {}

    def run(line, capfdbinary, monkeypatch):
        if line in shown:
            return shown[line]
        monkeypatch.chdir(folder)
        given, said = b"", b""
        for stage in line.split(" | "):
            if stage.startswith("mlspl ") and not INSTALLED:
                monkeypatch.setattr(sys, "argv", shlex.split(stage))
                monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
                with pytest.raises(SystemExit):
                    cli.main()
                given, errors = capfdbinary.readouterr()
                said += errors
            else:
                words = ["bash", "-c", stage]
                if stage.startswith(("python ", "mlspl ")):
                    options = ["-m", "mlspl"] if stage.startswith("mlspl ") else []
                    words = [PYTHON, *options, *shlex.split(stage)[1:]]
                done = subprocess.run(words, input=given, capture_output=True)
                given = done.stdout
                said += b"".join(line for line in done.stderr.splitlines(True) if not WAITING.match(line))
        shown[line] = (said + given).decode()
        return shown[line]

    run.folder = folder
    return run


@pytest.mark.parametrize("page", WALKS, ids=lambda page: page.name)
def test_walks_show_what_really_happens(page, shell, capfdbinary, monkeypatch):
    """Every command of the page, in order, prints the output shown.

    Decimals agree to 0.005, percentages to 0.15 and whole numbers from 10 on to 1: processors round
    differently in the last digits, which may move a pair across a threshold.
    """
    monkeypatch.delenv("MLSPL_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(_progress, "_SECONDS_TO_FIRST_LINE", 1e6)  # lines are not on the pages
    if not INSTALLED:
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for name, script in SCRIPT.findall(page.read_text(encoding="utf-8")):
        (shell.folder / name).write_text(script, encoding="utf-8")
    steps = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks(page, "console")), re.MULTILINE)
    assert len(steps) >= 4
    for command, expected in steps:
        printed = shell(command, capfdbinary, monkeypatch)
        assert NUMBER.sub("#", printed) == NUMBER.sub("#", expected), command
        for ours, theirs in zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True):
            assert float(ours.rstrip("%")) == pytest.approx(
                float(theirs.rstrip("%")), abs=_tolerance(theirs)
            ), command


def _tolerance(number):
    if number.endswith("%"):
        return 0.15
    if "." in number:
        return 0.005
    return 1.0 if float(number) >= 10 else 0.0


def test_the_page_lists_every_type_that_model_files_may_name():
    page = (ROOT / "docs" / "model_files.md").read_text(encoding="utf-8")
    listed = re.findall(r"```text\n(.*?)```", page, re.DOTALL)[-1]
    assert listed.split() == list(TRUSTED_TYPES)


def test_make_targets_named_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8"))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
