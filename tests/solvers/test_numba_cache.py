"""Where compiled code is kept: filled by several processes at once, found where little can be written."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import mlspl
from mlspl import _numba_cache
from mlspl.solvers.extra_trees import _scramble

# Four forked processes at a time fill each of ten new caches, then one reads it. Each writes how often it
# found compiled code, and what it computed.
FILL = """
import os, sys, numba, numpy as np
from mlspl.solvers.extra_trees import _scramble

numba.njit(lambda x: x + 1)(1)  # so that all have numba's own beginning in common

def compute(folder, answer):
    numba.config.CACHE_DIR = folder
    compiled = numba.njit(cache=True)(_scramble.py_func)
    number = compiled(np.uint64(7))
    os.write(answer, b"%d %d" % (sum(compiled.stats.cache_hits.values()), number))

def fork(*arguments):
    if child := os.fork():
        return child
    try:
        compute(*arguments)
        os._exit(0)
    finally:
        os._exit(1)

for number in range(10):
    for count in (4, 1):
        pipes = [os.pipe() for _ in range(count)]
        children = [fork(f"{sys.argv[1]}/{number}", answer) for _, answer in pipes]
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)
        print(*(os.read(question, 100).decode() for question, _ in pipes), sep=",")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_may_fill_a_cache_at_the_same_time(tmp_path):
    command = [sys.executable, "-c", FILL, str(tmp_path / "a cache")]
    printed = subprocess.check_output(command, text=True, timeout=250)
    rounds = [[answer.split() for answer in line.split(",")] for line in printed.splitlines()]
    assert [len(answers) for answers in rounds] == [4, 1] * 10
    assert [answers[0][0] for answers in rounds[1::2]] == ["1"] * 10
    assert {number for answers in rounds for _, number in answers} == {str(_scramble(np.uint64(7)))}


def test_what_is_called_from_another_file_is_compiled_anew_when_that_changes(tmp_path):
    """numba's own cache goes on with the old code, also after an upgrade of the package."""
    room = tmp_path / "room"
    room.mkdir()
    begin = "from mlspl._numba_cache import njit\n"
    (room / "inner.py").write_text(f"{begin}@njit(cache=True)\ndef inner():\n    return 1\n")
    (room / "outer.py").write_text(
        f"{begin}from room.inner import inner\n@njit(cache=True)\ndef outer():\n    return 10 * inner()\n"
    )
    code = "from room.outer import outer; print(outer(), sum(outer.stats.cache_hits.values()))"
    folders = os.pathsep.join([str(tmp_path), str(Path(mlspl.__file__).parents[1])])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": folders}

    def run():
        return subprocess.check_output([sys.executable, "-c", code], env=environment, text=True).split()

    assert [run(), run()] == [["10", "0"], ["10", "1"]]
    (room / "inner.py").write_text((room / "inner.py").read_text().replace("return 1", "return 2"))
    (kept,) = (tmp_path / "cache").glob("*/room-*")
    os.utime(kept, (0, 0))
    assert [run(), run()] == [["20", "0"], ["20", "1"]]
    assert not kept.exists()


PLACE = """
import os, numba, numpy as np
from mlspl.metrics.kernels import rank_rows
rank_rows(np.eye(5, 7, dtype=np.int8), np.ones((5, 7)))
print(os.environ["NUMBA_CACHE_DIR"], numba.config.CACHE_DIR, sep="\\n")
print(sum(rank_rows.stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    """Run code where neither the package nor a home folder can be written, not even by root."""
    package = Path(mlspl.__file__).parent
    copy = shutil.copytree(package, tmp_path / "mlspl", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").touch()  # a file, where a folder would be needed
    hidden = {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}

    def run(code, temporary):
        given = {"HOME": os.devnull, "PYTHONPATH": str(tmp_path), "TMPDIR": str(temporary)}
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command, env=environment | given, cwd=tmp_path, capture_output=True, text=True, timeout=250
        )

    return run


@pytest.mark.skipif(os.name != "posix", reason="numba always finds a place on Windows")
def test_where_nothing_can_be_written_all_processes_share_a_temporary_folder(tmp_path, run):
    """Each compiled everything anew, in half a minute and more."""
    temporary = tmp_path / "a folder"
    temporary.mkdir()
    for hits in ("0", "1"):
        done = run(PLACE, temporary)
        assert not done.stderr
        *folders, found = done.stdout.splitlines()
        assert folders == [str(temporary / f"mlspl-numba-{os.geteuid()}")] * 2
        assert found == hits
    assert stat.S_IMODE(Path(folders[0]).stat().st_mode) == 0o700


@pytest.mark.parametrize("fault", ["open to others", "a link", "a file", "in a folder open to others"])
@pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")
def test_a_temporary_folder_that_others_may_have_filled_is_not_used(tmp_path, monkeypatch, fault):
    """What lies in numba's cache is run."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"mlspl-numba-{os.geteuid()}"
    assert _numba_cache._find_shared_folder() == str(folder)
    if fault == "open to others":
        folder.chmod(0o770)
    elif fault == "in a folder open to others":
        tmp_path.chmod(0o777)
        assert _numba_cache._find_shared_folder() is None
        tmp_path.chmod(0o1777)  # where only owners rename, as in /tmp
        assert _numba_cache._find_shared_folder() == str(folder)
        tmp_path.chmod(0o770)
    else:
        folder.rename(tmp_path / "elsewhere")
        folder.symlink_to(tmp_path / "elsewhere") if fault == "a link" else folder.touch(mode=0o700)
    assert _numba_cache._find_shared_folder() is None


@pytest.mark.skipif(os.name != "posix", reason="numba always finds a place on Windows")
def test_otherwise_the_folder_goes_with_its_process(tmp_path, run):
    temporary = tmp_path / "shared"
    temporary.mkdir()
    temporary.chmod(0o777)
    done = run(PLACE, temporary)
    *folders, _ = done.stdout.splitlines()
    assert folders[0] == folders[1]
    assert Path(folders[0]).parent == temporary
    assert [path.name for path in temporary.iterdir()] == [f"mlspl-numba-{os.geteuid()}"]
