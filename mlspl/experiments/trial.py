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

    `fingerprint` is the checksum of the data. With `tune`, a criterion, `parameters` are lists of values to
    search. `split` seeds the split, the corruption (``"flip:0.2"``) and the method; with `folds`, it is the
    fold of a cross-validation, and `train` its share of training rows.
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
        left_out = ("dataset", "" if self.folds else "folds")
        names = (field.name for field in fields(self) if field.name not in left_out)
        identity = {name: getattr(self, name) for name in names} | {"parameters": dict(self.parameters)}
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """What a trial gave: scores, or the error because of which there are none.

    `chosen` are the parameters of the fitted method. Seconds are processor time on one core, `peak_memory` is
    that of the process in bytes, `warnings` has each warning once, `history` is the method's ``history_``.
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
    host: str = ""
    versions: dict[str, str] = field(default_factory=dict)


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
    """List the trials of all methods on splits 0 to splits - 1 of all data sets, each once.

    Parameters
    ----------
    datasets, methods
        The data sets by name, and names of methods.
    splits, train : int, sequence of float
        Number of splits, and shares of training rows.
    corruption, tune : str, default=""
        ``KIND:RATE``, done to the training labels; criterion of an inner cross-validation.
    functions : iterable of str
        Self-paced functions to run the published MLSPL with as well.
    folds : int, default=0
        Number of folds of a cross-validation, in place of `splits` and `train`.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = {"digits-traits": load_dataset("digits-traits")}
    >>> len(plan_trials(digits, ["bsvm", "ml-knn"], splits=3))
    6
    """
    if folds:
        for name, data in datasets.items():
            if not 2 <= folds <= (n_rows := data.Y.shape[0]):
                raise UserError(f"{name} has {n_rows} rows: give 2 to {n_rows} folds, not {folds}.")
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
