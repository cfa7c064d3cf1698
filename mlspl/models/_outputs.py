"""Answers in the container that was asked for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlspl.errors import UserError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_frame", "check_output"]


def check_output(output: str, choices: Sequence[str]) -> None:
    """Refuse a container that there is none of."""
    if output not in choices:
        raise UserError(f"output is {output!r}; give one of {', '.join(map(repr, choices))}.")


def as_frame(values: Any, names: Any, X: Any) -> "pd.DataFrame | pd.Series":
    """Answers with the names of their columns, and the index of X if it has one; of one column, a Series."""
    import pandas as pd

    index = X.index if isinstance(X, pd.DataFrame | pd.Series) else None
    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=list(names))
