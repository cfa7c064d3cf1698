"""What a run leaves behind in its folder: tables, figures, statistics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from mlspl._files import write_file
from mlspl._text import file_stem, safe_csv
from mlspl.experiments.comparison import Comparison, compare
from mlspl.experiments.figures import critical_difference_figure, pace_function_figure, save_figure
from mlspl.experiments.scores import criteria_in, score_table, standard_trials, summarise
from mlspl.experiments.store import Store
from mlspl.experiments.tables import latex_tables, markdown_tables
from mlspl.experiments.trial import Trial
from mlspl.metrics import CRITERIA

__all__ = ["Results", "write_comparisons", "write_results"]


@dataclass(frozen=True)
class Results:
    """The numbers of a run and the files that show them.

    Parameters
    ----------
    summary : DataFrame
        From :func:`summarise`.
    comparisons : list of Comparison
        One per criterion.
    files : list of Path
        What was written.
    """

    summary: pd.DataFrame
    comparisons: list[Comparison]
    files: list[Path]


def write_results(store: Store, trials: Iterable[Trial], out: Path, functions: Sequence[str] = ()) -> Results:
    """Write the tables, figures and tests of these trials, as far as the store has them.

    Parameters
    ----------
    store : Store
        Their outcomes.
    trials : iterable of Trial
        Which of them.
    out : Path
        The folder.
    functions : sequence of str
        The self-paced functions of the figure; none, no figure.
    """
    frame = store.frame(trial.key for trial in trials)
    scores = score_table(standard_trials(frame))
    if scores.empty:
        return Results(pd.DataFrame(), [], [])
    summary = summarise(scores)
    files: list[Path] = []
    for name, part in summary.groupby("dataset", sort=False):
        files.append(_unused(out / f"{file_stem(str(name))}.csv", files))
        write_file(files[-1], safe_csv(part))
    for path, text in (
        (out / "tables.md", markdown_tables(summary)),
        (out / "tables.tex", latex_tables(summary)),
    ):
        write_file(path, text)
        files.append(path)
    if functions:
        files += save_figure(pace_function_figure(score_table(frame), functions), out, "pace-functions")
    comparisons = [compare(scores, name, CRITERIA[name].greater_is_better) for name in criteria_in(scores)]
    files += write_comparisons(comparisons, out)
    return Results(summary, comparisons, files)


def write_comparisons(comparisons: Sequence[Comparison], out: Path, alpha: float = 0.05) -> list[Path]:
    """Write every pair's test as `pairs.csv` and, where there are ranks, the critical-difference diagrams.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per criterion.
    out : Path
        The folder.
    alpha : float, default=0.05
        The level they were made with.

    Returns
    -------
    list of Path
        What was written.
    """
    files = []
    tested = [comparison.pairs.assign(criterion=comparison.criterion) for comparison in comparisons]
    tested = [pairs for pairs in tested if len(pairs)]
    if tested:
        columns = ["criterion", "block", "better", "worse", "difference", "blocks", "p", "p_holm"]
        files.append(out / "pairs.csv")
        write_file(files[0], safe_csv(pd.concat(tested)[columns]))
    if any(comparison.ranking for comparison in comparisons):
        files += save_figure(critical_difference_figure(comparisons, alpha), out, "critical-difference")
    return files


def _unused(path: Path, used: Sequence[Path]) -> Path:
    """The path, or one with a number where names that differ have become the same."""
    number, stem = 1, path.stem
    while path in used:
        number += 1
        path = path.with_stem(f"{stem} ({number})")
    return path
