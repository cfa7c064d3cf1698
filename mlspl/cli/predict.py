"""`mlspl predict`: the labels of new rows, by name."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mlspl._files import replacing
from mlspl._names import split_names
from mlspl._text import printable, safe_cell, shown
from mlspl.cli.reading import open_rows
from mlspl.cli.sources import STANDARD, check_target, counted, note, notes
from mlspl.errors import UserError, listed

if TYPE_CHECKING:
    import numpy as np

    from mlspl.datasets import Dataset
    from mlspl.persistence import ModelInfo

__all__ = ["ModelArgument", "answer", "matched", "open_model", "predict", "row_blocks"]

# Scores of more pairs than this (80 MB) are not held at once.
_MOST_PAIRS = 10**7

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
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORM",
            help="columns: 0 or 1 for every label; names: a row's labels, as in the training file or a|b.",
        ),
    ] = "columns",
    keep: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="Carry columns of DATA through, in front; commas between, as in CSV."
        ),
    ] = "",
) -> None:
    """Write the labels of new rows as CSV, one column a label.

    Columns are matched by name, in any order: extra ones are ignored and
    reported, missing ones are an error. Labels in the file are ignored.
    """
    if scores + proba + (top is not None) + (form == "names") > 1:
        raise UserError("--scores, --proba, --top and --format names exclude one another: choose one.")
    if form not in ("columns", "names"):
        raise UserError(f"--format is columns or names; it is {form!r}.")
    check_target(out, model, data)
    from mlspl.recipes import take_rows

    estimator, info = open_model(model)
    if top is not None and top > len(info.label_names):
        raise UserError(f"--top {top}: the model knows {counted(len(info.label_names), 'label')} only.")
    kept = split_names(keep)
    rows = open_rows(data, info, kept)
    table = matched(rows, info, kept)
    asked = "predict_proba" if proba else "decision_function" if scores or top else "predict"
    sheet = _Sheet(info, rows, kept, top, form == "names", whole=asked == "predict")

    def write(stream: IO[str], flush: Callable[[], None] = lambda: None) -> None:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(sheet.heading())
        for block in row_blocks(table.shape[0], len(info.label_names)):
            answers = answer(estimator, asked, take_rows(table, block), info, model)
            writer.writerows(sheet.rows(block, answers))
            flush()

    if out == STANDARD:
        text = io.StringIO()

        def show() -> None:
            typer.echo(text.getvalue().encode(), nl=False)
            text.seek(0)
            text.truncate()

        write(text, show)
        return
    with replacing(Path(out)) as target:
        write(target)
    Console(highlight=False, soft_wrap=True).print(f"Wrote {shown(out)}: {counted(table.shape[0], 'row')}")


def row_blocks(n_rows: int, n_labels: int) -> "list[np.ndarray]":
    """Rows to be answered at a time: all of them, unless rows × labels are more than memory should hold."""
    import numpy as np

    step = max(1, _MOST_PAIRS // n_labels)
    return [np.arange(start, min(start + step, n_rows)) for start in range(0, n_rows, step)] or [np.arange(0)]


class _Sheet:
    """How answers are written: columns kept from the file, then labels as columns, sets or a ranking."""

    def __init__(
        self, info: "ModelInfo", dataset: "Dataset", kept: list[str], top: int | None, sets: bool, whole: bool
    ):
        self.names = [safe_cell(name) for name in info.label_names]
        self.kept, self.top, self.sets, self.whole = kept, top, sets, whole
        self.cells = [_spelled(dataset, name) for name in kept]
        reading = info.summary.get("reading")
        reading = reading if isinstance(reading, dict) else {}
        column, joint = reading.get("label_column"), reading.get("label_joint")
        self.column = column if isinstance(column, str) and column else "labels"
        self.joint = joint if isinstance(joint, str) and joint and printable(joint) == joint else "|"

    def heading(self) -> list[str]:
        """The first line."""
        kept = [safe_cell(name) for name in self.kept]
        if self.top is not None:
            return kept + [f"label_{rank}" for rank in range(1, self.top + 1)]
        return [*kept, safe_cell(self.column)] if self.sets else kept + self.names

    def rows(self, block: "np.ndarray", answers: "np.ndarray") -> Iterator[list[Any]]:
        """The lines of these rows."""
        from mlspl._label_sets import label_sets, write_set
        from mlspl.metrics import top_labels

        cells: Iterable[list[Any]]
        if self.top is not None:
            cells = ([self.names[j] for j in row] for row in top_labels(answers, self.top).tolist())
        elif self.sets:
            cells = ([write_set(row, self.joint)] for row in label_sets(answers, self.names))
        else:
            cells = (row.tolist() for row in (answers.astype(int) if self.whole else answers))
        for i, row in zip(block.tolist(), cells, strict=True):
            yield [column[i] for column in self.cells] + row


def _spelled(dataset: "Dataset", name: str) -> list[str]:
    """The cells of a column as they were written."""
    import numpy as np
    from scipy import sparse

    j = dataset.feature_names.index(name)
    column: Any = dataset.X[:, [j]]
    cells = (column.toarray() if sparse.issparse(column) else column)[:, 0]
    values = dataset.nominal.get(name)
    if values is not None:
        return [_safe(values[int(code)]) if code == code else "" for code in cells.tolist()]
    if dataset.kind(name) == "date":
        return [str(np.datetime64(int(day), "D")) if day == day else "" for day in cells.tolist()]
    return [repr(value).removesuffix(".0") if value == value else "" for value in cells.tolist()]


def _safe(word: str) -> str:
    """A word as a cell; a number with a sign is no formula."""
    try:
        float(word)
    except ValueError:
        return safe_cell(word)
    return word


def open_model(path: Path) -> tuple[Any, "ModelInfo"]:
    """The model of a file, and what the file says of it."""
    from mlspl.persistence import read_model

    with notes():
        return read_model(path)


def matched(dataset: "Dataset", info: "ModelInfo", kept: Sequence[str] = ()) -> Any:
    """The rows with the columns of the model; columns that it does not know are said on standard error."""
    table, extra = info.schema.match(dataset)
    if extra := [name for name in extra if name not in kept]:
        note(f"the model does not know, and ignores, {listed(extra)}.")
    return table


def answer(estimator: Any, method: str, table: Any, info: "ModelInfo", path: Path) -> "np.ndarray":
    """What the model says of the rows, of shape (rows, labels)."""
    import numpy as np

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
