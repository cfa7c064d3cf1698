"""HTML and SVG that cannot be broken by data: whatever is not markup already is escaped."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Cell", "Content", "Head", "Markup", "number", "table", "tag"]

_VOID = {"br", "input"}


class Markup(str):
    """Text that is markup already; only :func:`tag` and the page's own template make it."""


Content: TypeAlias = str | Iterable["Content"]


def tag(name: str, /, *content: Content, **attributes: object) -> Markup:
    """Return an element; text in it and the values of its attributes are escaped.

    Parameters
    ----------
    name : str
        Of the element.
    *content : str, Markup or iterables of them
        What is inside.
    **attributes
        An underscore stands for a hyphen, one at the end is dropped (`class_`); None and False leave the
        attribute out, True gives it no value.

    Examples
    --------
    >>> tag("td", tag("b", "1 < 2"), class_="best", data_value=0.5, hidden=None)
    '<td class="best" data-value="0.5"><b>1 &lt; 2</b></td>'
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        words.append(key if value is True else f'{key}="{html.escape(str(value))}"')
    start = f"<{' '.join(words)}>"
    return Markup(start if name in _VOID else f"{start}{_inside(content)}</{name}>")


def _inside(content: Content) -> str:
    if isinstance(content, Markup):
        return content
    if isinstance(content, str):
        return html.escape(content)
    return "".join(_inside(part) for part in content)


@dataclass(frozen=True)
class Head:
    """Head of a column: its text, whether it holds numbers, and whether the largest come first."""

    text: str
    numeric: bool = True
    largest_first: bool = False


@dataclass(frozen=True)
class Cell:
    """What a cell shows and what it is sorted by, the text itself where that is None."""

    content: Content
    value: float | None = None
    best: bool = False


def table(
    caption: str, heads: Sequence[Head], rows: Iterable[Sequence[Cell | str]], class_: str = ""
) -> Markup:
    """Return a table that `report.js` sorts by any of its columns, in a box that scrolls on narrow screens.

    Parameters
    ----------
    caption : str
        What it shows.
    heads : sequence of Head
        One per column; the first column names the rows.
    rows : iterable of sequences of Cell or str
        The body.
    class_ : str
        Further classes of the box.
    """
    columns = [
        tag(
            "th",
            tag("button", head.text, type="button"),
            scope="col",
            class_="number" if head.numeric else None,
            aria_sort="none",
            data_first="descending" if head.largest_first else None,
        )
        for head in heads
    ]
    body = (
        tag(
            "tr",
            [_cell(cell, head, first=not i) for i, (cell, head) in enumerate(zip(row, heads, strict=True))],
        )
        for row in rows
    )
    content = tag("table", tag("thead", tag("tr", columns)), tag("tbody", body), aria_label=caption)
    # Focusable, so that the keyboard can scroll it; the caption stays where it is.
    box = tag(
        "div", content, class_=f"scroll {class_}".strip(), tabindex=0, role="region", aria_label=caption
    )
    return tag("figure", box, tag("figcaption", caption))


def _cell(cell: Cell | str, head: Head, first: bool) -> Markup:
    if isinstance(cell, str):
        cell = Cell(cell)
    value = None if cell.value is None or math.isnan(cell.value) else repr(float(cell.value))
    classes = " ".join(name for name, wanted in (("number", head.numeric), ("best", cell.best)) if wanted)
    return tag(
        "th" if first else "td",
        cell.content,
        scope="row" if first else None,
        class_=classes or None,
        data_value=value,
    )


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as tables show it, a dash for what is missing.

    Parameters
    ----------
    value : float
        The number.
    digits : int, default=4
        After the point.
    sign : bool, default=False
        Whether a plus is written.

    Examples
    --------
    >>> number(-0.5, 2), number(0.5, 2, sign=True), number(float("nan"))
    ('−0.50', '+0.50', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")
