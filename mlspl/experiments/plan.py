"""Which trials a run consists of."""

from collections.abc import Iterable, Mapping, Sequence

from mlspl import pacing
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments.paper import PUBLISHED
from mlspl.experiments.trial import Trial, parse_corruption
from mlspl.metrics import get_criterion
from mlspl.recipes import get_method

__all__ = ["plan_trials"]

# Every trial is listed before the first is run.
MOST_SPLITS = 10_000


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
        Cross-validate by so many folds, in place of `splits` and `train`.

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
        _check_folds(folds, datasets)
        splits, train = folds, [round(1 - 1 / folds, 12)]
    if splits < 1:
        raise UserError(f"There must be at least one split; {splits} were asked for.")
    if splits > MOST_SPLITS:
        raise UserError(f"There may be at most {MOST_SPLITS:,} splits; {splits:,} were asked for.")
    for share in train:
        if not 0 < share < 1:
            raise UserError(f"The share of training rows must lie between 0 and 1; it is {share:g}.")
    if corruption:
        kind, rate = parse_corruption(corruption)
        corruption = f"{kind}:{rate:g}"
    if tune:
        get_criterion(tune)
    settings = [(get_method(name).name, get_method(name).settings(tune)) for name in methods]
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


def _check_folds(folds: int, datasets: Mapping[str, Dataset]) -> None:
    if folds < 2:
        raise UserError(f"Cross-validation takes 2 folds or more; {folds} were asked for.")
    for name, data in datasets.items():
        if folds > data.Y.shape[0]:
            raise UserError(f"{name} has {data.Y.shape[0]} rows: there cannot be {folds} folds of them.")
