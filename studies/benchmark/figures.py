"""The benchmark's figures: critical differences, and time against accuracy."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["spread_labels", "time_figure"]

_OURS, _OTHERS, _GREY = "#0072B2", "#767676", "#E3E3E3"


def time_figure(panels: Mapping[str, pd.DataFrame], ours: Sequence[str]) -> Figure:
    """Draw score against seconds, a panel a condition; ours in blue.

    Parameters
    ----------
    panels : mapping
        By title of the panel, a table indexed by method with the columns `seconds` and `score`.
    ours : sequence of str
        Titles of the methods of this package.
    """
    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axis, (title, points) in zip(axes, panels.items(), strict=True):
        _draw_panel(axis, points, ours)
        axis.set_title(title, fontsize=10)
    axes[0].set_ylabel("average precision, mean over the data sets", fontsize=9)
    return figure


def _draw_panel(axis: Axes, points: pd.DataFrame, ours: Sequence[str]) -> None:
    points = points.sort_values("score")
    low, high = points["score"].min(), points["score"].max()
    span = max(high - low, 1e-3)
    right = points["seconds"].max() * 2.2
    heights = spread_labels(points["score"].tolist(), 0.048 * span)
    for (name, row), height in zip(points.iterrows(), heights, strict=True):
        colour = _OURS if name in ours else _OTHERS
        axis.plot(row["seconds"], row["score"], "o", color=colour, markersize=5.5, zorder=3)
        axis.plot(
            [row["seconds"], right], [row["score"], height], color=colour, linewidth=0.5, alpha=0.6, zorder=1
        )
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axis.text(right * 1.08, height, str(name), color=colour, fontsize=8, va="center", bbox=paper)
    axis.set_xscale("log")
    axis.set_xlim(points["seconds"].min() / 1.5, right * 9)
    axis.set_ylim(min(heights[0], low) - 0.05 * span, max(heights[-1], high) + 0.05 * span)
    ticks = [tick for tick in (0.01, 0.1, 1, 10, 100) if points["seconds"].min() / 1.5 < tick < right]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("seconds to tune, fit and predict (median, one core)", fontsize=9, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8, length=3)
    axis.grid(axis="y", color=_GREY, linewidth=0.7)
    axis.set_axisbelow(True)


def spread_labels(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights, which ascend, apart until neighbours are `gap` from each other, as little as it takes.

    Parameters
    ----------
    heights : sequence of float
        Ascending.
    gap : float
        Smallest distance.

    Examples
    --------
    >>> spread_labels([0.0, 0.0, 5.0], 1.0)
    [-0.5, 0.5, 5.0]
    """
    groups: list[list[float]] = []  # of labels that touch: the mean of what they wish for, how many
    for height in heights:
        groups.append([height, 1])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            (b, n), (a, m) = groups.pop(), groups.pop()
            groups.append([(a * m + b * n) / (m + n), m + n])
    return [centre + gap * (i - (count - 1) / 2) for centre, count in groups for i in range(int(count))]
