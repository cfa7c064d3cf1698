"""Text from files made harmless for a terminal, Rich, Matplotlib or a spreadsheet."""

from typing import TYPE_CHECKING, Any

from rich.markup import escape

if TYPE_CHECKING:
    import pandas as pd

_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def printable(text: str) -> str:
    """Replace characters that a terminal would act on: escapes, control and direction characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def shown(text: str) -> str:
    """Return printable text in which Rich takes brackets for brackets."""
    return escape(printable(text))


def escape_mathtext(text: str) -> str:
    """Return printable text in which Matplotlib takes dollars for dollars."""
    return printable(text).replace("$", r"\$")


def safe_cell(text: str) -> str:
    """Put an apostrophe before a cell that a spreadsheet would take for a formula; numbers stay.

    Give it the finished cell, not its parts: what joins them may start a formula, too.
    """
    if not text.startswith(("\t", "\r")) and not text.lstrip().startswith(_FORMULA_STARTS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def safe_csv(table: "pd.DataFrame", **options: Any) -> str:
    """Return a table as CSV in which neither a heading nor a text starts a formula."""
    names = table.select_dtypes(exclude=["number", "bool"]).columns
    cells = {name: [safe_cell(str(cell)) for cell in table[name]] for name in names}
    table = table.assign(**cells).rename(columns=lambda name: safe_cell(str(name)))
    return table.to_csv(index=False, **options)
