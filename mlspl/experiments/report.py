"""`report.html`: everything a run found, on one page that needs nothing but a browser."""

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template

import pandas as pd

from mlspl._files import write_file
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments.comparison import Comparison, compare
from mlspl.experiments.page import overview
from mlspl.experiments.page.markup import Markup, tag
from mlspl.experiments.page.panels import pace_function_of, panel
from mlspl.experiments.scores import criteria_in, score_table, standard_trials, summarise
from mlspl.experiments.store import Store
from mlspl.experiments.trial import Trial
from mlspl.metrics import CRITERIA
from mlspl.recipes import METHODS

__all__ = ["write_report"]

_PAGE = Path(__file__).with_name("page")


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
    ...     trial = Trial("flags", "9c4f", "ml-knn", {"k": 10}, split=0)
    ...     store.record(trial, Outcome(scores={"one_error": 0.25}))
    ...     page = write_report(store, Path(folder) / "report.html").read_text(encoding="utf-8")
    >>> "0.2500" in page
    True
    """
    if trials is None:
        order = {name: i for i, name in enumerate(METHODS)}
        frame = store.frame().sort_values("method", key=lambda names: names.map(order), kind="stable")
    else:
        frame = store.frame(trial.key for trial in trials)
    if frame.empty:
        raise UserError(f"{store.path} holds none of the trials to report on; run `mlspl reproduce` first.")
    datasets = datasets or {}
    scores = score_table(frame)
    standard = score_table(standard_trials(frame))
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
        title=html.escape(f"mlspl: {names}"),
        style=_PAGE.joinpath("report.css").read_text(encoding="utf-8"),
        # Only this very script may run, whatever else should get into the page.
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        header="\n".join(overview.header(frame, command)),
        main="\n".join(
            [
                *overview.what_was_run(frame, datasets),
                *_results(summary, standard, paced, comparisons, datasets),
                *overview.ranks(comparisons),
                *overview.failures(frame),
                *overview.warnings(frame),
                *overview.environment(frame),
            ]
        ),
        footer="Written by mlspl. Every figure comes from results.db, where each trial is kept.",
    )
    write_file(path, page)
    return path


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
        panels.append(tag("section", content, id=f"block-{i}", class_="panel chosen" if i == 0 else "panel"))
    switch = tag("fieldset", tag("legend", "Data set"), choices, class_="switch")
    return [tag("h2", "Results"), tag("div", switch, panels)]
