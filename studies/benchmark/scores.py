"""From the table of results to ranks, tests and groups of data sets."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from mlspl.experiments import Comparison, compare
from mlspl.metrics import CRITERIA
from studies.benchmark.declaration import CONDITIONS, ENTRIES, TRAIN

__all__ = [
    "GROUPS",
    "Group",
    "compare_methods",
    "condition_means",
    "corrected_t_test",
    "corrected_wins",
    "group_ranks",
    "score_trials",
]


def score_trials(results: pd.DataFrame) -> pd.DataFrame:
    """Return the trials with `title` and `seconds`; one that failed scores as the worst of its setting.

    Parameters
    ----------
    results : DataFrame
        From :func:`studies.results.read_results`.
    """
    known = [name for name in ENTRIES if name in set(results["method"])]
    table = results[results["method"].isin(known)].copy()
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
    """Mean over the data sets by method and condition, of the splits that all methods have."""
    complete = _complete(table, criterion)
    means = complete.groupby(["corruption", "dataset"]).mean().groupby("corruption").mean().T
    return means.reindex(columns=[name for name in CONDITIONS if name in means])


def corrected_wins(table: pd.DataFrame, criterion: str, reference: str) -> pd.DataFrame:
    """Count the settings in which a method differs from every other by the corrected t-test at 5 %.

    Parameters
    ----------
    table : DataFrame
        From :func:`score_trials`.
    criterion : str
        Which column.
    reference : str
        Title of the method.

    Returns
    -------
    DataFrame
        Indexed by title: `wins` and `losses` of the reference, and how many `settings` were tested.
    """
    greater = CRITERIA[criterion].greater_is_better
    rows: dict[str, list[int]] = {}
    for _, setting in _complete(table, criterion).groupby(["dataset", "corruption"]):
        if len(setting) < 2:
            continue
        for other in setting.columns.drop(reference):
            gains = (setting[reference] - setting[other]).to_numpy() * (1 if greater else -1)
            count = rows.setdefault(other, [0, 0, 0])
            count[2] += 1
            if corrected_t_test(gains, TRAIN) < 0.05:
                count[0 if gains.mean() > 0 else 1] += 1
    return pd.DataFrame.from_dict(rows, orient="index", columns=["wins", "losses", "settings"])


def corrected_t_test(differences: np.ndarray, train: float) -> float:
    """Nadeau and Bengio's two-sided p-value of paired differences on random splits of one data set.

    Random splits share rows, so their scores vary less than those of new data would. The correction (Machine
    Learning 52, 2003) replaces the variance s²/J of a mean over J splits by (1/J + n_test/n_train) s².
    """
    differences = np.asarray(differences, dtype=np.float64).round(12)
    if np.ptp(differences) == 0:
        return float(differences[0] == 0)
    n_splits = len(differences)
    error = np.sqrt((1 / n_splits + (1 - train) / train) * differences.var(ddof=1))
    return float(2 * stats.t.sf(abs(differences.mean() / error), n_splits - 1))


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


def _has_condition(name: str, table: pd.DataFrame) -> pd.Series:
    return table["corruption"] == name


GROUPS = (
    Group("all", lambda table: pd.Series(True, table.index)),
    Group("many labels (≥ 20)", lambda table: table["labels"] >= 20),
    Group("few labels (< 10)", lambda table: table["labels"] < 10),
    Group("rare labels (median < 5 %)", lambda table: table["positives"] < 0.05 * table["rows"]),
    Group("few rows (< 200 to train)", lambda table: TRAIN * table["rows"] < 200),
    Group("sparse", lambda table: table["sparse"] == 1),
    *(Group(title, partial(_has_condition, name)) for name, title in CONDITIONS.items()),
)
"""Where methods may do differently."""


def group_ranks(table: pd.DataFrame, criterion: str, groups: Iterable[Group] = GROUPS) -> pd.DataFrame:
    """Average rank of every method in every group of settings; a column a group, `n` in the last row.

    Parameters
    ----------
    table : DataFrame
        From :func:`score_trials`.
    criterion : str
        Which column.
    groups : iterable of Group
        The columns.
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
