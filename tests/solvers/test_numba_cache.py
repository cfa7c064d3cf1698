"""Several processes that fill one fresh cache of compiled code at a time, and one that reads it then."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
from mlspl.solvers import kernel_svr
x = np.arange(6.0)
solution = kernel_svr.solve_svrs(np.outer(x, x), np.array([x, x % 2]), C=2.0, tol=1e-9)
print(solution.fitted.tobytes().hex())
print(sum(kernel_svr._solve_svr.stats.cache_hits.values()))
"""


def test_processes_may_fill_a_cache_at_the_same_time(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "a cache")}

    def run(count):
        command = [sys.executable, "-c", SCRIPT]
        running = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        printed = [process.communicate()[0].split() for process in running]
        assert [process.returncode for process in running] == [0] * count
        return printed

    filled = {result for result, _ in run(4)}
    ((read, hits),) = run(1)
    assert filled == {read}
    assert hits == "1"
