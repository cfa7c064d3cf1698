"""What the study runs: entries, data sets and corruptions, and the trials they come to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mlspl.datasets import Dataset
from mlspl.experiments import PAPER_DATASETS, PUBLISHED, Trial, get_method

__all__ = [
    "ABLATION",
    "BSVM",
    "CORRUPTED",
    "CORRUPTED_DATASETS",
    "CORRUPTIONS",
    "OURS",
    "TUNED",
    "UNPACED",
    "Entry",
    "study_parts",
    "study_trials",
]

CRITERION = "average_precision"
"""What everything is tuned by."""

N_SPLITS = 10
CORRUPTED_DATASETS = ("emotions", "scene", "yeast")
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
        Values of parameters that differ from what tuning usually tries; γ is a multiple of 1/d.
    tuned : bool, default=True
        Whether parameters are searched by cross-validation.
    """

    title: str
    method: str
    changes: Mapping[str, list] = field(default_factory=dict)
    tuned: bool = True

    def parameters(self, n_features: int) -> dict[str, Any]:
        """The parameters of a trial on data with this many features.

        Parameters
        ----------
        n_features : int
            d.
        """
        settings = get_method(self.method).settings(CRITERION if self.tuned else "") | dict(self.changes)
        if "gamma" in self.changes:
            settings["gamma"] = [factor / n_features for factor in self.changes["gamma"]]
        return settings


OURS = Entry("MLSPL-CV", "mlspl-cv")
UNPACED = Entry("its unpaced end", "mlspl-cv", {"quantiles": [[]]})
BSVM = Entry("BSVM", "bsvm+")
TUNED = (
    BSVM,
    Entry("ML-kNN", "ml-knn+"),
    Entry("TRAM", "tram+"),
    Entry("RankSVM", "ranksvm+"),
    Entry("ML-LOC", "ml-loc+"),
    OURS,
    UNPACED,
    Entry("BSVM, own decision", "bsvm"),
    Entry("ML-LOC, own decision", "ml-loc"),
    Entry("ExtraTrees", "extra-trees", tuned=False),
)
"""Part (a); the first six are ranked."""

CORRUPTED = (OURS, UNPACED, BSVM)
"""Part (b)."""

_GRID: dict[str, list] = {
    "C": [0.125, 0.5, 2.0, 8.0],
    "gamma": [0.25, 0.5, 1.0],
    "class_weight": [0.5],
    "regressor": ["ridge"],
    "schedule": [None],
    "pace": [0.01],
    "growth": [1.3],
}
_UNDECIDED: dict[str, list] = {"calibrations": [["none"]], "thresholds": [["zero"]]}
ABLATION = (
    Entry("in-sample codes", PUBLISHED, {**_GRID, "pace_function": [None], "codes": ["in-sample"]}),
    Entry("cross-fit codes", PUBLISHED, {**_GRID, "pace_function": [None], "codes": ["cross-fit"]}),
    Entry("+ class-aware pace", PUBLISHED, {**_GRID, "pace_function": ["gaussian"], "codes": ["cross-fit"]}),
    Entry("+ path selection", "mlspl-cv", {**_UNDECIDED, "n_settings": [1], "n_points": [1]}),
    Entry("+ averaging", "mlspl-cv", _UNDECIDED),
    Entry("+ calibration and thresholds", "mlspl-cv"),
)
"""Part (c): each step adds to the one before."""


Part = tuple[str, str, Entry]
"""A data set, a corruption and what is run there."""


def study_parts() -> list[Part]:
    """List all that is run, once for each table it is in."""
    return [
        *((name, "", entry) for name in PAPER_DATASETS for entry in (*TUNED, *ABLATION)),
        *((name, kind, entry) for name in CORRUPTED_DATASETS for kind in CORRUPTIONS for entry in CORRUPTED),
    ]


def study_trials(
    datasets: Mapping[str, Dataset], parts: Iterable[Part], n_splits: int = N_SPLITS
) -> list[tuple[Part, Trial]]:
    """List the trials of these parts; what is in two tables is listed for each of them.

    Parameters
    ----------
    datasets : mapping
        The data sets by name.
    parts : iterable of Part
        From :func:`study_parts`.
    n_splits : int
        Splits of each.
    """
    prints = {name: data.fingerprint() for name, data in datasets.items()}
    trials = []
    for part in parts:
        name, corruption, entry = part
        parameters = entry.parameters(datasets[name].X.shape[1])
        tune = CRITERION if entry.tuned else ""
        for split in range(n_splits):
            trial = Trial(name, prints[name], entry.method, parameters, split, 0.3, corruption, tune)
            trials.append((part, trial))
    return trials
