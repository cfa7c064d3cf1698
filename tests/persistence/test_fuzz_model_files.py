"""Valid model files with one thing changed: refused with a sentence, or loaded and harmless.

``MLSPL_FUZZ_EXAMPLES=5000 pytest tests/persistence/test_fuzz_model_files.py`` tries 100,000 files.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from mlspl.persistence.declarations import OBJECTS
from tests import forgery
from tests.watched import EXAMPLES

ROOT = Path(__file__).parents[2]
CASES = 20 * EXAMPLES
PROCESSES = 2


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The folder of valid files, in which every class occurs that a model file may hold."""
    folder = tmp_path_factory.mktemp("files")
    missing = {cls.__name__ for cls in OBJECTS} - forgery.write_files(folder)
    assert not missing - ({"NetworkModel", "SelfPacedNetClassifier"} if find_spec("torch") is None else set())
    return folder


@pytest.mark.timeout(0)
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="limits memory as Linux does")
def test_changed_files_are_refused_or_harmless(files):
    """In other processes: what corrupts memory would end the tests."""
    commands = [
        [sys.executable, "-m", "tests.forgery", str(files), str(CASES // PROCESSES), str(seed)]
        for seed in range(PROCESSES)
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, cwd=ROOT, env=environment, **pipes) for command in commands]
    counts = {"refused": 0, "loaded": 0}
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err[-3000:]
        for name, count in json.loads(out).items():
            counts[name] += count
    assert counts["refused"] > 0.3 * CASES
    assert counts["loaded"] > 0.1 * CASES
