"""Results of a run: computed once from its trials, and written as tables, figures and `report.html`."""

import base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from mlspl._files import OutputFolder
from mlspl._text import safe_csv
from mlspl.datasets import Dataset
from mlspl.errors import shorten
from mlspl.experiments.comparison import Comparison, compare
from mlspl.experiments.figures import critical_difference_figure, figure_files, pace_function_figure
from mlspl.experiments.scores import criteria_in, score_table, standard_trials, summarise
from mlspl.experiments.statistics import fewest_splits
from mlspl.experiments.store import Store
from mlspl.experiments.tables import (
    Table,
    criterion_title,
    latex_tables,
    markdown_tables,
    number,
    pairs_table,
    ranks_table,
    score_tables,
)
from mlspl.experiments.trial import Trial
from mlspl.metrics import CRITERIA
from mlspl.pages import render
from mlspl.recipes import METHODS, Schema, method_title

RESULT_FILES = (
    *("means.csv", "tables.md", "tables.tex", "report.html", "pairs.csv"),
    *("pace-functions.png", "pace-functions.svg", "critical-difference.png", "critical-difference.svg"),
)
"""All files that `write_results` may write."""

_ALPHA = 0.05
_PREPARED = {
    "numeric": "missing numbers become the median, numbers are scaled",
    "categorical": "categories are one-hot encoded",
    "date": "dates become their parts",
    "text": "text becomes TF-IDF weights of words and word pairs",
    "sparse": "sparse columns are divided by their largest value",
}


@dataclass(frozen=True)
class Results:
    """Scores, means and tests of a run, and the files written.

    `scores` has all finished trials. `standard` leaves out variants of methods that were also run with their
    standard parameters; `summary` and `comparisons` are computed from it.
    """

    frame: pd.DataFrame
    scores: pd.DataFrame
    standard: pd.DataFrame
    summary: pd.DataFrame
    comparisons: list[Comparison]
    files: list[Path] = field(default_factory=list)


def _collect(store: Store, trials: Iterable[Trial] | None, criteria: Sequence[str] = ()) -> Results:
    """Compute the means and tests of trials, as far as the store has them; None means all its trials."""
    if trials is None:
        order = {name: number for number, name in enumerate(METHODS)}
        frame = store.frame().sort_values("method", key=lambda names: names.map(order), kind="stable")
    else:
        frame = store.frame(trial.key for trial in trials)
    scores, standard = score_table(frame), score_table(standard_trials(frame))
    if len(standard):
        # Blocks are named by all trials, so that both tables agree.
        standard["block"] = list(scores.set_index("key").loc[standard["key"], "block"])
    tested = [name for name in dict.fromkeys((*criteria_in(standard), *criteria)) if name in standard]
    comparisons = [compare(standard, name, CRITERIA[name].greater_is_better) for name in tested]
    return Results(frame, scores, standard, summarise(standard), comparisons)


def write_results(
    store: Store,
    trials: Iterable[Trial] | None,
    out: Path | OutputFolder,
    functions: Sequence[str] = (),
    datasets: Mapping[str, Dataset] | None = None,
    command: str = "",
    criteria: Sequence[str] = (),
    force: bool = False,
) -> Results:
    """Write tables, figures, tests and `report.html` of trials, as far as the store has them.

    Parameters
    ----------
    store, trials, out
        The results file, which of its trials (None means all), and the folder.
    functions, criteria : sequences of str
        Self-paced functions of the figure, and criteria to test beside those that are always reported.
    datasets, command : mapping, str
        The data sets by name, whose sizes the page shows, and the command that ran the trials.
    force : bool, default=False
        Replace files that `write_results` did not write, if `out` is a path.
    """
    outputs = out if isinstance(out, OutputFolder) else OutputFolder(out, [store.path], force=force)
    outputs.check(RESULT_FILES)
    results = _collect(store, trials, criteria)
    files = results.files
    if len(results.standard):
        files.append(outputs.write("means.csv", safe_csv(results.summary)))
        files.append(outputs.write("tables.md", markdown_tables(results.summary)))
        files.append(outputs.write("tables.tex", latex_tables(results.summary)))
        if functions:
            figure = pace_function_figure(results.scores, functions)
            files += [outputs.write(*file) for file in figure_files(figure, "pace-functions").items()]
        files += write_comparisons(results.comparisons, outputs)
    if len(results.frame):
        files.append(outputs.write("report.html", _render(results, datasets or {}, command)))
    return results


def write_comparisons(
    comparisons: Sequence[Comparison], outputs: OutputFolder, alpha: float = _ALPHA
) -> list[Path]:
    """Write every pair's test as `pairs.csv` and, where there are ranks, the critical-difference diagrams."""
    files = []
    pairs = _join_pairs(comparisons)
    if len(pairs):
        columns = ["criterion", "block", "better", "worse", "difference", "blocks", "p", "p_holm"]
        files.append(outputs.write("pairs.csv", safe_csv(pairs[columns])))
    if any(comparison.ranking for comparison in comparisons):
        figure = critical_difference_figure(comparisons, alpha)
        files += [outputs.write(*file) for file in figure_files(figure, "critical-difference").items()]
    return files


def _join_pairs(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    tested = [one.pairs.assign(criterion=one.criterion) for one in comparisons if len(one.pairs)]
    return pd.concat(tested, ignore_index=True) if tested else pd.DataFrame({"block": []})


def _render(results: Results, datasets: Mapping[str, Dataset], command: str) -> str:
    """Return the page of a run that has at least one trial."""
    frame, summary = results.frame, results.summary
    has_paper = bool(summary["paper"].notna().any())
    seconds = frame[["tune_seconds", "fit_seconds", "predict_seconds"]].to_numpy().sum()
    title = f"Comparison of methods on {', '.join(dict.fromkeys(frame['dataset']))}"
    comparisons = results.comparisons
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
        panels=[_describe_block(block, results) for block in dict.fromkeys(summary["block"])],
        ranks=ranks_table(comparisons),
        figures={path.stem: _embed(path) for path in results.files if path.suffix == ".svg"},
        notes=list(dict.fromkeys(note for comparison in comparisons for note in comparison.notes)),
        failures=_list_messages(
            frame, "error", "These trials have no scores. Run the same command again to retry them."
        ),
        warnings=_list_messages(frame, "warnings", "Warnings of the methods."),
    )


def _embed(path: Path) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(path.read_bytes()).decode()}"


def _describe_block(block: str, results: Results) -> dict[str, Any]:
    tables = (results.summary, results.standard)
    summary, standard = (table[table["block"] == block] for table in tables)
    ((title, scores),) = score_tables(summary).items()
    return {
        "name": block,
        "facts": title,
        "scores": scores,
        "timings": _list_timings(standard),
        "pairs": _list_pairs(block, results.comparisons),
    }


def _list_timings(standard: pd.DataFrame) -> Table:
    parts = {"tune_seconds": "tune, s"} if standard["tune"].any() else {}
    parts |= {"fit_seconds": "fit, s", "predict_seconds": "predict, s"}
    by_variant = standard.groupby("variant", sort=False)
    means = by_variant[list(parts)].mean().rename(columns=parts)
    texts = means.assign(**{"total, s": means.sum(axis=1)}).map(number, digits=3)
    memory = by_variant["peak_memory"].max().astype(float) / 2**20
    texts["memory, MB"] = memory.map(lambda size: number(size, 0))
    caption = "Seconds per trial on one core, mean over the splits; peak memory of its process."
    return Table(caption, texts.rename(index=method_title).rename_axis("method"))


def _list_pairs(block: str, comparisons: Sequence[Comparison]) -> Table | None:
    pairs = _join_pairs(comparisons).query("block == @block")
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


def _list_messages(frame: pd.DataFrame, column: str, caption: str) -> Table | None:
    """How many trials of each method on each data set had each error or warning."""
    counts = frame.explode(column).groupby(["method", "dataset", column]).size()
    counts = counts.sort_values(ascending=False, kind="stable").map(str).reset_index(name="trials")
    texts = counts.rename(columns={"dataset": "data set", column: "message"}).set_index("method")
    texts = texts.rename(index=method_title)[["data set", "trials", "message"]]
    return Table(caption, texts, style="tall") if len(texts) else None


def _list_datasets(frame: pd.DataFrame, datasets: Mapping[str, Dataset]) -> Table:
    rows, prepared = {}, set()
    for (name, fingerprint), trials in frame.groupby(["dataset", "fingerprint"], sort=False):
        row = dict.fromkeys(("rows", "features", "labels", "labels per row"), "–")
        if name in datasets:
            size, (features, kinds) = datasets[name].describe(), _describe_features(datasets[name])
            sizes = (str(size.n_rows), features, str(size.n_labels), number(size.cardinality, 3))
            prepared |= kinds
            row = dict(zip(row, sizes, strict=True))
        shares = ", ".join(
            f"{folds - 1} of {folds} folds" if folds else f"{100 * share:g} %"
            for share, folds in sorted(set(zip(trials["train"], trials["folds"], strict=True)))
        )
        rows[name, fingerprint] = {**row, "training rows": shares, "checksum": fingerprint[:12]}
    texts = pd.DataFrame.from_dict(rows, orient="index").droplevel(1).rename_axis("data set")
    steps = "; ".join(text for kind, text in _PREPARED.items() if kind in prepared)
    return Table(f"Data sets. By the training rows: {steps}." if steps else "Data sets.", texts)


def _describe_features(dataset: Dataset) -> tuple[str, set[str]]:
    """How many columns of each kind trials learn from, which they leave out, and the kinds."""
    schema = Schema.from_dataset(dataset)
    if schema.layout == "sparse":
        return f"{schema.n_features} sparse", {"sparse"}
    counts = Counter(map(schema.kind, schema.names or ()))
    left_out = f"; not used: {', '.join(map(shorten, schema.dropped))}" if schema.dropped else ""
    return ", ".join(f"{counts[kind]} {kind}" for kind in _PREPARED if counts[kind]) + left_out, set(counts)


def _list_methods(frame: pd.DataFrame) -> Table:
    rows = {
        (method_title(name), tune): {
            "parameters": _join_settings(trials["parameters"]),
            "how": f"tuned by {criterion_title(tune)}" if tune else "fixed",
            "trials": str(len(trials)),
        }
        for (name, tune), trials in frame.groupby(["method", "tune"], sort=False)
    }
    texts = pd.DataFrame.from_dict(rows, orient="index").droplevel(1).rename_axis("method")
    return Table("Methods, with their parameters or, where they are tuned, the values tried.", texts)


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
