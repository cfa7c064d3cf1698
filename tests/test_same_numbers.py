"""The same scores as other machines get: as if on processors that this one is not, and as stored long ago."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.machines import ESTIMATORS, all_scores

ROOT = Path(__file__).parents[1]
FEATURES = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
# BLAS of a processor that this one cannot be would end in an illegal instruction.
PROCESSORS = {
    "Nehalem": "sse4_2",
    "Haswell": "avx2",
    "SkylakeX": "avx512bw",
}


@pytest.fixture(scope="module")
def scores():
    return all_scores(ESTIMATORS)


def scores_as_if(tmp_path, name, names, **environment):
    path = tmp_path / f"{name}.npz"
    command = [sys.executable, "-m", "tests.machines", str(path), *names]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **environment}, timeout=250)
    with np.load(path) as found:
        return dict(found)


def test_other_processors_and_threads_give_the_same_scores(scores, tmp_path):
    """Not only within the solvers' tolerance: as nothing is decided by rounding, they go the same way."""
    machines = {
        name: ((), {"OPENBLAS_CORETYPE": name}) for name, needs in PROCESSORS.items() if needs in FEATURES
    }
    # Compiling everything for another processor takes half a minute; these two use most of the solvers.
    machines["generic"] = (("bsvm", "mlspl"), {"NUMBA_CPU_NAME": "generic", "OPENBLAS_NUM_THREADS": "2"})
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(
            zip(
                machines,
                pool.map(
                    lambda name: scores_as_if(tmp_path, name, machines[name][0], **machines[name][1]),
                    machines,
                ),
                strict=True,
            )
        )
    for machine, theirs in found.items():
        for name, values in theirs.items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(values, scores[name], atol=1e-6, err_msg=f"{name} on {machine}")
            else:
                np.testing.assert_array_equal(values, scores[name], err_msg=f"{name} on {machine}")


def test_scores_are_those_that_were_stored(scores):
    """Where a change of the scores is meant: ``python -m tests.machines tests/stored_scores.npz``."""
    with np.load(Path(__file__).with_name("stored_scores.npz")) as stored:
        assert set(stored) == set(scores)
        for name in ESTIMATORS.keys() - {"self-paced", "forest"}:  # scikit-learn's, whose versions may differ
            # Libraries of another version may round otherwise: then the solvers' tolerance of 1e-3 shows.
            np.testing.assert_allclose(scores[name], stored[name], atol=2e-3, err_msg=name)
            differing = np.mean(scores[f"{name} labels"] != stored[f"{name} labels"])
            assert differing <= 0.01, f"{name}: {differing:.1%} of the labels differ"
        np.testing.assert_array_equal(scores["members"], stored["members"])
