"""What starts quickly: `import mlspl`, help, the version and usage errors load no library for numbers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mlspl
from mlspl.cli.options import METHOD_NAMES
from mlspl.recipes import METHODS

ROOT = Path(mlspl.__file__).parent
HEAVY = {"joblib", "matplotlib", "numba", "numpy", "pandas", "scipy", "sklearn", "skops", "sympy"}
COMMANDS = ["fit", "predict", "evaluate", "audit", "correct", "reproduce", "compare", "datasets", "pacing"]


def loaded_by(code, *arguments):
    """The packages that are loaded when the code has run, in a process of its own."""
    told = "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
    done = subprocess.run(
        [sys.executable, "-c", told + code, *arguments], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return {name.split(".")[0] for name in done.stderr.splitlines()[-1].split()}, done


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--help"], 0, "Multi-label learning"),
        (["--version"], 0, mlspl.__version__),
        (["fit"], 2, "Missing argument"),
        (["fit", "--nonsense"], 2, "No such option"),
        (["evaluate", "m.skops", "a.csv", "-o", "scores.txt"], 2, "the suffix must be"),
    ],
)
def test_words_need_no_numbers(arguments, code, said):
    loaded, done = loaded_by("from mlspl.cli.main import main; main()", *arguments)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert loaded >= {"typer", "mlspl"}
    assert not loaded & HEAVY


def test_the_help_of_every_command_needs_no_numbers():
    asked = f"""
from mlspl.cli.main import app
for command in {COMMANDS}:
    try:
        app([command, "--help"])
    except SystemExit as end:
        assert end.code == 0
"""
    loaded, done = loaded_by(asked.strip())
    assert done.stdout.count("Usage:") == len(COMMANDS)
    assert not loaded & HEAVY


def test_the_package_is_there_at_once_and_its_rooms_when_asked_for():
    assert not loaded_by("import mlspl; dir(mlspl)")[0] & HEAVY
    loaded, done = loaded_by("import mlspl; print(mlspl.MLSPLClassifier().get_params()['beta'] > 0)")
    assert done.stdout.split() == ["True"]
    assert loaded >= {"numba", "sklearn"}


def test_every_public_name_is_listed_and_found():
    assert set(mlspl.__all__) <= set(dir(mlspl))
    for name in mlspl.__all__:
        assert getattr(mlspl, name).__name__.split(".")[-1] == name
    with pytest.raises(AttributeError, match="no attribute 'MLSPLClasifier'"):
        _ = mlspl.MLSPLClasifier


def test_help_lists_the_names_of_the_registries():
    assert ", ".join(METHODS) == METHOD_NAMES


def test_what_is_compiled_is_kept_where_other_sources_do_not_look():
    """numba's own decorator would load code into which functions of changed files were compiled."""
    decorators = ("jit", "njit", "vectorize", "guvectorize", "cfunc", "stencil")
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("numba"):
                assert not {alias.name for alias in node.names} & set(decorators), path.name
