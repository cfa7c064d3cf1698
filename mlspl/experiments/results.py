"""Results of a run: computed once from its trials, and written as tables, figures and a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from mlspl._files import OutputFolder
from mlspl._text import safe_csv
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments.comparison import Comparison, compare
from mlspl.experiments.figures import critical_difference_figure, pace_function_figure, save_figure
from mlspl.experiments.report import render_report
from mlspl.experiments.scores import criteria_in, score_table, standard_trials, summarise
from mlspl.experiments.store import Store
from mlspl.experiments.tables import latex_tables, markdown_tables
from mlspl.experiments.trial import Trial
from mlspl.metrics import CRITERIA
from mlspl.recipes import METHODS

_COMPARISON_FILES = ("pairs.csv", "critical-difference.png", "critical-difference.svg")
RESULT_FILES = (
    *("means.csv", "tables.md", "tables.tex", "report.html", "pace-functions.png", "pace-functions.svg"),
    *_COMPARISON_FILES,
)
"""All files that `write_results` may write."""


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


def collect_results(
    store: Store, trials: Iterable[Trial] | None = None, criteria: Sequence[str] = ()
) -> Results:
    """Compute the means and tests of trials, as far as the store has them; by default of all its trials."""
    if trials is None:
        order = {name: number for number, name in enumerate(METHODS)}
        frame = store.frame().sort_values("method", key=lambda names: names.map(order), kind="stable")
    else:
        frame = store.frame(trial.key for trial in trials)
    scores, standard = score_table(frame), score_table(standard_trials(frame))
    if len(standard):
        # Blocks are named by all trials, so that both tables agree.
        standard["block"] = list(scores.set_index("key").loc[standard["key"], "block"])
    summary = summarise(standard) if len(standard) else pd.DataFrame(columns=["block", "criterion"])
    tested = [name for name in dict.fromkeys((*criteria_in(standard), *criteria)) if name in standard]
    comparisons = [compare(standard, name, CRITERIA[name].greater_is_better) for name in tested]
    return Results(frame, scores, standard, summary, comparisons)


def write_results(
    store: Store,
    trials: Iterable[Trial],
    out: Path | OutputFolder,
    functions: Sequence[str] = (),
    datasets: Mapping[str, Dataset] | None = None,
    command: str = "",
    criteria: Sequence[str] = (),
) -> Results:
    """Write tables, figures, tests and `report.html` of trials, as far as the store has them.

    Parameters
    ----------
    store : Store
        Outcomes of the trials.
    trials : iterable of Trial
        Which trials.
    out : Path or OutputFolder
        The folder.
    functions : sequence of str
        Self-paced functions of the figure; without any there is no figure.
    datasets : mapping, optional
        The data sets by name; without them the page does not show their sizes and label names.
    command : str, default=""
        The command that ran the trials.
    criteria : sequence of str
        Criteria to test in addition to those that are always reported.
    """
    outputs = out if isinstance(out, OutputFolder) else OutputFolder(out)
    results = collect_results(store, trials, criteria)
    files = results.files
    if len(results.standard):
        files.append(outputs.write("means.csv", safe_csv(results.summary)))
        files.append(outputs.write("tables.md", markdown_tables(results.summary)))
        files.append(outputs.write("tables.tex", latex_tables(results.summary)))
        if functions:
            figure = pace_function_figure(results.scores, functions)
            files += save_figure(figure, outputs, "pace-functions")
        files += write_comparisons(results.comparisons, outputs)
    if len(results.frame):
        files.append(outputs.write("report.html", render_report(results, datasets or {}, command)))
    return results


def write_report(
    store: Store,
    path: Path,
    datasets: Mapping[str, Dataset] | None = None,
    command: str = "",
    overwrite: bool = False,
) -> Path:
    """Write the report of all trials of a store: one HTML file with its script and figures inside.

    Parameters
    ----------
    store : Store
        Outcomes of the trials.
    path : Path
        The file to write.
    datasets, command
        As in :func:`write_results`.
    overwrite : bool, default=False
        Whether to replace a file that `write_report` did not write.
    """
    results = collect_results(store)
    if results.frame.empty:
        raise UserError(f"{store.path} holds no trials. Run `mlspl reproduce` first.")
    outputs = OutputFolder(path.parent, [store.path], force=overwrite)
    return outputs.write(path.name, render_report(results, datasets or {}, command))


def write_comparisons(
    comparisons: Sequence[Comparison], outputs: OutputFolder, alpha: float = 0.05
) -> list[Path]:
    """Write every pair's test as `pairs.csv` and, where there are ranks, the critical-difference diagrams."""
    files = []
    tested = [one.pairs.assign(criterion=one.criterion) for one in comparisons if len(one.pairs)]
    if tested:
        columns = ["criterion", "block", "better", "worse", "difference", "blocks", "p", "p_holm"]
        files.append(outputs.write("pairs.csv", safe_csv(pd.concat(tested)[columns])))
    if any(comparison.ranking for comparison in comparisons):
        files += save_figure(critical_difference_figure(comparisons, alpha), outputs, "critical-difference")
    return files
