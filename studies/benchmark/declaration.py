"""What the benchmark runs: data sets, label conditions, methods and splits."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from mlspl.datasets import Dataset, load_dataset, load_noisy_labels
from mlspl.experiments import Trial
from mlspl.model_selection import protocol_split
from mlspl.recipes import METHODS, Method, take_rows
from studies.benchmark.methods import OUTSIDE
from studies.benchmark.tuning import tune_method

__all__ = [
    "CONDITIONS",
    "ENTRIES",
    "QUICK",
    "REAL",
    "SECONDS",
    "SETS",
    "SPLITS",
    "TRAIN",
    "Sample",
    "list_trials",
    "load_real",
    "load_set",
    "name_of_split",
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

REAL: dict[str, tuple[str, str | None]] = {
    "OPP-115, annotator 1": ("opp115", "1"),
    "OPP-115, annotator 2": ("opp115", "2"),
    "OPP-115, annotator 3": ("opp115", "3"),
    "CheXpert, labeler": ("chexpert", "labeler"),
    "CheXpert, radiologist 1": ("chexpert", "radiologist_1"),
    "mirflickr": ("mirflickr", None),
}
"""Sets with real noise: training labels of one annotator, test labels that others settled."""

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
    "ambiguous:0.2": "20 % ambiguous",
    "real": "real noise",
}
"""What is wrong with the training labels, and what the page calls it. "real" is for the sets in REAL only."""

SPLITS: dict[str, int] = dict.fromkeys(CONDITIONS, 1)
"""Number of splits of the protocol under each condition: 0, 1, …"""

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
    "logistic": {"C": [0.003, 0.03, 0.3]},
    "net": {},
}
# Cheaper than the defaults, and the kernel width of the stored results.
_FIXED: dict[str, dict[str, Any]] = {
    "bsvm": {"gamma": "auto"},
    "ranksvm": {"gamma": "auto"},
    "ml-loc": {"gamma": "auto"},
    "ml-knn": {"k": 10},
    "tram": {"k": 10},
    "forest": {"n_estimators": 100},
    "mlspl-cv": {"budget": "fast"},
    "net": {"n_folds": 3},
}

# Without the weights of sparse features, as published and as in the stored results.
_PUBLISHED = ("ml-knn", "tram")


def _our_entry(name: str) -> Method:
    method = METHODS[name]
    defaults = dict(method.defaults) | _FIXED.get(name, {})
    build = partial(method.build, feature_weights=None) if name in _PUBLISHED else method.build
    return replace(method, build=build, defaults=defaults, grid=_GRIDS[name])


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


def load_real(name: str, split: int, rows: int = 1000) -> Dataset:
    """Load a set with real noise for one split: given labels in its training rows, true ones in the others.

    Texts become 100 components of their TF-IDF weights, fitted on the training rows.

    Parameters
    ----------
    name : str
        In REAL.
    split : int
        Of the protocol.
    rows : int
        At most so many, drawn once with a fixed seed.
    """
    noisy = load_noisy_labels(*REAL[name])
    sample = np.sort(np.random.RandomState(_SEED).permutation(len(noisy.given))[:rows])
    train, _ = protocol_split(len(sample), split, TRAIN)
    X: Any = [noisy.X[row] for row in sample]
    if isinstance(noisy.X, list):
        words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2))
        components = make_pipeline(words, TruncatedSVD(100, random_state=split))
        X = components.fit([X[row] for row in train]).transform(X)
    Y = noisy.truth[sample]
    Y[train] = noisy.given[sample][train]
    # Rounded, so that machines agree on the fingerprint of the data.
    X = np.asarray(X, dtype=float).round(9)
    features = [f"x{column}" for column in range(X.shape[1])]
    return Dataset(X, Y, features, noisy.label_names, name=name_of_split(name, split))


def name_of_split(name: str, split: int) -> str:
    """Return the name of a set that differs between splits."""
    return f"{name} #{split}"


def list_trials(
    datasets: Mapping[str, Dataset],
    methods: Mapping[str, Method] = ENTRIES,
    conditions: Collection[str] = tuple(CONDITIONS),
    splits: int = max(SPLITS.values()),
) -> list[Trial]:
    """List the trials, split by split.

    Parameters
    ----------
    datasets : mapping
        By name, from :func:`load_set` and :func:`load_real`.
    methods : mapping
        By name.
    conditions : collection of str
        What is wrong with the training labels.
    splits : int
        At most so many.
    """
    prints = {name: data.fingerprint() for name, data in datasets.items()}
    settings = []
    for split in range(splits):
        current = [condition for condition in conditions if split < SPLITS[condition]]
        if "real" in current:
            names = [name_of_split(name, split) for name in REAL]
            settings += [(split, name, "") for name in names if name in datasets]
        names = [name for name in datasets if "#" not in name]
        settings += [(split, name, each) for name in names for each in current if each != "real"]
    return [
        Trial(name, prints[name], method.name, method.defaults, split, TRAIN, condition)
        for split, name, condition in settings
        for method in methods.values()
    ]
