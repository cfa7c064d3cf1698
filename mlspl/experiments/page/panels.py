"""What the report says of one data set: scores beside the paper's, figures, curves, timings, tests."""

from collections.abc import Sequence

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.page.charts import Dot, dot_chart
from mlspl.experiments.page.curves import learning_curves, validation_curves
from mlspl.experiments.page.markup import Cell, Head, Markup, number, table, tag
from mlspl.experiments.paper import PAPER_FUNCTIONS, PUBLISHED
from mlspl.experiments.scores import criteria_in
from mlspl.experiments.statistics import fewest_splits
from mlspl.metrics import CRITERIA
from mlspl.recipes import get_method, method_title

__all__ = ["pace_function_of", "panel"]

_MEGABYTE = 2**20
_ALPHA = 0.05


def panel(
    block: str,
    summary: pd.DataFrame,
    standard: pd.DataFrame,
    paced: pd.DataFrame,
    comparisons: Sequence[Comparison],
    dataset: Dataset | None,
) -> Markup:
    """Return everything about one data set.

    Parameters
    ----------
    block : str
        Its name in the tables below.
    summary : DataFrame
        From :func:`summarise`, of this block.
    standard : DataFrame
        From :func:`score_table`, the trials of this block that the summary is of.
    paced : DataFrame
        From :func:`score_table`, the trials of MLSPL on this block under each self-paced function, which
        the column `function` names.
    comparisons : sequence of Comparison
        One per criterion, of all blocks.
    dataset : Dataset, optional
        For the names of its labels.
    """
    order = [*PAPER_FUNCTIONS, *paced["function"]]
    paced = paced.sort_values("function", key=lambda names: names.map(order.index), kind="stable")
    label_names = () if dataset is None else dataset.label_names
    curves = learning_curves(paced, label_names) + validation_curves(standard)
    first = summary.iloc[0]
    splits = sorted(set(summary["splits"]))
    counted = f"{splits[0]}" if len(splits) == 1 else f"{splits[0]} to {splits[-1]}"
    facts = f"{100 * first['train']:g} % of the rows to train on, {counted} split{'s' * (splits != [1])}"
    return Markup(
        "".join(
            [
                tag("h3", block),
                tag("p", facts, class_="facts"),
                *_scores(summary),
                *_functions(paced, standard),
                *([tag("h4", "Learning curves of MLSPL"), *curves] if curves else []),
                *_timings(standard),
                *_pairs(block, comparisons),
            ]
        )
    )


def pace_function_of(trial: pd.Series) -> str | None:
    """Return the self-paced function of a trial of MLSPL that is otherwise as published, or None.

    Parameters
    ----------
    trial : Series
        A row of the store's table.
    """
    if trial["method"] != PUBLISHED:
        return None
    settings = get_method(PUBLISHED).settings(trial["tune"])
    other = {name: value for name, value in trial["parameters"].items() if name != "pace_function"}
    settings.pop("pace_function")
    return trial["chosen"].get("pace_function") if other == settings else None


def _scores(summary: pd.DataFrame) -> list[Markup]:
    criteria = list(dict.fromkeys(summary["criterion"]))
    has_paper = summary["paper"].notna().any()
    heads = [Head("method", numeric=False)]
    heads += [Head(_title(name), largest_first=CRITERIA[name].greater_is_better) for name in criteria]
    rows: list[list[Cell | str]] = []
    for variant, of_variant in summary.groupby("variant", sort=False):
        by_criterion = of_variant.set_index("criterion")
        cells = [_score(by_criterion.loc[name]) for name in criteria]
        rows.append([method_title(str(variant)), *cells])
    legend = (
        "Mean ± standard deviation over the splits; the best in bold. ↓: less is better, ↑: more is better."
    )
    if has_paper:
        legend += " Below, the paper's mean and how far ours lies from it."
    charts = []
    for name in criteria:
        rows_of = summary[summary["criterion"] == name]
        dots = [
            Dot(method_title(row.variant), row.mean, row.std, row.paper, row.best)
            for row in rows_of[["variant", "mean", "std", "paper", "best"]].itertuples(index=False)
        ]
        charts.append(dot_chart(_title(name), dots))
    key = "Dots: our means, with bars of one standard deviation." + (
        " Diamonds: the paper's means." if has_paper else ""
    )
    return [
        tag("h4", "Scores"),
        table(legend, heads, rows, "scores"),
        tag("div", charts, class_="charts"),
        tag("p", key, class_="note"),
    ]


def _score(row: pd.Series) -> Cell:
    content = [tag("span", number(row["mean"]), class_="mean")]
    if pd.notna(row["std"]):
        content.append(tag("span", f" ±{number(row['std'])}", class_="std"))
    if pd.notna(row["paper"]):
        far = number(row["difference"], sign=True)
        content.append(
            tag("span", f"{number(row['paper'])} ", tag("span", f"({far})", class_="far"), class_="paper")
        )
    return Cell(content, row["mean"], bool(row["best"]))


def _functions(paced: pd.DataFrame, standard: pd.DataFrame) -> list[Markup]:
    functions = list(dict.fromkeys(paced["function"]))
    if len(functions) < 2:
        return []
    unpaced = standard[standard["method"] == "ml-loc"]
    charts = []
    for name in criteria_in(paced):
        groups = paced.groupby("function")[name]
        dots = [Dot(function, groups.mean()[function], groups.std()[function]) for function in functions]
        reference = ("ML-LOC", float(unpaced[name].mean())) if len(unpaced) else None
        charts.append(dot_chart(_title(name), dots, reference))
    note = "Mean ± standard deviation over the splits." + (
        " The dashed line is ML-LOC, the same model without pacing." if len(unpaced) else ""
    )
    return [
        tag("h4", "MLSPL under each self-paced function"),
        tag("div", charts, class_="charts"),
        tag("p", note, class_="note"),
    ]


def _timings(standard: pd.DataFrame) -> list[Markup]:
    tuned = bool(standard["tune"].any())
    columns = {"fit_seconds": "fit, s", "predict_seconds": "predict, s"}
    if tuned:
        columns = {"tune_seconds": "tune, s"} | columns
    means = standard.groupby("variant", sort=False)[list(columns)].mean()
    totals = means.sum(axis=1)
    peaks = standard.groupby("variant", sort=False)["peak_memory"].max() / _MEGABYTE
    rows: list[list[Cell | str]] = []
    for variant, times in means.iterrows():
        share = totals[variant] / totals.max() if totals.max() else 0.0
        bar = tag("span", tag("span", style=f"width:{100 * share:.1f}%"), class_="meter", aria_hidden="true")
        rows.append(
            [
                method_title(str(variant)),
                *(Cell(number(value, 3), value) for value in times),
                Cell([bar, number(totals[variant], 3)], totals[variant]),
                Cell(number(peaks[variant], 0), peaks[variant]),
            ]
        )
    heads = [Head("method", numeric=False), *(Head(text) for text in columns.values())]
    heads += [Head("together, s"), Head("memory, MB")]
    caption = "Seconds a trial, mean over the splits, on one core; the most memory its process held."
    return [tag("h4", "Timings"), table(caption, heads, rows)]


def _pairs(block: str, comparisons: Sequence[Comparison]) -> list[Markup]:
    tested = [
        comparison.pairs[comparison.pairs["block"] == block].assign(criterion=comparison.criterion)
        for comparison in comparisons
    ]
    pairs = pd.concat(tested, ignore_index=True) if tested else pd.DataFrame()
    if pairs.empty:
        return []
    pairs = pairs.sort_values(["p_holm", "p"], kind="stable")
    count = int((pairs["p_holm"] < _ALPHA).sum())
    rows = [
        [
            row.criterion.replace("_", " "),
            method_title(row.better),
            method_title(row.worse),
            Cell(number(row.difference, sign=True), row.difference),
            Cell(number(row.p), row.p),
            Cell(number(row.p_holm), row.p_holm, row.p_holm < _ALPHA),
        ]
        for row in pairs.itertuples()
    ]
    heads = [Head(text, numeric=False) for text in ("criterion", "better", "worse")]
    heads += [Head(text) for text in ("difference", "p", "p (Holm)")]
    caption = f"Wilcoxon's signed-rank test over {pairs['blocks'].iloc[0]} splits, adjusted by Holm."
    note = (
        f"{count} of {len(pairs)} pairs differ at α = {_ALPHA:g}. Splits of one data set share rows, so "
        "these p-values are optimistic."
    )
    if fewest_splits(pairs["criterion"].value_counts().max(), _ALPHA) > pairs["blocks"].iloc[0]:
        note += " With so few splits no pair can reach that level: this says nothing about the methods."
    return [tag("h4", "Is it more than luck?"), tag("p", note), table(caption, heads, rows, "tall")]


def _title(criterion: str) -> str:
    arrow = "↑" if CRITERIA[criterion].greater_is_better else "↓"
    return f"{criterion.replace('_', ' ')} {arrow}"
