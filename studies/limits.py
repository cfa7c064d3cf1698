"""A limit of processor time for trials."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import current_thread, main_thread
from time import process_time, thread_time

from mlspl.datasets import Dataset
from mlspl.experiments import Outcome, Trial, run_trial
from mlspl.recipes import Method

__all__ = ["run_limited"]


def run_limited(trial: Trial, dataset: Dataset, methods: Mapping[str, Method], seconds: float) -> Outcome:
    """Run a trial; one that takes more processor time fails.

    It is interrupted at the limit in the main thread of a process, on a system with interval timers.
    """
    try:
        with _limit(seconds):
            return run_trial(trial, dataset, methods)
    except TimeLimit as error:
        return Outcome(error=f"TimeLimit: {error}")


class TimeLimit(BaseException):
    """A trial exceeded its processor time. Not an Exception, so that `except Exception` does not catch it."""


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimit` when the time is over, or at the end where there is no timer."""

    def stop(*_) -> None:
        raise TimeLimit(f"more than {seconds:g} s of processor time")

    is_main = current_thread() is main_thread()
    clock = process_time if is_main else thread_time
    started = clock()
    with ExitStack() as stack:
        if hasattr(signal, "setitimer") and is_main:
            stack.callback(signal.signal, signal.SIGPROF, signal.signal(signal.SIGPROF, stop))
            stack.callback(signal.setitimer, signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    if clock() - started > seconds:
        stop()
