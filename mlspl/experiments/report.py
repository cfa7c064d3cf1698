"""The contents of `report.html`: what was run, and scores, figures, timings and tests of each data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.figures import Chart, dot_chart, line_chart, rank_chart
from mlspl.experiments.scores import PAPER_FUNCTIONS, criteria_in, paced_trials
from mlspl.experiments.statistics import fewest_splits
from mlspl.experiments.tables import (
    Cell,
    Table,
    criterion_head,
    criterion_title,
    number,
    pairs_table,
    ranks_table,
    score_tables,
)
from mlspl.pages import render
from mlspl.recipes import method_title

if TYPE_CHECKING:
    from mlspl.experiments.results import Results

_ALPHA = 0.05
_MOST_LABELS = 8
_PARTS = {
    "objective": "Objective",
    "loss": "Weighted hinge loss",
    "regularization": "Regularisation",
    "correlation": "Label correlation",
    "penalty": "Self-paced penalty",
    "mean_weight": "Mean weight of a pair",
}


def render_report(results: Results, datasets: Mapping[str, Dataset], command: str) -> str:
    """Return the page of a run that has at least one trial."""
    frame = results.frame
    has_paper = "paper" in results.summary and bool(results.summary["paper"].notna().any())
    seconds = frame[["tune_seconds", "fit_seconds", "predict_seconds"]].to_numpy().sum()
    title = f"Comparison of methods on {', '.join(dict.fromkeys(frame['dataset']))}"
    return render(
        "report.html",
        title="Reproduction of the MLSPL paper" if has_paper else title,
        has_paper=has_paper,
        command=command,
        facts={
            "data sets": frame["dataset"].nunique(),
            "methods": frame["method"].nunique(),
            "splits": frame["split"].nunique(),
            "trials": len(frame),
            "failed": int(frame["error"].notna().sum()),
            "computing time": f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min",
        },
        datasets=_list_datasets(frame, datasets),
        methods=_list_methods(frame),
        folds=int(frame["folds"].max()),
        corruption=", ".join(filter(None, dict.fromkeys(frame["corruption"]))),
        environment=_list_environment(frame),
        panels=[
            _describe_block(block, results, datasets) for block in dict.fromkeys(results.summary["block"])
        ],
        ranks=_list_ranks(results.comparisons),
        failures=_list_messages(
            frame, "error", "These trials have no scores. Run the same command again to retry them."
        ),
        warnings=_list_messages(frame, "warnings", "Warnings of the methods."),
    )


def _describe_block(block: str, results: Results, datasets: Mapping[str, Dataset]) -> dict[str, Any]:
    tables = (results.summary, results.standard, paced_trials(results.scores))
    summary, standard, paced = (table[table["block"] == block] for table in tables)
    order = [*PAPER_FUNCTIONS, *paced["function"]]
    paced = paced.sort_values("function", key=lambda names: names.map(order.index), kind="stable")
    dataset = datasets.get(standard["dataset"].iloc[0])
    unpaced = standard[standard["method"] == "ml-loc"]
    ((title, scores),) = score_tables(summary).items()
    return {
        "name": block,
        "facts": title,
        "scores": scores,
        "score_charts": [
            dot_chart(criterion_head(str(name)), part.set_index(part["variant"].map(method_title)))
            for name, part in summary.groupby("criterion", sort=False)
        ],
        "has_paper": bool(summary["paper"].notna().any()),
        "function_charts": [
            dot_chart(
                criterion_head(name),
                paced.groupby("function", sort=False)[name].agg(["mean", "std"]),
                ("ML-LOC", float(unpaced[name].mean())) if len(unpaced) else None,
            )
            for name in (criteria_in(paced) if paced["function"].nunique() > 1 else ())
        ],
        "has_unpaced": bool(len(unpaced)),
        "curves": _draw_learning_curves(paced, dataset.label_names if dataset else ()),
        "timings": _list_timings(standard),
        "pairs": _list_pairs(block, results.comparisons),
    }


def _draw_learning_curves(paced: pd.DataFrame, label_names: Sequence[str]) -> dict[str, list[Chart]]:
    """Draw the parts of the objective and each label's share of pairs in play, under each function."""
    means: dict[str, pd.DataFrame] = {}
    complete = paced[paced["history"].map(_is_complete).astype(bool)]
    for name, histories in complete.groupby("function", sort=False)["history"]:
        tables = [_tabulate_steps(history, label_names) for history in histories]
        means[str(name)] = pd.concat(tables).groupby(level=0).mean()
    if not means:
        return {}

    # The pace grows geometrically, hence the geometric mean over splits.
    paces = {name: np.exp(table["part", "log_pace"]) for name, table in means.items()}
    parts = [
        line_chart(
            title,
            {name: (paces[name], table["part", key]) for name, table in means.items()},
            is_share=key == "mean_weight",
        )
        for key, title in _PARTS.items()
    ]
    in_play = [
        line_chart(
            f"Pairs in play: {name}",
            {label: (paces[name], shares) for label, shares in table["in play"].items()},
            is_share=True,
        )
        for name, table in means.items()
    ]
    return {"parts": parts, "in_play": in_play}


def _is_complete(history: Sequence[Mapping] | None) -> bool:
    return bool(history) and all({"pace", "in_play", *_PARTS} <= set(step) for step in history or ())


def _tabulate_steps(history: Sequence[Mapping], label_names: Sequence[str]) -> pd.DataFrame:
    """Return one row per step: parts of the objective, and ("in play", label) or quantiles of many labels."""
    shares = np.array([step["in_play"] for step in history])
    names = list(label_names) or [f"label {label + 1}" for label in range(shares.shape[1])]
    if shares.shape[1] > _MOST_LABELS:
        shares = np.quantile(shares, [0, 0.5, 1], axis=1).T
        names = ["least of all labels", "median label", "most of all labels"]
    columns: dict[Any, Any] = {("part", key): [step[key] for step in history] for key in _PARTS}
    columns["part", "log_pace"] = np.log([step["pace"] for step in history])
    return pd.DataFrame(columns | {("in play", name): shares[:, j] for j, name in enumerate(names)})


def _list_timings(standard: pd.DataFrame) -> Table:
    parts = {"tune_seconds": "tune, s"} if standard["tune"].any() else {}
    parts |= {"fit_seconds": "fit, s", "predict_seconds": "predict, s"}
    by_variant = standard.groupby("variant", sort=False)
    means = by_variant[list(parts)].mean()
    memory = by_variant["peak_memory"].max().astype(float) / 2**20
    caption = "Seconds per trial on one core, mean over the splits; peak memory of its process."
    columns: dict[str, Iterable] = {"method": map(method_title, means.index)}
    columns |= {title: means[part] for part, title in parts.items()}
    columns |= {"total, s": means.sum(axis=1), "memory, MB": [Cell(number(size, 0), size) for size in memory]}
    return Table(caption, columns)


def _list_pairs(block: str, comparisons: Sequence[Comparison]) -> Table | None:
    tested = [one.pairs.assign(criterion=one.criterion) for one in comparisons if len(one.pairs)]
    pairs = pd.concat(tested, ignore_index=True).query("block == @block") if tested else pd.DataFrame()
    if pairs.empty:
        return None
    n_splits = pairs["blocks"].iloc[0]
    needed = fewest_splits(pairs["criterion"].value_counts().max(), _ALPHA)
    count = int((pairs["p_holm"] < _ALPHA).sum())
    note = f"{count} of {len(pairs)} pairs differ significantly (α = {_ALPHA:g})."
    if needed > n_splits:
        note = f"No difference can be significant with {n_splits} splits: at least {needed} are needed."
    caption = f"Wilcoxon's signed-rank test over {n_splits} splits, adjusted by Holm. {note}"
    return pairs_table(pairs.sort_values(["p_holm", "p"], kind="stable"), caption, _ALPHA)


def _list_ranks(comparisons: Sequence[Comparison]) -> dict[str, Any] | None:
    """Average ranks and critical-difference diagrams, if there are enough data sets and methods."""
    if (table := ranks_table(comparisons)) is None:
        return None
    return {
        "table": table,
        "diagrams": [rank_chart(comparison) for comparison in comparisons if comparison.ranking],
        "notes": list(dict.fromkeys(note for comparison in comparisons for note in comparison.notes)),
    }


def _list_messages(frame: pd.DataFrame, column: str, caption: str) -> Table | None:
    """How many trials of each method on each data set had each error or warning."""
    counts = frame.explode(column).groupby(["method", "dataset", column]).size()
    counts = counts.sort_values(ascending=False, kind="stable")
    columns: dict[str, Iterable] = {
        "method": [method_title(method) for method, _, _ in counts.index],
        "data set": [dataset for _, dataset, _ in counts.index],
        "trials": counts,
        "message": [Cell(text, style="error") for _, _, text in counts.index],
    }
    return Table(caption, columns, "tall") if len(counts) else None


def _list_datasets(frame: pd.DataFrame, datasets: Mapping[str, Dataset]) -> Table:
    groups = frame.groupby(["dataset", "fingerprint"], sort=False)
    known = [datasets[name].describe() if name in datasets else None for (name, _), _ in groups]
    sizes = ("n_rows", "n_features", "n_labels", "cardinality")
    titles = ("rows", "features", "labels", "labels per row")
    columns: dict[str, Iterable] = {"data set": [name for (name, _), _ in groups]}
    for size, title in zip(sizes, titles, strict=True):
        columns[title] = [getattr(about, size) if about else "–" for about in known]
    columns["training rows"] = [
        ", ".join(f"{100 * share:g} %" for share in sorted(set(trials["train"]))) for _, trials in groups
    ]
    columns["checksum"] = [fingerprint[:12] for (_, fingerprint), _ in groups]
    return Table("Data sets, with the features of the file.", columns)


def _list_methods(frame: pd.DataFrame) -> Table:
    groups = frame.groupby(["method", "tune"], sort=False)
    columns: dict[str, Iterable] = {
        "method": [method_title(name) for (name, _), _ in groups],
        "parameters": [Cell(_join_settings(trials["parameters"]), style="wide") for _, trials in groups],
        "how": [f"tuned by {criterion_title(tune)}" if tune else "fixed" for (_, tune), _ in groups],
        "trials": groups.size(),
    }
    return Table("Methods, with their parameters or, where they are tuned, the values tried.", columns)


def _join_settings(of_trials: Iterable[Mapping]) -> str:
    shown = [
        {name: f"{{{', '.join(map(str, value))}}}" if isinstance(value, list) else value}
        for parameters in of_trials
        for name, value in parameters.items()
    ]
    return "; ".join(f"{name} = {values}" for name, values in _distinct(shown).items()) or "defaults"


def _list_environment(frame: pd.DataFrame) -> dict[str, str]:
    stamps = (min(frame["recorded"]), max(frame["recorded"]))
    return {
        "recorded": " to ".join(dict.fromkeys(stamp[:16].replace("T", " ") for stamp in stamps)) + " UTC",
        "hosts": ", ".join(dict.fromkeys(host for host in frame["host"] if host)) or "–",
    } | _distinct(frame["versions"])


def _distinct(mappings: Iterable[Mapping]) -> dict[str, str]:
    """The different values of each key, joined by commas."""
    values: dict[str, dict[str, None]] = {}
    for mapping in mappings:
        for name, value in mapping.items():
            values.setdefault(name, {})[str(value)] = None
    return {name: ", ".join(found) for name, found in values.items()}
