"""Learning curves over the pace, averaged over the splits, from the histories that trials keep."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from mlspl.pages import Line, line_chart

__all__ = ["draw_learning_curves", "draw_validation"]

_PARTS = {
    "objective": "Objective",
    "loss": "Weighted hinge loss",
    "regularization": "Regularisation",
    "correlation": "Label correlation",
    "penalty": "Self-paced penalty",
    "mean_weight": "Mean weight of a pair",
}
_MOST_LABELS = 8
_IDLE = 0.9
"""Where as many pairs are in play at every step, there is next to nothing to pace."""


def draw_learning_curves(paced: pd.DataFrame, label_names: Sequence[str] = ()) -> dict[str, Any] | None:
    """The parts of the objective, and the share of each label's pairs in play, under each function.

    None where no history was kept.
    """
    by_function = {
        str(name): histories
        for name, group in paced.groupby("function", sort=False)
        if (histories := [steps for steps in group["history"] if steps])
    }
    if not by_function:
        return None
    # The pace grows geometrically, so its mean over splits that were tuned differently does too.
    paces = {
        name: np.exp(_means([[np.log(step["pace"]) for step in steps] for steps in histories])).tolist()
        for name, histories in by_function.items()
    }
    parts = []
    for key, title in _PARTS.items():
        lines = [
            Line(name, paces[name], _means([[step[key] for step in steps] for steps in histories]))
            for name, histories in by_function.items()
        ]
        limits = (0.0, 1.0) if key == "mean_weight" else None
        parts.append(line_chart(title, lines, "pace λ", log_x=True, limits=limits))
    shares = []
    for name, histories in by_function.items():
        lines = _in_play(histories, paces[name], label_names)
        shares.append(line_chart(f"Pairs in play: {name}", lines, "pace λ", log_x=True, limits=(0.0, 1.0)))
    least = min(
        np.mean(step["in_play"])
        for histories in by_function.values()
        for steps in histories
        for step in steps
    )
    return {
        "parts": parts,
        "functions": list(by_function),
        "in_play": shares,
        "labels": [line.label for line in lines],
        "always_in_play": f"{least:.1%}" if least >= _IDLE else None,
    }


def draw_validation(trials: pd.DataFrame) -> dict[str, Any] | None:
    """The cross-validated criterion along the paths of paces that were tried; None without any."""
    tuned = trials[trials["validation"].notna()]
    paths: dict[str, dict[float, list[float]]] = {}
    for chosen, tried in zip(tuned["chosen"], tuned["validation"], strict=True):
        # A kernel machine is told by the last three, a forest by its family alone.
        setting = {name: chosen[name] for name in ("family", "C", "gamma", "class_weight") if name in chosen}
        rows = [row for row in tried if setting.items() <= row.items() and row["mean"] is not None]
        for path in dict.fromkeys((row["pace_function"], row["per"]) for row in rows if row["pace_function"]):
            points = paths.setdefault(f"{path[0]}, per {path[1]}", {})
            for row in rows:
                # The unpaced model is where every path ends.
                if (row["pace_function"], row["per"]) in (path, (None, None)):
                    points.setdefault(row["target"], []).append(row["mean"])
    if not paths:
        return None
    lines = [
        Line(name, sorted(points), [float(np.mean(points[x])) for x in sorted(points)])
        for name, points in paths.items()
    ]
    criterion = tuned["chosen"].iloc[0]["criterion"].replace("_", " ")
    chart = line_chart(f"Validated {criterion}", lines, "share of losses below the pace")
    return {"chart": chart, "paths": list(paths)}


def _in_play(histories: list[list[dict]], paces: Sequence[float], label_names: Sequence[str]) -> list[Line]:
    """One line per label, or the extremes and the middle where there are too many to tell apart."""
    per_label = [
        _means([[step["in_play"][label] for step in steps] for steps in histories])
        for label in range(len(histories[0][0]["in_play"]))
    ]
    if len(per_label) <= _MOST_LABELS:
        names = label_names or [f"label {label + 1}" for label in range(len(per_label))]
        return [Line(name, paces, shares) for name, shares in zip(names, per_label, strict=True)]
    return [
        Line(name, paces, list(np.quantile(per_label, quantile, axis=0)))
        for name, quantile in (
            ("least of all labels", 0.0),
            ("median label", 0.5),
            ("most of all labels", 1.0),
        )
    ]


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """Mean of each position over the rows that reach it."""
    return [float(np.nanmean(column)) for column in zip_longest(*rows, fillvalue=np.nan)]
