"""Tables of a page."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Cell", "Head", "Table", "number"]


@dataclass(frozen=True)
class Head:
    """Head of a column; numeric columns are right-aligned, `largest_first` is what the first click does."""

    text: str
    numeric: bool = True
    largest_first: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell: its text, the number it is sorted by (NaN stays last), and how it looks.

    `best` is set in bold. `std` follows the text. `paper` is a second line: another's figure, and in `far`
    ours minus that. `style` is "", "wide" or "error".

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
    style: str = ""

    @property
    def sort_key(self) -> str | None:
        """The number as the page's script reads it."""
        return None if self.value is None or math.isnan(self.value) else repr(float(self.value))


class Table:
    """A table that a click on a head sorts, in a box that scrolls on narrow screens.

    A head given as text is that of a column of text. The first column names the rows. `style` is "", "scores"
    or "tall".
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

    Examples
    --------
    >>> number(-0.5, 2), number(0.5, 2, sign=True), number(float("nan"))
    ('−0.50', '+0.50', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")
