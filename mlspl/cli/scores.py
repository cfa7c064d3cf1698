"""Tables of criteria, for the terminal and for files."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from mlspl.cli.sources import make_table, to_csv

if TYPE_CHECKING:
    import pandas as pd

    from mlspl.metrics import Tally

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


def score_rows(Y, F, P, label_names: Sequence[str]) -> Scores:
    """Compute every criterion from scores F and labels P, overall and by label, without unknown pairs."""
    from mlspl.metrics import score_all, score_labels, score_others

    return score_all(Y, F, P) | score_others(Y, F, P), _by_label(score_labels(Y, F, P), label_names)


def tally_scores(tally: "Tally", label_names: Sequence[str]) -> Scores:
    """Return the criteria of rows that were counted in blocks; without AUC, which needs all rows at once."""
    return tally.scores(), _by_label({"auc": math.nan} | tally.label_scores(), label_names)


def _by_label(columns: Mapping[str, Any], label_names: Sequence[str]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(columns, index=list(label_names), dtype=float)[list(_HEADINGS)]


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


def plain(values: Mapping[str, float]) -> dict[str, float | None]:
    """Replace NaN, which JSON does not have, by None."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.4f}"
