"""`mlspl evaluate`: how good a saved model is on rows whose labels are known."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mlspl._files import replacing
from mlspl._text import shown
from mlspl.cli.datasets import open_dataset
from mlspl.cli.predict import ModelArgument, answer, matched, open_model
from mlspl.cli.scores import criteria_table, labels_table, score_rows, scores_text
from mlspl.cli.sources import STANDARD, check_target, counted, file_name, notes
from mlspl.datasets import Dataset, list_datasets
from mlspl.errors import UserError

__all__ = ["evaluate"]

_SUFFIXES = (".csv", ".json")


def evaluate(
    model: ModelArgument,
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Rows with their labels, in any format of `mlspl fit`; or -."),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Also write the scores: .csv or .json; - is JSON on standard output.",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all labels, not 20.")] = False,
) -> None:
    """Score a model by all criteria, overall and label by label.

    Pairs whose label is unknown (?, empty) are left out.
    """
    if out is not None:
        check_target(out, model, data)
        if out != STANDARD and Path(out).suffix.lower() not in _SUFFIXES:
            raise UserError(f"{out}: the suffix must be .csv or .json, for it says what to write.")
    estimator, info = open_model(model)
    dataset = _in_order(replace(_open(data, info.label_names), name=file_name(data)), info.label_names)
    table = matched(dataset, info)
    F = answer(estimator, "decision_function", table, info, model)
    P = answer(estimator, "predict", table, info, model)
    with notes():
        scores = score_rows(dataset.Y, F, P, info.label_names)
    # Files first: what is shown may go to a pipe that is closed.
    if out not in (None, STANDARD):
        with replacing(Path(out)) as target:
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


def _open(data: str, label_names: list[str]) -> Dataset:
    return open_dataset(data, None if data in list_datasets() else label_names, encode=False)


def _in_order(dataset: Dataset, label_names: list[str]) -> Dataset:
    """The data set with the labels of the model, in its order."""
    position = {name: j for j, name in enumerate(dataset.label_names)}
    if missing := [name for name in label_names if name not in position]:
        raise UserError(f"{dataset.name} has no label {missing[0]!r}, which the model predicts.")
    return replace(dataset, Y=dataset.Y[:, [position[name] for name in label_names]], label_names=label_names)
