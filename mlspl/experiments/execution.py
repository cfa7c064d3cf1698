"""Running one trial: split, corrupt, scale, tune, fit, score, and note what it cost."""

import platform
import socket
import time
import warnings
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mlspl.datasets import Dataset, corrupt
from mlspl.experiments.trial import Outcome, Trial, parse_corruption
from mlspl.metrics import score_all, score_others
from mlspl.model_selection import IterativeStratification, protocol_split
from mlspl.recipes import Recipe, Schema, get_method, take_rows
from mlspl.solvers import one_library_thread

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["run_trial"]

_LIBRARIES = ("mlspl", "numpy", "scipy", "scikit-learn", "numba")


def run_trial(trial: Trial, dataset: Dataset) -> Outcome:
    """Run a trial; an exception becomes its outcome's `error`.

    Everything random is seeded by the split, and the numerical libraries work on one thread: the same trial
    gives the same scores in whatever process, order or company it runs. Columns of text are learnt from.

    Parameters
    ----------
    trial : Trial
        What to run.
    dataset : Dataset
        The data it names; categories are encoded here if they are not yet.

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
        try:
            results = _run(trial, dataset)
        except Exception as error:
            results = {"error": f"{type(error).__name__}: {error}"}
    messages = dict.fromkeys(f"{warning.category.__name__}: {warning.message}" for warning in caught)
    return Outcome(
        **results,
        warnings=list(messages),
        peak_memory=_peak_memory(),
        host=socket.gethostname(),
        versions={"python": platform.python_version()} | {name: version(name) for name in _LIBRARIES},
    )


def _run(trial: Trial, dataset: Dataset) -> dict[str, Any]:
    text = [name for name in dataset.feature_names if dataset.kind(name) == "text"]
    recipe = Recipe(get_method(trial.method), Schema.from_dataset(dataset, text), trial.split)
    table, _ = recipe.schema.match(dataset)
    train, test = _split(trial, dataset.Y)
    X_train, X_test = (take_rows(table, rows) for rows in (train, test))
    Y_train, Y_test = dataset.Y[train], dataset.Y[test]
    if trial.corruption:
        kind, rate = parse_corruption(trial.corruption)
        Y_train, _ = corrupt(Y_train, kind, rate, random_state=trial.split)

    started = time.perf_counter()
    parameters = dict(trial.parameters)
    if trial.tune:
        parameters = recipe.choose(parameters, trial.tune, X_train, Y_train)
    tuned = time.perf_counter()
    model = recipe.build(parameters).fit(X_train, Y_train)
    fitted = time.perf_counter()
    F, P = model.decision_function(X_test), model.predict(X_test)
    predicted = time.perf_counter()
    return {
        "scores": score_all(Y_test, F, P) | score_others(Y_test, F, P),
        "chosen": parameters | getattr(model[-1], "best_params_", {}),
        "tune_seconds": tuned - started,
        "fit_seconds": fitted - tuned,
        "predict_seconds": predicted - fitted,
        "history": getattr(model[-1], "history_", None),
        "validation": getattr(model[-1], "cv_results_", None),
    }


def _split(trial: Trial, Y: Any) -> tuple[Any, Any]:
    """The rows to train and to test on."""
    if not trial.folds:
        return protocol_split(Y.shape[0], trial.split, trial.train)
    repetition, fold = divmod(trial.split, trial.folds)
    return list(IterativeStratification(trial.folds, random_state=repetition).split(Y, Y))[fold]


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
