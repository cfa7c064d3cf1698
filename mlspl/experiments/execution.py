"""Running one trial: split, corrupt, tune, fit, score, and measure time and memory."""

import os
import platform
import socket
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import numpy as np

from mlspl.datasets import Dataset, corrupt
from mlspl.experiments.trial import Outcome, Trial, parse_corruption
from mlspl.metrics import Tally
from mlspl.model_selection import IterativeStratification, protocol_split
from mlspl.recipes import Method, Recipe, Schema, encode_table, get_method, scores_and_labels, take_rows
from mlspl.solvers import one_library_thread

_WARM: set[str] = set()
_WARM_ROWS = 40
_LIBRARIES = ("mlspl", "numpy", "scipy", "scikit-learn", "numba")


def run_trial(trial: Trial, dataset: Dataset, methods: Mapping[str, Method] | None = None) -> Outcome:
    """Run a trial; an exception becomes its outcome's `error`.

    Everything random is seeded by the split. Columns of text are used as features. `methods` holds the
    methods by name, if they are not those of :data:`mlspl.recipes.METHODS`.

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
    with suppress(OSError):  # reset the peak memory, on Linux
        Path("/proc/self/clear_refs").write_text("5")
    with warnings.catch_warnings(record=True) as caught, one_library_thread():
        warnings.simplefilter("always")
        results: dict[str, Any]
        libraries: tuple[str, ...] = _LIBRARIES
        try:
            method = get_method(trial.method, methods)
            libraries += method.libraries
            results = _run(trial, dataset, method)
        except Exception as error:
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
    started = _clock()
    parameters = dict(trial.parameters)
    if trial.tune:
        parameters = recipe.choose(parameters, trial.tune, X_train, Y_train)
    tuned = _clock()
    model = recipe.build(parameters).fit(X_train, Y_train)
    fitted = _clock()
    F, P = scores_and_labels(model, X_test)
    predicted = _clock()
    return {
        "scores": Tally().add(Y_test, F, P).scores(),
        "chosen": parameters | getattr(model[-1], "best_params_", {}),
        "tune_seconds": tuned - started,
        "fit_seconds": fitted - tuned,
        "predict_seconds": predicted - fitted,
        "history": getattr(model[-1], "history_", None),
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


def _clock() -> float:
    """Processor time of the process, or of the thread if the process has others."""
    return time.process_time() if current_thread() is main_thread() else time.thread_time()


@cache
def _describe_machine() -> str:
    """System, processor and number of cores."""
    name = _read_field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine()
    return f"{platform.system()}, {name}, {os.cpu_count()} cores"


def _peak_memory() -> int | None:
    """Most bytes of memory that the process has held since the last reset; None if not on Linux."""
    kilobytes = _read_field("/proc/self/status", "VmHWM")
    return int(kilobytes.split()[0]) * 1024 if kilobytes else None


def _read_field(path: str, name: str) -> str:
    """Return a field of a file of Linux, "" on other systems."""
    with suppress(OSError):
        for line in Path(path).read_text().splitlines():
            if line.startswith(name):
                return line.partition(":")[2].strip()
    return ""
