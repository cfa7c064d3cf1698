"""`Column`: a column of a file, its kind, and the values it may have."""

from dataclasses import dataclass

from mlspl.datasets.source import shorten

__all__ = ["Column"]


@dataclass(frozen=True)
class Column:
    """A column: numeric, date (days since 1970), categorical or text (codes into `values`), or list.

    Of dates with slashes `day_first` says in which order they were read, and `ambiguous` is one of them where
    the other order was possible too.
    """

    name: str
    kind: str = "numeric"
    values: tuple[str, ...] = ()
    line: int | None = None
    day_first: bool | None = None
    ambiguous: str = ""

    @property
    def shown_values(self) -> str:
        """The values as an error message shows them."""
        return shorten("{" + ",".join(self.values[:20]) + "}")
