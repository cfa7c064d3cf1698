"""The study's scores: what each entry got in each setting, and how ours does beside the others."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments import PAPER_CRITERIA, Store, wilcoxon_pairs
from mlspl.metrics import CRITERIA
from studies.pacing.trials import CORRUPTIONS, DATASETS, OURS, PAIRS, Entry, study_parts, study_trials

__all__ = ["ALPHA", "collect", "compare", "goal", "pacing_gains", "paired"]

ALPHA = 0.05
"""Level of the tests."""


def collect(store: Store, datasets: Mapping[str, Dataset]) -> tuple[pd.DataFrame, int]:
    """Return the five criteria of every finished trial, and how many are not finished.

    Parameters
    ----------
    store : Store
        The results.
    datasets : mapping
        The data sets by name.
    """
    frame = store.frame()
    found = frame[frame["error"].isna()].set_index("key")["scores"]
    rows, missing = {}, 0
    for (name, corruption, entry), trial in study_trials(datasets, study_parts()):
        if trial.key in found.index:
            scores = [found[trial.key][criterion] for criterion in PAPER_CRITERIA]
            rows[name, corruption, entry.title, trial.split] = scores
        else:
            missing += 1
    index = pd.MultiIndex.from_tuples(rows, names=["dataset", "corruption", "title", "split"])
    return pd.DataFrame(list(rows.values()), index, list(PAPER_CRITERIA)).sort_index(), missing


def goal(criterion: str) -> int:
    """Return 1 for a criterion of which more is better, and -1 for the others."""
    return 1 if CRITERIA[criterion].greater_is_better else -1


def paired(
    scores: pd.DataFrame, dataset: str, corruption: str, entries: Sequence[Entry], criterion: str
) -> np.ndarray:
    """Return the values (splits, entries) of a criterion on the splits that all these entries have."""
    if (dataset, corruption) not in scores.index.droplevel(["title", "split"]):
        return np.empty((0, len(entries)))
    table = scores[criterion].xs((dataset, corruption), level=("dataset", "corruption")).unstack("title")
    return table.reindex(columns=[entry.title for entry in entries]).dropna().to_numpy()


def compare(scores: pd.DataFrame, dataset: str, other: Entry, criterion: str) -> tuple[float, float]:
    """Return by how much ours is better than another on clean labels, and Wilcoxon's p over the splits."""
    both = paired(scores, dataset, "", (OURS, other), criterion)
    if len(both) < 2:
        return np.nan, np.nan
    (pair,) = wilcoxon_pairs(both, ["ours", "other"], CRITERIA[criterion].greater_is_better).itertuples()
    return goal(criterion) * float((both[:, 0] - both[:, 1]).mean()), pair.p


def pacing_gains(scores: pd.DataFrame) -> pd.DataFrame:
    """Return average precision of every paced model and its unpaced end in every setting, and the gain.

    Its standard error is NaN of a single split.
    """
    rows = []
    for name in DATASETS:
        for kind in ("", *CORRUPTIONS):
            for family, pair in PAIRS.items():
                values = paired(scores, name, kind, pair, "average_precision")
                if len(values):
                    gain = values[:, 0] - values[:, 1]
                    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
                    rows.append((name, kind, family, len(gain), *values.mean(axis=0), gain.mean(), error))
    columns = ["dataset", "corruption", "family", "splits", "paced", "end", "gain", "error"]
    return pd.DataFrame(rows, columns=columns)
