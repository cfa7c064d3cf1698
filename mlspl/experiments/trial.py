"""What one trial is, the key it is stored under, and what comes out of it."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import Any

from mlspl.errors import UserError
from mlspl.recipes import METHODS, get_method

__all__ = ["WORKER_DIED", "Outcome", "Trial", "canonical_json", "is_standard", "parse_corruption"]

WORKER_DIED = (
    "WorkerDied: the process that ran this trial was killed, perhaps because the machine ran out of memory; "
    "run the same command again to retry it, with fewer --jobs if memory is short"
)
"""The error of a trial whose worker process did not survive it."""

_CORRUPTIONS = ("flip", "missing", "swap")


@dataclass(frozen=True)
class Trial:
    """One method, with its parameters, on one split of one data set.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    fingerprint : str
        Checksum of its contents: other data under the same name is another trial.
    method : str
        Name in the registry of methods.
    parameters : mapping
        What the method is built with; with `tune`, the list of values to search of each parameter.
    split : int
        Seed of the split, of the corruption and of the method.
    train : float, default=0.3
        Share of the rows to train on.
    corruption : str, default=""
        What is done to the training labels, as ``"flip:0.2"``; empty for nothing.
    tune : str, default=""
        Criterion of the inner cross-validation; empty to use `parameters` as they are.
    version : str
        Version of the package.
    folds : int, default=0
        Of a cross-validation, whose folds 0 to folds - 1 are the splits; 0 for the splits of the protocol.

    Examples
    --------
    >>> a = Trial("flags", "9c4f", "ml-knn", {"k": 10, "s": 1.0}, split=0)
    >>> b = Trial("flags", "9c4f", "ml-knn", {"s": 1.0, "k": 10}, split=0)
    >>> a.key == b.key, len(a.key)
    (True, 64)
    """

    dataset: str
    fingerprint: str
    method: str
    parameters: Mapping[str, Any]
    split: int
    train: float = 0.3
    corruption: str = ""
    tune: str = ""
    version: str = field(default_factory=lambda: version("mlspl"))
    folds: int = 0

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that decides the scores; the data set's name does not."""
        identity = {
            "fingerprint": self.fingerprint,
            "method": self.method,
            "parameters": dict(self.parameters),
            "split": self.split,
            "train": self.train,
            "corruption": self.corruption,
            "tune": self.tune,
            "version": self.version,
        }
        if self.folds:
            identity["folds"] = self.folds
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What a trial gave: scores, or an error.

    Parameters
    ----------
    scores : dict
        Value of each criterion; empty when the trial failed.
    error : str, optional
        Why it failed.
    chosen : dict
        The parameters the method was built with: the trial's own, or those that tuning, or the method
        itself, has picked.
    tune_seconds, fit_seconds, predict_seconds : float
        Processor time of each part, on one core.
    peak_memory : int, optional
        Most bytes the process held during the trial, interpreter and data included.
    warnings : list of str
        Each distinct warning, with its category.
    history : list of dict, optional
        The method's ``history_``, one entry a step, where it keeps one.
    validation : list of dict, optional
        The method's ``cv_results_``, one entry a setting, where it tunes itself.
    host : str
        The machine.
    versions : dict
        Python's and the numerical libraries' versions, and what machine it was.

    Examples
    --------
    >>> Outcome(error="LinAlgError: singular matrix").failed
    True
    """

    scores: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    tune_seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    peak_memory: int | None = None
    warnings: list[str] = field(default_factory=list)
    history: list[dict] | None = None
    validation: list[dict] | None = None
    host: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether there are no scores."""
        return self.error is not None


def is_standard(trial: Any) -> bool:
    """Whether a trial has the parameters, or is tuned over the grid, that the registry gives its method.

    Parameters
    ----------
    trial : Trial or named tuple
        With `method`, `parameters` and `tune`, as the rows of the store's table have them.

    Examples
    --------
    >>> [is_standard(Trial("flags", "9c4f", "ml-knn", {"k": k}, split=0)) for k in (10, 3)]
    [True, False]
    """
    known = trial.method.removesuffix("+") in METHODS
    return known and get_method(trial.method).settings(trial.tune) == dict(trial.parameters)


def canonical_json(value: Any) -> str:
    """Write `value` so that equal values give equal text; NaN is refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def parse_corruption(text: str) -> tuple[str, float]:
    """Read ``"flip:0.2"`` into its kind and rate."""
    kind, _, rate_text = text.partition(":")
    try:
        rate = float(rate_text)
    except ValueError:
        rate = math.nan
    if kind not in _CORRUPTIONS or not 0 < rate <= 1:
        raise UserError(
            f"The corruption {text!r} is not KIND:RATE with a kind out of {', '.join(_CORRUPTIONS)} "
            "and a rate above 0 and at most 1, such as flip:0.2."
        )
    return kind, rate
