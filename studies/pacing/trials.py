"""What the study runs: entries, data sets and corruptions, and the trials they come to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from mlspl.datasets import Dataset
from mlspl.experiments import Trial
from mlspl.recipes import METHODS, Method, get_method
from studies.benchmark.methods import OUTSIDE

__all__ = [
    "BOOMER",
    "BSVM",
    "CORRUPTIONS",
    "DATASETS",
    "KNOWN",
    "OPPONENTS",
    "OURS",
    "PAIRS",
    "TREES",
    "Entry",
    "Splits",
    "study_parts",
    "study_trials",
]

CRITERION = "average_precision"
"""What everything is tuned by."""


class Splits(NamedTuple):
    """How many splits are run: of ours and its unpaced end on clean and on corrupted labels, of opponents on
    clean ones, and of the rest.
    """

    clean: int
    corrupted: int
    opponents: int
    rest: int


DATASETS = {
    "flags": Splits(10, 10, 10, 3),
    "emotions": Splits(10, 10, 10, 3),
    "scene": Splits(10, 5, 6, 2),
    "yeast": Splits(2, 2, 1, 1),
    "medical": Splits(2, 2, 1, 1),
    "enron": Splits(2, 2, 1, 1),
}
"""The data sets; fewer splits where a trial takes long."""

_GRIDS: dict[str, dict[str, list]] = {
    "boomer": {"shrinkage": [0.1, 0.2, 0.3, 0.4, 0.5], "max_rules": [100, 200, 300, 500]},
    "lightgbm": {"learning_rate": [0.03, 0.1, 0.2, 0.3, 0.5], "num_leaves": [4, 8, 16, 31]},
}
KNOWN: dict[str, Method] = dict(METHODS) | {
    name: replace(OUTSIDE[name], grid=grid) for name, grid in _GRIDS.items()
}
"""All methods by name: the registry's, and rivals with as many settings to try."""

CORRUPTIONS = ("flip:0.2", "flip:0.3", "missing:0.4", "swap:0.3")


@dataclass(frozen=True)
class Entry:
    """A row of the study's tables.

    Parameters
    ----------
    title : str
        What the page calls it.
    method : str
        Name of a method.
    changes : mapping
        Values of parameters that differ from the method's.
    tuned : bool, default=True
        Whether parameters are searched by cross-validation; their values are then lists of those to try.
    """

    title: str
    method: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    tuned: bool = True

    def parameters(self) -> dict[str, Any]:
        """The parameters of its trials."""
        return get_method(self.method, KNOWN).settings(CRITERION if self.tuned else "") | dict(self.changes)


_UNPACED: dict[str, Any] = {"quantiles": [[]]}
_KERNEL, _FOREST = {"families": [["kernel"]]}, {"families": [["joint", "forest"]]}
OURS = Entry("MLSPL-CV", "mlspl-cv")
PAIRS = {
    "MLSPL-CV": (OURS, Entry("its unpaced end", "mlspl-cv", _UNPACED)),
    "kernel": (
        Entry("kernel only", "mlspl-cv", _KERNEL),
        Entry("kernel only, unpaced", "mlspl-cv", _KERNEL | _UNPACED),
    ),
    "forest": (
        Entry("forest only", "mlspl-cv", _FOREST),
        Entry("forest only, unpaced", "mlspl-cv", _FOREST | _UNPACED),
    ),
    "paced forest": (
        Entry("paced forest", "forest", tuned=False),
        Entry("paced forest, unpaced", "forest", {"pace_function": None}, tuned=False),
    ),
}
"""Paced models and their unpaced ends, by what the figure calls them."""

BSVM = Entry("BSVM", "bsvm+")
TREES = Entry("ExtraTrees", "extra-trees+")
BOOMER = Entry("MLRL-Boomer", "boomer+")
OPPONENTS = (
    BSVM,
    TREES,
    BOOMER,
    Entry("LightGBM", "lightgbm+"),
    Entry("RankSVM", "ranksvm+"),
    Entry("ML-LOC", "ml-loc+"),
)
"""Tuned over twenty settings each, then calibration and threshold rule."""

Part = tuple[str, str, Entry]
"""A data set, a corruption and what is run there."""


def study_parts() -> list[Part]:
    """List all that is run, what the page needs most first."""
    clean, everywhere = ("",), ("", *CORRUPTIONS)
    stages = (
        (PAIRS["MLSPL-CV"], everywhere),
        (PAIRS["paced forest"], everywhere),
        (OPPONENTS, clean),
        ((*PAIRS["forest"], *PAIRS["kernel"]), everywhere),
        ((TREES, BSVM), CORRUPTIONS),
    )
    return [
        (name, kind, entry)
        for entries, kinds in stages
        for name in DATASETS
        for kind in kinds
        for entry in entries
    ]


def _count_splits(part: Part) -> int:
    name, corruption, entry = part
    splits = DATASETS[name]
    if entry in PAIRS["MLSPL-CV"] or entry in PAIRS["paced forest"]:
        return splits.corrupted if corruption else splits.clean
    return splits.opponents if entry in OPPONENTS and not corruption else splits.rest


def study_trials(datasets: Mapping[str, Dataset], parts: Iterable[Part]) -> list[tuple[Part, Trial]]:
    """List the trials of these parts.

    Parameters
    ----------
    datasets : mapping
        The data sets by name.
    parts : iterable of Part
        From :func:`study_parts`.
    """
    prints = {name: data.fingerprint() for name, data in datasets.items()}
    trials = []
    for part in parts:
        name, corruption, entry = part
        tune = CRITERION if entry.tuned else ""
        for split in range(_count_splits(part)):
            trial = Trial(name, prints[name], entry.method, entry.parameters(), split, 0.3, corruption, tune)
            trials.append((part, trial))
    return trials
