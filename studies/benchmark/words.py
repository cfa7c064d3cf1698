"""The sentences of the benchmark's page, with the figures of its results."""

import json
from collections.abc import Mapping

import pandas as pd

from mlspl.experiments import Comparison
from studies.benchmark.declaration import ENTRIES
from studies.benchmark.scores import condition_means, group_ranks

__all__ = [
    "count_failures",
    "find_leader",
    "list_failures",
    "list_machines",
    "list_versions",
    "tell_groups",
    "tell_ranks",
    "tell_time",
    "tell_unfinished",
]

_PACED = ("mlspl-cv", "mlspl", "forest", "mlspl-published")


def find_leader(table: pd.DataFrame, criterion: str) -> str:
    """The method of the best average rank over all settings."""
    ranks = group_ranks(table, criterion)["all"].drop("n")
    return str(ranks.idxmin())


def tell_ranks(clean: Comparison, corrupted: Comparison, table: pd.DataFrame) -> str:
    """Who leads, whom Nemenyi's test does not tell from him, and what corruption costs."""
    lines = [
        _tell_ranking(comparison, what)
        for comparison, what in ((clean, "clean"), (corrupted, "corrupted"))
        if comparison.ranking
    ]
    means = condition_means(table, "average_precision")
    if "" in means and len(means.columns) > 1:
        wrong = means.drop(columns="").mean(axis=1)
        best_clean, best_wrong = means[""].idxmax(), wrong.idxmax()
        lost = means[""] - wrong
        lines.append(
            f"Mean average precision over the data sets is highest for {best_clean} on clean labels "
            f"({means.loc[best_clean, '']:.4f}) and for {best_wrong} on corrupted ones "
            f"({wrong[best_wrong]:.4f}). Corruption costs the methods between {lost.min():.4f} "
            f"({lost.idxmin()}) and {lost.max():.4f} ({lost.idxmax()})."
        )
    if (
        clean.ranking
        and corrupted.ranking
        and (own := _tell_ours(clean.ranking.ranks, corrupted.ranking.ranks))
    ):
        lines.append(own)
    return "\n".join(f"- {line}" for line in lines) or "- Too few data sets to rank the methods."


def _tell_ours(clean: pd.Series, corrupted: pd.Series) -> str:
    """Where the paced methods of this package stand, well or badly."""
    titles = [ENTRIES[name].title for name in _PACED if ENTRIES[name].title in clean]
    places = [
        f"{title} ranks {clean.rank()[title]:.3g} of {len(clean)} on clean labels and "
        f"{corrupted.rank()[title]:.3g} on corrupted ones"
        for title in titles
    ]
    return f"The self-paced methods of this package: {'; '.join(places)}." if places else ""


def _tell_ranking(comparison: Comparison, what: str) -> str:
    ranking = comparison.ranking
    assert ranking is not None
    ranks = ranking.ranks.sort_values(kind="stable")
    first = ranks.index[0]
    near = [name for name in ranks.index[1:] if ranks[name] - ranks.iloc[0] < ranking.distance]
    followers = ", ".join(f"{name} ({ranks[name]:.2f})" for name in ranks.index[1:4])
    told = (
        f"Nemenyi's test does not tell it from {len(near)} of the other {len(ranks) - 1}"
        if near
        else "Nemenyi's test tells it from all others"
    )
    return (
        f"On {what} labels **{first}** ranks first ({ranks.iloc[0]:.2f}), before {followers}; last is "
        f"{ranks.index[-1]} ({ranks.iloc[-1]:.2f}). Friedman's test: χ² = "
        f"{ranking.friedman.statistic:.1f}, p {_below(ranking.friedman.p_value)}; the critical "
        f"difference is {ranking.distance:.2f}, so {told}."
    )


def tell_groups(table: pd.DataFrame, criterion: str) -> str:
    """The three best of every group."""
    ranks = group_ranks(table, criterion)
    lines = []
    for title in ranks:
        column = ranks[title].drop("n").sort_values(kind="stable")
        best = ", ".join(f"{name} ({rank:.1f})" for name, rank in column.iloc[:3].items())
        lines.append(f"- {title}: {best}.")
    return "\n".join(lines)


def tell_time(panels: Mapping[str, pd.DataFrame]) -> str:
    """Which methods no other beats in both time and score."""
    sentences = []
    for title, points in panels.items():
        ordered = points.sort_values("seconds", kind="stable")
        frontier = ordered[ordered["score"] > ordered["score"].cummax().shift(fill_value=float("-inf"))]
        names = ", ".join(f"{name} ({row['seconds']:.2f} s)" for name, row in frontier.iterrows())
        sentences.append(f"No other method is both faster and better, {title}: {names}.")
    return " ".join(sentences)


def tell_unfinished(missing: int, clean: Comparison, corrupted: Comparison) -> str:
    """What there is still to run, and what the ranks leave out for it."""
    if missing <= 0:
        return ""
    notes = list(dict.fromkeys([*clean.notes, *corrupted.notes]))
    left_out = f" Left out of the ranks: {' '.join(notes)}" if notes else ""
    return (
        f"\n**Not finished:** {missing:,} trials are still to be run. Means, ranks and tests are over the "
        f"splits that all methods have.{left_out}\n"
    )


def count_failures(table: pd.DataFrame) -> str:
    """How many trials failed, for the first sentence."""
    failed = int(table["failed"].sum())
    return f", {failed} of which failed or took too long" if failed else ", and none failed or took too long"


def list_failures(table: pd.DataFrame) -> str:
    """Which methods failed where."""
    failed = table[table["failed"]]
    if failed.empty:
        return "There was none."
    parts = []
    for (title, dataset), group in failed.groupby(["title", "dataset"], sort=False):
        reason = group["error"].iloc[0].splitlines()[0][:120]
        parts.append(f"{title} on {dataset} ({len(group)}: `{reason}`)")
    return "There were: " + "; ".join(parts) + "."


def list_machines(table: pd.DataFrame) -> str:
    """Where it was run, and when."""
    machines = dict.fromkeys(json.loads(text).get("machine", "unknown") for text in table["versions"])
    dates = sorted(set(table["recorded"]))
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{'; '.join(machines)}; {when}; no process held more than {table['peak_mb'].max():,} MB"


def list_versions(table: pd.DataFrame) -> str:
    """Of Python and of the libraries."""
    versions: dict[str, dict[str, None]] = {}
    for text in dict.fromkeys(table["versions"]):
        for name, version in json.loads(text).items():
            if name != "machine":
                versions.setdefault(name, {})[version] = None
    return ", ".join(f"{name} {' and '.join(found)}" for name, found in sorted(versions.items()))


def _below(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
