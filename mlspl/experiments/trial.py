"""Trials: what is run, under which key it is stored, and what comes out of it."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import version
from typing import Any

from mlspl import pacing
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.metrics import get_criterion
from mlspl.recipes import METHODS, get_method

PUBLISHED = "mlspl-published"
"""Name of MLSPL as the paper publishes it."""

WORKER_DIED = (
    "WorkerDied: the process that ran this trial was killed, perhaps because the machine ran out of memory; "
    "run the same command again to retry it, with fewer --jobs if memory is short"
)
"""Error of a trial whose worker process died."""

# Every trial is listed before the first is run.
_MOST_SPLITS = 10_000
_CORRUPTIONS = ("flip", "missing", "swap", "ambiguous")


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
        identity = {field.name: getattr(self, field.name) for field in fields(self)}
        del identity["dataset"]
        if not self.folds:
            del identity["folds"]
        identity["parameters"] = dict(self.parameters)
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What a trial gave: scores, or an error.

    Parameters
    ----------
    scores : dict
        Value of each criterion; empty if the trial failed.
    error : str, optional
        Why it failed.
    chosen : dict
        The parameters of the fitted method: the trial's own or the chosen ones.
    tune_seconds, fit_seconds, predict_seconds : float
        Processor time of each part, on one core.
    peak_memory : int, optional
        Peak memory of the process during the trial, in bytes.
    warnings : list of str
        Each distinct warning, with its category.
    history, validation : list of dict, optional
        The method's ``history_`` and ``cv_results_``, if it has them.
    host, versions : str, dict
        Name and kind of the computer, versions of Python and the numerical libraries.
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
    """Whether a trial has the parameters, or is tuned over the grid, that the registry gives its method."""
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


def plan_trials(
    datasets: Mapping[str, Dataset],
    methods: Iterable[str],
    splits: int = 10,
    train: Sequence[float] = (0.3,),
    corruption: str = "",
    tune: str = "",
    functions: Iterable[str] = (),
    folds: int = 0,
) -> list[Trial]:
    """List the trials of all methods on all splits of all data sets.

    Parameters
    ----------
    datasets : mapping
        The data sets by name.
    methods : iterable of str
        Names of methods.
    splits : int, default=10
        Splits 0 to splits - 1 of the protocol.
    train : sequence of float, default=(0.3,)
        Shares of training rows.
    corruption : str, default=""
        ``KIND:RATE``, done to the training labels.
    tune : str, default=""
        Criterion of the inner cross-validation.
    functions : iterable of str
        Self-paced functions to run the published MLSPL with as well.
    folds : int, default=0
        Number of folds of a cross-validation, in place of `splits` and `train`.

    Returns
    -------
    list of Trial
        Each once.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = {"digits-traits": load_dataset("digits-traits")}
    >>> len(plan_trials(digits, ["bsvm", "ml-knn"], splits=3))
    6
    """
    if folds:
        for name, data in datasets.items():
            if not 2 <= folds <= data.Y.shape[0]:
                raise UserError(
                    f"{name} has {data.Y.shape[0]} rows: give 2 to {data.Y.shape[0]} folds, not {folds}."
                )
        splits, train = folds, [round(1 - 1 / folds, 12)]
    if not 1 <= splits <= _MOST_SPLITS:
        raise UserError(f"There may be 1 to {_MOST_SPLITS:,} splits; {splits:,} were asked for.")
    for share in train:
        if not 0 < share < 1:
            raise UserError(f"The share of training rows must lie between 0 and 1; it is {share:g}.")
    if corruption:
        kind, rate = parse_corruption(corruption)
        corruption = f"{kind}:{rate:g}"
    if tune:
        get_criterion(tune)
    settings = [(method.name, method.settings(tune)) for method in map(get_method, methods)]
    for function in functions:
        name = pacing.get(function).name
        changed = {"pace_function": [name] if tune else name}
        settings.append((PUBLISHED, get_method(PUBLISHED).settings(tune) | changed))
    trials = [
        Trial(dataset, checksum, method, parameters, split, share, corruption, tune, folds=folds)
        for dataset, checksum in ((name, data.fingerprint()) for name, data in datasets.items())
        for share in train
        for method, parameters in settings
        for split in range(splits)
    ]
    return list({trial.key: trial for trial in trials}.values())
