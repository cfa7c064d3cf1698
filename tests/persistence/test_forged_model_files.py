"""Every type a model file may hold, with every part of it forged: refused, or loaded and harmless.

``MLSPL_FUZZ_EXAMPLES=10000 pytest tests/persistence/test_forged_model_files.py`` tries more of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.watched import EXAMPLES

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(0)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="bounds memory as POSIX systems do")
def test_forged_files_are_refused_or_harmless():
    """In a process of its own: what corrupts memory would take the tests with it."""
    count = EXAMPLES
    run = subprocess.run(
        [sys.executable, "-m", "tests.forgery", str(count)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    told = json.loads(run.stdout)
    assert told["refused"] + told["loaded"] == count
    assert told["refused"] > 0.4 * count
    assert told["loaded"] > 0.1 * count
