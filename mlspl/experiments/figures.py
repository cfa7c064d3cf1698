"""Figures: MLSPL under each self-paced function, and critical-difference diagrams."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from mlspl._text import escape_mathtext
from mlspl.experiments.comparison import Comparison, Ranking
from mlspl.experiments.scores import criteria_in, paced_trials
from mlspl.experiments.tables import criterion_head
from mlspl.recipes import method_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Two of Okabe and Ito's colours, which people with any kind of colour vision can distinguish.
_BLUE, _ORANGE = "#0072B2", "#D55E00"
_INK, _GREY, _LINE = "#222222", "#666666", "#DDDDDD"
_LONGEST_NAME = 22


def _draw_dots(axis: Axes, dots: pd.DataFrame, reference: float | None) -> None:
    """Draw a row for each mean with its standard deviation, the paper's mean if there is one, and a line."""
    dots = dots.reindex(columns=["mean", "std", "paper"])
    rows = np.arange(len(dots))
    style: dict[str, Any] = {"fmt": "o", "color": _BLUE, "markersize": 4.5, "elinewidth": 1.5}
    axis.errorbar(dots["mean"], rows, xerr=dots["std"].fillna(0.0), **style)
    axis.plot(dots["paper"], rows, "D", color=_ORANGE, markersize=5, fillstyle="none")
    if reference is not None:
        axis.axvline(reference, color=_GREY, linestyle="--", linewidth=1, zorder=0)
    axis.set_yticks(rows, [_shorten(str(name)) for name in dots.index], color=_INK)
    axis.set_ylim(len(dots) - 0.5, -0.5)
    axis.grid(axis="x", color=_LINE)
    axis.tick_params(left=False)


def critical_difference_figure(
    comparisons: Sequence[Comparison], alpha: float = 0.05, figure: Figure | None = None
) -> Figure:
    """Draw a critical-difference diagram (Demšar 2006) for each comparison that has a ranking.

    A thick bar joins methods whose average ranks differ by less than Nemenyi's critical difference.
    """
    from matplotlib.figure import Figure

    figure = Figure() if figure is None else figure
    ranked = {criterion_head(one.criterion): one.ranking for one in comparisons if one.ranking}
    n_methods = max((len(ranking.ranks) for ranking in ranked.values()), default=2)
    # In lines of text of a fifth of an inch: title and axis, bars, names on two sides.
    heights = [
        5 + 0.4 * len(ranking.groups()) + (len(ranking.ranks) + 1) // 2 for ranking in ranked.values()
    ] or [5.0]
    width = 3.8 + 0.2 * max(0, n_methods - 8)
    figure.set_size_inches(width, 0.2 * sum(heights))
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    figure.subplots_adjust(0, 0, 1, 1, hspace=0)
    for axis, height, (title, ranking) in zip(axes, heights, ranked.items(), strict=False):
        _draw_ranks(axis, title, ranking, alpha, width, height)
    return figure


def _draw_ranks(axis: Axes, title: str, ranking: Ranking, alpha: float, width: float, height: float) -> None:
    ranks = list(ranking.ranks.rename(method_title).sort_values(kind="stable").items())
    groups = ranking.groups()
    k, n_left = len(ranks), (len(ranks) + 1) // 2
    names_width = 1.35
    margin = (k - 1) * names_width / (width - 2 * names_width)
    axis.set(xlim=(1 - margin, k + margin), ylim=(height - 3.4, -3.4))
    axis.axis("off")
    style: dict[str, Any] = {"fontsize": 8, "va": "center"}
    axis.text(1 - 0.97 * margin, -2.9, escape_mathtext(title), color=_INK, weight="bold", **style)
    distance = f"critical difference {ranking.distance:.2f} (α = {alpha:g})"
    axis.text(1, -2.1, distance, color=_GREY, **style)
    end = min(1 + ranking.distance, k + 0.97 * margin)
    axis.plot((1, end), (-1.5, -1.5), color=_INK, linewidth=0.8, marker="|", markersize=5)
    axis.plot((1, k), (0, 0), color=_INK, linewidth=0.8)
    for tick in range(1, k + 1):
        axis.plot((tick, tick), (-0.2, 0), color=_INK, linewidth=0.8)
        axis.text(tick, -0.6, str(tick), ha="center", color=_GREY, **style)
    for level, (first, last) in enumerate(groups):
        y = 0.45 + 0.4 * level
        axis.plot((ranks[first][1], ranks[last][1]), (y, y), linewidth=3, color=_BLUE)
    leader = {"arrowstyle": "-", "linewidth": 0.8, "color": _INK, "shrinkA": 0, "shrinkB": 0}
    leader["connectionstyle"] = "angle,angleA=0,angleB=90"
    for place, (name, rank) in enumerate(ranks):
        on_left = place < n_left
        y = 1 + 0.4 * len(groups) + (place if on_left else k - 1 - place)
        edge, side = (1 - 0.3 * margin, "right") if on_left else (k + 0.3 * margin, "left")
        text = f"{_shorten(name, 14)} {rank:.2f}" if on_left else f"{rank:.2f} {_shorten(name, 14)}"
        axis.annotate(text, (rank, 0), (edge, y), ha=side, color=_INK, arrowprops=leader, **style)


def pace_function_figure(scores: pd.DataFrame, functions: Sequence[str]) -> Figure:
    """Draw MLSPL under each self-paced function: criteria × data sets; ML-LOC as a dashed line."""
    from matplotlib.figure import Figure

    paced = paced_trials(scores)
    unpaced = scores[scores["method"] == "ml-loc"].groupby("block")
    blocks, criteria = list(dict.fromkeys(paced["block"])), criteria_in(scores)
    size = (1 + 2.1 * len(blocks), 0.5 + (0.6 + 0.2 * len(functions)) * len(criteria))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(criteria), len(blocks), squeeze=False, sharey=True)
    for row, criterion in zip(axes, criteria, strict=True):
        for axis, block in zip(row, blocks, strict=True):
            dots = paced[paced["block"] == block].groupby("function")[criterion].agg(["mean", "std"])
            _draw_dots(axis, dots.reindex(functions), unpaced[criterion].mean().get(block))
            axis.set_title(f"{escape_mathtext(block)}: {criterion_head(criterion)}", fontsize=8, color=_INK)
            axis.spines[["top", "right"]].set_visible(False)
            axis.spines[["left", "bottom"]].set_color(_GREY)
            axis.tick_params(colors=_GREY, labelsize=8, length=3)
            axis.set_axisbelow(True)
    title = "MLSPL under each self-paced function (mean ± standard deviation over splits"
    figure.suptitle(f"{title}; dashed: ML-LOC)" if len(unpaced) else f"{title})", fontsize=9, color=_INK)
    return figure


def figure_files(figure: Figure, name: str) -> dict[str, bytes]:
    """Return a figure as PNG and as SVG, by the names of the files."""
    return {
        f"{name}.{suffix}": _save(figure, format=suffix, dpi=200, bbox_inches="tight")
        for suffix in ("png", "svg")
    }


def _save(figure: Figure, **options) -> bytes:
    from matplotlib import rc_context

    # Without a date and with fixed identifiers, the same figure gives the same file.
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type")) if options["format"] == "svg" else None
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "mlspl", "svg.fonttype": "none"}):
        figure.savefig(stream, metadata=metadata, **options)
    return stream.getvalue()


def _shorten(name: str, longest: int = _LONGEST_NAME) -> str:
    return escape_mathtext(name if len(name) <= longest else f"{name[: longest - 1]}…")
