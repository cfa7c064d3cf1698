import subprocess
import sys
import threading

import numpy as np
import pytest

from mlspl.solvers import smo, solve_svms
from mlspl.solvers.threads import raise_interrupts, run_threads


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_every_call_is_made_once(n_threads):
    seen = []
    run_threads(lambda a, b: seen.append((a, b)), [(i, -i) for i in range(20)], n_threads)
    assert sorted(seen) == [(i, -i) for i in range(20)]


def test_calls_run_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    run_threads(lambda _: both.wait(), [(0,), (1,)], n_threads=2)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupt_drops_what_has_not_begun_and_leaves_no_thread(stop, n_threads):
    begun = []

    def work(i):
        begun.append(i)
        if i == 0:
            raise stop
        threading.Event().wait(0.01)

    threads = threading.active_count()
    with pytest.raises(stop):
        run_threads(work, [(i,) for i in range(500)], n_threads)
    assert len(begun) < 500
    assert threading.active_count() == threads


def test_read_only_inputs_need_no_second_compilation():
    """joblib shares large arrays between processes as read-only memory maps."""
    K, Y = np.eye(300), np.where(np.arange(600).reshape(2, 300) % 2, 1.0, -1.0)
    for writeable in (True, False):
        K.flags.writeable = Y.flags.writeable = writeable
        solve_svms(K, Y, Y * Y)
    assert len(smo.solve_duals.signatures) == 1


def test_other_system_errors_stay():
    with pytest.raises(SystemError, match="of its own"), raise_interrupts():
        raise SystemError("of its own")


FOREST = """
import os, signal, threading, time
import numpy as np
from mlspl import SelfPacedForestClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 30))
Y = X @ rng.normal(size=(30, 3)) > 0
SelfPacedForestClassifier(n_estimators=2, random_state=0).fit(X[:100], Y[:100])
threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
try:
    SelfPacedForestClassifier(n_estimators=1000, random_state=0).fit(X, Y)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_in_a_forest_is_a_keyboard_interrupt():
    done = subprocess.run([sys.executable, "-c", FOREST], capture_output=True, text=True, timeout=250)
    assert done.stdout == "interrupted\n", done.stderr
