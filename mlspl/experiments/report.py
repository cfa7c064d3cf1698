"""`report.html`: everything a run found, on one page that needs nothing but a browser."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments.comparison import Comparison, compare
from mlspl.experiments.methods import is_standard, method_title
from mlspl.experiments.page import Cell, Head, Markup, panel, rank_diagram, table, tag
from mlspl.experiments.page.markup import number
from mlspl.experiments.page.panels import pace_function_of
from mlspl.experiments.scores import criteria_in, score_table, summarise
from mlspl.experiments.store import Store
from mlspl.experiments.trial import Trial
from mlspl.metrics import CRITERIA

__all__ = ["write_report"]

_PAGE = Path(__file__).with_name("page")
_SECONDS = ("tune_seconds", "fit_seconds", "predict_seconds")


def write_report(
    store: Store,
    path: Path,
    trials: Iterable[Trial] | None = None,
    datasets: Mapping[str, Dataset] | None = None,
    command: str = "",
) -> Path:
    """Write the report of a run: one HTML file with its styles, its script and its figures inside.

    Parameters
    ----------
    store : Store
        The outcomes.
    path : Path
        The file to write.
    trials : iterable of Trial, optional
        Which trials it is about; by default all in the store.
    datasets : mapping, optional
        The data sets by name; without them the page does not tell their sizes and label names.
    command : str, default=""
        The command that ran them.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl.experiments import Outcome, Store, Trial
    >>> with tempfile.TemporaryDirectory() as folder, Store(f"{folder}/results.db") as store:
    ...     store.record(Trial("flags", "9c4f", "ml-knn", {"k": 10}, split=0), Outcome(scores={"one_error": 0.25}))
    ...     page = write_report(store, Path(folder) / "report.html").read_text(encoding="utf-8")
    >>> "0.2500" in page
    True
    """
    frame = store.frame(None if trials is None else (trial.key for trial in trials))
    datasets = datasets or {}
    scores = score_table(frame)
    standard = score_table(frame[frame.apply(_is_standard, axis=1).astype(bool)])
    # The names of the blocks are those of all trials, so that both tables agree.
    standard["block"] = list(scores.set_index("key").loc[standard["key"], "block"])
    paced = scores.assign(function=[pace_function_of(trial) for _, trial in scores.iterrows()])
    paced = paced.dropna(subset=["function"])
    summary = summarise(standard) if len(standard) else pd.DataFrame(columns=["block", "criterion"])
    comparisons = [
        compare(standard, name, CRITERIA[name].greater_is_better) for name in criteria_in(standard)
    ]
    script = _PAGE.joinpath("report.js").read_text(encoding="utf-8")
    names = ", ".join(dict.fromkeys(frame["dataset"]))
    page = Template(_PAGE.joinpath("report.html").read_text(encoding="utf-8")).substitute(
        title=_text(f"mlspl: {names}"),
        style=_PAGE.joinpath("report.css").read_text(encoding="utf-8"),
        # Only this very script may run, whatever else should get into the page.
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        header=_header(frame, command),
        main="\n".join(
            [
                *_what_was_run(frame, datasets),
                *_results(summary, standard, paced, comparisons, datasets),
                *_ranks(comparisons),
                *_failures(frame),
                *_warnings(frame),
                *_environment(frame),
            ]
        ),
        footer=_text("Written by mlspl. Every figure comes from results.db, where each trial is kept."),
    )
    path.write_text(page, encoding="utf-8")
    return path


def _is_standard(trial: pd.Series) -> bool:
    return is_standard(trial["method"], trial["parameters"], trial["tune"])


def _text(text: str) -> str:
    return tag("p", text)[3:-4]


def _header(frame: pd.DataFrame, command: str) -> str:
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
    return "\n".join(parts)


def _what_was_run(frame: pd.DataFrame, datasets: Mapping[str, Dataset]) -> list[Markup]:
    rows = []
    for (name, fingerprint), trials in frame.groupby(["dataset", "fingerprint"], sort=False):
        about = datasets[name].describe() if name in datasets else None
        sizes = [about.n_rows, about.n_features, about.n_labels, about.cardinality] if about else []
        cells = [Cell(f"{size:g}" if isinstance(size, int) else number(size, 2), size) for size in sizes]
        shares = ", ".join(f"{100 * share:g} %" for share in sorted(set(trials["train"])))
        rows.append([name, *(cells or [Cell("–")] * 4), shares, fingerprint[:12]])
    heads = [Head("data set", numeric=False), Head("rows"), Head("features"), Head("labels")]
    heads += [Head("labels a row"), Head("trained on", numeric=False), Head("checksum", numeric=False)]
    data = table("Data sets. Nominal features are counted as they are encoded, a column a value.", heads, rows)
    methods = []
    for (name, tune), trials in frame.groupby(["method", "tune"], sort=False):
        settings = dict.fromkeys(_settings(parameters) for parameters in trials["parameters"])
        tuned = f"tuned by {tune.replace('_', ' ')}" if tune else "fixed"
        methods.append(
            [
                method_title(name),
                Cell([[tag("br")] * bool(i) + [text] for i, text in enumerate(settings)]),
                tuned,
                Cell(str(len(trials)), len(trials)),
            ]
        )
    heads = [Head("method", numeric=False), Head("parameters", numeric=False)]
    heads += [Head("how", numeric=False), Head("trials")]
    how = table("Methods, with their parameters or, where they are tuned, the values tried.", heads, methods)
    corruption = ", ".join(kind for kind in dict.fromkeys(frame["corruption"]) if kind)
    protocol = [
        "Split s of n rows: p = np.random.RandomState(s).permutation(n); the first int(share · n) rows of p are "
        "trained on, the rest are tested on. Features are z-scored with the training rows' mean and deviation. ",
        f"Training labels were corrupted: {corruption}."
        if corruption
        else "No training label was corrupted.",
    ]
    return [tag("h2", "What was run"), data, how, tag("p", protocol)]


def _settings(parameters: Mapping) -> str:
    words = []
    for name, value in parameters.items():
        if isinstance(value, list):
            value = f"{{{', '.join(map(str, value))}}}"
        words.append(f"{name} = {value}")
    return ", ".join(words) or "its own"


def _results(
    summary: pd.DataFrame,
    standard: pd.DataFrame,
    paced: pd.DataFrame,
    comparisons: Sequence[Comparison],
    datasets: Mapping[str, Dataset],
) -> list[Markup]:
    blocks = list(dict.fromkeys(summary["block"]))
    if not blocks:
        return []
    choices, panels = [], []
    for i, block in enumerate(blocks):
        of_block = standard[standard["block"] == block]
        choice = tag(
            "input", type="radio", name="block", value=f"block-{i}", checked=i == 0, autocomplete="off"
        )
        choices.append(tag("label", choice, tag("span", block)))
        content = panel(
            block,
            summary[summary["block"] == block],
            of_block,
            paced[paced["block"] == block],
            comparisons,
            datasets.get(of_block["dataset"].iloc[0]),
        )
        panels.append(
            tag("section", content, id=f"block-{i}", class_="panel chosen" if i == 0 else "panel")
        )
    switch = tag("fieldset", tag("legend", "Data set"), choices, class_="switch")
    return [tag("h2", "Results"), tag("div", switch, panels)]


def _ranks(comparisons: Sequence[Comparison]) -> list[Markup]:
    ranked = [(comparison, comparison.ranking) for comparison in comparisons if comparison.ranking]
    notes = dict.fromkeys(note for comparison in comparisons for note in comparison.notes)
    if not ranked:
        return []
    methods = ranked[0][0].methods
    heads = [Head("criterion", numeric=False), *(Head(method_title(name)) for name in methods)]
    heads.append(Head("Friedman p"))
    rows = []
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
            "Methods stand at their average ranks, the best at the left. A bar joins those that lie closer together "
            "than Nemenyi's critical difference (α = 0.05): the data sets cannot tell them apart.",
            class_="note",
        ),
        *(tag("p", note, class_="note") for note in notes),
    ]


def _failures(frame: pd.DataFrame) -> list[Markup]:
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


def _warnings(frame: pd.DataFrame) -> list[Markup]:
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


def _environment(frame: pd.DataFrame) -> list[Markup]:
    versions: dict[str, dict[str, None]] = {}
    for row in frame["versions"]:
        for name, version in row.items():
            versions.setdefault(name, {})[version] = None
    facts = {
        "recorded": " to ".join(
            dict.fromkeys(stamp[:16].replace("T", " ") for stamp in (min(frame["recorded"]), max(frame["recorded"])))
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
