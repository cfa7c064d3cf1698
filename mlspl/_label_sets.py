"""Rows of label names, as `MultiLabelBinarizer` takes them, to and from a sparse table of labels."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import MultiLabelBinarizer

from mlspl.errors import UserError, listed

LIST = "["
"""In place of what joins the labels of a cell, where a cell is a list."""

_SETS = (list, tuple, set, frozenset)


def is_label_sets(Y: Any) -> bool:
    """Whether Y holds a collection of labels per row, and not a table of 0 and 1.

    In a column (Series, one-dimensional array) any list, tuple or set is one. A list of lists is a table
    unless a row is a set, holds text, or has another length than the first.
    """
    if isinstance(Y, str | bytes) or hasattr(Y, "columns") or sparse.issparse(Y):
        return False
    if isinstance(Y, list | tuple):
        rows = [row for row in Y if not _is_missing(row)]
        if not rows or not all(isinstance(row, _SETS) or getattr(row, "ndim", 0) == 1 for row in rows):
            return False
        return len({len(row) for row in rows}) > 1 or any(
            isinstance(row, set | frozenset) or any(isinstance(label, str) for label in row) for row in rows
        )
    if getattr(Y, "ndim", len(getattr(Y, "shape", ()))) != 1:
        return False
    if isinstance(Y, np.ndarray) and Y.dtype != object:
        return False
    return any(isinstance(row, _SETS) or (hasattr(row, "__len__") and np.ndim(row) == 1) for row in Y)


def table_of_label_sets(
    rows: Iterable[Any], names: Sequence[str] | None = None, what: str = "Y"
) -> tuple[sparse.csr_array, list[str]]:
    """Return a CSR table (n, L) of ones, with NaN in the rows that are missing, and the names of its columns.

    The columns are the labels that occur, sorted, or those of `names`.
    """
    rows = [None if _is_missing(row) else list(row) for row in rows]
    for i, row in enumerate(rows):
        for label in row or ():
            if not np.isscalar(label) or _is_missing(label):
                raise UserError(f"{what}[{i}] holds {label!r}: a row is a collection of label names.")
    if names is None:
        found = {label for row in rows for label in row or ()}
        try:
            ordered = sorted(found)
        except TypeError:
            ordered = sorted(found, key=str)
        names = list(dict.fromkeys(map(str, ordered)))
        if not names:
            raise UserError(f"{what} has no label in any row: there is nothing to learn.")
    unknown = sorted({str(label) for row in rows for label in row or ()} - set(names))
    if unknown:
        raise UserError(
            f"{what} holds labels that are not among the {len(names)} there are: {listed(unknown)}."
        )
    filled = [names if row is None else map(str, row) for row in rows]
    table = sparse.csr_array(MultiLabelBinarizer(classes=names, sparse_output=True).fit_transform(filled))
    table.sort_indices()
    missing = [row is None for row in rows]
    if any(missing):
        table = table.astype(np.float64)
        table.data[np.repeat(missing, np.diff(table.indptr))] = np.nan
    return table, list(names)


def label_sets(Y: Any, names: Sequence[str]) -> list[list[str]]:
    """Return the names of the labels of every row; Y is a table (n, L), dense or sparse, 1 where relevant."""
    relevant = sparse.csr_array(Y == 1)
    relevant.sort_indices()
    indices, indptr = relevant.indices.tolist(), relevant.indptr.tolist()
    return [[names[j] for j in indices[start:stop]] for start, stop in pairwise(indptr)]


def _is_missing(value: Any) -> bool:
    """None, NaN, pandas' NA and NaT."""
    if value is None:
        return True
    if isinstance(value, (str, *_SETS)) or np.ndim(value):
        return False
    return type(value).__name__ in ("NAType", "NaTType") or value != value


def write_set(labels: list[str], joint: str) -> str:
    """A set of labels as one cell; as a JSON list if a label holds what separates them."""
    if joint == LIST or any((joint.strip() or joint) in label for label in labels):
        return json.dumps(labels, ensure_ascii=False)
    return joint.join(labels)
