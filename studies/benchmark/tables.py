"""The tables of the benchmark's page."""

from collections.abc import Iterable, Mapping

import pandas as pd

from mlspl.experiments import Comparison, markdown_table
from mlspl.metrics import CRITERIA
from studies.benchmark.declaration import CONDITIONS, ENTRIES, REAL, SETS
from studies.benchmark.scores import (
    compare_methods,
    condition_means,
    group_ranks,
    mean_interval,
    signed_rank_odds,
)

__all__ = [
    "condition_table",
    "group_table",
    "rank_table",
    "set_table",
    "sets_table",
    "settings_table",
    "test_table",
]

_OTHER_CRITERIA = {"ranking_loss": "ranking loss", "hamming_loss": "Hamming loss", "macro_f1": "macro-F1"}


def rank_table(table: pd.DataFrame, comparisons: Mapping[str, Comparison]) -> str:
    """Average ranks by several criteria, and what each method costs; best on average first."""
    columns = {f"AP, {what}": _ranks(comparison) for what, comparison in comparisons.items()}
    for name, title in _OTHER_CRITERIA.items():
        columns[title] = _ranks(compare_methods(table, name, title))
    ranks = pd.DataFrame({title: series for title, series in columns.items() if len(series)})
    cells = _mark(ranks, smallest=True, digits=1)
    cells["seconds"] = table.groupby("title")["seconds"].median().map("{:.2f}".format)
    cells = cells.loc[[title for title in cells.index if title in set(table["title"])]]
    if ranks.empty:
        return _markdown(cells)
    order = ranks[list(ranks)[:2]].mean(axis=1).sort_values(kind="stable").index
    return _markdown(cells.loc[order])


def condition_table(table: pd.DataFrame, criterion: str) -> str:
    """Mean over the data sets by method and condition."""
    means = condition_means(table, criterion)
    cells = _mark(means.rename(columns=CONDITIONS), smallest=False, digits=3)
    return _markdown(
        cells.loc[means.mean(axis=1, skipna=False).sort_values(ascending=False, kind="stable").index]
    )


def set_table(table: pd.DataFrame, criterion: str, condition: str = "") -> str:
    """Mean over the splits under a condition: a row a method, a column a data set."""
    part = table[table["corruption"] == condition]
    if part.empty:
        return "No results yet."
    means = part.pivot_table(index="title", columns="dataset", values=criterion)
    means = means.reindex(
        index=_titles(means.index), columns=[name for name in _set_names(table) if name in means]
    )
    return _markdown(_mark(means, smallest=not CRITERIA[criterion].greater_is_better, digits=3))


def group_table(table: pd.DataFrame, criterion: str) -> str:
    """Average rank by method and group of settings."""
    ranks = group_ranks(table, criterion)
    counts = ranks.loc["n"]
    ranks = ranks.drop("n").sort_values(ranks.columns[0], kind="stable")
    cells = _mark(ranks, smallest=True, digits=1)
    cells.loc["*settings*"] = [f"{count:.0f}" for count in counts]
    return _markdown(cells)


def test_table(leader: str, comparisons: Mapping[str, Comparison]) -> str:
    """The leader against every other method: mean difference, its interval, and Bayesian signed ranks."""
    columns: dict[str, dict[str, str]] = {}
    for what, comparison in comparisons.items():
        means = comparison.means
        if leader not in means or len(means) < 2:
            continue
        for other in means.columns.drop(leader):
            differences = means[leader] - means[other]
            low, high = mean_interval(differences)
            odds = signed_rank_odds(differences)
            columns.setdefault(f"difference, {what}", {})[other] = (
                f"{differences.mean():+.3f} ({low:+.3f} to {high:+.3f})"
            )
            columns.setdefault(f"P, {what}", {})[other] = " / ".join(f"{share:.2f}" for share in odds)
    return _markdown(pd.DataFrame(columns))


def sets_table(table: pd.DataFrame) -> str:
    """Size of the data sets as they were used."""
    facts = table.groupby("dataset").first()
    rows = []
    for name in _set_names(table):
        row = facts.loc[name]
        cells = [name, *(f"{row[key]:,}" for key in ("rows", "features", "labels"))]
        cells += [f"{row['cardinality']:.2f}", f"{100 * row['positives'] / row['rows']:.1f} %"]
        rows.append([*cells, "sparse" if row["sparse"] else "dense"])
    heads = ["data set", "rows", "features", "labels", "labels a row", "rows of the median label", ""]
    return markdown_table(heads, rows)


def settings_table(table: pd.DataFrame) -> str:
    """What every method tried."""
    rows = []
    for name, method in ENTRIES.items():
        if name not in set(table["method"]):
            continue
        settings = method.defaults.get("settings")
        if settings is None:
            text = ", ".join(f"{key}={value}" for key, value in method.defaults.items())
            rows.append([method.title, "tunes itself", f"`{text}`"])
            continue
        tried = {key: list(dict.fromkeys(str(one[key]) for one in settings)) for key in settings[0]}
        varied = "; ".join(f"{key} ∈ {', '.join(values)}" for key, values in tried.items() if len(values) > 1)
        fixed = ", ".join(f"{key}={values[0]}" for key, values in tried.items() if len(values) == 1)
        rows.append([method.title, f"`{varied}`", f"`{fixed}`" if fixed else ""])
    return markdown_table(["method", "chosen", "fixed"], rows, numeric=False)


def _ranks(comparison: Comparison) -> pd.Series:
    return comparison.ranking.ranks if comparison.ranking else pd.Series(dtype=float)


def _titles(titles: Iterable[str]) -> list[str]:
    """In the order of the declaration."""
    there = set(titles)
    return [method.title for method in ENTRIES.values() if method.title in there]


def _set_names(table: pd.DataFrame) -> list[str]:
    there = list(dict.fromkeys(table["dataset"]))
    return [name for name in (*SETS, *REAL) if name in there] + [
        name for name in there if name not in (*SETS, *REAL)
    ]


def _mark(values: pd.DataFrame, smallest: bool, digits: int) -> pd.DataFrame:
    """The numbers as text, the best of every column in bold, and a dash where there is none."""
    rounded = values.round(digits)
    best = rounded.min() if smallest else rounded.max()
    cells = pd.DataFrame(index=values.index, columns=values.columns, dtype=object)
    for column in values:
        for row, value in rounded[column].items():
            text = "–" if pd.isna(value) else f"{value:.{digits}f}"
            cells.loc[row, column] = f"**{text}**" if value == best[column] else text
    return cells


def _markdown(cells: pd.DataFrame) -> str:
    cells = cells.astype(object).where(cells.notna(), "–")
    rows = [[str(name), *map(str, row)] for name, row in zip(cells.index, cells.to_numpy(), strict=True)]
    return markdown_table(["", *map(str, cells)], rows)
