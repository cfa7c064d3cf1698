"""What commands print: notes on standard error, tables, scores."""

import csv
import io
import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mlspl._json import plain
from mlspl._text import safe_cell, shown
from mlspl.errors import shorten

if TYPE_CHECKING:
    import pandas as pd

Scores = tuple[dict[str, float], "pd.DataFrame"]
"""Values of the criteria overall, and by label."""

SHOWN_LABELS = 20
_HEADINGS = {
    "support": "rows with it",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
}


def counted(number: int, what: str) -> str:
    """Return a number of things: 1 row, 2 rows."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def to_csv(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV; a text that a spreadsheet would take for a formula gets an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])
    return stream.getvalue()


def make_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", left: int = 1
) -> Table:
    """Return a table of plain text; the first `left` columns are text, the others numbers."""
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for position, heading in enumerate(headings):
        table.add_column(heading, justify="left" if position < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else shown(str(cell)) for cell in row))
    return table


def note(text: str) -> None:
    """Say something on standard error."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(
        f"[yellow]note:[/] {shown(shorten(text, 4000))}"
    )


@contextmanager
def notes() -> Iterator[None]:
    """Print warnings as notes, each once."""
    said = set()

    def say(message, category, filename, lineno, file=None, line=None):
        text = " ".join(str(message).split())
        if text not in said:
            said.add(text)
            note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for technical in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, RuntimeWarning):
            warnings.simplefilter("ignore", technical)
        warnings.showwarning = say
        yield


@contextmanager
def exit_on_interrupt(message: str) -> Iterator[None]:
    """On Ctrl-C, print a message and exit with code 130."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"stopped by Ctrl-C: {message}")
        raise typer.Exit(130) from None


def score_rows(Y, F, P, label_names: Sequence[str]) -> Scores:
    """Compute every criterion from scores F and labels P, overall and by label, without unknown pairs."""
    import pandas as pd

    from mlspl.metrics import Tally, score_labels

    labels = pd.DataFrame(score_labels(Y, F, P), index=list(label_names), dtype=float)
    return Tally().add(Y, F, P).scores(), labels[list(_HEADINGS)]


def criteria_table(overall: Mapping[str, float]) -> Table:
    """Return a table of the criteria overall, with their directions."""
    from mlspl.metrics import get_criterion

    rows = []
    for name, value in overall.items():
        direction = "higher" if get_criterion(name).greater_is_better else "lower"
        rows.append((name.replace("_", " ").replace("f1", "F1"), direction, _number(value)))
    return make_table(("criterion", "better", "value"), rows, left=2)


def labels_table(labels: "pd.DataFrame", every: bool) -> Table:
    """Return a table of the criteria by label, frequent ones first; `every` includes those in the middle."""
    rows = [
        (name, f"{support:.0f}", *map(_number, values))
        for name, support, *values in labels.sort_values(
            "support", ascending=False, kind="stable"
        ).itertuples()
    ]
    return make_table(("label", *_HEADINGS.values()), rows if every else leave_out_middle(rows))


def leave_out_middle(rows: Sequence[tuple[Any, ...]]) -> Sequence[tuple[Any, ...]]:
    """Return the first and last rows of a long table, and a row that says how many are left out."""
    half, hidden = SHOWN_LABELS // 2, len(rows) - SHOWN_LABELS
    if hidden <= 0:
        return rows
    gap = (f"… {hidden} more, shown by --all", *[""] * (len(rows[0]) - 1))
    return [*rows[:half], gap, *rows[half + hidden :]]


def scores_text(scores: Scores, suffix: str) -> str:
    """Return the scores as JSON, or as CSV with the columns label, criterion and value."""
    overall = plain(scores[0])
    labels = {name: plain(values) for name, values in scores[1].to_dict("index").items()}
    if suffix == ".json":
        return json.dumps({"overall": overall, "labels": labels}, indent=1) + "\n"
    every = {"": overall, **labels}.items()
    rows = ([label, *pair] for label, values in every for pair in values.items())
    return to_csv([["label", "criterion", "value"], *rows])


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
