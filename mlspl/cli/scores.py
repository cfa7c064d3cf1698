"""Tables of criteria, for the terminal and for files."""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from mlspl._text import safe_cell, shown

if TYPE_CHECKING:
    from mlspl.metrics import Tally

__all__ = ["Scores", "criteria_table", "labels_table", "plain", "score_rows", "scores_text", "tally_scores"]

Scores = tuple[dict[str, float], dict[str, dict[str, float]]]
"""Values of the criteria overall, and of each label."""

_SHOWN_LABELS = 20
_HEADINGS = {
    "support": "rows with it",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "auc": "AUC",
}


def score_rows(Y, F, P, label_names: Sequence[str]) -> Scores:
    """Compute every criterion from scores F and labels P, overall and by label, without unknown pairs."""
    from mlspl.metrics import score_all, score_labels, score_others

    overall = score_all(Y, F, P) | score_others(Y, F, P)
    columns = score_labels(Y, F, P)
    labels = {
        name: {criterion: float(columns[criterion][j]) for criterion in _HEADINGS}
        for j, name in enumerate(label_names)
    }
    return overall, labels


def tally_scores(tally: "Tally", label_names: Sequence[str]) -> Scores:
    """Return the criteria of rows that were counted in blocks; without AUC, which needs all rows at once."""
    import numpy as np

    columns = {"auc": np.full(len(label_names), np.nan), **tally.label_scores()}
    labels = {
        name: {criterion: float(columns[criterion][j]) for criterion in _HEADINGS}
        for j, name in enumerate(label_names)
    }
    return tally.scores(), labels


def criteria_table(overall: Mapping[str, float]) -> Table:
    """Return a table of the criteria overall, with their directions."""
    from mlspl.metrics import get_criterion

    table = Table("criterion", "better", box=None, pad_edge=False)
    table.add_column("value", justify="right")
    for name, value in overall.items():
        lower = not get_criterion(name).greater_is_better
        table.add_row(
            name.replace("_", " ").replace("f1", "F1"), "lower" if lower else "higher", _number(value)
        )
    return table


def labels_table(labels: Mapping[str, Mapping[str, float]], every: bool) -> Table:
    """Return a table of the criteria by label, frequent ones first; `every` includes those in the middle."""
    table = Table("label", box=None, pad_edge=False)
    table.columns[0].overflow = "fold"
    for heading in _HEADINGS.values():
        table.add_column(heading, justify="right")
    names = sorted(labels, key=lambda name: -labels[name]["support"])
    hidden = 0 if every else max(0, len(names) - _SHOWN_LABELS)
    for position, name in enumerate(names):
        if hidden and position == _SHOWN_LABELS // 2:
            table.add_row(f"… {hidden} more, shown by --all")
        if hidden and _SHOWN_LABELS // 2 <= position < len(names) - _SHOWN_LABELS // 2:
            continue
        support, *values = (labels[name][criterion] for criterion in _HEADINGS)
        table.add_row(shown(name), f"{support:.0f}", *map(_number, values))
    return table


def scores_text(scores: Scores, suffix: str) -> str:
    """Return the scores as JSON, or as CSV with the columns label, criterion and value."""
    overall, labels = scores
    if suffix == ".json":
        both = {"overall": plain(overall), "labels": {name: plain(labels[name]) for name in labels}}
        return json.dumps(both, indent=1) + "\n"
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["label", "criterion", "value"])
    for label, values in {"": overall, **labels}.items():
        for criterion, value in plain(values).items():
            writer.writerow([safe_cell(label), criterion, "" if value is None else repr(value)])
    return stream.getvalue()


def plain(values: Mapping[str, float]) -> dict[str, float | None]:
    """Replace NaN, which JSON does not have, by None."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
