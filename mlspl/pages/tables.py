"""Tables of a page: heads, cells, and what rows are sorted by."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Cell", "Head", "Table", "number"]


@dataclass(frozen=True)
class Head:
    """Head of a column.

    Parameters
    ----------
    text : str
        What it says.
    numeric : bool, default=True
        Whether the column holds numbers.
    largest_first : bool, default=False
        Whether the largest come first when one sorts by it.

    Examples
    --------
    >>> Head("average precision", largest_first=True).numeric
    True
    """

    text: str
    numeric: bool = True
    largest_first: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell: what it shows, and the number it is sorted by, if that is not its text.

    Parameters
    ----------
    text : str
        What it shows.
    value : float, optional
        What it is sorted by; NaN stays last.
    best : bool, default=False
        Whether it stands out.
    std, paper, far : str
        A deviation behind the text; below it, another's figure and how far ours lies from it.
    share : float, optional
        Length of a bar before the text, in per cent.
    style : {"", "wide", "error"}
        How long text is set.

    Examples
    --------
    >>> Cell("0.25 s", 0.25).sort_key
    '0.25'
    """

    text: str
    value: float | None = None
    best: bool = False
    std: str = ""
    paper: str = ""
    far: str = ""
    share: float | None = None
    style: str = ""

    @property
    def sort_key(self) -> str | None:
        """The number as the page's script reads it."""
        return None if self.value is None or math.isnan(self.value) else repr(float(self.value))


class Table:
    """A table that a click on a head sorts, in a box that scrolls on narrow screens.

    Parameters
    ----------
    caption : str
        What it shows.
    heads : sequence of Head or str
        One per column, a text for a column of text; the first column names the rows.
    rows : iterable of sequences of Cell or str
        The body.
    style : {"", "scores", "tall"}
        How its box is set.

    Examples
    --------
    >>> table = Table("Losses.", ["method", Head("loss")], [["ours", Cell("0.1", 0.1)]])
    >>> table.rows[0][0].text
    'ours'
    """

    def __init__(
        self,
        caption: str,
        heads: Sequence[Head | str],
        rows: Iterable[Sequence[Cell | str]],
        style: str = "",
    ) -> None:
        self.caption = caption
        self.heads = [Head(head, numeric=False) if isinstance(head, str) else head for head in heads]
        self.rows = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
        self.style = style


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as pages show it, a dash for what is missing.

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
