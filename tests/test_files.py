"""Files are written whole or not at all; what killed runs leave is removed; a full disk is a sentence."""

import ast
import errno
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import mlspl
from mlspl import MLkNNClassifier, save_model
from mlspl._files import replacing, write_file
from mlspl.errors import UserError

ROOT = Path(__file__).parents[1]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "scores.csv"
    write_file(path, "old")
    with pytest.raises(TypeError), replacing(path) as stream:
        stream.writelines(["new", 3])
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("scores.csv", "old")]


def test_everything_is_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    done = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("sync"), real_sync(number)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), real_replace(*paths)))
    write_file(tmp_path / "a.bin", b"1")
    assert done == ["sync", "replace", "sync"]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from mlspl._files import replacing\n"
        "with replacing(sys.argv[2]) as stream: stream.write('x' * 10**6); os._exit(9)"
    )
    script = [sys.executable, "-c", code, str(ROOT), str(tmp_path / "a.csv")]
    assert subprocess.run(script, check=False, timeout=120).returncode == 9
    (left,) = tmp_path.iterdir()
    assert left.suffix == ".part"
    others = [
        tmp_path / f".a.csv.{os.getppid()}.part",
        tmp_path / ".b.csv.1.part",
        tmp_path / ".a.csv.x.part",
    ]
    for other in others:  # of a process that runs, of another file, of another program
        other.touch()
    write_file(tmp_path / "a.csv", "whole")
    assert sorted(tmp_path.iterdir()) == sorted([tmp_path / "a.csv", *others])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_disk_that_takes_nothing_more_is_a_sentence(tmp_path, monkeypatch, code, moment):
    path = tmp_path / "model.skops"
    path.write_text("old")

    def fail(*arguments):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, moment, fail)
    X, Y = np.eye(6), np.eye(6, dtype=int)[:, :2]
    with pytest.raises(UserError, match=r"model\.skops cannot be written: .*another folder"):
        save_model(MLkNNClassifier(k=1).fit(X, Y), path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("model.skops", "old")]


def test_nothing_in_the_package_writes_a_file_on_its_own():
    """Every output goes through _files; temporary copies and the kernel's switches are none."""
    allowed = {"_files.py", "sources.py", "relabelling.py", "execution.py"}
    for path in Path(mlspl.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or path.name in allowed:
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [str(getattr(part, "value", "")) for part in node.args[:2]]
            writes = name == "open" and any(re.fullmatch("[wax]b?[+]?", mode) for mode in modes)
            assert not writes, f"{path}:{node.lineno}"
            assert name not in ("write_text", "write_bytes"), f"{path}:{node.lineno}"


def test_the_source_distribution_has_what_its_tests_need():
    included = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = included["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    used = set()
    for path in (ROOT / "tests").rglob("*.py"):
        used |= set(re.findall(r'(?:ROOT|parents\[\d\]) / "([\w.]+)"', path.read_text(encoding="utf-8")))
    assert used <= {*included, "pyproject.toml", ".ci"}
