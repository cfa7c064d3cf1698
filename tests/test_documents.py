"""What README and the method pages tell people to type is run here."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "methods").glob("*.md"))]


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def shell_commands():
    lines = "\n".join(blocks(ROOT / "README.md", "sh")).splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("mlspl ")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, capsys):
    examples = blocks(page, "python")
    assert examples
    for example in examples:
        exec(compile(example, str(page), "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("command", shell_commands(), ids=" ".join)
def test_shell_examples_run(command, tmp_path, request):
    if any("flags" in word for word in command):
        request.getfixturevalue("data_home")
    environment = {**os.environ, "COLUMNS": "120"}
    if "MLSPL_DATA" in environment:
        environment["MLSPL_DATA"] = str(Path(environment["MLSPL_DATA"]).resolve())
    done = subprocess.run(
        [sys.executable, "-m", "mlspl", *command[1:]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_make_targets_named_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+)", (ROOT / "README.md").read_text(encoding="utf-8"))):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
