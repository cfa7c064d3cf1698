"""What the benchmark runs: data sets, label conditions, methods and splits."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from mlspl.datasets import Dataset, load_dataset
from mlspl.experiments import Trial
from mlspl.recipes import METHODS, Method, take_rows
from studies.benchmark.methods import OUTSIDE
from studies.benchmark.tuning import tune_method

__all__ = [
    "CONDITIONS",
    "ENTRIES",
    "QUICK",
    "SECONDS",
    "SETS",
    "SPLITS",
    "TRAIN",
    "Sample",
    "list_trials",
    "load_set",
]

_SEED = 2026


@dataclass(frozen=True)
class Sample:
    """What is taken of a data set: rows drawn once with a fixed seed, and what they have most often.

    Parameters
    ----------
    rows, labels : int
        At most so many.
    features : int
        Of sparse data at most so many.
    source : str, optional
        Name of the data set in the registry, where the sample has another.
    """

    rows: int = 1000
    labels: int = 12
    features: int = 400
    source: str = ""


SETS: dict[str, Sample] = {
    "flags": Sample(),
    "emotions": Sample(),
    "music-meka": Sample(),
    "digits-traits": Sample(),
    "scene": Sample(),
    "yeast": Sample(labels=14),
    "medical": Sample(labels=20),
    "enron": Sample(),
    "tmc2007-500": Sample(),
    "imdb": Sample(),
    "delicious": Sample(labels=24),
    "bibtex": Sample(labels=20),
}
"""The data sets, those that cost least first."""

QUICK: dict[str, Sample] = {
    "digits-traits": Sample(rows=300),
    "digits-few": Sample(rows=150, labels=5, source="digits-traits"),
}
"""Samples of the embedded data set, for a run of the whole way in little time."""

CONDITIONS: dict[str, str] = {
    "": "clean",
    "flip:0.3": "30 % flipped",
    "missing:0.4": "40 % missing",
    "swap:0.3": "30 % swapped",
}
"""What is done to the training labels, and what the page calls it."""

SPLITS = 5
"""Splits 0, 1, … of the protocol."""

TRAIN = 0.3
"""Share of the rows to train on, the paper's."""

SECONDS = 60.0
"""Processor time that a trial may take."""

_GRIDS: dict[str, dict[str, list]] = {
    "bsvm": {"C": [0.1, 1.0, 10.0]},
    "ml-knn": {"k": [5, 10, 20]},
    "tram": {"k": [5, 10, 20]},
    "ranksvm": {"C": [0.1, 1.0, 10.0]},
    "ml-loc": {"C": [0.05, 0.5, 5.0]},
    "mlspl-published": {"pace": [1e-4, 1e-3, 1e-2]},
    "mlspl": {"C": [0.1, 1.0, 10.0]},
    "mlspl-cv": {},
    "forest": {"min_samples_leaf": [1, 2, 5]},
    "extra-trees": {"min_samples_leaf": [1, 2, 5]},
    "logistic": {"C": [0.003, 0.03, 0.3]},
}
# Cheaper than the defaults, and the kernel width of the stored results.
_FIXED: dict[str, dict[str, Any]] = {
    "bsvm": {"gamma": "auto"},
    "ranksvm": {"gamma": "auto"},
    "ml-loc": {"gamma": "auto"},
    "forest": {"n_estimators": 100},
    "extra-trees": {"n_estimators": 100},
    "mlspl-cv": {"budget": "fast"},
}


def _our_entry(name: str) -> Method:
    method = METHODS[name]
    defaults = dict(method.defaults) | _FIXED.get(name, {})
    return replace(method, defaults=defaults, grid=_GRIDS[name])


ENTRIES: dict[str, Method] = {
    name: tune_method(method)
    for name, method in ({name: _our_entry(name) for name in _GRIDS} | OUTSIDE).items()
}
"""The methods as they run here, all tuned alike."""


def load_set(name: str, sample: Sample) -> Dataset:
    """Load a data set, as much of it as its sample has.

    Parameters
    ----------
    name : str
        In the declaration.
    sample : Sample
        What to take of it.
    """
    dataset = load_dataset(sample.source or name, encode=False)
    Y: Any = dataset.Y
    Y = Y.toarray() if sparse.issparse(Y) else Y
    n = Y.shape[0]
    rows = np.sort(np.random.RandomState(_SEED).permutation(n)[: sample.rows])
    labels = np.sort(np.argsort(-Y[rows].sum(axis=0), kind="stable")[: sample.labels])
    names = [dataset.label_names[label] for label in labels]
    sampled = replace(
        dataset, name=name, X=take_rows(dataset.X, rows), Y=Y[np.ix_(rows, labels)], label_names=names
    )
    if not sparse.issparse(sampled.X):
        return sampled
    carriers = np.asarray((sampled.X != 0).sum(axis=0)).ravel()
    rare = np.argsort(-carriers, kind="stable")[sample.features :]
    return sampled.without([dataset.feature_names[column] for column in rare])


def list_trials(
    datasets: Mapping[str, Dataset],
    methods: Mapping[str, Method] = ENTRIES,
    conditions: Iterable[str] = CONDITIONS,
    splits: Iterable[int] = range(SPLITS),
) -> list[Trial]:
    """List the trials, split by split.

    Parameters
    ----------
    datasets : mapping
        By name, from :func:`load_set`.
    methods : mapping
        By name.
    conditions : iterable of str
        Corruptions of the training labels.
    splits : iterable of int
        Splits of the protocol.
    """
    prints = {name: data.fingerprint() for name, data in datasets.items()}
    return [
        Trial(name, prints[name], method.name, method.defaults, split, TRAIN, condition)
        for split in splits
        for name in datasets
        for condition in conditions
        for method in methods.values()
    ]
