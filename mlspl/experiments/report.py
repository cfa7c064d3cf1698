"""`report.html`: everything a run found, on one page that needs nothing but a browser."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mlspl._files import write_file
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments._report_panel import describe_block, find_pace_function
from mlspl.experiments._report_run import describe_run, list_failures, list_warnings, rank_methods
from mlspl.experiments.comparison import compare
from mlspl.experiments.scores import criteria_in, score_table, standard_trials, summarise
from mlspl.experiments.store import Store
from mlspl.experiments.trial import Trial
from mlspl.metrics import CRITERIA
from mlspl.pages import render
from mlspl.recipes import METHODS

__all__ = ["write_report"]


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
    paced = scores.assign(function=[find_pace_function(trial) for _, trial in scores.iterrows()])
    paced = paced.dropna(subset=["function"])
    summary = summarise(standard) if len(standard) else pd.DataFrame(columns=["block", "criterion"])
    comparisons = [
        compare(standard, name, CRITERIA[name].greater_is_better) for name in criteria_in(standard)
    ]
    blocks = dict.fromkeys(summary["block"])
    page = render(
        "report.html",
        name=", ".join(dict.fromkeys(frame["dataset"])),
        **describe_run(frame, datasets, command),
        panels=[_describe(block, summary, standard, paced, comparisons, datasets) for block in blocks],
        ranks=rank_methods(comparisons),
        failures=list_failures(frame),
        warnings=list_warnings(frame),
    )
    write_file(path, page)
    return path


def _describe(block, summary, standard, paced, comparisons, datasets) -> dict[str, Any]:
    summary, standard, paced = (table[table["block"] == block] for table in (summary, standard, paced))
    dataset = datasets.get(standard["dataset"].iloc[0])
    return describe_block(block, summary, standard, paced, comparisons, dataset)
