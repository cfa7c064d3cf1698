"""Running one trial: split, corrupt, scale, tune, fit, score, and note what it cost."""

import os
import platform
import signal
import socket
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
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
from mlspl.recipes import Method, Recipe, Schema, get_method, take_rows
from mlspl.solvers import one_library_thread

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["run_trial"]

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

    Everything random is seeded by the split, and the numerical libraries work on one thread: the same trial
    gives the same scores in whatever process, order or company it runs. Columns of text are learnt from.

    Parameters
    ----------
    trial : Trial
        What to run.
    dataset : Dataset
        The data it names; categories are encoded here if they are not yet.
    methods : mapping, optional
        The methods by name; by default those of :data:`mlspl.recipes.METHODS`.
    seconds : float, optional
        How much processor time it may take; one that takes more has failed. It is interrupted if it runs in
        the main thread of a process, as `run_trials` has it without Dask, on a system with interval timers.

    Returns
    -------
    Outcome

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
    text = [name for name in dataset.feature_names if dataset.kind(name) == "text"]
    recipe = Recipe(method, Schema.from_dataset(dataset, text), trial.split)
    table, _ = recipe.schema.match(dataset)
    train, test = _split(trial, dataset.Y)
    X_train, X_test = (take_rows(table, rows) for rows in (train, test))
    Y_train, Y_test = dataset.Y[train], dataset.Y[test]
    if trial.corruption:
        kind, rate = parse_corruption(trial.corruption)
        Y_train, _ = corrupt(Y_train, kind, rate, random_state=trial.split)

    _warm_up(recipe, X_train, Y_train)
    clock = _find_clock()
    started = clock()
    parameters = dict(trial.parameters)
    if trial.tune:
        parameters = recipe.choose(parameters, trial.tune, X_train, Y_train)
    tuned = clock()
    model = recipe.build(parameters).fit(X_train, Y_train)
    fitted = clock()
    F, P = model.decision_function(X_test), model.predict(X_test)
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
    """Fit the method on a few rows, once in every process: what compiles or is loaded then is not timed."""
    if recipe.method.name in _WARM:
        return
    _WARM.add(recipe.method.name)
    rows = np.arange(min(Y.shape[0], _WARM_ROWS))
    with suppress(Exception):  # so few rows may be too few; what else is wrong, the trial will tell
        model = recipe.build(recipe.method.settings("")).fit(take_rows(X, rows), Y[rows])
        model.decision_function(take_rows(X, rows))


def _split(trial: Trial, Y: Any) -> tuple[Any, Any]:
    """The rows to train and to test on."""
    if not trial.folds:
        return protocol_split(Y.shape[0], trial.split, trial.train)
    repetition, fold = divmod(trial.split, trial.folds)
    return list(IterativeStratification(trial.folds, random_state=repetition).split(Y, Y))[fold]


class TimeLimit(BaseException):
    """A trial took more processor time than it may; nothing that catches every Exception holds it up."""


@contextmanager
def _limited(seconds: float | None) -> Iterator[None]:
    """Raise `TimeLimit` in what takes longer: at once where a timer can, otherwise when it is done."""
    if seconds is None:
        yield
        return

    def stop(*_) -> None:
        raise TimeLimit(f"more than {seconds:g} s of processor time")

    has_timer = hasattr(signal, "setitimer") and current_thread() is main_thread()
    clock = _find_clock()
    started = clock()
    if has_timer:
        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
    if clock() - started > seconds:
        stop()


def _find_clock() -> Callable[[], float]:
    """Processor time, which a busy machine does not lengthen; of the thread where others work beside it."""
    return time.process_time if current_thread() is main_thread() else time.thread_time


@cache
def _describe_machine() -> str:
    """System, processor and its cores: what seconds depend on."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{platform.system()}, {line.split(':', 1)[1].strip()}, {os.cpu_count()} cores"
    return f"{platform.system()}, {platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def _reset_peak_memory() -> None:
    """Make Linux count the peak anew; elsewhere it stays that of the whole process."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_memory() -> int | None:
    """Most bytes of memory the process has held, since the reset where there is one."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if resource is None:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else peak * 1024
