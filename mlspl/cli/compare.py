"""`mlspl compare`: is one method really better than another?"""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mlspl._text import printable, shown
from mlspl.errors import UserError

__all__ = ["compare"]


def compare(
    file: Annotated[Path, typer.Argument(help="A results.db of `mlspl reproduce`, or a CSV file.")],
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
        Path | None, typer.Option(help="Folder for pairs.csv and the diagrams.", show_default="that of FILE")
    ] = None,
) -> None:
    """Test methods against each other: Wilcoxon with Holm, Friedman, Nemenyi.

    A CSV has the columns dataset, method, split and one for each criterion.
    """
    if not 0 < alpha < 1:
        raise UserError(f"--alpha must lie between 0 and 1; it is {alpha:g}.")
    from mlspl import experiments

    further = dict.fromkeys(_names(higher), True) | dict.fromkeys(_names(lower), False)
    scores = experiments.read_scores(file, criteria=[*further, *(criterion or [])], variants=variants)
    directions = experiments.known_directions(scores) | further
    if not directions:
        raise UserError(
            f"No column of {file} is a criterion that mlspl knows; name yours with --higher or --lower."
        )
    unknown = [name for name in criterion or [] if name not in directions]
    if unknown:
        raise UserError(f"Is more {unknown[0]} better or worse? Name it with --higher or --lower.")

    comparisons = [experiments.compare(scores, name, greater, alpha) for name, greater in directions.items()]
    console = Console(highlight=False)
    for table in (
        experiments.ranks_table(comparisons),
        experiments.wins_table(comparisons, alpha),
        *(experiments.pairs_table(one, alpha) for one in comparisons if one.criterion in (criterion or [])),
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


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
