"""What the report says of the whole run: what it was, who ranks where, what failed, and on which machine."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments.comparison import Comparison
from mlspl.pages import Cell, Head, Table, number, rank_diagram
from mlspl.recipes import method_title

__all__ = ["describe_run", "list_failures", "list_warnings", "rank_methods"]

_SECONDS = ("tune_seconds", "fit_seconds", "predict_seconds")


def describe_run(frame: pd.DataFrame, datasets: Mapping[str, Dataset], command: str) -> dict[str, Any]:
    """The run in a few numbers, its data sets and methods, and when, where and with what it ran."""
    failed = int(frame["error"].notna().sum())
    return {
        "command": command,
        "facts": {
            "data sets": len(set(frame["dataset"])),
            "methods": len(set(frame["method"])),
            "splits": len(set(frame["split"])),
            "trials": len(frame),
            "failed": failed,
            "computing time": _duration(float(frame[list(_SECONDS)].to_numpy().sum())),
        },
        "n_failed": failed,
        "datasets": _list_datasets(frame, datasets),
        "methods": _list_methods(frame),
        "folds": int(frame["folds"].max()),
        "corruption": ", ".join(kind for kind in dict.fromkeys(frame["corruption"]) if kind),
        "environment": _environment(frame),
    }


def rank_methods(comparisons: Sequence[Comparison]) -> dict[str, Any] | None:
    """Average ranks and critical-difference diagrams, where there are data sets enough."""
    ranked = [(comparison, comparison.ranking) for comparison in comparisons if comparison.ranking]
    if not ranked:
        return None
    methods = ranked[0][0].methods
    heads: list[Head | str] = [
        "criterion",
        *(Head(method_title(name)) for name in methods),
        Head("Friedman p"),
    ]
    rows: list[list[Cell | str]] = []
    for comparison, ranking in ranked:
        best = ranking.ranks.min()
        cells = [Cell(number(rank, 2), rank, rank == best) for rank in ranking.ranks]
        p_value = Cell(number(ranking.friedman.p_value), ranking.friedman.p_value)
        rows.append([_words(comparison.criterion), *cells, p_value])
    return {
        "table": Table(f"Average ranks over {len(ranked[0][0].means)} data sets, 1 being best.", heads, rows),
        "diagrams": [
            rank_diagram(_words(comparison.criterion), ranking.titled_ranks(), ranking.distance)
            for comparison, ranking in ranked
        ],
        "notes": list(dict.fromkeys(note for comparison in comparisons for note in comparison.notes)),
    }


def list_failures(frame: pd.DataFrame) -> Table | None:
    """The trials that gave no scores, with their errors."""
    failed = frame[frame["error"].notna()]
    if failed.empty:
        return None
    rows = [
        [
            method_title(row.method),
            row.dataset,
            Cell(str(row.split), row.split),
            Cell(row.error, style="error"),
        ]
        for row in failed.itertuples()
    ]
    caption = "These trials gave no scores; the same command tries them again."
    return Table(caption, ["method", "data set", Head("split"), "error"], rows, "tall")


def list_warnings(frame: pd.DataFrame) -> Table | None:
    """What the methods warned of, and how often."""
    counts = Counter(
        (row.method, row.dataset, warning) for row in frame.itertuples() for warning in row.warnings
    )
    if not counts:
        return None
    rows = [
        [method_title(method), dataset, Cell(str(count), count), Cell(text, style="error")]
        for (method, dataset, text), count in counts.most_common()
    ]
    heads: list[Head | str] = ["method", "data set", Head("trials", largest_first=True), "warning"]
    return Table("What the methods warned of.", heads, rows, "tall")


def _list_datasets(frame: pd.DataFrame, datasets: Mapping[str, Dataset]) -> Table:
    rows: list[list[Cell | str]] = []
    for (name, fingerprint), trials in frame.groupby(["dataset", "fingerprint"], sort=False):
        about = datasets[name].describe() if name in datasets else None
        sizes = [about.n_rows, about.n_features, about.n_labels, about.cardinality] if about else []
        cells = [Cell(f"{size:g}" if isinstance(size, int) else number(size, 2), size) for size in sizes]
        shares = ", ".join(f"{100 * share:g} %" for share in sorted(set(trials["train"])))
        rows.append([name, *(cells or [Cell("–")] * 4), shares, fingerprint[:12]])
    numbers = map(Head, ("rows", "features", "labels", "labels a row"))
    heads: list[Head | str] = ["data set", *numbers, "trained on", "checksum"]
    return Table("Data sets, with their features as they are in the file.", heads, rows)


def _list_methods(frame: pd.DataFrame) -> Table:
    rows: list[list[Cell | str]] = []
    for (name, tune), trials in frame.groupby(["method", "tune"], sort=False):
        settings = Cell(_settings(trials["parameters"]), style="wide")
        how = f"tuned by {_words(tune)}" if tune else "fixed"
        rows.append([method_title(name), settings, how, Cell(str(len(trials)), len(trials))])
    caption = "Methods, with their parameters or, where they are tuned, the values tried."
    return Table(caption, ["method", "parameters", "how", Head("trials")], rows)


def _settings(of_trials: Iterable[Mapping]) -> str:
    values: dict[str, dict[str, None]] = {}
    for parameters in of_trials:
        for name, value in parameters.items():
            tried = f"{{{', '.join(map(str, value))}}}" if isinstance(value, list) else str(value)
            values.setdefault(name, {})[tried] = None
    return "; ".join(f"{name} = {', '.join(found)}" for name, found in values.items()) or "its own"


def _environment(frame: pd.DataFrame) -> dict[str, str]:
    versions: dict[str, dict[str, None]] = {}
    for row in frame["versions"]:
        for name, version in row.items():
            versions.setdefault(name, {})[version] = None
    stamps = (min(frame["recorded"]), max(frame["recorded"]))
    return {
        "recorded": " to ".join(dict.fromkeys(stamp[:16].replace("T", " ") for stamp in stamps)) + " UTC",
        "machines": ", ".join(dict.fromkeys(host for host in frame["host"] if host)) or "–",
    } | {name: ", ".join(found) for name, found in versions.items()}


def _words(name: str) -> str:
    return name.replace("_", " ")


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"
