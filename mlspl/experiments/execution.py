"""Running one trial: split, corrupt, tune, fit, score, and measure time and memory."""

import os
import platform
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import numpy as np

from mlspl.datasets import Dataset, corrupt
from mlspl.experiments.trial import Outcome, Trial, parse_corruption
from mlspl.metrics import score_all, score_others
from mlspl.model_selection import IterativeStratification, protocol_split
from mlspl.recipes import Method, Recipe, Schema, encode_table, get_method, scores_and_labels, take_rows
from mlspl.solvers import one_library_thread

_WARM: set[str] = set()
_WARM_ROWS = 40
_LIBRARIES = ("mlspl", "numpy", "scipy", "scikit-learn", "numba")


def run_trial(
    trial: Trial,
    dataset: Dataset,
    methods: Mapping[str, Method] | None = None,
    seconds: float | None = None,
) -> Outcome:
    """Run a trial; an exception becomes its outcome's `error`.

    Everything random is seeded by the split, and numerical libraries use one thread, so the scores do not
    depend on where and when the trial runs. Columns of text are used as features.

    Parameters
    ----------
    trial : Trial
        What to run.
    dataset : Dataset
        The data it names.
    methods : mapping, optional
        The methods by name; by default those of :data:`mlspl.recipes.METHODS`.
    seconds : float, optional
        Limit of processor time; a trial that takes longer fails. It is interrupted at the limit if it runs in
        the main thread of a process, as in `run_trials` without Dask, on a system with interval timers.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl.experiments import Trial
    >>> digits = load_dataset("digits-traits")
    >>> trial = Trial("digits-traits", digits.fingerprint(), "ml-knn", {"k": 10}, split=0)
    >>> outcome = run_trial(trial, digits)
    >>> 0 < outcome.scores["hamming_loss"] < 0.1
    True
    """
    _reset_peak_memory()
    with warnings.catch_warnings(record=True) as caught, one_library_thread():
        warnings.simplefilter("always")
        results: dict[str, Any]
        libraries: tuple[str, ...] = _LIBRARIES
        try:
            method = get_method(trial.method, methods)
            libraries += method.libraries
            with _limited(seconds):
                results = _run(trial, dataset, method)
        except (Exception, TimeLimit) as error:
            results = {"error": f"{type(error).__name__}: {error}"}
    messages = dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught)
    return Outcome(
        **results,
        warnings=list(messages),
        peak_memory=_peak_memory(),
        host=socket.gethostname(),
        versions={"python": platform.python_version()}
        | {name: version(name) for name in libraries}
        | {"machine": _describe_machine()},
    )


def _run(trial: Trial, dataset: Dataset, method: Method) -> dict[str, Any]:
    recipe = Recipe(method, Schema.from_dataset(dataset), trial.split)
    table, _ = recipe.schema.match(dataset)
    train, test = _split(trial, dataset.Y)
    X_train, X_test = (take_rows(table, rows) for rows in (train, test))
    Y_train, Y_test = dataset.Y[train], dataset.Y[test]
    if trial.corruption:
        kind, rate = parse_corruption(trial.corruption)
        X = encode_table(recipe.schema, X_train)[0] if kind == "ambiguous" else None
        Y_train, _ = corrupt(Y_train, kind, rate, random_state=trial.split, X=X)

    _warm_up(recipe, X_train, Y_train)
    clock = _find_clock()
    started = clock()
    parameters = dict(trial.parameters)
    if trial.tune:
        parameters = recipe.choose(parameters, trial.tune, X_train, Y_train)
    tuned = clock()
    model = recipe.build(parameters).fit(X_train, Y_train)
    fitted = clock()
    F, P = scores_and_labels(model, X_test)
    predicted = clock()
    return {
        "scores": score_all(Y_test, F, P) | score_others(Y_test, F, P),
        "chosen": parameters | getattr(model[-1], "best_params_", {}),
        "tune_seconds": tuned - started,
        "fit_seconds": fitted - tuned,
        "predict_seconds": predicted - fitted,
        "history": getattr(model[-1], "history_", None),
        "validation": getattr(model[-1], "cv_results_", None),
    }


def _warm_up(recipe: Recipe, X: Any, Y: Any) -> None:
    """Fit the method on a few rows, once per process, so that compilation and imports are not timed."""
    if recipe.method.name in _WARM:
        return
    _WARM.add(recipe.method.name)
    rows = np.arange(min(Y.shape[0], _WARM_ROWS))
    with suppress(Exception):  # forty rows may be too few; other errors occur again in the trial
        model = recipe.build(recipe.method.settings("")).fit(take_rows(X, rows), Y[rows])
        model.decision_function(take_rows(X, rows))


def _split(trial: Trial, Y: Any) -> tuple[Any, Any]:
    """The rows to train and to test on."""
    if not trial.folds:
        return protocol_split(Y.shape[0], trial.split, trial.train)
    repetition, fold = divmod(trial.split, trial.folds)
    return list(IterativeStratification(trial.folds, random_state=repetition).split(Y, Y))[fold]


class TimeLimit(BaseException):
    """A trial exceeded its processor time. Not an Exception, so that `except Exception` does not catch it."""


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimit` when the time is over, or at the end where there is no timer."""
    if seconds is None:
        yield
        return

    def stop(*_) -> None:
        raise TimeLimit(f"more than {seconds:g} s of processor time")

    clock = _find_clock()
    started = clock()
    with ExitStack() as stack:
        if hasattr(signal, "setitimer") and current_thread() is main_thread():
            stack.callback(signal.signal, signal.SIGPROF, signal.signal(signal.SIGPROF, stop))
            stack.callback(signal.setitimer, signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    if clock() - started > seconds:
        stop()


def _find_clock() -> Callable[[], float]:
    """Processor time of the process, or of the thread if the process has others."""
    return time.process_time if current_thread() is main_thread() else time.thread_time


@cache
def _describe_machine() -> str:
    """System, processor and number of cores."""
    name = platform.processor() or platform.machine()
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        name = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return f"{platform.system()}, {name}, {os.cpu_count()} cores"


def _reset_peak_memory() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> int | None:
    """Most bytes of memory that the process has held since the last reset; None if not on Linux."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmHWM:"))) * 1024
    return None
