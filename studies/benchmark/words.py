"""The sentences of the benchmark's page, with the figures of its results."""

import json
from collections.abc import Mapping

import pandas as pd

from mlspl.experiments import Comparison
from studies.benchmark.declaration import ENTRIES
from studies.benchmark.scores import ROPE, group_ranks, real_means, signed_rank_odds

__all__ = [
    "count_failures",
    "find_leader",
    "list_failures",
    "list_machines",
    "list_versions",
    "tell_limits",
    "tell_odds",
    "tell_ranks",
    "tell_real",
    "tell_time",
    "tell_unfinished",
]

_PACED = ("mlspl-cv", "mlspl", "forest", "net", "mlspl-published")


def find_leader(table: pd.DataFrame, criterion: str) -> str:
    """The method of the best average rank over all settings."""
    ranks = group_ranks(table, criterion)["all"].drop("n")
    return str(ranks.idxmin())


def tell_ranks(comparisons: Mapping[str, Comparison]) -> str:
    """Which method ranks first under each condition, and where the self-paced methods stand."""
    ranked = {what: found.ranking.ranks for what, found in comparisons.items() if found.ranking}
    lines = [_tell_ranking(comparisons[what], what) for what in ranked]
    if ranked:
        titles = [ENTRIES[name].title for name in _PACED]
        places = [
            f"{title} " + ", ".join(f"{ranks.rank()[title]:.3g} ({what})" for what, ranks in ranked.items())
            for title in titles
            if all(title in ranks for ranks in ranked.values())
        ]
        if places:
            n_methods = max(map(len, ranked.values()))
            lines.append(f"Places of the self-paced methods among {n_methods}: {'; '.join(places)}.")
    return "\n".join(f"- {line}" for line in lines) or "- Too few data sets to rank the methods."


def _tell_ranking(comparison: Comparison, what: str) -> str:
    ranking = comparison.ranking
    assert ranking is not None
    ranks = ranking.ranks.sort_values(kind="stable")
    first = ranks.index[0]
    near = [name for name in ranks.index[1:] if ranks[name] - ranks.iloc[0] < ranking.distance]
    followers = ", ".join(f"{name} ({ranks[name]:.1f})" for name in ranks.index[1:4])
    told = (
        f"Nemenyi's test (critical difference {ranking.distance:.1f}) does not separate it from {len(near)} "
        f"of the other {len(ranks) - 1}"
        if near
        else "Nemenyi's test separates it from all others"
    )
    return (
        f"On {what} **{first}** has the best average rank ({ranks.iloc[0]:.1f}), before {followers}. {told}."
    )


def tell_real(table: pd.DataFrame, criterion: str) -> str:
    """The best methods on real noise by their mean over the sources."""
    by_source = real_means(table, criterion)
    if by_source.empty:
        return "- Real noise: no results yet."
    means = by_source.mean().sort_values(ascending=False, kind="stable")
    names = [f"{name} ({mean:.3f})" for name, mean in means.items()]
    best = [f"{by_source.loc[source].idxmax()} on {source}" for source in by_source.index]
    return (
        f"- On real noise, **{means.index[0]}** has the best mean average precision over {len(by_source)} "
        f"sources ({means.iloc[0]:.3f}), before {', '.join(names[1:4])}. Best by source: {', '.join(best)}."
    )


def tell_limits(comparisons: Mapping[str, Comparison]) -> str:
    """What the number of data sets leaves open."""
    rankings = [found.ranking for found in comparisons.values() if found.ranking]
    if not rankings:
        return "- Too few data sets for a test."
    n_sets = max(len(found.means) for found in comparisons.values())
    return (
        f"- {n_sets} sets cannot show the order of methods whose average ranks differ by less than "
        f"{max(ranking.distance for ranking in rankings):.1f} (Nemenyi). Real noise has too few sources for "
        "any test."
    )


def tell_odds(leader: str, comparisons: Mapping[str, Comparison], certain: float = 0.95) -> str:
    """What the Bayesian signed ranks say, and what they leave open."""
    lines = []
    for what, comparison in comparisons.items():
        means = comparison.means
        if leader not in means or len(means) < 2:
            continue
        others = list(means.columns.drop(leader))
        odds = {other: signed_rank_odds(means[leader] - means[other]) for other in others}
        better = [other for other in others if odds[other][0] > certain]
        rest = [other for other in others if other not in better]
        text = f"On {what} ({len(means)} sets) {leader} is better by more than {ROPE:g} than "
        text += f"{len(better)} of {len(others)} methods with probability above {certain:g}."
        lines.append(text + (f" Not settled: {', '.join(rest)}." if rest else ""))
    return "\n".join(f"- {line}" for line in lines)


def tell_time(panels: Mapping[str, pd.DataFrame]) -> str:
    """Which methods no other beats in both time and score."""
    sentences = []
    for title, points in panels.items():
        ordered = points.sort_values("seconds", kind="stable")
        frontier = ordered[ordered["score"] > ordered["score"].cummax().shift(fill_value=float("-inf"))]
        names = ", ".join(f"{name} ({row['seconds']:.2f} s)" for name, row in frontier.iterrows())
        sentences.append(f"No other method is both faster and better, {title}: {names}.")
    return " ".join(sentences)


def tell_unfinished(missing: int, comparisons: Mapping[str, Comparison]) -> str:
    """What there is still to run, and what the ranks leave out for it."""
    if missing <= 0:
        return ""
    notes = list(dict.fromkeys(note for found in comparisons.values() for note in found.notes))
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
