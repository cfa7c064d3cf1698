"""`Dataset`: instances, labels and their names, with the statistics of the multi-label literature."""

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl.errors import UserError

__all__ = ["Dataset", "Statistics", "as_dense", "csr_rows"]


def as_dense(matrix):
    """The matrix as an array, whether it was sparse or not."""
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def csr_rows(values: np.ndarray, columns: np.ndarray, row_stop: np.ndarray, n_columns: int):
    """The CSR array of rows that end at these values; with 32-bit indices wherever they suffice.

    scikit-learn's trees, liblinear and LIBSVM take no others.
    """
    indptr = np.concatenate([[0], row_stop])
    if len(values) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((values, columns, indptr), shape=(len(row_stop), n_columns))


def _canonical(numbers: np.ndarray) -> np.ndarray:
    """The numbers with one spelling of zero and of NaN, so that equal data have equal bytes."""
    return np.where(np.isnan(numbers), np.nan, numbers + 0.0).astype("<f8")


@dataclass(frozen=True)
class Statistics:
    """What `Dataset.describe` returns; unknown labels (NaN) are left out of every count.

    Attributes
    ----------
    n_rows, n_features, n_labels : int
        The size.
    cardinality : float
        Relevant labels per row.
    density : float
        Share of the known (row, label) pairs that are relevant.
    label_sets : int
        Number of distinct rows of Y.
    unlabelled_rows : int
        Rows without a relevant label.
    missing_features, missing_labels : int
        Numbers of NaN.
    mean_imbalance : float
        Mean of the labels' imbalance; infinite when a label has no relevant row.
    labels : DataFrame
        For each label the relevant rows (`positives`), their `share` of the known rows, and its
        `imbalance`: how many times the most frequent label is more frequent (IRLbl of Charte et al.).
    """

    n_rows: int
    n_features: int
    n_labels: int
    cardinality: float
    density: float
    label_sets: int
    unlabelled_rows: int
    missing_features: int
    missing_labels: int
    mean_imbalance: float
    labels: pd.DataFrame = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A multi-label data set.

    Parameters
    ----------
    X : float64 array or CSR array of shape (n_rows, n_features)
        The instances; NaN where a value is missing.
    Y : array of shape (n_rows, n_labels)
        int8, 0 or 1; float64 with NaN where labels are unknown.
    feature_names, label_names : sequence of str
        Names of the columns of X and Y.
    nominal : dict, optional
        For each feature that holds category codes, its values: code c stands for ``nominal[name][c]``.
        Empty once the categories are one-hot encoded.
    name : str, optional
        What to call it.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = load_dataset("digits-traits")
    >>> digits
    Dataset 'digits-traits': 1797 rows × 64 features (dense), 8 labels, 3.29 labels a row
    >>> digits.describe().label_sets
    10
    """

    X: np.ndarray | sparse.csr_array
    Y: np.ndarray
    feature_names: list[str]
    label_names: list[str]
    nominal: dict[str, tuple[str, ...]] = field(default_factory=dict)
    name: str = "data"

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
        if unknown := self.nominal.keys() - set(self.feature_names):
            raise UserError(f"nominal names {sorted(unknown)}, which are no features.")

    def __repr__(self):
        rows, features = self.X.shape
        kind = "sparse" if sparse.issparse(self.X) else "dense"
        return (
            f"Dataset {self.name!r}: {rows} rows × {features} features ({kind}), "
            f"{self.Y.shape[1]} labels, {np.nansum(self.Y) / max(rows, 1):.2f} labels a row"
        )

    def describe(self) -> Statistics:
        """Size, cardinality, density, distinct label sets and the imbalance of every label.

        Examples
        --------
        >>> from mlspl.datasets import load_dataset
        >>> statistics = load_dataset("digits-traits").describe()
        >>> print(f"{statistics.density:.3f}")
        0.412
        >>> int(statistics.labels.loc["even", "positives"])
        891
        """
        rows, n_labels = self.Y.shape
        known = ~np.isnan(self.Y)
        relevant = known & (self.Y == 1)
        positives = relevant.sum(axis=0)
        most = positives.max(initial=0)
        imbalance = np.divide(most, positives, out=np.full(n_labels, np.inf), where=positives > 0)
        share = positives / np.maximum(known.sum(axis=0), 1)
        cells = self.X.data if sparse.issparse(self.X) else self.X
        return Statistics(
            n_rows=rows,
            n_features=self.X.shape[1],
            n_labels=n_labels,
            cardinality=positives.sum() / max(rows, 1),
            density=positives.sum() / max(known.sum(), 1),
            label_sets=len({row.tobytes() for row in self._label_codes()}),
            unlabelled_rows=int((~relevant.any(axis=1)).sum()),
            missing_features=int(np.isnan(cells).sum()),
            missing_labels=int((~known).sum()),
            mean_imbalance=float(imbalance.mean()) if n_labels else float("nan"),
            labels=pd.DataFrame(
                {"positives": positives, "share": share, "imbalance": imbalance},
                index=pd.Index(self.label_names, name="label"),
            ),
        )

    def _label_codes(self) -> np.ndarray:
        """Y as int8, with 2 for an unknown label."""
        return (
            self.Y.astype(np.int8)
            if self.Y.dtype.kind != "f"
            else np.nan_to_num(self.Y, nan=2).astype(np.int8)
        )

    def fingerprint(self) -> str:
        """SHA-256 of the content of X and Y: equal for equal data, whatever file they came from.

        Names do not count. A dense and a sparse X differ, for methods treat them differently.

        Examples
        --------
        >>> from mlspl.datasets import load_dataset
        >>> load_dataset("digits-traits").fingerprint()[:12]
        'b7c650c91a0e'
        """
        parts = [self._label_codes()]
        if sparse.issparse(self.X):
            X = sparse.csr_array(self.X, copy=True)
            X.sum_duplicates()
            X.eliminate_zeros()
            parts += [_canonical(X.data), X.indices.astype("<i8"), X.indptr.astype("<i8")]
        else:
            parts += [_canonical(self.X)]
        digest = hashlib.sha256(repr([part.shape for part in parts]).encode())
        for part in parts:
            digest.update(part.tobytes())
        return digest.hexdigest()
