"""The runner: killed, interrupted, shared and distributed, it ends in the store of an undisturbed run."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mlspl.datasets import load_dataset
from mlspl.experiments import Store, plan_trials, run_trials

SHARES = (0.2, 0.25, 0.3, 0.35, 0.4)


@pytest.fixture(scope="module")
def digits():
    full = load_dataset("digits-traits")
    return replace(full, X=full.X[:200], Y=full.Y[:200])


def trials_of(data, splits, **options):
    return plan_trials({"digits": data}, ["ml-knn"], splits=splits, **options)


def numbers(path):
    """What a store says of each trial, but for what the clock, the memory and the machine decide."""
    with Store(path, create=False) as store:
        frame = store.frame()
    decided = [
        "dataset",
        "fingerprint",
        "method",
        "parameters",
        "split",
        "scores",
        "error",
        "chosen",
        "warnings",
    ]
    return frame.set_index("key")[decided].to_dict("index")


@pytest.fixture(scope="module")
def undisturbed(digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "results.db"
    with Store(path) as store:
        run_trials(trials_of(digits, 8, train=SHARES), {"digits": digits}, store, jobs=1)
    result = numbers(path)
    assert len(result) == 40
    return result


class Poison:
    """A data set whose first use kills the process, as running out of memory does."""

    Y = np.zeros((4, 2))
    feature_names = ()

    @property
    def X(self):
        os.kill(os.getpid(), signal.SIGKILL)


def test_outcomes_arrive_and_finished_trials_are_not_run_again(digits, tmp_path):
    trials, seen = trials_of(digits, 3), []
    with Store(tmp_path / "results.db") as store:
        run_trials(trials[:2], {"digits": digits}, store, jobs=1)
        run_trials(trials, {"digits": digits}, store, jobs=1, on_result=lambda *result: seen.append(result))
        assert store.finished() == {trial.key for trial in trials}
    ((trial, outcome),) = seen
    assert trial == trials[2]
    assert 0 <= outcome.scores["one_error"] <= 1
    assert outcome.peak_memory > 10e6
    assert outcome.chosen == {"k": "auto"}


def test_a_failing_trial_is_recorded_and_retried_and_stops_nothing(digits, tmp_path):
    """Three training rows are too few for ten neighbours."""
    good = trials_of(digits, 2)
    bad = trials_of(digits, 1, train=(0.015,))
    with Store(tmp_path / "results.db") as store:
        run_trials(bad + good, {"digits": digits}, store, jobs=1)
        assert store.finished() == {trial.key for trial in good}
        assert "10" in store.failed()[bad[0].key]
        retried = []
        run_trials(
            bad + good, {"digits": digits}, store, jobs=1, on_result=lambda *result: retried.append(result)
        )
        assert [trial for trial, _ in retried] == bad


def test_a_trial_that_kills_its_worker_fails_alone(digits, tmp_path, undisturbed):
    """Also: worker processes give the numbers of this one."""
    trials = trials_of(digits, 6)
    killer = replace(trials[0], dataset="poison", fingerprint="poison", split=4)
    seen = []
    with Store(tmp_path / "results.db") as store:
        data = {"digits": digits, "poison": Poison()}
        run_trials([*trials, killer], data, store, jobs=2, on_result=lambda *result: seen.append(result))
        assert list(store.failed()) == [killer.key]
        assert store.failed()[killer.key].startswith("WorkerDied")
    assert len(seen) == len(trials) + 1
    ours = numbers(tmp_path / "results.db")
    assert {key: ours[key] for key in ours if key != killer.key} == {
        trial.key: undisturbed[trial.key] for trial in trials
    }


DRIVER = """
import os, random, signal, sys, time
from dataclasses import replace
from mlspl.datasets import load_dataset
from mlspl.experiments import Store, plan_trials, run_trial, run_trials

full = load_dataset("digits-traits")
data = {"digits": replace(full, X=full.X[:200], Y=full.Y[:200])}
trials = plan_trials(data, ["ml-knn"], splits=8, train=(0.2, 0.25, 0.3, 0.35, 0.4))
path = sys.argv[1]
"""


def drive(script, *arguments, **options):
    code = DRIVER + textwrap.dedent(script)
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, **options
    )


def test_killed_again_and_again_the_store_is_that_of_an_undisturbed_run(tmp_path, undisturbed):
    """Six times in the runner's own process and once with workers, at random moments.

    The kernel ends a process whose alarm has no handler as abruptly as SIGKILL does, and no stall of
    another process can make it come too late.
    """
    script = """
        run_trial(trials[0], data["digits"])  # compiled once, not by every child

        def kill_soon(*result):
            if signal.getitimer(signal.ITIMER_REAL) == (0, 0):
                signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 0.06))

        for jobs in [1] * 6 + [2]:
            child = os.fork()
            if child == 0:
                with Store(path) as store:
                    run_trials(trials, data, store, jobs=jobs, on_result=kill_soon)
                os._exit(0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert status == -signal.SIGALRM, f"with {jobs} jobs: {status}"
        rest = []
        with Store(path) as store:
            stored = len(store.finished())
            run_trials(trials, data, store, jobs=1, on_result=lambda *result: rest.append(result))
        print(stored, len(rest))
    """
    path, errors = tmp_path / "results.db", tmp_path / "errors.txt"
    with (
        errors.open("w") as stderr,
        drive(script, str(path), start_new_session=True, stderr=stderr) as driver,
    ):
        # Not until the end of the stream: workers that outlive their runner for a moment hold it open.
        printed = driver.stdout.readline()
    assert driver.returncode == 0, errors.read_text()
    stored, rest = map(int, printed.split())
    assert 7 <= stored < 40, "the kills have to fall into the run"
    assert rest == 40 - stored, "what was finished must not run again"
    assert numbers(path) == undisturbed
    deadline = time.monotonic() + 20
    while workers := _session(driver.pid):
        assert time.monotonic() < deadline, f"workers outlive their killed runner: {workers}"
        time.sleep(0.1)


def test_two_runners_share_one_store(tmp_path, undisturbed):
    script = """
        run_trial(trials[0], data["digits"])
        pipes = [os.pipe(), os.pipe()]
        for reader, writer in pipes:
            if os.fork() == 0:
                done = []
                with Store(path) as store:
                    run_trials(trials, data, store, jobs=1, on_result=lambda *result: done.append(result))
                os.write(writer, b"%d" % sum(outcome is not None for _, outcome in done))
                os._exit(len(done) != len(trials))
        assert {os.wait()[1], os.wait()[1]} == {0}
        print(*(int(os.read(reader, 100)) for reader, writer in pipes))
    """
    path = tmp_path / "results.db"
    with drive(script, str(path)) as driver:
        ran = [int(count) for count in driver.stdout.read().split()]
    assert numbers(path) == undisturbed
    assert 40 <= sum(ran) < 80, "each trial runs once, but for those that both have begun"


def _session(leader):
    """Processes of a session, as Linux lists them."""
    running = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, _, session, *_ = path.read_text().rsplit(")", 1)[1].split()
            if int(session) == leader and state != "Z":
                running.append(path.parent.name)
    return running
