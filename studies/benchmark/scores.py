"""From the table of results to ranks, tests and groups of data sets."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mlspl.experiments import Comparison, compare
from mlspl.metrics import CRITERIA
from studies.benchmark.declaration import CONDITIONS, ENTRIES, REAL, SPLITS, TRAIN

__all__ = [
    "GROUPS",
    "ROPE",
    "Group",
    "compare_methods",
    "condition_means",
    "group_ranks",
    "mean_interval",
    "ranked_trials",
    "real_means",
    "score_trials",
    "signed_rank_odds",
]

ROPE = 0.005
"""Differences of average precision up to this count as none."""

_DRAWS = 10_000


def score_trials(results: pd.DataFrame) -> pd.DataFrame:
    """Return the trials with `title` and `seconds`; one that failed scores as the worst of its setting.

    Parameters
    ----------
    results : DataFrame
        From :func:`studies.results.read_results`.
    """
    known = [name for name in ENTRIES if name in set(results["method"])]
    table = results[
        results["method"].isin(known) & (results["split"] < results["corruption"].map(SPLITS))
    ].copy()
    table["title"] = table["method"].map(lambda name: ENTRIES[name].title)
    table["seconds"] = table[["tune_seconds", "fit_seconds", "predict_seconds"]].sum(axis=1)
    table["failed"] = table["error"] != ""
    for name, criterion in CRITERIA.items():
        if name in table:
            of_setting = table.groupby(["dataset", "corruption", "split"])[name]
            worst = of_setting.transform("min" if criterion.greater_is_better else "max")
            # Behind the others, whatever they got.
            step = -1e-6 if criterion.greater_is_better else 1e-6
            table[name] = table[name].where(~table["failed"], worst + step)
    return table


def ranked_trials(table: pd.DataFrame) -> pd.DataFrame:
    """Return the trials without those of real noise."""
    return table[table["corruption"] != "real"]


def compare_methods(table: pd.DataFrame, criterion: str, what: str) -> Comparison:
    """Compare the methods over the data sets, each with its mean over splits and conditions.

    Conditions of one data set are not counted as several data sets: their scores are averaged.

    Parameters
    ----------
    table : DataFrame
        From :func:`score_trials`, of the conditions to compare under.
    criterion : str
        Which column.
    what : str
        What the comparison is called.
    """
    order = list(CONDITIONS)
    number = table["corruption"].map(order.index) * (table["split"].max() + 1) + table["split"]
    scores = table.assign(block=table["dataset"], variant=table["title"], split=number)
    comparison = compare(scores, criterion, CRITERIA[criterion].greater_is_better)
    return replace(comparison, criterion=what)


def condition_means(table: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """Mean over the data sets by method and condition, of the splits that all methods there have.

    Of real noise: mean over the sources, each with its mean over annotators.
    """
    means = {
        name: _complete(table[table["corruption"] == name], criterion).groupby("dataset").mean().mean()
        for name in CONDITIONS
        if name in set(table["corruption"])
    }
    if "real" in means:
        means["real"] = real_means(table, criterion).mean()
    return pd.DataFrame(means).dropna(axis="columns", how="all")


def real_means(table: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """Mean by source of real noise (rows) and method, over the annotators that all methods have."""
    means = _complete(table[table["corruption"] == "real"], criterion).groupby("dataset").mean()
    return means.groupby(lambda name: REAL[name][0], sort=False).mean()


def mean_interval(differences: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Bootstrap interval of the mean of differences, one per data set."""
    differences = np.asarray(differences, dtype=np.float64)
    draws = np.random.RandomState(0).choice(differences, (_DRAWS, len(differences))).mean(axis=1)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def signed_rank_odds(differences: ArrayLike, rope: float = ROPE) -> tuple[float, float, float]:
    """Bayesian signed-rank test: probabilities that a further data set shows a gain, none, or a loss.

    Benavoli and others (JMLR 18, 2017): the differences have Dirichlet weights, with one pseudo-observation
    of no difference that weighs half as much as a data set. Where the mean of two draws lies decides: above
    `rope`, below -`rope`, or between.

    Parameters
    ----------
    differences : array of shape (n_sets,)
        One per data set.
    rope : float
        Half the width of the region of practical equivalence.

    Returns
    -------
    tuple of float
        Share of the draws in which gain, equivalence or loss is the most probable.
    """
    values = np.concatenate([[0.0], np.asarray(differences, dtype=np.float64)])
    means = (values[:, None] + values) / 2
    weights = np.random.RandomState(0).dirichlet([0.5] + [1.0] * (len(values) - 1), _DRAWS)
    regions = [means > rope, abs(means) <= rope, means < -rope]
    shares = np.stack([np.einsum("di,ij,dj->d", weights, region, weights) for region in regions])
    gain, none, loss = np.bincount(shares.argmax(axis=0), minlength=3) / _DRAWS
    return float(gain), float(none), float(loss)


@dataclass(frozen=True)
class Group:
    """Settings that have something in common.

    Parameters
    ----------
    title : str
        What the page calls it.
    picks : callable
        From the table of trials to a mask of those in the group.
    """

    title: str
    picks: Callable[[pd.DataFrame], pd.Series]


GROUPS = (
    Group("all", lambda table: pd.Series(True, table.index)),
    Group("many labels (≥ 20)", lambda table: table["labels"] >= 20),
    Group("few labels (< 10)", lambda table: table["labels"] < 10),
    Group("rare labels (median < 5 %)", lambda table: table["positives"] < 0.05 * table["rows"]),
    Group("few rows (< 200 to train)", lambda table: TRAIN * table["rows"] < 200),
    Group("sparse", lambda table: table["sparse"] == 1),
)
"""Where methods may do differently."""


def group_ranks(table: pd.DataFrame, criterion: str, groups: Iterable[Group] = GROUPS) -> pd.DataFrame:
    """Average rank of every method in every group of settings; a column a group, `n` in the last row.

    The table is that of :func:`score_trials`, the criterion one of its columns.
    """
    sign = -1 if CRITERIA[criterion].greater_is_better else 1
    columns = {}
    for group in groups:
        part = table[group.picks(table)]
        if part.empty:
            continue
        means = _complete(part, criterion).groupby(["dataset", "corruption"]).mean()
        ranks = (sign * means.round(12)).rank(axis=1).mean()
        columns[group.title] = pd.concat([ranks, pd.Series({"n": len(means)})])
    return pd.DataFrame(columns)


def _complete(table: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """A row a split of a setting that every method has, a column a method."""
    wide = table.pivot(index=["dataset", "corruption", "split"], columns="title", values=criterion)
    return wide[[ENTRIES[name].title for name in ENTRIES if ENTRIES[name].title in wide]].dropna()
