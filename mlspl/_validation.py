"""Checks of labels, scores and weights in the user's containers, which become arrays.

Labels are 0/1, ±1 or boolean, NaN where unknown: an array, a sparse matrix (which stays sparse), a masked
array, a DataFrame of pandas or polars, or a collection of label names per row. Errors name the cell.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from mlspl._label_sets import is_label_sets, table_of_label_sets
from mlspl.errors import UserError, shorten

# Pairs checked at a time: 8 MB of float64.
BLOCK = 1 << 20

_LABEL = "a label is 0 or 1 (or -1 and +1), or NaN where it is unknown."
_WEIGHT = "a weight must be finite and not negative; 0 leaves a pair or row out."


@dataclass(frozen=True)
class Labels:
    """Labels of n rows: which are relevant and which unknown, both boolean (n, L), both dense or both CSR.

    `unknown` is None where all are known; `negative` is how absence was written, 0 or -1; `names` are the
    columns' names, if they had any.
    """

    relevant: Any
    unknown: Any = None
    negative: int = 0
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.relevant.shape

    @property
    def known(self) -> NDArray[np.bool_] | None:
        """Dense (n, L), or None where all are known."""
        return None if self.unknown is None else ~_dense(self.unknown)

    def dense(self) -> "Labels":
        """The same labels in arrays."""
        if not sparse.issparse(self.relevant):
            return self
        unknown = None if self.unknown is None else self.unknown.toarray()
        return replace(self, relevant=self.relevant.toarray(), unknown=unknown)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.int8]]]:
        """Yield (rows, codes): 1 (relevant), 0 (irrelevant) or -1 (unknown), as a dense int8 array."""
        for rows, relevant in row_blocks(self.relevant):
            codes = relevant.astype(np.int8, order="C")
            if self.unknown is not None:
                codes[_dense(self.unknown[rows])] = -1
            yield rows, codes


def check_labels(Y: ArrayLike | Labels, name: str = "Y", label_names: Sequence[str] | None = None) -> Labels:
    """Return the labels of a table (n, L), of a collection of label names per row, or of `Labels`.

    `label_names` says which labels collections may hold, in which order; without it, those that occur.
    """
    if isinstance(Y, Labels):
        return Y
    table, names = label_table(Y, name, label_names)
    if table.ndim != 2 or table.shape[1] == 0:
        raise explain(ValueError(), table, name, "labels")
    if table.dtype.kind not in "biuf":
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise explain(error, table, name, "labels") from None
    return (_read_csr if sparse.issparse(table) else _read_dense)(table, name, names)


def check_labels_beside(Y: ArrayLike | Labels, other: Any, name: str) -> Labels:
    """Return labels to be compared with the scores or predictions `other`, column by column."""
    columns = Y.names if isinstance(Y, Labels) else getattr(Y, "columns", None)
    right = check_order(columns, other, name)
    if not isinstance(Y, Labels) and Y is not None and is_label_sets(Y) and not right:
        raise UserError(
            f"Y holds label names, and the columns of {name} have none: give {name} as a DataFrame with the "
            "labels' names, or Y as a table of 0 and 1."
        )
    return check_labels(Y, label_names=right or None)


def check_predictions(P: ArrayLike, shape: tuple[int, int]) -> Labels:
    """Return predicted labels of that shape, none of which may be unknown."""
    labels = check_labels(P, "P")
    check_shape(labels.shape, shape, "P")
    if labels.unknown is not None and (place := _first(labels.unknown, np.asarray)):
        raise UserError(f"P[{place[0]}, {place[1]}] is nan: predict 0 or 1 for every label.")
    return labels


def check_scores(F: ArrayLike, shape: tuple[int | None, int], name: str = "F", infinite: bool = False) -> Any:
    """Return scores of shape (n, L) as a dense array of numbers; NaN and, unless `infinite`, ±∞ are refused.

    n None takes any number of rows.
    """
    table, _ = _numeric_table(F, name, accept_sparse=False)
    if shape[0] is None and table.shape[1] != shape[1]:
        raise UserError(f"{name} has {table.shape[1]} columns, but there are {shape[1]} labels.")
    check_shape(table.shape, (table.shape[0] if shape[0] is None else shape[0], shape[1]), name)
    if table.dtype.kind != "f":
        return table
    if infinite:
        _refuse_first(table, np.isnan, name, "a score must be a number; infinities are accepted.")
    else:
        _refuse_first(table, lambda cells: ~np.isfinite(cells), name, "scores must be finite here.")
    return table


def check_sparse(table: Any, name: str) -> None:
    """Refuse a sparse matrix whose index arrays point outside it: compiled code would read or write there."""
    if not sparse.issparse(table):
        return
    try:
        if table.format == "coo":
            for indices, size in zip(table.coords, table.shape, strict=True):
                if len(indices) != len(table.data) or np.any((indices < 0) | (indices >= size)):
                    raise ValueError("an index is outside the matrix")
        elif hasattr(table, "check_format"):  # CSR, CSC and BSR
            # check_format skips this if the last number is 0, and its differences can wrap around.
            if np.any(table.indptr[1:] < table.indptr[:-1]):
                raise ValueError("indptr must be a non-decreasing sequence")
            table.check_format(full_check=True)
    except ValueError as error:
        raise UserError(
            f"{name} is a corrupt sparse matrix ({error}). Build it again from its values, for instance with "
            "scipy.sparse.coo_array."
        ) from None


def check_order(columns: Sequence[str] | None, other: Any, name: str) -> list[str]:
    """Return the names of another table's columns; refuse those of Y in another order."""
    left, right = (
        [] if names is None else list(map(str, names)) for names in (columns, getattr(other, "columns", None))
    )
    if left != right and sorted(left) == sorted(right):
        raise UserError(
            f"Y and {name} have the same columns in another order: {left[:3]} … beside {right[:3]} …. "
            "Put them in one order first."
        )
    return right


def check_label_weight(
    label_weight: ArrayLike | None, labels: Labels, sample_weight: ArrayLike | None = None
) -> NDArray[np.float64] | None:
    """Return weights (n, L), 0 where a label is unknown; None where every pair counts fully.

    `label_weight` may have a weight per pair, or per row in one dimension or one column. It is multiplied by
    the `sample_weight` of the row.
    """
    known, rows = labels.known, (labels.shape[0], 1)
    if label_weight is None and sample_weight is None:
        return None if known is None else known.astype(np.float64)
    weight = np.ones(labels.shape)
    if label_weight is not None:
        weight *= _check_weight(label_weight, "label_weight", (labels.shape, rows))
    if sample_weight is not None:
        of_rows = _check_weight(sample_weight, "sample_weight", (rows,))
        if not of_rows.any():
            raise UserError("sample_weight is zero for every row: there is nothing to learn from.")
        weight *= of_rows
    if known is not None:
        weight[~known] = 0.0
    return weight


def _check_weight(values: ArrayLike, name: str, shapes: tuple[tuple[int, int], ...]) -> NDArray:
    weight, _ = _numeric_table(values, name, accept_sparse=False, ensure_2d=False)
    weight = weight.reshape(-1, 1) if weight.ndim == 1 else weight
    if weight.shape not in shapes:
        raise UserError(
            f"{name} has shape {np.shape(values)}: give {' or '.join(map(str, shapes))}. Weights of rows are "
            "sample_weight, those of (row, label) pairs label_weight."
        )
    _refuse_first(weight, lambda cells: ~((cells >= 0) & (cells < np.inf)), name, _WEIGHT)
    return weight


def label_table(
    Y: Any, name: str = "Y", label_names: Sequence[str] | None = None
) -> tuple[Any, list[str] | None]:
    """Return an array or CSR matrix that holds what the user's container does, and the names of its columns.

    A one-dimensional container stays so, unless it holds a collection of label names per row; a DataFrame of
    one column may hold them too.
    """
    if len(getattr(Y, "columns", ())) == 1 and hasattr(Y, "iloc") and is_label_sets(Y.iloc[:, 0]):
        Y = Y.iloc[:, 0]
    if Y is not None and is_label_sets(Y):
        return table_of_label_sets(Y, label_names, name)
    check_names(Y, name)
    return _numeric_table(Y, name, accept_sparse="csr", dtype=None, ensure_2d=False)


def check_names(table: Any, name: str) -> None:
    """Refuse a DataFrame with two columns of one name."""
    seen = set()
    for column in getattr(table, "columns", ()):
        if column in seen:
            raise UserError(f"{name} has two columns named {column!r}: give every column a name of its own.")
        seen.add(column)


def unmask(table: Any) -> Any:
    """Return the table; if it is a masked array, with NaN in place of what is masked."""
    if isinstance(table, np.ma.MaskedArray):
        return np.where(np.ma.getmaskarray(table), np.nan, np.ma.getdata(table))
    return table


def name_columns(table: Any) -> Any:
    """Return a table of polars as one of pandas, whose names scikit-learn sees whatever their versions."""
    import pandas as pd

    if isinstance(table, pd.DataFrame) or not (hasattr(table, "columns") and hasattr(table, "to_numpy")):
        return table
    return pd.DataFrame(table.to_numpy(), columns=list(table.columns))


def row_blocks(table: Any) -> Iterator[tuple[slice, NDArray]]:
    """Yield (rows, those rows as a dense array)."""
    step = max(1, BLOCK // max(table.shape[1], 1))
    for start in range(0, table.shape[0], step):
        rows = slice(start, start + step)
        yield rows, _dense(table[rows])


def explain(error: Exception, table: Any, name: str, columns: str) -> Exception:
    """Return the error scikit-learn's checks raised about a table as a sentence that says where.

    `columns` says what its columns are called: "features" or "labels". Where scikit-learn said it well, its
    own error comes back.
    """
    try:
        shape = np.shape(table)
    except ValueError:
        return UserError(f"{name} has rows of different lengths: give a table (n_samples, n_{columns}).")
    vectorizer = "make_pipeline(TfidfVectorizer(), MLSPLClassifier())"
    if columns == "features" and len(shape) == 1 and shape[0] and isinstance(np.asarray(table)[0], str):
        return UserError(f"{name} holds texts. Turn them into numbers by a vectorizer, such as {vectorizer}.")
    if table is None or len(shape) != 2:
        return UserError(
            f"{name} {'is None' if table is None else f'has shape {shape}'}: give a table "
            f"(n_samples, n_{columns}). Reshape your data if need be: {name}.reshape(-1, 1) is one column, "
            f"{name}.reshape(1, -1) one row."
        )
    if columns == "labels" and shape[1] == 0:
        return UserError(f"{name} has shape {shape}: give at least one label.")
    if not sparse.issparse(table) and np.asarray(table).dtype.kind not in "biuf":
        cells = np.asarray(table, dtype=object)
        headings = getattr(table, "columns", None)
        for i, j in np.ndindex(shape):
            value = cells[i, j]
            where = f"{name}[{i}, {j}]" + ("" if headings is None else f" (column {headings[j]!r})")
            if isinstance(value, complex | np.complexfloating):
                return UserError(f"Complex data not supported: {where} is {value}; give real numbers.")
            try:
                float(value)
            except ValueError:
                advice = "give 0 and 1."
                if columns == "features":
                    is_text = len(str(value).split()) > 3
                    advice = f"pass the column to {vectorizer}." if is_text else "encode it by OneHotEncoder."
                return UserError(f"{where} is {shorten(str(value))!r}, not a number: {advice}")
            except TypeError:
                return TypeError(
                    f"{where} is of type {type(value).__name__}: the argument must be a number, or a string "
                    "that reads as a number."
                )
    return error


def _numeric_table(values: Any, name: str, **options) -> tuple[Any, list[str] | None]:
    """Return an array, without copying where possible, and the names of its columns."""
    if type(values) is np.ndarray and values.ndim == 2 and values.size and values.dtype.kind in "biuf":
        return values, None  # what `check_array` returns after fifty microseconds
    columns, values = getattr(values, "columns", None), unmask(values)
    check_sparse(values, name)
    try:
        table = check_array(values, ensure_all_finite=False, input_name=name, **options)
    except (TypeError, ValueError) as error:
        raise UserError(str(explain(error, values, name, "labels"))) from None
    return table, None if columns is None else [str(column) for column in columns]


def _read_dense(table: NDArray, name: str, names: list[str] | None) -> Labels:
    one, zero = np.equal(table, 1, order="C"), table == 0
    if (one | zero).all():
        return Labels(one, names=names)
    _refuse_first(table, _is_no_label, name, _LABEL)
    unknown, minus = np.isnan(table), table == -1
    if zero.any() and minus.any():
        _refuse_both(name, *(_first(cells, np.asarray) for cells in (zero, minus)))
    return Labels(one, unknown if unknown.any() else None, -1 if minus.any() else 0, names)


def _read_csr(table: Any, name: str, names: list[str] | None) -> Labels:
    table = sparse.csr_array(table)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    one, missing, minus = table.data == 1, np.isnan(table.data), table.data == -1
    wrong = _is_no_label(table.data)
    places = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    if wrong.any():
        at = np.argmax(wrong)
        raise UserError(f"{name}[{places[at]}, {table.indices[at]}] is {table.data[at]:g}: {_LABEL}")
    if minus.any() and (one | missing | minus).sum() < table.shape[0] * table.shape[1]:
        at = np.argmax(minus)
        _refuse_both(name, None, (places[at], table.indices[at]))
    unknown = _entries(table, missing) if missing.any() else None
    return Labels(_entries(table, one), unknown, -1 if minus.any() else 0, names)


def _entries(table: Any, chosen: NDArray[np.bool_]) -> Any:
    """The stored values that were chosen, as True in a CSR array."""
    stops = np.concatenate([[0], np.cumsum(chosen)])[table.indptr].astype(table.indptr.dtype)
    values = np.ones(np.count_nonzero(chosen), dtype=bool)
    return sparse.csr_array((values, table.indices[chosen], stops), shape=table.shape)


def _refuse_both(name, zero, minus) -> None:
    where = f"{name}[{minus[0]}, {minus[1]}] is -1"
    if zero is not None:
        where += f" and {name}[{zero[0]}, {zero[1]}] is 0"
    raise UserError(
        f"{name} holds both 0 and -1, so it is unclear which of them means 'not relevant' ({where}): use "
        "0 and 1, or -1 and +1, not both, and NaN where a label is unknown."
    )


def check_shape(given: tuple[int, ...], wanted: tuple[int, int], name: str) -> None:
    if given != wanted:
        raise UserError(f"Y has shape {wanted} but {name} has shape {given}: they must be the same.")


def _refuse_first(table: Any, wrong: Callable, name: str, advice: str, start: int = 0) -> None:
    """Refuse a table with a wrong cell; its first row is row `start` of what the user gave."""
    if place := _first(table, wrong):
        raise UserError(f"{name}[{start + place[0]}, {place[1]}] is {table[place]:g}: {advice}")


def _first(table: Any, wrong: Callable) -> tuple[int, int] | None:
    """Row and column of the first cell that is wrong."""
    for rows, block in row_blocks(table):
        found = wrong(block)
        if found.any():
            i, j = np.unravel_index(np.argmax(found), found.shape)
            return int(i) + rows.start, int(j)
    return None


def _is_no_label(cells: NDArray) -> NDArray[np.bool_]:
    return ~((cells == 0) | (cells == 1) | (cells == -1) | np.isnan(cells))


def _dense(table: Any) -> NDArray:
    return table.toarray() if sparse.issparse(table) else table
