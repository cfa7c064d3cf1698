"""`mlspl predict`: the labels of new rows, by name."""

import csv
import io
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from mlspl import datasets
from mlspl._files import replacing
from mlspl._text import safe_cell, shown
from mlspl.cli.sources import STANDARD, check_target, counted, file_name, note, notes, spooled
from mlspl.datasets import Dataset
from mlspl.errors import UserError, listed
from mlspl.persistence import ModelInfo, read_model

__all__ = ["ModelArgument", "answer", "matched", "open_model", "predict"]

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `mlspl fit` has written.")]


def predict(
    model: ModelArgument,
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="New rows, in any format of `mlspl fit`; - for standard input."),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The CSV file; - is standard output.")
    ] = STANDARD,
    scores: Annotated[
        bool, typer.Option("--scores", help="Write real scores: the higher, the likelier.")
    ] = False,
    proba: Annotated[bool, typer.Option("--proba", help="Write probabilities.")] = False,
    top: Annotated[
        int | None, typer.Option(metavar="K", min=1, help="Write the names of the K best labels of each row.")
    ] = None,
) -> None:
    """Write the labels of new rows as CSV, one column a label.

    Columns are matched by name, in any order: extra ones are ignored and
    reported, missing ones are an error. Labels in the file are ignored.
    """
    if scores + proba + (top is not None) > 1:
        raise UserError("--scores, --proba and --top exclude one another: choose one.")
    check_target(out, model, data)
    estimator, info = open_model(model)
    if top is not None and top > len(info.label_names):
        raise UserError(f"--top {top}: the model knows {counted(len(info.label_names), 'label')} only.")
    table = matched(_open_rows(data, info), info)
    asked = "predict_proba" if proba else "decision_function" if scores or top else "predict"
    answers = answer(estimator, asked, table, info, model)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [safe_cell(name) for name in info.label_names]
    if top is not None:
        writer.writerow([f"label_{rank}" for rank in range(1, top + 1)])
        order = np.argsort(-answers, axis=1, kind="stable")[:, :top]
        writer.writerows([names[j] for j in row] for row in order.tolist())
    else:
        writer.writerow(names)
        writer.writerows(answers.tolist() if scores or proba else answers.astype(int).tolist())
    if out == STANDARD:
        typer.echo(stream.getvalue().encode(), nl=False)
        return
    with replacing(Path(out)) as target:
        target.write(stream.getvalue())
    Console(highlight=False, soft_wrap=True).print(f"Wrote {shown(out)}: {counted(len(answers), 'row')}")


def open_model(path: Path) -> tuple[Any, ModelInfo]:
    """The model of a file, and what the file says of it."""
    with notes():
        return read_model(path)


def matched(dataset: Dataset, info: ModelInfo) -> Any:
    """The rows with the columns of the model; columns that it does not know are said on standard error."""
    table, extra = info.schema.match(dataset)
    if extra:
        note(f"the model does not know, and ignores, {listed(extra)}.")
    return table


def answer(estimator: Any, method: str, table: Any, info: ModelInfo, path: Path) -> np.ndarray:
    """What the model says of the rows, of shape (rows, labels)."""
    if not hasattr(estimator, method):
        raise UserError(f"the model in {path} has no {method}.")
    try:
        with notes():
            answers = np.asarray(getattr(estimator, method)(table), dtype=float)
        if method == "predict_proba" and len(info.label_names) == 1:
            # A model fitted on a single column y answers with a column a class, the label's being the last.
            answers = answers[:, -1:]
        return answers.reshape(table.shape[0], len(info.label_names))
    except UserError:
        raise
    except Exception as error:
        # The types in a model file are checked, its values cannot all be.
        raise UserError(
            f"the model in {path} fails on these rows ({type(error).__name__}: {error}). It was written by "
            f"mlspl {info.versions.get('mlspl', '?')[:40]}. Was the file changed?"
        ) from error


def _open_rows(data: str, info: ModelInfo) -> Dataset:
    if data in datasets.list_datasets():
        return datasets.load_dataset(data, encode=False)
    with spooled(data) as path:
        rows = datasets.read_unlabelled(path, ignored=info.label_names)
    return replace(rows, name=file_name(data))
