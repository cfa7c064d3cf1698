"""Lists of names on the command line: one line of CSV."""

import csv
import io
from collections.abc import Iterable

from mlspl.errors import UserError


def split_names(text: str | None) -> list[str]:
    """The names in a list with commas between, each once; a name in double quotes may have commas."""
    try:
        names = [name for line in csv.reader([text or ""], skipinitialspace=True) for name in line]
    except csv.Error as error:
        raise UserError(f"{text!r} is not a list of names ({error}). Quote names with commas.") from None
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


def join_names(names: Iterable[str]) -> str:
    """The list that `split_names` reads."""
    stream = io.StringIO()
    csv.writer(stream, lineterminator="").writerow(names)
    return stream.getvalue()
