"""The runner: killed, interrupted, shared and distributed, it ends in the store of an undisturbed run."""

import os
import signal
import subprocess
import sys
import textwrap
import time
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
    assert outcome.chosen == {"k": 10}


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
    """SIGKILL at random moments: six times in the runner's own process, once with workers."""
    script = """
        run_trial(trials[0], data["digits"])  # compiled once, not by every child
        jobs = [1] * 6 + [2]
        kills = stored = 0
        while len(jobs) > 0:
            before = stored
            child = os.fork()
            if child == 0:
                with Store(path) as store:
                    run_trials(trials, data, store, jobs=jobs[0])
                os._exit(0)
            while stored == before and os.waitpid(child, os.WNOHANG) == (0, 0):
                time.sleep(0.02)
                if os.path.exists(path):
                    with Store(path) as store:
                        stored = len(store.finished())
            time.sleep(random.uniform(0, 0.06))
            os.kill(child, signal.SIGKILL)
            kills += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
            jobs.pop(0)
        with Store(path) as store:
            rest = []
            run_trials(trials, data, store, jobs=1, on_result=lambda *result: rest.append(result))
        print(kills, stored, len(rest))
    """
    path = tmp_path / "results.db"
    with drive(script, str(path), start_new_session=True, stderr=subprocess.DEVNULL) as driver:
        kills, stored, rest = map(int, driver.stdout.readline().split())
    assert driver.returncode == 0
    assert kills >= 5
    assert 7 <= stored < 40, "the kills have to fall into the run"
    assert rest <= 40 - stored, "what was finished must not run again"
    assert numbers(path) == undisturbed
    deadline = time.monotonic() + 60
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
    fields = [path.read_text().rsplit(")", 1)[1].split() for path in _stat_files()]
    return [field for field in fields if int(field[3]) == leader and field[0] != "Z"]


def _stat_files():
    return [path for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
