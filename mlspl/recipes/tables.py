"""What is asked of the tables that `Schema.match` makes."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

__all__ = ["find_counters", "take_rows"]

# Of fewer, a column may count by chance.
_FEW_ROWS = 20


def find_counters(table: pd.DataFrame | sparse.csr_array) -> list[str]:
    """Return the names of the columns of numbers that grow by one from row to row.

    Parameters
    ----------
    table : DataFrame or CSR array
        From :meth:`Schema.match`.

    Examples
    --------
    >>> find_counters(pd.DataFrame({"id": np.arange(7.0, 50.0), "tempo": 120.0}))
    ['id']
    """
    if sparse.issparse(table) or len(table) <= _FEW_ROWS:
        return []
    numeric = table.select_dtypes("number").columns
    return [str(name) for name in numeric if (np.diff(table[name]) == 1).all()]


def take_rows(table: Any, rows: np.ndarray) -> Any:
    """Return these rows of a table.

    Parameters
    ----------
    table : DataFrame, array or CSR array
        From :meth:`Schema.match`.
    rows : array of int
        Their positions.

    Examples
    --------
    >>> take_rows(pd.DataFrame({"tempo": [120.0, 64.0]}), np.array([1]))["tempo"].tolist()
    [64.0]
    """
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]
