"""Compiled code is kept where only its user can write, and is never older than its sources."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mlspl

PACKAGE = Path(mlspl.__file__).parent


def names_taken_from_other_files(path):
    """(function, name) for every name that a compiled function uses and its file imports from mlspl."""
    tree = ast.parse(path.read_text())
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("mlspl")
        for alias in node.names
        if alias.name != "njit"
    }
    compilers = {"njit"} | {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign) and "njit(" in ast.unparse(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorators = {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}
            if decorators & compilers:
                used = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
                yield from ((node.name, name) for name in used & imported)


def test_compiled_functions_use_nothing_compiled_in_other_files():
    """numba compares the date of a function's own file only: what it calls elsewhere could be out of date."""
    # The readers of data sets are being replaced; take this exception away with them.
    paths = [
        path
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.parent.name != "datasets" and "linear" not in path.name
    ]
    compiled = [path for path in paths if "njit" in path.read_text()]
    assert len(compiled) > 5
    found = {path.name: list(names_taken_from_other_files(path)) for path in compiled}
    assert {name: used for name, used in found.items() if used} == {}


def test_the_check_finds_such_names(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("from mlspl.other import LIMIT\n_c = njit(cache=True)\n@_c\ndef f():\n    return LIMIT\n")
    assert list(names_taken_from_other_files(path)) == [("f", "LIMIT")]


@pytest.mark.skipif(os.name != "posix", reason="numba always finds a folder on Windows")
def test_where_nothing_can_be_written_nothing_is_cached(tmp_path):
    """One warning, and no folder among the temporary files, which others could replace."""
    copy = shutil.copytree(PACKAGE, tmp_path / "mlspl", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").touch()  # a file, where a folder would be needed
    temporary = tmp_path / "temporary"
    temporary.mkdir(mode=0o777)
    hidden = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"HOME": os.devnull, "PYTHONPATH": str(tmp_path), "TMPDIR": str(temporary)}
    code = (
        "import numpy as np; from mlspl.metrics.ranking import rank_rows; import mlspl.solvers;"
        "rank_rows(np.eye(5, 7, dtype=np.int8), np.ones((5, 7))); print('done')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.stdout == "done\n"
    assert done.stderr.count("NUMBA_CACHE_DIR") == 1
    assert not list(temporary.iterdir())
