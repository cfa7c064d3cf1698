"""`mlspl predict`: the labels of new rows, by name; `mlspl export`: the model as ONNX."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console

from mlspl._files import replace_file, write_file
from mlspl._names import split_names
from mlspl._text import printable, shown
from mlspl.cli import files, output
from mlspl.cli.options import ForceOption, Reading, argument, flag, option, with_reading
from mlspl.errors import UserError, listed

if TYPE_CHECKING:
    import numpy as np

    from mlspl.datasets import Dataset
    from mlspl.persistence import ModelInfo

# Scores of more pairs than this (80 MB) are not held at once.
_MOST_PAIRS = 10**7

_SUFFIXES = (".csv", ".json")

ModelArgument = Annotated[Path, argument("MODEL", "A model file of `mlspl fit`.")]


def predict(
    model: ModelArgument,
    data: Annotated[str, argument("DATA", "Rows to predict, in any format of `mlspl fit`; - is stdin.")],
    out: Annotated[str, option("FILE", "CSV file to write; - is stdout.", "--out", "-o")] = files.STANDARD,
    scores: Annotated[bool, flag("--scores", "Write scores instead of labels.")] = False,
    proba: Annotated[bool, flag("--proba", "Write probabilities instead of labels.")] = False,
    top: Annotated[int | None, option("K", "Write the names of the K best labels.", min=1)] = None,
    form: Annotated[
        Literal["columns", "names"],
        option(None, "columns: 0 or 1 for every label; names: as a|b.", "--format"),
    ] = "columns",
    keep: Annotated[str, option("COLUMNS", "Columns of DATA to copy, separated by commas.")] = "",
    force: ForceOption = False,
) -> None:
    """Predict the labels of new rows and write them as CSV.

    Columns are matched by name, in any order. Other columns are ignored with
    a note; missing ones are an error. Labels in the file are ignored.
    """
    if scores + proba + (top is not None) + (form == "names") > 1:
        raise UserError("--scores, --proba, --top and --format names exclude one another: choose one.")
    files.check_target(out, files.input_files(model, data), force)
    import numpy as np

    from mlspl._label_sets import label_sets, write_set
    from mlspl.metrics import top_labels
    from mlspl.recipes import take_rows

    estimator, info = open_model(model)
    if top is not None and top > len(info.label_names):
        raise UserError(
            f"--top {top}: the model knows {output.counted(len(info.label_names), 'label')} only."
        )
    kept = split_names(keep)
    rows = files.open_rows(data, info, kept)
    table = matched(rows, info, kept)
    asked = "predict_proba" if proba else "decision_function" if scores or top else "predict"
    written, _ = files.stored_reading(info)
    column, joint = written["label_column"] or "labels", written["label_joint"]
    joint = joint if joint and printable(joint) == joint else "|"
    copied = [[text or "" for text in rows.texts(name)] for name in kept]
    headings = [*kept, *([column] if form == "names" else info.label_names)]
    if top is not None:
        headings = [*kept, *(f"label_{rank}" for rank in range(1, top + 1))]

    def blocks() -> Iterator[str]:
        head = [headings]
        n_rows, step = table.shape[0], max(1, _MOST_PAIRS // len(info.label_names))
        for start in range(0, max(n_rows, 1), step):
            block = np.arange(start, min(start + step, n_rows))
            (answers,) = apply_model(estimator, asked, take_rows(table, block), info, model)
            cells: Iterable[list[Any]]
            if top is not None:
                cells = ([info.label_names[j] for j in row] for row in top_labels(answers, top).tolist())
            elif form == "names":
                cells = ([write_set(row, joint)] for row in label_sets(answers, info.label_names))
            else:
                cells = (answers.astype(int) if asked == "predict" else answers).tolist()
            pairs = zip(block.tolist(), cells, strict=True)
            yield output.to_csv([*head, *([*(column[i] for column in copied), *row] for i, row in pairs)])
            head = []

    if out == files.STANDARD:
        for text in blocks():
            typer.echo(text.encode(), nl=False)
        return
    with replace_file(Path(out)) as target:
        target.writelines(blocks())
    Console(highlight=False, soft_wrap=True).print(
        f"Wrote {shown(out)}: {output.counted(table.shape[0], 'row')}"
    )


def open_model(path: Path) -> tuple[Any, "ModelInfo"]:
    """The model of a file, and what the file says of it."""
    from mlspl.persistence import read_model

    with output.notes():
        return read_model(path)


def matched(dataset: "Dataset", info: "ModelInfo", kept: Sequence[str] = ()) -> Any:
    """The rows with the columns of the model; columns that it does not know are said on standard error."""
    table, extra = info.schema.match(dataset)
    if extra := [name for name in extra if name not in kept]:
        output.note(f"not used by the model: {listed(extra)}.")
    return table


def apply_model(estimator: Any, method: str, table: Any, info: "ModelInfo", path: Path) -> "list[np.ndarray]":
    """Return what a method gives for the rows (rows, labels); two arrays for ``"scores_and_labels"``."""
    import numpy as np

    from mlspl.recipes import scores_and_labels

    needed = "decision_function" if method == "scores_and_labels" else method
    if not hasattr(estimator, needed):
        raise UserError(f"the model in {path} has no {needed}.")
    try:
        with output.notes():
            found = (
                scores_and_labels(estimator, table)
                if method != needed
                else (getattr(estimator, method)(table),)
            )
        arrays = [np.asarray(values, dtype=float) for values in found]
        if method == "predict_proba" and len(info.label_names) == 1:
            # A model fitted on a single column y gives a column per class, the label's being the last.
            arrays = [values[:, -1:] for values in arrays]
        return [values.reshape(table.shape[0], len(info.label_names)) for values in arrays]
    except UserError:
        raise
    except Exception as error:
        # The types in a model file are checked, its values cannot all be.
        raise UserError(
            f"the model in {path} fails on these rows ({type(error).__name__}: {error}). It was written by "
            f"mlspl {info.versions.get('mlspl', '?')[:40]}. Was the file changed?"
        ) from error


def export(
    model: ModelArgument,
    out: Annotated[str, option("FILE", "The ONNX file to write.", "--out", "-o")],
    force: ForceOption = False,
) -> None:
    """Write a model as an ONNX file, for onnxruntime and other programs.

    Linear models (--method logistic), forests (forest, extra-trees) and
    networks (net) can be exported, with imputation, scaling and one-hot
    encoding. Other models and steps are refused by name.
    """
    files.check_target(out, files.input_files(model), force)
    from mlspl.persistence import save_onnx

    estimator, info = open_model(model)
    save_onnx(estimator, Path(out), info.label_names, force=force)
    Console(highlight=False, soft_wrap=True).print(f"Wrote {shown(out)}")


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
        files.check_target(out, files.input_files(model, data, reading.labels), force)
        if out != files.STANDARD and Path(out).suffix.lower() not in _SUFFIXES:
            raise UserError(f"{out}: the suffix must be .csv or .json, for it says what to write.")
    estimator, info = open_model(model)
    dataset = files.open_labelled(data, info, reading)
    table = matched(dataset, info)
    F, P = apply_model(estimator, "scores_and_labels", table, info, model)
    with output.notes():
        scores = output.score_rows(dataset.Y, F, P, info.label_names)
    # Files first: what is shown may go to a pipe that is closed.
    if out not in (None, files.STANDARD):
        write_file(out, output.scores_text(scores, Path(out).suffix.lower()))
    console = Console(stderr=out == files.STANDARD, highlight=False)
    rows = output.counted(dataset.Y.shape[0], "row")
    console.print(f"{shown(model.name)} on {rows} of {shown(dataset.name)}", soft_wrap=True)
    console.print(output.criteria_table(scores[0]))
    console.print()
    console.print(output.labels_table(scores[1], every))
    if out == files.STANDARD:
        typer.echo(output.scores_text(scores, ".json"), nl=False)
    elif out is not None:
        console.print(f"Wrote {shown(out)}", soft_wrap=True)
