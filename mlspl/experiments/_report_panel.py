"""What the report says of one data set: scores beside the paper's, figures, curves, timings, tests."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments._report_curves import draw_learning_curves, draw_validation
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.paper import PAPER_FUNCTIONS, PUBLISHED
from mlspl.experiments.scores import criteria_in
from mlspl.experiments.statistics import fewest_splits
from mlspl.metrics import CRITERIA
from mlspl.pages import Cell, Dot, Head, Table, dot_chart, number
from mlspl.recipes import get_method, method_title

__all__ = ["describe_block", "find_pace_function"]

_MEGABYTE = 2**20
_ALPHA = 0.05


def describe_block(
    block: str,
    summary: pd.DataFrame,
    standard: pd.DataFrame,
    paced: pd.DataFrame,
    comparisons: Sequence[Comparison],
    dataset: Dataset | None,
) -> dict[str, Any]:
    """Everything about one data set."""
    order = [*PAPER_FUNCTIONS, *paced["function"]]
    paced = paced.sort_values("function", key=lambda names: names.map(order.index), kind="stable")
    first = summary.iloc[0]
    splits = sorted(set(summary["splits"]))
    counted = f"{splits[0]} to {splits[-1]} splits" if len(splits) > 1 else f"{splits[0]} splits"
    counted = "1 split" if splits == [1] else counted
    facts = f"{100 * first['train']:g} % of the rows to train on, {counted}"
    pairs, pairs_note = _list_pairs(block, comparisons)
    unpaced = standard[standard["method"] == "ml-loc"]
    return {
        "name": block,
        "facts": f"{first['folds']}-fold cross-validation" if first["folds"] else facts,
        "scores": _list_scores(summary),
        "score_charts": _draw_scores(summary),
        "has_paper": bool(summary["paper"].notna().any()),
        "function_charts": _draw_functions(paced, unpaced),
        "has_unpaced": bool(len(unpaced)),
        "curves": draw_learning_curves(paced, () if dataset is None else dataset.label_names),
        "validation": draw_validation(standard),
        "timings": _list_timings(standard),
        "pairs": pairs,
        "pairs_note": pairs_note,
    }


def find_pace_function(trial: pd.Series) -> str | None:
    """Return the self-paced function of a trial of MLSPL that is otherwise as published, or None."""
    if trial["method"] != PUBLISHED:
        return None
    settings = get_method(PUBLISHED).settings(trial["tune"])
    other = {name: value for name, value in trial["parameters"].items() if name != "pace_function"}
    settings.pop("pace_function")
    return trial["chosen"].get("pace_function") if other == settings else None


def _list_scores(summary: pd.DataFrame) -> Table:
    criteria = list(dict.fromkeys(summary["criterion"]))
    heads: list[Head | str] = ["method"]
    heads += [Head(_title(name), largest_first=CRITERIA[name].greater_is_better) for name in criteria]
    rows: list[list[Cell | str]] = []
    for variant, of_variant in summary.groupby("variant", sort=False):
        by_criterion = of_variant.set_index("criterion")
        rows.append([method_title(str(variant)), *(_score(by_criterion.loc[name]) for name in criteria)])
    legend = (
        "Mean ± standard deviation over the splits; the best in bold. ↓: less is better, ↑: more is better."
    )
    if summary["paper"].notna().any():
        legend += " Below, the paper's mean and how far ours lies from it."
    return Table(legend, heads, rows, "scores")


def _score(row: pd.Series) -> Cell:
    return Cell(
        number(row["mean"]),
        row["mean"],
        bool(row["best"]),
        std=number(row["std"]) if pd.notna(row["std"]) else "",
        paper=number(row["paper"]) if pd.notna(row["paper"]) else "",
        far=number(row["difference"], sign=True),
    )


def _draw_scores(summary: pd.DataFrame) -> Sequence[str]:
    return [
        dot_chart(
            _title(str(name)),
            [
                Dot(method_title(row.variant), row.mean, row.std, row.paper, row.best)
                for row in of_criterion[["variant", "mean", "std", "paper", "best"]].itertuples(index=False)
            ],
        )
        for name, of_criterion in summary.groupby("criterion", sort=False)
    ]


def _draw_functions(paced: pd.DataFrame, unpaced: pd.DataFrame) -> Sequence[str]:
    functions = list(dict.fromkeys(paced["function"]))
    if len(functions) < 2:
        return []
    charts = []
    for name in criteria_in(paced):
        groups = paced.groupby("function")[name]
        dots = [Dot(function, groups.mean()[function], groups.std()[function]) for function in functions]
        reference = ("ML-LOC", float(unpaced[name].mean())) if len(unpaced) else None
        charts.append(dot_chart(_title(name), dots, reference))
    return charts


def _list_timings(standard: pd.DataFrame) -> Table:
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
        rows.append(
            [
                method_title(str(variant)),
                *(Cell(number(value, 3), value) for value in times),
                Cell(number(totals[variant], 3), totals[variant], share=round(100 * share, 1)),
                Cell(number(peaks[variant], 0), peaks[variant]),
            ]
        )
    heads: list[Head | str] = ["method", *map(Head, (*columns.values(), "together, s", "memory, MB"))]
    caption = "Seconds a trial, mean over the splits, on one core; the most memory its process held."
    return Table(caption, heads, rows)


def _list_pairs(block: str, comparisons: Sequence[Comparison]) -> tuple[Table | None, str]:
    tested = [
        comparison.pairs[comparison.pairs["block"] == block].assign(criterion=comparison.criterion)
        for comparison in comparisons
    ]
    pairs = pd.concat(tested, ignore_index=True) if tested else pd.DataFrame()
    if pairs.empty:
        return None, ""
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
    heads: list[Head | str] = ["criterion", "better", "worse", *map(Head, ("difference", "p", "p (Holm)"))]
    caption = f"Wilcoxon's signed-rank test over {pairs['blocks'].iloc[0]} splits, adjusted by Holm."
    note = (
        f"{count} of {len(pairs)} pairs differ at α = {_ALPHA:g}. Splits of one data set share rows, so "
        "these p-values are optimistic."
    )
    if fewest_splits(pairs["criterion"].value_counts().max(), _ALPHA) > pairs["blocks"].iloc[0]:
        note += " With so few splits no pair can reach that level: this says nothing about the methods."
    return Table(caption, heads, rows, "tall"), note


def _title(criterion: str) -> str:
    arrow = "↑" if CRITERIA[criterion].greater_is_better else "↓"
    return f"{criterion.replace('_', ' ')} {arrow}"
