"""The figures: MLSPL under each self-paced function, and critical-difference diagrams.

Matplotlib is imported where something is drawn: the worker processes, which import this room, never draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from mlspl._files import replacing
from mlspl._text import drawn
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.paper import PUBLISHED
from mlspl.experiments.scores import criteria_in
from mlspl.metrics import CRITERIA
from mlspl.pages import Drawing, draw_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "critical_difference_figure",
    "draw_intervals",
    "pace_function_figure",
    "save_figure",
]

# Okabe and Ito's colours, which every kind of colour vision can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7A5C00")
_MARKERS = "osD^vP*X"
_INK, _GREY = "#222222", "#767676"
# Inches a unit of a diagram, so that few methods fit the column of a journal.
_UNIT = 0.01


def pace_function_figure(scores: pd.DataFrame, functions: Sequence[str]) -> Figure:
    """Draw MLSPL under each self-paced function: criteria × data sets, mean ± standard deviation.

    A dashed line is ML-LOC, the same model without pacing, where it was run.

    Parameters
    ----------
    scores : DataFrame
        From :func:`score_table`.
    functions : sequence of str
        The functions, from left to right.
    """
    from matplotlib.figure import Figure

    paced = scores[scores["method"] == PUBLISHED]
    paced = paced.assign(function=[chosen["pace_function"] for chosen in paced["chosen"]])
    unpaced = scores[scores["method"] == "ml-loc"]
    blocks = list(dict.fromkeys(paced["block"]))
    criteria = criteria_in(scores)
    width, height = 0.8 + max(2.1, 0.42 * len(functions)) * len(blocks), 0.9 + 1.3 * len(criteria)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(len(criteria), len(blocks), squeeze=False, sharex=True)
    for row, criterion in zip(axes, criteria, strict=True):
        for axis, block in zip(row, blocks, strict=True):
            of_block = paced[paced["block"] == block].groupby("function")[criterion]
            means = of_block.mean().reindex(functions)
            deviations = of_block.std().reindex(functions).fillna(0.0)
            reference = unpaced.loc[unpaced["block"] == block, criterion]
            draw_intervals(axis, means, deviations, reference.mean() if len(reference) else None)
        row[0].set_ylabel(_criterion_label(criterion), color=_INK, fontsize=9)
    for axis, block in zip(axes[0], blocks, strict=True):
        axis.set_title(drawn(block), fontsize=10, color=_INK)
    title = "MLSPL under each self-paced function (mean ± standard deviation over splits"
    figure.suptitle(f"{title}; dashed: ML-LOC)" if len(unpaced) else f"{title})", fontsize=9, color=_INK)
    return figure


def critical_difference_figure(
    comparisons: Sequence[Comparison], alpha: float = 0.05, figure: Figure | None = None
) -> Figure:
    """Draw a critical-difference diagram (Demšar 2006) for each comparison that has a ranking.

    Methods stand at their average ranks, best at the left; a thick bar joins those whose ranks differ by less
    than Nemenyi's critical difference, whose length is drawn above the axis.

    Parameters
    ----------
    comparisons : sequence of Comparison
        From :func:`compare`.
    alpha : float, default=0.05
        The level they were made with.
    figure : matplotlib Figure, optional
        Where to draw, and given its size; by default a new figure.
    """
    from matplotlib.figure import Figure

    drawings = [
        draw_ranks(_criterion_label(comparison.criterion), ranking.titled_ranks(), ranking.distance, alpha)
        for comparison in comparisons
        if (ranking := comparison.ranking)
    ]
    heights = [drawing.height for drawing in drawings] or [1.0]
    width = max((drawing.width for drawing in drawings), default=1.0)
    figure = Figure() if figure is None else figure
    figure.set_size_inches(_UNIT * width, _UNIT * sum(heights))
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    figure.subplots_adjust(0, 0, 1, 1, hspace=0)
    for axis, drawing in zip(axes, drawings, strict=False):
        _draw(axis, drawing, points=72 * _UNIT)
    return figure


def draw_intervals(axis: Axes, values: pd.Series, errors: pd.Series, reference: float | None = None) -> None:
    """Draw a marker with an error bar for each value, named below the axis, and a dashed line.

    Parameters
    ----------
    axis : Axes
        Where.
    values, errors : Series
        Indexed by name; a value that is NaN leaves its place empty.
    reference : float, optional
        Height of the dashed line.
    """
    for i, (value, error) in enumerate(zip(values, errors, strict=True)):
        axis.errorbar(
            i,
            value,
            error,
            fmt=_MARKERS[i % len(_MARKERS)],
            color=_COLOURS[i % len(_COLOURS)],
            markersize=5.5,
            elinewidth=1.3,
            capsize=3,
        )
    if reference is not None:
        axis.axhline(reference, color=_GREY, linestyle=(0, (4, 3)), linewidth=1.0, zorder=0)
    axis.set_xlim(-0.6, len(values) - 0.4)
    axis.set_xticks(range(len(values)), values.index, rotation=40, ha="right", rotation_mode="anchor")
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color(_GREY)
    axis.tick_params(colors=_INK, labelsize=8, length=3)
    axis.grid(axis="y", color="#E3E3E3", linewidth=0.7)
    axis.set_axisbelow(True)
    axis.margins(y=0.12)


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure as PNG and SVG and return both paths.

    Parameters
    ----------
    figure : Figure
        The figure.
    folder : Path
        Where.
    name : str
        File name without its ending.
    """
    from matplotlib import rc_context

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    # Without a date, and with names that do not depend on chance, the same figure gives the same file.
    with rc_context({"svg.hashsalt": "mlspl"}):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            with replacing(path, "wb") as stream:
                figure.savefig(
                    stream, format=path.suffix[1:], dpi=200, bbox_inches="tight", metadata=metadata
                )
    return paths


def _draw(axis: Axes, drawing: Drawing, points: float) -> None:
    """Draw strokes and labels, a unit of which is so many points."""
    axis.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axis.axis("off")
    axis.text(4, 14, drawing.title, fontsize=12.5 * points, weight="bold", color=_INK)
    for stroke in drawing.strokes:
        group = stroke.kind == "group"
        axis.plot(
            *zip(*stroke.points, strict=True),
            color=_COLOURS[0] if group else _INK,
            linewidth=(4 if group else 1) * points,
            solid_capstyle="round" if group else "butt",
        )
    for label in drawing.labels:
        place = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
        size = 9.5 if label.kind == "value" else 11
        axis.text(label.x, label.y, drawn(label.text), ha=place, fontsize=size * points, color=_INK)


def _criterion_label(name: str) -> str:
    label = drawn(name.replace("_", " "))
    return f"{label} {'↑' if CRITERIA[name].greater_is_better else '↓'}" if name in CRITERIA else label
