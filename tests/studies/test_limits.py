"""Trials that take too long fail, in any thread."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mlspl import MLkNNClassifier
from mlspl.datasets import load_dataset
from mlspl.experiments import Trial
from mlspl.recipes import Method
from studies.limits import run_limited

TRIAL = Trial("digits", "checksum", "mine", {"k": 5}, split=3)


class Idler(MLkNNClassifier):
    """Burns processor time before it fits."""

    seconds = 20.0

    def fit(self, X, Y, label_weight=None):
        end = time.thread_time() + self.seconds
        while time.thread_time() < end:
            pass
        return super().fit(X, Y, label_weight)


class Slow(Idler):
    seconds = 0.2


@pytest.fixture(scope="module")
def digits():
    return load_dataset("digits-traits")


def methods_with(estimator):
    return {"mine": Method("mine", "Mine", estimator, {"k": 5}, {})}


def test_a_trial_that_takes_too_long_is_interrupted(digits):
    started = time.process_time()
    outcome = run_limited(TRIAL, digits, methods_with(Idler), seconds=0.3)
    assert time.process_time() - started < 10
    assert outcome.error == "TimeLimit: more than 0.3 s of processor time"
    assert not outcome.scores
    # The timer is off again, and the next trial has all of its time.
    assert run_limited(TRIAL, digits, methods_with(MLkNNClassifier), seconds=60).error is None
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_in_another_thread_a_trial_that_took_too_long_has_failed(digits):
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(run_limited, TRIAL, digits, methods_with(Slow), 0.1).result()
    assert outcome.error == "TimeLimit: more than 0.1 s of processor time"
