"""Errors that the user can correct; the command line prints their message without a traceback."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

__all__ = ["DataFormatError", "UserError", "guess", "guess_column", "listed", "shorten"]


# Longer names are not compared, because the comparison takes quadratic time.
_LONGEST_NAME = 200


class UserError(ValueError):
    """A message that says what is wrong, where, and what to do; a very long one is cut."""

    def __init__(self, message: str = ""):
        super().__init__(shorten(str(message), 4000))


class DataFormatError(UserError):
    """A data file cannot be read as its format; `line` is the line of `file`, counted from 1."""

    def __init__(self, message: str, file: str | Path | None = None, line: int | None = None):
        self.message = message
        self.file = None if file is None else Path(file)
        self.line = line
        place = "" if file is None else f"{file}: " if line is None else f"{file}, line {line}: "
        super().__init__(place + message)

    def __reduce__(self):
        return type(self), (self.message, self.file, self.line)


def shorten(text: str, most: int = 40) -> str:
    """Return as much of a text as an error message should quote."""
    return text if len(text) <= most else text[: most - 1] + "…"


def listed(names: Sequence[str]) -> str:
    """The names with commas between; of many the first ten."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(repr(shorten(name)) for name in names[:10]) + more


def guess(name: str, names: Iterable[str]) -> str:
    """The question "Did you mean …?" with a blank before it, or "" if no name is similar."""
    if len(name) > _LONGEST_NAME:
        return ""
    by_letters = {known.casefold(): known for known in names if len(known) <= _LONGEST_NAME}
    near = get_close_matches(name.casefold(), by_letters, n=1)
    return f" Did you mean {shorten(by_letters[near[0]])!r}?" if near else ""


def guess_column(name: str, columns: Iterable[str]) -> str:
    """As `guess`, for a column; explains quotes if `name` is a part of a name with commas."""
    columns = list(columns)
    for column in columns:
        if "," in column and name in map(str.strip, column.split(",")):
            return f" Did you mean {shorten(column)!r}? In a list, put a name with commas in double quotes."
    return guess(name, columns)
