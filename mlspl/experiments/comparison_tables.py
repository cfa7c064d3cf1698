"""What the tests say, for the terminal."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from mlspl._text import printable, shown
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.statistics import fewest_splits
from mlspl.recipes import method_title

__all__ = ["pairs_table", "ranks_table", "wins_table"]

_MOST_CRITERIA = 6


def ranks_table(comparisons: Sequence[Comparison]) -> Group | None:
    """Average ranks over the data sets, Friedman's p-value and Nemenyi's critical difference, per criterion.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per criterion.

    Returns
    -------
    Group or None
        None when there are fewer than two data sets or three methods.
    """
    ranked = [(comparison, comparison.ranking) for comparison in comparisons if comparison.ranking]
    if not ranked:
        return None
    heads = [*map(method_title, ranked[0][0].methods), "Friedman's p", "Nemenyi's CD"]
    columns = {}
    for comparison, ranking in ranked:
        best = ranking.ranks.min()
        columns[comparison.criterion] = [
            *(f"[bold]{rank:.2f}[/]" if rank == best else f"{rank:.2f}" for rank in ranking.ranks),
            f"{ranking.friedman.p_value:.4f}",
            f"{ranking.distance:.2f}",
        ]
    n_datasets = len(ranked[0][0].means)
    title = f"Average ranks over {n_datasets} data sets, 1 being best (CD: critical difference)"
    return _titled(title, *_tables_by_criterion(heads, columns))


def wins_table(comparisons: Sequence[Comparison], alpha: float = 0.05) -> Group | None:
    """How often each method is significantly better and worse than another, over the data sets.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per criterion.
    alpha : float, default=0.05
        Level for the p-values adjusted by Holm.

    Returns
    -------
    Group or None
        None when no pair could be tested.
    """
    tested = [comparison for comparison in comparisons if len(comparison.pairs)]
    if not tested:
        return None
    title = f"Pairs significantly better–worse (Wilcoxon over splits, Holm, α = {alpha:g})"
    if not any((comparison.pairs["p_holm"] < alpha).any() for comparison in tested):
        pairs = max((len(part) for one in tested for _, part in one.pairs.groupby("block")))
        needed = fewest_splits(pairs, alpha)
        few = max(one.pairs["blocks"].max() for one in tested) < needed
        return _titled(title, f"none, nor can there be: it takes {needed} splits" if few else "none")
    columns = {}
    for comparison in tested:
        significant = comparison.pairs[comparison.pairs["p_holm"] < alpha]
        columns[comparison.criterion] = [
            f"{(significant['better'] == name).sum()}–{(significant['worse'] == name).sum()}"
            for name in tested[0].methods
        ]
    return _titled(title, *_tables_by_criterion(list(map(method_title, tested[0].methods)), columns))


def pairs_table(comparison: Comparison, alpha: float = 0.05) -> Group:
    """Every pair's test for one criterion, the significant ones in bold.

    Parameters
    ----------
    comparison : Comparison
        For one criterion.
    alpha : float, default=0.05
        Level for the p-values adjusted by Holm.
    """
    title = f"{comparison.criterion.replace('_', ' ')}: Wilcoxon's signed-rank test, Holm's adjustment"
    table = Table(box=None, pad_edge=False)
    for head in ("data set", "better", "worse"):
        table.add_column(head)
    for head in ("difference", "pairs", "p", "p (Holm)"):
        table.add_column(head, justify="right")
    for row in comparison.pairs.itertuples():
        table.add_row(
            *map(shown, (row.block, method_title(row.better), method_title(row.worse))),
            *(f"{row.difference:+.4f}", str(row.blocks), f"{row.p:.4f}", f"{row.p_holm:.4f}"),
            style="bold" if row.p_holm < alpha else None,
        )
    return _titled(title, table)


def _tables_by_criterion(heads: Sequence[str], columns: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    """A row for each head and a column for each criterion, so many a table as a narrow terminal shows."""
    for start in range(0, len(columns), _MOST_CRITERIA):
        criteria = list(columns)[start : start + _MOST_CRITERIA]
        table = Table(box=None, pad_edge=False)
        table.add_column("", no_wrap=True)
        for criterion in criteria:
            table.add_column(shown(criterion.replace("_", " ")), justify="right")
        for head, *cells in zip(heads, *(columns[criterion] for criterion in criteria), strict=True):
            table.add_row(shown(head), *cells)
        yield table


def _titled(title: str, *parts: Table | str) -> Group:
    # A title of the table itself would be wrapped to the table's width.
    return Group(Text(printable(title), "bold"), *parts, "")
