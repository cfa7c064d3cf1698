"""Errors that are the user's to mend; the command line ends with code 2 on them and prints no traceback."""

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
    """A data file is not what it says it is: where, what, and what to do.

    Parameters
    ----------
    message : str
        What was wrong and what to do, as a sentence.
    file : path, optional
        The file that was read.
    line : int, optional
        The line of `file`, counted from 1.

    Examples
    --------
    >>> from mlspl.datasets import DataFormatError
    >>> error = DataFormatError("5 values where 6 are declared.", "birds.arff", 17)
    >>> print(error)
    birds.arff, line 17: 5 values where 6 are declared.
    >>> error.line
    17
    """

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
    """The names as a sentence lists them, of many the first ten."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(repr(shorten(name)) for name in names[:10]) + more


def guess(name: str, names: Iterable[str]) -> str:
    """The question whether another name was meant, with a blank before it; nothing where none is near."""
    if len(name) > _LONGEST_NAME:
        return ""
    by_letters = {known.casefold(): known for known in names if len(known) <= _LONGEST_NAME}
    near = get_close_matches(name.casefold(), by_letters, n=1)
    return f" Did you mean {shorten(by_letters[near[0]])!r}?" if near else ""


def guess_column(name: str, columns: Iterable[str]) -> str:
    """The same of a column; and how a name with commas is written, where `name` is a part of one."""
    columns = list(columns)
    for column in columns:
        if "," in column and name in map(str.strip, column.split(",")):
            return f" Did you mean {shorten(column)!r}? In a list, put a name with commas in double quotes."
    return guess(name, columns)
