"""Tables of a page."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Head(NamedTuple):
    """Head of a column: its text, whether the column holds numbers, and what the first click sorts first."""

    text: str
    numeric: bool
    largest_first: bool


@dataclass(frozen=True)
class Cell:
    """A cell: its text, the number it is sorted by (NaN stays last), and how it looks.

    `best` is set in bold. `std` follows the text. `paper` is a second line: another's figure, and in `far`
    ours minus that. `style` is "", "wide" or "error".
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

    `columns` has the cells by head: texts, numbers or `Cell`. The first column names the rows. `style` is "",
    "scores" or "tall". The first click on a head in `largest_first` sorts in descending order.
    """

    def __init__(
        self,
        caption: str,
        columns: Mapping[str, Iterable[Cell | str | float]],
        style: str = "",
        largest_first: Collection[str] = (),
    ) -> None:
        self.caption, self.style = caption, style
        cells = {head: list(map(_as_cell, column)) for head, column in columns.items()}
        self.heads = [
            Head(head, any(cell.value is not None for cell in column), head in largest_first)
            for head, column in cells.items()
        ]
        self.rows = list(zip(*cells.values(), strict=True))

    def transposed(self) -> "Table":
        """The same table with its rows as columns."""
        columns: dict[str, Iterable[Cell | str]] = {
            self.heads[0].text: [head.text for head in self.heads[1:]]
        }
        return Table(self.caption, columns | {row[0].text: row[1:] for row in self.rows}, self.style)


def _as_cell(value: Cell | str | float) -> Cell:
    if isinstance(value, Cell | str):
        return Cell(value) if isinstance(value, str) else value
    return Cell(number(value, 3) if isinstance(value, float) else f"{value:g}", float(value))


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as pages show it, a dash for what is missing."""
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")
