"""What the report says of the whole run: what it was, who ranks where, what failed, and on which machine."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.page.charts import rank_diagram
from mlspl.experiments.page.markup import Cell, Head, Markup, number, table, tag
from mlspl.recipes import method_title

__all__ = ["environment", "failures", "header", "ranks", "warnings", "what_was_run"]

_SECONDS = ("tune_seconds", "fit_seconds", "predict_seconds")


def header(frame: pd.DataFrame, command: str) -> list[Markup]:
    """Return the title, the command and the run in a few numbers.

    Parameters
    ----------
    frame : DataFrame
        From :meth:`Store.frame`.
    command : str
        What was called; empty where it is not known.
    """
    failed = int(frame["error"].notna().sum())
    cards = {
        "data sets": len(set(frame["dataset"])),
        "methods": len(set(frame["method"])),
        "splits": len(set(frame["split"])),
        "trials": len(frame),
        "failed": failed,
        "computing time": _duration(float(frame[list(_SECONDS)].to_numpy().sum())),
    }
    parts = [
        tag("h1", "Multi-label methods, measured"),
        tag("p", "What mlspl found, beside what the paper prints where it prints anything."),
    ]
    if command:
        parts.append(tag("pre", tag("code", command)))
    parts.append(
        tag(
            "dl",
            [
                tag(
                    "div",
                    tag("dt", name),
                    tag("dd", str(value)),
                    class_="bad" if name == "failed" and failed else None,
                )
                for name, value in cards.items()
            ],
            class_="cards",
        )
    )
    return parts


def what_was_run(frame: pd.DataFrame, datasets: Mapping[str, Dataset]) -> list[Markup]:
    """Return the data sets, the methods and the protocol.

    Parameters
    ----------
    frame : DataFrame
        From :meth:`Store.frame`.
    datasets : mapping
        Those whose sizes are known.
    """
    rows: list[list[Cell | str]] = []
    for (name, fingerprint), trials in frame.groupby(["dataset", "fingerprint"], sort=False):
        about = datasets[name].describe() if name in datasets else None
        sizes = [about.n_rows, about.n_features, about.n_labels, about.cardinality] if about else []
        cells = [Cell(f"{size:g}" if isinstance(size, int) else number(size, 2), size) for size in sizes]
        shares = ", ".join(f"{100 * share:g} %" for share in sorted(set(trials["train"])))
        rows.append([name, *(cells or [Cell("–")] * 4), shares, fingerprint[:12]])
    heads = [Head("data set", numeric=False), Head("rows"), Head("features"), Head("labels")]
    heads += [Head("labels a row"), Head("trained on", numeric=False), Head("checksum", numeric=False)]
    data = table(
        "Data sets. Nominal features are counted as they are encoded, a column a value.", heads, rows
    )
    methods: list[list[Cell | str]] = []
    for (name, tune), trials in frame.groupby(["method", "tune"], sort=False):
        tuned = f"tuned by {tune.replace('_', ' ')}" if tune else "fixed"
        settings = Cell(tag("span", _settings(trials["parameters"]), class_="wide"))
        methods.append([method_title(name), settings, tuned, Cell(str(len(trials)), len(trials))])
    heads = [Head("method", numeric=False), Head("parameters", numeric=False)]
    heads += [Head("how", numeric=False), Head("trials")]
    how = table("Methods, with their parameters or, where they are tuned, the values tried.", heads, methods)
    corruption = ", ".join(kind for kind in dict.fromkeys(frame["corruption"]) if kind)
    protocol = [
        "Split s of n rows: p = np.random.RandomState(s).permutation(n); the first int(share · n) rows of p "
        "are trained on, the rest are tested on. Features are z-scored with the training rows' mean and "
        "deviation. ",
        f"Training labels were corrupted: {corruption}."
        if corruption
        else "No training label was corrupted.",
    ]
    return [tag("h2", "What was run"), data, how, tag("p", protocol)]


def _settings(of_trials: Iterable[Mapping]) -> str:
    values: dict[str, dict[str, None]] = {}
    for parameters in of_trials:
        for name, value in parameters.items():
            tried = f"{{{', '.join(map(str, value))}}}" if isinstance(value, list) else str(value)
            values.setdefault(name, {})[tried] = None
    return "; ".join(f"{name} = {', '.join(found)}" for name, found in values.items()) or "its own"


def ranks(comparisons: Sequence[Comparison]) -> list[Markup]:
    """Return average ranks and critical-difference diagrams, where there are data sets enough.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per criterion.
    """
    ranked = [(comparison, comparison.ranking) for comparison in comparisons if comparison.ranking]
    notes = dict.fromkeys(note for comparison in comparisons for note in comparison.notes)
    if not ranked:
        return []
    methods = ranked[0][0].methods
    heads = [Head("criterion", numeric=False), *(Head(method_title(name)) for name in methods)]
    heads.append(Head("Friedman p"))
    rows: list[list[Cell | str]] = []
    for comparison, ranking in ranked:
        best = ranking.ranks.min()
        cells = [Cell(number(rank, 2), rank, rank == best) for rank in ranking.ranks]
        p_value = Cell(number(ranking.friedman.p_value), ranking.friedman.p_value)
        rows.append([comparison.criterion.replace("_", " "), *cells, p_value])
    diagrams = [
        rank_diagram(comparison.criterion.replace("_", " "), ranking.ranks, ranking.distance)
        for comparison, ranking in ranked
    ]
    n_blocks = len(ranked[0][0].means)
    return [
        tag("h2", "Over all data sets"),
        table(f"Average ranks over {n_blocks} data sets, 1 being best.", heads, rows),
        tag("div", diagrams, class_="charts"),
        tag(
            "p",
            "Methods stand at their average ranks, the best at the left. A bar joins those that lie closer "
            "together than Nemenyi's critical difference (α = 0.05): the data sets cannot tell them apart.",
            class_="note",
        ),
        *(tag("p", note, class_="note") for note in notes),
    ]


def failures(frame: pd.DataFrame) -> list[Markup]:
    """Return the trials that gave no scores, with their errors.

    Parameters
    ----------
    frame : DataFrame
        From :meth:`Store.frame`.
    """
    failed = frame[frame["error"].notna()]
    if failed.empty:
        return []
    rows = [
        [
            method_title(row.method),
            row.dataset,
            Cell(str(row.split), row.split),
            Cell(tag("span", row.error, class_="error")),
        ]
        for row in failed.itertuples()
    ]
    heads = [Head("method", numeric=False), Head("data set", numeric=False), Head("split")]
    heads.append(Head("error", numeric=False))
    caption = "These trials gave no scores; the same command tries them again."
    return [tag("h2", "Failed trials"), table(caption, heads, rows, "tall")]


def warnings(frame: pd.DataFrame) -> list[Markup]:
    """Return what the methods warned of, and how often.

    Parameters
    ----------
    frame : DataFrame
        From :meth:`Store.frame`.
    """
    counts = Counter(
        (row.method, row.dataset, warning) for row in frame.itertuples() for warning in row.warnings
    )
    if not counts:
        return []
    rows = [
        [method_title(method), dataset, Cell(str(count), count), Cell(tag("span", text, class_="error"))]
        for (method, dataset, text), count in counts.most_common()
    ]
    heads = [Head("method", numeric=False), Head("data set", numeric=False)]
    heads += [Head("trials", largest_first=True), Head("warning", numeric=False)]
    return [tag("h2", "Warnings"), table("What the methods warned of.", heads, rows, "tall")]


def environment(frame: pd.DataFrame) -> list[Markup]:
    """Return when, where and with which versions it ran.

    Parameters
    ----------
    frame : DataFrame
        From :meth:`Store.frame`.
    """
    versions: dict[str, dict[str, None]] = {}
    for row in frame["versions"]:
        for name, version in row.items():
            versions.setdefault(name, {})[version] = None
    facts = {
        "recorded": " to ".join(
            dict.fromkeys(
                stamp[:16].replace("T", " ") for stamp in (min(frame["recorded"]), max(frame["recorded"]))
            )
        )
        + " UTC",
        "machines": ", ".join(dict.fromkeys(host for host in frame["host"] if host)) or "–",
    } | {name: ", ".join(found) for name, found in versions.items()}
    pairs = [[tag("dt", name), tag("dd", value)] for name, value in facts.items()]
    return [tag("h2", "Environment"), tag("dl", pairs, class_="pairs")]


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"
