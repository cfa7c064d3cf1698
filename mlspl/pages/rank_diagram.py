"""The critical-difference diagram (Demšar 2006), as strokes and labels that any canvas can draw."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from mlspl.pages.charts import TOP, Scale, shorten, svg
from mlspl.pages.elements import tag

__all__ = ["Drawing", "Label", "Stroke", "draw_ranks", "rank_diagram"]

_LINE, _LETTER, _LONGEST_NAME = 18, 6.6, 16
# So many methods fit into a narrow diagram; every further one needs room for its rank on the axis.
_WIDTH, _FEW, _WIDER = 380, 8, 22
# Between the names and the axis, where the ranks stand on their stems.
_GAP = 27


@dataclass(frozen=True)
class Stroke:
    """A line through points: part of an axis, a stem to a name, or a bar over a group."""

    points: tuple[tuple[float, float], ...]
    kind: str


@dataclass(frozen=True)
class Label:
    """A text at a point, which is its start, middle or end."""

    text: str
    x: float
    y: float
    anchor: str = "start"
    kind: str = ""


@dataclass(frozen=True)
class Drawing:
    """What a diagram consists of; y grows downwards.

    Attributes
    ----------
    title : str
        Its title.
    width, height : float
        Its size.
    strokes : list of Stroke
        Lines.
    labels : list of Label
        Texts.
    description : str
        What it shows, in words.

    Examples
    --------
    >>> from mlspl.pages import draw_ranks
    >>> draw_ranks("coverage", {"BSVM": 1.2, "TRAM": 1.8}, 1.0).description
    'coverage: average ranks BSVM 1.20, TRAM 1.80. Critical difference 1.00. Not told apart: BSVM to TRAM.'
    """

    title: str
    width: float
    height: float
    strokes: list[Stroke]
    labels: list[Label]
    description: str


def draw_ranks(title: str, ranks: Mapping[str, float], distance: float, alpha: float = 0.05) -> Drawing:
    """Lay out a critical-difference diagram; bars join what Nemenyi's test does not tell apart.

    Parameters
    ----------
    title : str
        Above the diagram.
    ranks : mapping
        Average rank of each method, by its title.
    distance : float
        The critical difference.
    alpha : float, default=0.05
        Its level.

    Examples
    --------
    >>> drawing = draw_ranks("coverage", {"BSVM": 1.2, "TRAM": 1.8, "ours": 3.0}, 1.0)
    >>> [stroke.kind for stroke in drawing.strokes].count("group")
    1
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    values = np.array([ranks[name] for name in order], dtype=float)
    k, left = len(order), (len(order) + 1) // 2
    width = _WIDTH + _WIDER * max(0, k - _FEW)
    side = 10 + _LETTER * max(len(shorten(name, _LONGEST_NAME)) for name in order)
    place = Scale(1, k, side + _GAP, width - side - _GAP, margin=0)
    axis = TOP + 40
    groups = _find_groups(values, distance)
    first = axis + 20 + 8 * len(groups)
    end = min(place(1 + distance), width - 4)
    strokes = [
        *(Stroke(((x, TOP + 10), (x, TOP + 16)), "axis") for x in (place(1), end)),
        Stroke(((place(1), TOP + 13), (end, TOP + 13)), "axis"),
        Stroke(((place(1), axis), (place(k), axis)), "axis"),
    ]
    labels = [Label(f"critical difference {distance:.2f} (α = {alpha:g})", place(1), TOP + 5)]
    for rank in range(1, k + 1):
        strokes.append(Stroke(((place(rank), axis), (place(rank), axis - 4)), "axis"))
        labels.append(Label(str(rank), place(rank), axis - 7, "middle"))
    for i, (name, rank) in enumerate(zip(order, values.tolist(), strict=True)):
        on_left = i < left
        y = first + _LINE * (i if on_left else k - 1 - i)
        edge = side if on_left else width - side
        strokes.append(Stroke(((place(rank), axis), (place(rank), y), (edge, y)), "stem"))
        outside, inside = (-4, 2) if on_left else (4, -2)
        start, stop = ("end", "start") if on_left else ("start", "end")
        labels.append(Label(shorten(name, _LONGEST_NAME), edge + outside, y + 4, start, "name"))
        labels.append(Label(f"{rank:.2f}", edge + inside, y - 3, stop, "value"))
    for level, (low, high) in enumerate(groups):
        y = axis + 9 + 8 * level
        strokes.append(Stroke(((place(values[low]) - 3, y), (place(values[high]) + 3, y)), "group"))
    told = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(order, values, strict=True))
    joined = "; ".join(f"{order[low]} to {order[high]}" for low, high in groups) or "none"
    description = (
        f"{title}: average ranks {told}. Critical difference {distance:.2f}. Not told apart: {joined}."
    )
    return Drawing(title, width, first + _LINE * left, strokes, labels, description)


def rank_diagram(title: str, ranks: Mapping[str, float], distance: float) -> Markup:
    """Return a critical-difference diagram as SVG.

    Parameters
    ----------
    title, ranks, distance
        As for `draw_ranks`.

    Examples
    --------
    >>> rank_diagram("coverage", {"BSVM": 1.2, "TRAM": 1.8, "ours": 3.0}, 1.0)[:5]
    Markup('<svg ')
    """
    drawing = draw_ranks(title, ranks, distance)
    paths = [
        tag("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in stroke.points), class_=stroke.kind)
        for stroke in drawing.strokes
    ]
    texts = [
        tag(
            "text",
            label.text,
            x=f"{label.x:.1f}",
            y=f"{label.y:.1f}",
            text_anchor=None if label.anchor == "start" else label.anchor,
            class_=label.kind or None,
        )
        for label in drawing.labels
    ]
    return svg(title, drawing.description, drawing.height, [*paths, *texts], drawing.width)


def _find_groups(ranks: np.ndarray, distance: float) -> list[tuple[int, int]]:
    """The largest runs of ascending ranks within the distance, each as its first and last index."""
    groups: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + distance, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
