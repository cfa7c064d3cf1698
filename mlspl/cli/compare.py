"""`mlspl compare`: which method is better on one's own data, and is it more than luck?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mlspl._names import split_names
from mlspl._text import printable, shown
from mlspl.cli.names import CRITERION_NAMES, METHOD_NAMES
from mlspl.cli.reading import Reading, with_reading
from mlspl.cli.sources import STANDARD, check_folder
from mlspl.cli.trials import open_datasets, report_trials
from mlspl.errors import UserError

__all__ = ["compare"]

_FOLDS = 10


@with_reading()
def compare(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="Your data, or their known name; or scores: a results.db, or a CSV."
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(help=f"Compare these on the data, by commas: {', '.join(METHOD_NAMES)}; + tunes."),
    ] = "",
    folds: Annotated[
        int | None, typer.Option(help="Folds of the cross-validation.", show_default=str(_FOLDS), min=2)
    ] = None,
    tune: Annotated[
        str,
        typer.Option(
            metavar="CRITERION",
            help=f"Tune all methods on the training rows by one of {', '.join(CRITERION_NAMES)}.",
        ),
    ] = "",
    jobs: Annotated[int | None, typer.Option(help="Processes.", show_default="all cores", min=1)] = None,
    criterion: Annotated[
        list[str] | None, typer.Option(help="Show every pair by this criterion; may be repeated.")
    ] = None,
    higher: Annotated[str, typer.Option(help="Further columns where higher is better, by commas.")] = "",
    lower: Annotated[str, typer.Option(help="Further columns where lower is better, by commas.")] = "",
    variants: Annotated[
        bool,
        typer.Option("--variants", help="Also methods under other parameters, such as MLSPL's functions."),
    ] = False,
    alpha: Annotated[float, typer.Option(help="Level of significance.")] = 0.05,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for tables and diagrams.", show_default="comparison, or that of scores"),
    ] = None,
    *,
    reading: Reading,
) -> None:
    """Compare methods on your own data, or scores that you have.

    With --methods, FILE holds data: the methods are cross-validated on the same
    folds, and OUT gets tables, tests, diagrams and report.html; the same command
    goes on where it was stopped. Without, FILE holds scores: a results.db, or a
    CSV with the columns dataset, method, split and one for each criterion.
    Tests: Wilcoxon with Holm over splits, Friedman and Nemenyi over data sets.
    """
    if not 0 < alpha < 1:
        raise UserError(f"--alpha must lie between 0 and 1; it is {alpha:g}.")
    if methods:
        if higher or lower or variants:
            raise UserError("--higher, --lower and --variants are for scores, and --methods is for data.")
        _compare_methods(file, reading, methods, folds, tune, jobs, criterion or [], out)
        return
    if reading != Reading.of() or folds or tune or jobs:
        raise UserError("name the methods to compare on the data, such as --methods mlspl-cv,logistic.")
    _compare_scores(Path(file), criterion or [], higher, lower, variants, alpha, out)


def _compare_methods(
    source: str,
    reading: Reading,
    methods: str,
    folds: int | None,
    tune: str,
    jobs: int | None,
    criteria: list[str],
    out: Path | None,
) -> None:
    """Cross-validate the methods on the data."""
    from mlspl import experiments, metrics
    from mlspl.recipes import get_method

    folder = out or Path("comparison")
    check_folder(folder)
    if source == STANDARD:
        raise UserError("standard input cannot be read again when the command goes on. Name the file.")
    for name in criteria:
        if name not in metrics.CRITERIA:
            metrics.get_criterion(name)
            raise UserError(f"{name} is not among what a comparison measures.")
    chosen = split_names(methods)
    for name in chosen:
        get_method(name)
    data = open_datasets([source], reading)
    trials = experiments.plan_trials(data, chosen, folds=folds or _FOLDS, tune=tune)
    report_trials(trials, data, folder, Console(highlight=False), jobs=jobs, criteria=criteria)


def _compare_scores(
    file: Path,
    criteria: list[str],
    higher: str,
    lower: str,
    variants: bool,
    alpha: float,
    out: Path | None,
) -> None:
    """Test methods against each other by scores from anywhere."""
    from mlspl import experiments

    further = dict.fromkeys(split_names(higher), True) | dict.fromkeys(split_names(lower), False)
    scores = experiments.read_scores(file, criteria=[*further, *criteria], variants=variants)
    directions = experiments.known_directions(scores) | further
    if not directions:
        raise UserError(
            f"No column of {file} is a criterion that mlspl knows; name yours with --higher or --lower."
        )
    unknown = [name for name in criteria if name not in directions]
    if unknown:
        raise UserError(f"Is more {unknown[0]} better or worse? Name it with --higher or --lower.")

    comparisons = [experiments.compare(scores, name, greater, alpha) for name, greater in directions.items()]
    console = Console(highlight=False)
    for table in (
        experiments.ranks_table(comparisons),
        experiments.wins_table(comparisons, alpha),
        *(experiments.pairs_table(one, alpha) for one in comparisons if one.criterion in criteria),
    ):
        if table is not None:
            console.print(table)
    if not any(comparison.ranking for comparison in comparisons):
        console.print("Ranks need scores of three methods or more, all of them on at least two data sets.")
    for note in dict.fromkeys(note for comparison in comparisons for note in comparison.notes):
        console.print(printable(note), markup=False)
    folder = out or file.parent
    folder.mkdir(parents=True, exist_ok=True)
    for path in experiments.write_comparisons(comparisons, folder, alpha):
        console.print(f"Wrote {shown(str(path))}", soft_wrap=True)
