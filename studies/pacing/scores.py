"""The study's scores: what each entry got in each setting, and how ours does beside the others."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments import PAPER_CRITERIA, PAPER_DATASETS, Store, wilcoxon_pairs
from mlspl.metrics import CRITERIA
from studies.pacing.trials import (
    BSVM,
    CORRUPTED_DATASETS,
    CORRUPTIONS,
    OURS,
    TUNED,
    UNPACED,
    study_parts,
    study_trials,
)

__all__ = ["ALPHA", "RANKED", "cell_means", "collect", "gain_over", "goal", "pacing_gains", "scores_of"]

ALPHA = 0.05
"""Level of the tests."""

RANKED = [entry.title for entry in TUNED[:6]]
"""Titles of the six methods that are ranked."""


def collect(store: Store, datasets: Mapping[str, Dataset]) -> pd.DataFrame:
    """Return the five criteria of every trial, indexed by data set, corruption, entry's title and split.

    Parameters
    ----------
    store : Store
        With all trials of the study.
    datasets : mapping
        The data sets by name.
    """
    frame = store.frame()
    found = frame[frame["error"].isna()].set_index("key")["scores"]
    rows, missing = {}, set()
    for (name, corruption, entry), trial in study_trials(datasets, study_parts()):
        if trial.key in found.index:
            scores = [found[trial.key][criterion] for criterion in PAPER_CRITERIA]
            rows[name, corruption, entry.title, trial.split] = scores
        else:
            missing.add(trial.key)
    if missing:
        raise UserError(f"{store.path} lacks {len(missing)} trials of the study: `make study` runs them.")
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(PAPER_CRITERIA))
    table.index = pd.MultiIndex.from_tuples(table.index, names=["dataset", "corruption", "title", "split"])
    return table.sort_index()


def scores_of(
    scores: pd.DataFrame, dataset: str, title: str, criterion: str, corruption: str = ""
) -> np.ndarray:
    """Return an entry's values of a criterion, split by split.

    Parameters
    ----------
    scores : DataFrame
        From :func:`collect`.
    dataset, title, criterion, corruption : str
        Which.
    """
    return scores.loc[(dataset, corruption, title), criterion].to_numpy()


def goal(criterion: str) -> int:
    """Return 1 for a criterion of which more is better, and -1 for the others.

    Parameters
    ----------
    criterion : str
        One of the five.
    """
    return 1 if CRITERIA[criterion].greater_is_better else -1


def cell_means(scores: pd.DataFrame, titles: Sequence[str]) -> pd.DataFrame:
    """Return the mean of every cell of part (a), a column a title, signed so that more is better.

    Parameters
    ----------
    scores : DataFrame
        From :func:`collect`.
    titles : sequence of str
        Of entries.
    """
    cells = pd.MultiIndex.from_product([PAPER_DATASETS, PAPER_CRITERIA])
    return pd.DataFrame(
        [[goal(c) * scores_of(scores, name, title, c).mean() for title in titles] for name, c in cells],
        index=cells,
        columns=list(titles),
    )


def gain_over(scores: pd.DataFrame, dataset: str, title: str, criterion: str) -> tuple[float, float]:
    """Return by how much ours is better than another in the mean, and Wilcoxon's p over the splits.

    Parameters
    ----------
    scores : DataFrame
        From :func:`collect`.
    dataset, title, criterion : str
        Where, than whom, and by what.
    """
    both = np.column_stack([scores_of(scores, dataset, name, criterion) for name in (OURS.title, title)])
    (pair,) = wilcoxon_pairs(both, ["ours", "other"], CRITERIA[criterion].greater_is_better).itertuples()
    return goal(criterion) * float((both[:, 0] - both[:, 1]).mean()), pair.p


def pacing_gains(scores: pd.DataFrame) -> pd.DataFrame:
    """Return average precision in every setting of part (b), and the paired gain over the unpaced end.

    Parameters
    ----------
    scores : DataFrame
        From :func:`collect`.
    """
    rows = []
    for name in CORRUPTED_DATASETS:
        for kind in CORRUPTIONS:
            ours, end, bsvm = (
                scores_of(scores, name, entry.title, "average_precision", kind)
                for entry in (OURS, UNPACED, BSVM)
            )
            gain = ours - end
            error = gain.std(ddof=1) / np.sqrt(len(gain))
            rows.append((name, kind, ours.mean(), end.mean(), bsvm.mean(), gain.mean(), error))
    return pd.DataFrame(rows, columns=["dataset", "corruption", "ours", "end", "bsvm", "gain", "error"])
