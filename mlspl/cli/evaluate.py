"""`mlspl evaluate`: how good a saved model is on rows whose labels are known."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mlspl._files import replace_file
from mlspl._text import shown
from mlspl.cli.options import ForceOption, argument, flag, option
from mlspl.cli.predict import ModelArgument, apply_model, matched, open_model, row_blocks
from mlspl.cli.reading import Reading, open_labelled, with_reading
from mlspl.cli.scores import Scores, criteria_table, labels_table, score_rows, scores_text, tally_scores
from mlspl.cli.sources import STANDARD, check_target, counted, input_files, notes
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.persistence import ModelInfo

_SUFFIXES = (".csv", ".json")
_BEST = (1, 3, 5)


@with_reading("labels", "label_sep")
def evaluate(
    model: ModelArgument,
    data: Annotated[str, argument("DATA", "Rows with labels, in any format of `mlspl fit`; - is stdin.")],
    reading: Reading,
    out: Annotated[
        str | None, option("FILE", "Also write scores as .csv or .json; - is stdout.", "--out", "-o")
    ] = None,
    every: Annotated[bool, flag("--all", "Show all labels, not only 20.")] = False,
    force: ForceOption = False,
) -> None:
    """Compute all criteria of a model, and the scores of each label.

    Unknown labels (? or empty) are left out. Labels are read from the same
    columns as in training, unless --labels names others.
    """
    if out is not None:
        check_target(out, input_files(model, data, reading.labels), force)
        if out != STANDARD and Path(out).suffix.lower() not in _SUFFIXES:
            raise UserError(f"{out}: the suffix must be .csv or .json, for it says what to write.")
    estimator, info = open_model(model)
    dataset = open_labelled(data, info, reading)
    table = matched(dataset, info)
    scores = _score(estimator, table, dataset.Y, info, model)
    # Files first: what is shown may go to a pipe that is closed.
    if out not in (None, STANDARD):
        with replace_file(Path(out)) as target:
            target.write(scores_text(scores, Path(out).suffix.lower()))
    console = Console(stderr=out == STANDARD, highlight=False)
    rows = counted(dataset.Y.shape[0], "row")
    console.print(f"{shown(model.name)} on {rows} of {shown(dataset.name)}", soft_wrap=True)
    console.print(criteria_table(scores[0]))
    console.print()
    console.print(labels_table(scores[1], every))
    if out == STANDARD:
        typer.echo(scores_text(scores, ".json"), nl=False)
    elif out is not None:
        console.print(f"Wrote {shown(out)}", soft_wrap=True)


def _score(estimator: Any, table: Any, Y: Any, info: "ModelInfo", path: Path) -> Scores:
    """Every criterion; of more rows and labels than fit one block, added up block by block, without AUC."""
    from mlspl.metrics import Tally
    from mlspl.recipes import take_rows

    blocks = row_blocks(table.shape[0], len(info.label_names))
    tally = Tally(at=_BEST)
    for rows in blocks:
        some = take_rows(table, rows)
        F, P = apply_model(estimator, "scores_and_labels", some, info, path)
        with notes():
            if len(blocks) == 1:
                return score_rows(Y, F, P, info.label_names)
            tally.add(Y[rows], F, P)
    return tally_scores(tally, info.label_names)
