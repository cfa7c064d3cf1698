"""`Dataset`: instances, labels and their names, with the statistics of the multi-label literature."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl._validation import Labels, check_labels, row_blocks
from mlspl.datasets.columns import column_kind, days_since_1970, spell_numbers
from mlspl.errors import UserError, guess_column

# Labels of more pairs than this are kept sparse if fewer than a tenth of them are relevant.
_DENSE_PAIRS = 10**7


def as_dense(matrix):
    """The matrix as an array, whether it was sparse or not."""
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def build_csr(values: np.ndarray, columns: np.ndarray, row_stop: np.ndarray, n_columns: int):
    """Return the CSR array of rows that stop at these values, with the 32-bit indices of scikit-learn."""
    indptr = np.concatenate([[0], row_stop])
    if len(values) <= np.iinfo(np.int32).max:
        indptr, columns = indptr.astype(np.int32), columns.astype(np.int32)
    matrix = sparse.csr_array((values, columns, indptr), shape=(len(row_stop), n_columns))
    matrix.sort_indices()
    return matrix


def labels_as_table(labels: Labels) -> Any:
    """Labels as Y of a `Dataset`: whole numbers, or floats with NaN; sparse where they are many and few."""
    n_pairs = labels.shape[0] * labels.shape[1]
    dtype = np.int64 if labels.unknown is None else np.float64
    is_sparse = n_pairs > _DENSE_PAIRS and labels.relevant.sum() < n_pairs / 10
    Y: Any = (
        sparse.csr_array(labels.relevant, dtype=dtype) if is_sparse else labels.dense().relevant.astype(dtype)
    )
    if labels.unknown is None:
        return Y
    if is_sparse:
        return Y + sparse.csr_array(labels.unknown, dtype=dtype) * np.nan
    Y[labels.dense().unknown] = np.nan
    return Y


def _canonical(numbers: np.ndarray) -> np.ndarray:
    """The numbers with one spelling of zero and of NaN, so that equal data have equal bytes."""
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8")


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set.

    Parameters
    ----------
    X : DataFrame, array or CSR array of shape (n_rows, n_features)
        The features. A DataFrame holds numbers, pandas categories, dates (datetime64) and text, as in a file.
        Arrays hold floats. Missing values are NaN.
    Y : array or CSR array of shape (n_rows, n_labels)
        int64, 0 or 1; float64 with NaN where labels are unknown. Readers return a CSR array if there are more
        than ten million pairs and few of them are relevant.
    feature_names, label_names, name
        Names of the columns of X and Y, and of the data set.
    label_column, label_joint : str, optional
        The column that held the label set of each row, empty if every label had its own; the text between
        the labels in it, such as ``"|"`` or ``", "``, ``"["`` for lists.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = load_dataset("digits-traits")
    >>> digits
    Dataset 'digits-traits': 1797 rows × 64 features (dense), 8 labels, 3.29 labels a row
    >>> digits.describe().label_sets
    10
    """

    X: pd.DataFrame | np.ndarray | sparse.csr_array
    Y: np.ndarray | sparse.csr_array
    feature_names: list[str]
    label_names: list[str]
    name: str = "data"
    label_column: str = ""
    label_joint: str = ""

    def __post_init__(self):
        for field_name in ("feature_names", "label_names"):
            object.__setattr__(self, field_name, list(getattr(self, field_name)))
        if self.X.ndim != 2 or self.X.shape != (self.Y.shape[0], len(self.feature_names)):
            raise UserError(
                f"X is {self.X.shape}, which does not fit {self.Y.shape[0]} rows of Y and "
                f"{len(self.feature_names)} feature names."
            )
        if self.Y.ndim != 2 or self.Y.shape[1] != len(self.label_names):
            raise UserError(f"Y is {self.Y.shape}, which does not fit {len(self.label_names)} label names.")
        if isinstance(self.X, pd.DataFrame) and list(self.X.columns) != self.feature_names:
            raise UserError("feature_names are not the columns of X.")

    def __repr__(self):
        rows, features = self.X.shape
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        return (
            f"Dataset {self.name!r}: {rows} rows × {features} features ({kind}), "
            f"{self.Y.shape[1]} labels, {np.nansum(_stored(self.Y)) / max(rows, 1):.2f} labels a row"
        )

    def kind(self, name: str) -> str:
        """Return the kind of the feature of that name: numeric, categorical, text or date."""
        return column_kind(self.X[name]) if isinstance(self.X, pd.DataFrame) else "numeric"

    def frame(self) -> pd.DataFrame:
        """Return the features as a DataFrame; sparse features as a dense one."""
        if isinstance(self.X, pd.DataFrame):
            return self.X
        return pd.DataFrame(as_dense(self.X), columns=pd.Index(self.feature_names, dtype=object), copy=False)

    def describe(self) -> pd.Series:
        """Return sizes, cardinality, density and the like by name; unknown labels are not counted."""
        rows, n_labels = self.Y.shape
        relevant, unknown = self._labels().relevant, self._labels().unknown
        n_missing = 0 if unknown is None else int(unknown.sum())
        imbalance = self.describe_labels()["imbalance"]
        Y = sparse.csr_array(self.Y, copy=True)
        Y.sort_indices()
        Y.eliminate_zeros()
        label_sets = {
            (Y.indices[start:stop].tobytes(), Y.data[start:stop].tobytes())
            for start, stop in pairwise(Y.indptr.tolist())
        }
        statistics = {
            "n_rows": rows,
            "n_features": self.X.shape[1],
            "n_labels": n_labels,
            "cardinality": relevant.sum() / max(rows, 1),
            "density": relevant.sum() / max(rows * n_labels - n_missing, 1),
            "label_sets": len(label_sets),
            "unlabelled_rows": int((_sum(relevant, 1) == 0).sum()),
            "missing_features": int(np.sum(np.asarray(pd.isna(_stored(self.X))))),
            "missing_labels": n_missing,
            "mean_imbalance": float(imbalance.mean()),
        }
        return pd.Series(statistics, dtype=object)

    def describe_labels(self) -> pd.DataFrame:
        """Return the relevant rows of each label, their share of the known rows, and its imbalance.

        Imbalance: how many times the most frequent label is more frequent (IRLbl of Charte et al.).
        """
        labels = self._labels()
        positives, known = _sum(labels.relevant, 0), self.Y.shape[0]
        if labels.unknown is not None:
            known = known - _sum(labels.unknown, 0)
        imbalance = np.full(len(positives), np.inf)
        np.divide(positives.max(initial=0), positives, out=imbalance, where=positives > 0)
        columns = {"positives": positives, "share": positives / np.maximum(known, 1), "imbalance": imbalance}
        return pd.DataFrame(columns, index=pd.Index(self.label_names, name="label"))

    def _labels(self) -> Labels:
        return check_labels(self.Y) if self.Y.shape[1] else Labels(np.zeros(self.Y.shape, bool))

    def texts(self, name: str) -> list[str | None]:
        """Return the cells of the feature of that name as text, None where one is missing."""
        if name not in self.feature_names:
            hint = guess_column(name, self.feature_names)
            raise UserError(f"{self.name} has no column {name!r} beside its labels.{hint}")
        j = self.feature_names.index(name)
        is_frame = isinstance(self.X, pd.DataFrame)
        column = self.X[name] if is_frame else pd.Series(as_dense(self.X[:, [j]])[:, 0])
        if column_kind(column) == "numeric":
            column = spell_numbers(column)
        suffix = " 00:00:00" if column_kind(column) == "date" else ""
        return [None if pd.isna(cell) else str(cell).removesuffix(suffix) for cell in column.astype(object)]

    def without(self, names: Collection[str]) -> "Dataset":
        """Return the data set without the features of these names."""
        kept = [j for j, name in enumerate(self.feature_names) if name not in names]
        return replace(
            self,
            X=self.X.iloc[:, kept] if isinstance(self.X, pd.DataFrame) else self.X[:, kept],
            feature_names=[self.feature_names[j] for j in kept],
        )

    def with_labels(self, changes: Sequence[tuple[int, int, float]]) -> "Dataset":
        """Return the data set with changed labels: (row, label, value) with 0, 1 or NaN for unknown."""
        unknown = any(value != value for _, _, value in changes)
        Y: Any = self.Y.astype(float if unknown else self.Y.dtype)
        Y = Y.tolil() if sparse.issparse(Y) else Y
        for row, label, value in changes:
            Y[row, label] = value
        return replace(self, Y=Y.tocsr() if sparse.issparse(Y) else Y)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the content of X and Y: equal for equal data, from whatever file.

        Names do not count. A dense and a sparse X differ, because methods treat them differently.
        """
        if sparse.issparse(self.X):
            X = sparse.csr_array(self.X, copy=True)
            X.sum_duplicates()
            X.eliminate_zeros()
            parts = [_canonical(X.data), X.indices.astype("<i8"), X.indptr.astype("<i8")]
        elif isinstance(self.X, pd.DataFrame):
            kinds = [self.kind(name) for name in self.feature_names]
            numbers = self.X.loc[:, [kind == "numeric" for kind in kinds]]
            parts = [_canonical(numbers.to_numpy(float))]
            for name, kind in zip(self.feature_names, kinds, strict=True):
                if kind == "date":
                    parts.append(_canonical(days_since_1970(self.X[name])))
                elif kind != "numeric":
                    words = self.X[name].astype(object).fillna("")
                    parts.append(pd.util.hash_pandas_object(words, index=False).to_numpy("<u8"))
        else:
            parts = [_canonical(self.X)]
        digest = hashlib.sha256(repr([self.Y.shape, *(part.shape for part in parts)]).encode())
        # Labels are bytes; an unknown one is 2.
        for _, block in row_blocks(self.Y):
            digest.update(np.nan_to_num(block, nan=2).astype(np.int8, order="C").tobytes())
        for part in parts:
            digest.update(part.tobytes())
        return digest.hexdigest()


def _stored(table: Any) -> np.ndarray:
    return table.data if sparse.issparse(table) else table


def _sum(table: Any, axis: int) -> np.ndarray:
    return np.asarray(table.sum(axis=axis)).ravel()
