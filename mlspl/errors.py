"""Errors that are the user's to mend; the command line ends with code 2 on them and prints no traceback."""

__all__ = ["UserError"]


class UserError(ValueError):
    """A sentence that says what was wrong, where, and what to do."""
