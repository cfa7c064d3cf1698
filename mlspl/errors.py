"""Errors that are the user's to mend; the command line ends with code 2 on them and prints no traceback."""

from collections.abc import Sequence

__all__ = ["UserError", "listed"]


class UserError(ValueError):
    """A sentence that says what was wrong, where, and what to do."""


def listed(names: Sequence[str], most: int = 10) -> str:
    """The names as a sentence lists them, of many the first few.

    Parameters
    ----------
    names : sequence of str
        What to list.
    most : int, default=10
        How many to name.

    Examples
    --------
    >>> listed(["tempo", "key", "loud"], most=2)
    "'tempo', 'key' and 1 more"
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
