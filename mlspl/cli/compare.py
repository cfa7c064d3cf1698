"""`mlspl compare`: compare methods on data, or test scores of any origin."""

from pathlib import Path
from typing import Annotated

from rich.console import Console

from mlspl._files import OutputFolder
from mlspl._names import split_names
from mlspl._text import printable, shown
from mlspl.cli import files, options
from mlspl.cli.options import ForceOption, Reading, argument, option, with_reading
from mlspl.cli.reproduce import open_datasets, report_trials
from mlspl.errors import UserError

_FOLDS = 10


@with_reading()
def compare(
    file: Annotated[
        str,
        argument("FILE", "With --methods: data or a data set's name. Without: results.db or CSV of scores."),
    ],
    methods: Annotated[str, option("NAMES", f"Methods, separated by commas: {options.METHOD_NAMES}.")] = "",
    folds: Annotated[int | None, option("N", "Number of folds.", show_default=str(_FOLDS), min=2)] = None,
    tune: options.TuneOption = "",
    jobs: options.JobsOption = None,
    criterion: Annotated[
        list[str] | None, option("CRITERION", "Print all pairs by this criterion; may be repeated.")
    ] = None,
    higher: Annotated[str, option("COLUMNS", "Other columns where higher is better.")] = "",
    lower: Annotated[str, option("COLUMNS", "Other columns where lower is better.")] = "",
    alpha: Annotated[float, option("P", "Significance level.")] = 0.05,
    out: Annotated[Path, option("DIR", "Output folder.")] = Path("comparison"),
    force: ForceOption = False,
    *,
    reading: Reading,
) -> None:
    """Compare methods on your data, or compare existing scores.

    With --methods, FILE holds data. The methods are cross-validated on the same
    folds; tables, tests, diagrams and report.html are written to --out. Run the
    same command again to continue a stopped run.

    Without --methods, FILE holds scores: a results.db, or a CSV with the columns
    dataset, method, split and one column per criterion.

    Tests: Wilcoxon with Holm's correction over splits; Friedman and Nemenyi over
    data sets.
    """
    from mlspl import experiments, metrics
    from mlspl.recipes import get_method

    if not 0 < alpha < 1:
        raise UserError(f"--alpha must lie between 0 and 1; it is {alpha:g}.")
    console = Console(highlight=False, soft_wrap=True)
    criteria = criterion or []
    if methods:
        if higher or lower:
            raise UserError("--higher and --lower are for scores, and --methods is for data.")
        outputs = OutputFolder(out, files.input_files(file, reading.labels), force=force)
        if file == files.STANDARD:
            raise UserError("standard input cannot be read again when the command goes on. Name the file.")
        for name in criteria:
            if name not in metrics.CRITERIA:
                metrics.get_criterion(name)
                raise UserError(f"{name} is not one of the criteria here: {', '.join(metrics.CRITERIA)}.")
        chosen = split_names(methods)
        for name in chosen:
            get_method(name)
        outputs.check(experiments.RESULT_FILES)
        data = open_datasets([file], reading)
        trials = experiments.plan_trials(data, chosen, folds=folds or _FOLDS, tune=tune)
        report_trials(trials, data, outputs, console, jobs=jobs, criteria=criteria)
        return

    if reading != Reading() or folds or tune or jobs:
        raise UserError("name the methods to compare on the data, such as --methods mlspl-cv,logistic.")
    outputs = OutputFolder(out, [file], force=force)
    outputs.check(experiments.RESULT_FILES)
    further = dict.fromkeys(split_names(higher), True) | dict.fromkeys(split_names(lower), False)
    scores = experiments.read_scores(file, criteria=[*further, *criteria])
    directions = experiments.known_directions(scores) | further
    if not directions:
        raise UserError(
            f"mlspl knows no column of {file} as a criterion; name yours with --higher or --lower."
        )
    if unknown := [name for name in criteria if name not in directions]:
        raise UserError(f"The direction of {unknown[0]} is unknown. Name it with --higher or --lower.")
    comparisons = [experiments.compare(scores, name, greater, alpha) for name, greater in directions.items()]
    for table in experiments.text_tests(comparisons, criteria, console.width, alpha):
        console.print(table, markup=False)
    if not any(comparison.ranking for comparison in comparisons):
        console.print("Ranks need at least three methods with scores on at least two data sets.")
    for note in dict.fromkeys(note for comparison in comparisons for note in comparison.notes):
        console.print(printable(note), markup=False)
    for path in experiments.write_comparisons(comparisons, outputs, alpha):
        console.print(f"Wrote {shown(str(path))}")
