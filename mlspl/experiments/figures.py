"""The figures: MLSPL under each self-paced function, and critical-difference diagrams.

Matplotlib is imported where something is drawn: the worker processes, which import this room, never draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mlspl._files import replacing
from mlspl._text import drawn
from mlspl.experiments.comparison import Comparison, Ranking
from mlspl.experiments.paper import PUBLISHED
from mlspl.experiments.scores import criteria_in
from mlspl.metrics import CRITERIA
from mlspl.recipes import method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "critical_difference_figure",
    "draw_intervals",
    "pace_function_figure",
    "rank_groups",
    "save_figure",
]

# Okabe and Ito's colours, which every kind of colour vision can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7A5C00")
_MARKERS = "osD^vP*X"
_INK, _GREY = "#222222", "#767676"


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


def critical_difference_figure(comparisons: Sequence[Comparison], alpha: float = 0.05) -> Figure:
    """Draw a critical-difference diagram (Demšar 2006) for each comparison that has a ranking.

    Methods stand at their average ranks, best at the left; a thick bar joins those whose ranks differ by less
    than Nemenyi's critical difference, whose length is drawn above the axis.

    Parameters
    ----------
    comparisons : sequence of Comparison
        From :func:`compare`.
    alpha : float, default=0.05
        The level they were made with.
    """
    from matplotlib.figure import Figure

    drawn = [(comparison.criterion, comparison.ranking) for comparison in comparisons if comparison.ranking]
    n_methods = max((len(ranking.ranks) for _, ranking in drawn), default=2)
    panel = 0.95 + 0.2 * ((n_methods + 1) // 2)
    figure = Figure(figsize=(6.4, panel * max(len(drawn), 1)), layout="constrained")
    axes = figure.subplots(max(len(drawn), 1), 1, squeeze=False)[:, 0]
    for axis, (criterion, ranking) in zip(axes, drawn, strict=False):
        _draw_ranks(axis, criterion, ranking, alpha)
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


def _draw_ranks(axis: Axes, criterion: str, ranking: Ranking, alpha: float) -> None:
    ranks, distance = ranking.ranks.sort_values(kind="stable"), ranking.distance
    k = len(ranks)
    left = (k + 1) // 2
    groups = rank_groups(ranks.to_numpy(), distance)
    top = -0.55 - 0.28 * len(groups)
    axis.set_xlim(1 - 0.62 * (k - 1), k + 0.62 * (k - 1))
    axis.set_ylim(top - 0.62 * left - 0.1, 1.55)
    axis.axis("off")
    axis.text(
        0,
        1,
        _criterion_label(criterion),
        transform=axis.transAxes,
        va="top",
        fontsize=9,
        weight="bold",
    )

    line: dict[str, Any] = {"color": _INK, "linewidth": 0.9, "solid_capstyle": "butt"}
    axis.plot([1, k], [0, 0], **line)
    for rank in range(1, k + 1):
        axis.plot([rank, rank], [0, 0.16], **line)
        axis.text(rank, 0.24, str(rank), ha="center", va="bottom", fontsize=8, color=_INK)
    axis.plot([1, 1 + distance], [1.05, 1.05], **line)
    for end in (1, 1 + distance):
        axis.plot([end, end], [0.95, 1.15], **line)
    axis.text(
        1 + distance / 2,
        1.2,
        f"critical difference {distance:.2f} (α = {alpha:g})",
        ha="center",
        va="bottom",
        fontsize=7.5,
    )

    for i, (name, rank) in enumerate(ranks.items()):
        on_left = i < left
        height = top - 0.62 * (i if on_left else k - 1 - i)
        edge = 1 - 0.08 * (k - 1) if on_left else k + 0.08 * (k - 1)
        axis.plot([rank, rank, edge], [0, height, height], **line)
        title = drawn(method_title(name))
        text = f"{title}  {rank:.2f} " if on_left else f" {rank:.2f}  {title}"
        axis.text(
            edge, height, text, ha="right" if on_left else "left", va="center", fontsize=8.5, color=_INK
        )
    for level, (first, last) in enumerate(groups):
        height = -0.4 - 0.28 * level
        axis.plot(
            [ranks.iloc[first] - 0.04, ranks.iloc[last] + 0.04],
            [height, height],
            color=_COLOURS[0],
            linewidth=3.2,
            solid_capstyle="round",
        )


def rank_groups(ranks: np.ndarray, distance: float) -> list[tuple[int, int]]:
    """Return the largest runs of ranks within the distance, each as its first and last index.

    Parameters
    ----------
    ranks : array of shape (n_methods,)
        Average ranks, ascending.
    distance : float
        Nemenyi's critical difference.

    Examples
    --------
    >>> rank_groups(np.array([1.0, 1.5, 2.5, 4.0]), 1.5)
    [(0, 2), (2, 3)]
    """
    groups: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + distance, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups


def _criterion_label(name: str) -> str:
    label = drawn(name.replace("_", " "))
    return f"{label} {'↑' if CRITERIA[name].greater_is_better else '↓'}" if name in CRITERIA else label
