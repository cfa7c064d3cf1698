"""Names that come from files, made harmless: for a terminal, Rich, Matplotlib, a spreadsheet, a folder."""

import re
from typing import TYPE_CHECKING, Any

from rich.markup import escape

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["drawn", "file_stem", "printable", "safe_cell", "safe_csv", "shown"]

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_LONGEST_STEM = 100


def printable(text: str) -> str:
    """Text without what a terminal would take for orders: escapes, control and direction characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def shown(text: str) -> str:
    """A name as Rich may print it: `printable`, and brackets are brackets."""
    return escape(printable(text))


def drawn(text: str) -> str:
    """A name as Matplotlib may draw it: `printable`, and dollars are dollars."""
    return printable(text).replace("$", r"\$")


def safe_cell(text: str) -> str:
    """A cell that spreadsheets take for text: what begins like a formula gets an apostrophe before it."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_STARTS) else text


def safe_csv(table: "pd.DataFrame", **options: Any) -> str:
    """A table as CSV in which no text starts a formula; numbers stay as they are."""
    names = table.select_dtypes(exclude=["number", "bool"]).columns
    cells = {name: [safe_cell(str(cell)) for cell in table[name]] for name in names}
    return table.assign(**cells).to_csv(index=False, **options)


def file_stem(name: str) -> str:
    """A name as part of a file's name, which stays in its folder."""
    return re.sub(r"[^\w ,.%()+-]+", "_", name).strip("._ ")[:_LONGEST_STEM] or "unnamed"
