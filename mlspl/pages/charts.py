"""Small charts as inline SVG: they follow the page's colours, and their text stays text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from mlspl.pages.elements import tag
from mlspl.pages.tables import number

__all__ = ["TOP", "Dot", "Line", "Scale", "dot_chart", "line_chart", "shorten", "svg"]

# In units of the viewBox, which a screen shows at about one pixel each, a phone's too.
_WIDTH, TOP = 340, 30
_ROW, _FOOT, _RIGHT = 21, 26, 14
# The widest of the usual system fonts, for labels must not be cut.
_LETTER = 7.6
_LONGEST_LABEL = 22
_N_COLOURS = 8


@dataclass(frozen=True)
class Dot:
    """A row of a dot chart.

    Parameters
    ----------
    label : str
        Its name.
    mean, std : float
        Where the dot is, and half the length of its bar; NaN for no bar.
    paper : float
        Where a diamond is; NaN for none.
    best : bool, default=False
        Whether the name stands out.

    Examples
    --------
    >>> Dot("ours", 0.2, 0.01).best
    False
    """

    label: str
    mean: float
    std: float
    paper: float = math.nan
    best: bool = False


@dataclass(frozen=True)
class Line:
    """A line of a line chart.

    Parameters
    ----------
    label : str
        Its name.
    x, y : sequences of float
        Its points.

    Examples
    --------
    >>> Line("ours", [1, 2], [0.3, 0.2]).label
    'ours'
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]


def dot_chart(title: str, dots: Sequence[Dot], reference: tuple[str, float] | None = None) -> Markup:
    """Draw means with bars of one standard deviation, a row each, and the paper's means as diamonds.

    Parameters
    ----------
    title : str
        Above the chart.
    dots : sequence of Dot
        From top to bottom.
    reference : (str, float), optional
        A dashed line, with what it stands for.

    Examples
    --------
    >>> dot_chart("ranking loss", [Dot("ours", 0.2, 0.01)])[:5]
    Markup('<svg ')
    """
    spread = [0.0 if math.isnan(dot.std) else dot.std for dot in dots]
    values = [dot.mean + sign * s for dot, s in zip(dots, spread, strict=True) for sign in (-1, 1)]
    values += [dot.paper for dot in dots if not math.isnan(dot.paper)]
    values += [reference[1]] if reference else []
    left = 12 + _LETTER * max(len(shorten(dot.label)) for dot in dots)
    scale = Scale(min(values), max(values), left, _WIDTH - _RIGHT)
    bottom = TOP + _ROW * len(dots)
    parts = [*_x_axis(scale, scale.ticks(), bottom)]
    if reference:
        parts.append(
            tag(
                "path",
                tag("title", f"{reference[0]}: {number(reference[1])}"),
                d=f"M{scale(reference[1])} {TOP - 4}V{bottom}",
                class_="reference",
            )
        )
    for i, (dot, s) in enumerate(zip(dots, spread, strict=True)):
        y = TOP + _ROW * (i + 0.5)
        x = scale(dot.mean)
        marks = [
            tag("title", _describe(dot)),
            tag("path", d=f"M{scale(dot.mean - s)} {y}H{scale(dot.mean + s)}", class_="bar"),
            tag("circle", cx=x, cy=y, r=4.2, class_="dot"),
        ]
        if not math.isnan(dot.paper):
            p = scale(dot.paper)
            marks.append(tag("path", d=f"M{p} {y - 5}l5 5l-5 5l-5-5z", class_="paper"))
        name_class = "name best" if dot.best else "name"
        parts += [
            tag("text", shorten(dot.label), x=left - 8, y=y + 4, text_anchor="end", class_=name_class),
            tag("g", marks),
        ]
    alternative = f"{title}. " + "; ".join(_describe(dot) for dot in dots)
    if reference:
        alternative += f"; dashed line, {reference[0]}: {number(reference[1])}"
    return svg(title, alternative, bottom + _FOOT, parts)


def line_chart(
    title: str,
    lines: Sequence[Line],
    x_label: str,
    log_x: bool = False,
    limits: tuple[float, float] | None = None,
) -> Markup:
    """Draw lines over a common axis; colours and dashes follow their order.

    Parameters
    ----------
    title : str
        Above the chart.
    lines : sequence of Line
        What to draw.
    x_label : str
        Below the axis.
    log_x : bool, default=False
        Whether the x axis is logarithmic.
    limits : (float, float), optional
        Range of the y axis; otherwise that of the values.

    Examples
    --------
    >>> line_chart("ranking loss", [Line("ours", [1, 2], [0.3, 0.2])], "step")[:5]
    Markup('<svg ')
    """
    height, left = 150, 54
    bottom = TOP + height
    xs = [x for line in lines for x in line.x]
    ys = [y for line in lines for y in line.y]
    x_scale = Scale(min(xs), max(xs), left, _WIDTH - _RIGHT, log=log_x)
    y_scale = Scale(*(limits or (min(ys), max(ys))), bottom, TOP + 6)
    y_ticks = y_scale.ticks()
    digits = max(0, math.ceil(1 - math.log10(y_ticks[1] - y_ticks[0]))) if len(y_ticks) > 1 else 3
    parts = []
    for tick in y_ticks:
        text = f"{tick:.0e}" if abs(tick) >= 1e5 else number(tick, min(digits, 4))
        parts += [
            tag("path", d=f"M{left} {y_scale(tick)}H{_WIDTH - _RIGHT}", class_="grid"),
            tag("text", text, x=left - 6, y=y_scale(tick) + 4, text_anchor="end"),
        ]
    parts += _x_axis(x_scale, x_scale.ticks(), bottom, grid=False)
    parts.append(tag("text", x_label, x=_WIDTH - _RIGHT, y=bottom + 34, text_anchor="end"))
    for i, line in enumerate(lines):
        points = [f"{x_scale(x)} {y_scale(y)}" for x, y in zip(line.x, line.y, strict=True)]
        mark = (
            tag("path", d="M" + "L".join(points))
            if len(points) > 1
            else tag("circle", cx=points[0].split()[0], cy=points[0].split()[1], r=3.5)
        )
        parts.append(tag("g", tag("title", line.label), mark, class_=f"line c{i % _N_COLOURS}"))
    ends = "; ".join(f"{line.label}: from {line.y[0]:.3g} to {line.y[-1]:.3g}" for line in lines)
    return svg(title, f"{title}, over {x_label}. {ends}", bottom + 42, parts)


class Scale:
    """From values to coordinates, rounded to a tenth."""

    def __init__(
        self, low: float, high: float, start: float, stop: float, log: bool = False, margin: float = 0.04
    ):
        self._log = log
        low, high = (math.log10(low), math.log10(high)) if log else (low, high)
        span = (high - low) or abs(high) or 1.0
        self._low, self._high = low - margin * span, high + margin * span
        self._start, self._stop = start, stop

    def __call__(self, value: float) -> float:
        value = math.log10(value) if self._log else value
        share = (value - self._low) / (self._high - self._low)
        return round(self._start + share * (self._stop - self._start), 1)

    def ticks(self) -> list[float]:
        """Round values within the scale."""
        from matplotlib.ticker import LogLocator, MaxNLocator

        if self._log:
            low, high = 10**self._low, 10**self._high
            ticks = LogLocator(numticks=6).tick_values(low, high)
        else:
            low, high = self._low, self._high
            ticks = MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(low, high)
        return [float(tick) for tick in ticks if low <= tick <= high]


def _x_axis(scale: Scale, ticks: Sequence[float], bottom: float, grid: bool = True) -> list[Markup]:
    parts = []
    for tick in ticks:
        x = scale(tick)
        parts.append(tag("path", d=f"M{x} {TOP - 4}V{bottom}" if grid else f"M{x} {bottom}v4", class_="grid"))
        parts.append(tag("text", f"{tick:g}", x=x, y=bottom + 16, text_anchor="middle"))
    return parts


def shorten(label: str, longest: int = _LONGEST_LABEL) -> str:
    """A label that fits."""
    return label if len(label) <= longest else f"{label[: longest - 1]}…"


def _describe(dot: Dot) -> str:
    text = f"{dot.label} {number(dot.mean)}"
    if not math.isnan(dot.std):
        text += f" ± {number(dot.std)}"
    return text if math.isnan(dot.paper) else f"{text}, paper {number(dot.paper)}"


def svg(
    title: str, alternative: str, height: float, parts: Sequence[Markup], width: float = _WIDTH
) -> Markup:
    """A chart with its title, and what it shows in words for those who do not see it."""
    return tag(
        "svg",
        tag("text", title, x=4, y=14, class_="title"),
        parts,
        viewBox=f"0 0 {width} {math.ceil(height)}",
        role="img",
        aria_label=alternative,
    )
