"""Files are written whole or not at all; planted links are not followed; a full disk is an error message."""

import ast
import errno
import os
import re
import secrets
import tomllib
from pathlib import Path

import numpy as np
import pytest

import mlspl
from mlspl import MLkNNClassifier, save_model
from mlspl._files import replace_file, write_file
from mlspl.errors import UserError

ROOT = Path(__file__).parents[1]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "scores.csv"
    write_file(path, "old")
    with pytest.raises(TypeError), replace_file(path) as stream:
        stream.writelines(["new", 3])
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("scores.csv", "old")]


def test_everything_is_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    done = []
    real_sync, real_replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("sync"), real_sync(number)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), real_replace(*paths)))
    write_file(tmp_path / "a.bin", b"1")
    assert done == ["sync", "replace", "sync"]


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(secrets, "token_hex", lambda size: "guessed")
    (tmp_path / "precious").write_text("precious")
    (tmp_path / ".a.csv.guessed.part").symlink_to(tmp_path / "precious")
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "a.csv", "new")
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "a.csv").exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_a_disk_that_takes_nothing_more_is_a_sentence(tmp_path, monkeypatch, code, moment):
    path = tmp_path / "model.skops"
    path.write_text("old")

    def fail(*arguments):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, moment, fail)
    X, Y = np.eye(6), np.eye(6, dtype=int)[:, :2]
    with pytest.raises(UserError, match=r"model\.skops cannot be written"):
        save_model(MLkNNClassifier(k=1).fit(X, Y), path, force=True)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("model.skops", "old")]


def test_nothing_in_the_package_writes_a_file_on_its_own():
    """Every output goes through _files; temporary copies and the kernel's switches are none."""
    package = Path(mlspl.__file__).parent
    allowed = {
        package / path
        for path in ("_files.py", "cli/files.py", "datasets/relabelling.py", "experiments/execution.py")
    }
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or path in allowed:
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
