"""`ReadOptions`: what a user may say about a file that the file does not say itself."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from mlspl.datasets.words import KINDS, MISSING
from mlspl.errors import UserError, guess_column, listed

__all__ = ["PLAIN", "ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table: separator of label sets, missing values, columns, their kinds, order of dates."""

    label_sep: str | None = None
    na_values: Collection[str] | None = None
    drop: Collection[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    # Whether columns that are not there may be named.
    lenient: bool = False
    # Of columns of dates with slashes.
    day_first: Mapping[str, bool] = field(default_factory=dict)

    def __post_init__(self):
        for name in ("na_values", "drop"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, [getattr(self, name)])
        for column, kind in self.kinds.items():
            if kind not in KINDS:
                raise UserError(f"column {column!r} cannot be {kind!r}: it is one of {', '.join(KINDS)}.")
        for column, is_first in self.day_first.items():
            if not isinstance(is_first, bool):
                raise UserError(f"day_first of column {column!r} is True or False; it is {is_first!r}.")
        object.__setattr__(self, "kinds", {**dict.fromkeys(self.day_first, "date"), **self.kinds})

    @property
    def missing(self) -> frozenset[str]:
        """What stands for a missing value, beside the empty field."""
        return MISSING if self.na_values is None else frozenset(map(str, self.na_values))

    def kind_of_words(self, name: str) -> str | None:
        """What a column of words is to be; nothing is wrong with one that is left out."""
        return "categorical" if name in self.drop else self.kinds.get(name)

    def check(self, names: Collection[str], path) -> None:
        """Refuse columns that the file does not have."""
        if self.lenient:
            return
        asked = {"drop (--drop)": list(self.drop), "day_first": list(self.day_first)}
        for name, kind in self.kinds.items():
            asked.setdefault("kinds" if kind == "date" else f"kinds (--{kind})", []).append(name)
        for what, wanted in asked.items():
            if absent := [name for name in wanted if name not in names]:
                hint = guess_column(absent[0], names)
                raise UserError(f"{path}: {what} names what is no column: {listed(absent)}.{hint}")


PLAIN = ReadOptions()
"""Nothing said."""
