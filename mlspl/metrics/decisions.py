"""Criteria of predicted labels, all from three counts per row and per label: relevant, predicted, both.

A pair whose label is unknown (NaN in Y) counts as if that label did not exist for that row.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels_beside, check_predictions, row_blocks
from mlspl.metrics._means import NEEDS_ONE, mean
from mlspl.metrics.kernels import count_decisions

__all__ = ["Decisions", "hamming_loss", "jaccard", "macro_f1", "micro_f1", "sample_f1", "subset_accuracy"]


@dataclass(frozen=True)
class Decisions:
    """Sums over rows from which every criterion of predicted labels follows; two of them can be added.

    `relevant`, `predicted`, `both` and `known_rows` are numbers of rows by label; `rows` are those rows that
    have a known label, of which `exact` are predicted right; `jaccard` and `f1` are sums over them.
    """

    relevant: NDArray[np.int64]
    predicted: NDArray[np.int64]
    both: NDArray[np.int64]
    known_rows: NDArray[np.int64]
    rows: int
    exact: int
    jaccard: float
    f1: float

    @classmethod
    def of(cls, Y: ArrayLike | Labels, P: ArrayLike) -> Self:
        """Count; where Y and P are both sparse, without a dense table."""
        labels = check_labels_beside(Y, P, "P")
        predictions = check_predictions(P, labels.shape)
        if sparse.issparse(labels.relevant) and sparse.issparse(predictions.relevant):
            return cls._of_counts(*_count_sparse(labels.relevant, predictions.relevant, labels.unknown))
        total: Self | None = None
        for rows, predicted in row_blocks(predictions.relevant):
            relevant, unknown = _rows(labels.relevant, rows), _rows(labels.unknown, rows)
            block = cls._of_counts(*count_decisions(relevant, np.ascontiguousarray(predicted), unknown))
            total = block if total is None else total + block
        assert total is not None
        return total

    @classmethod
    def _of_counts(cls, by_label: NDArray[np.int64], by_row: NDArray[np.int64]) -> Self:
        n_known = by_label.shape[1] - by_row[3]
        spoken = n_known > 0
        r, p, b = by_row[:3, spoken]
        # Nothing there and nothing predicted is perfect.
        union, size = r + p - b, r + p
        relevant, predicted, both, unknown = by_label
        return cls(
            relevant,
            predicted,
            both,
            known_rows=by_row.shape[1] - unknown,
            rows=int(spoken.sum()),
            exact=int(np.sum((r == b) & (p == b))),
            jaccard=float(np.divide(b, union, out=np.ones(len(b)), where=union > 0).sum()),
            f1=float(np.divide(2 * b, size, out=np.ones(len(b)), where=size > 0).sum()),
        )

    @property
    def known(self) -> int:
        """How many pairs are known."""
        return int(self.known_rows.sum())

    def __add__(self, other: Self) -> Self:
        return type(self)(*(mine + theirs for mine, theirs in zip(self._sums(), other._sums(), strict=True)))

    def _sums(self) -> list[Any]:
        return [getattr(self, name) for name in self.__dataclass_fields__]

    def values(self) -> dict[str, float]:
        """The criteria beside Hamming loss, by name; NaN where no label is known."""
        fractions = {
            "micro_f1": self.micro_f1(),
            "macro_f1": self.macro_f1(),
            "sample_f1": (self.f1, self.rows),
            "subset_accuracy": (self.exact, self.rows),
            "jaccard": (self.jaccard, self.rows),
        }
        return {name: top / bottom if bottom else np.nan for name, (top, bottom) in fractions.items()}

    def hamming_loss(self) -> tuple[float, int]:
        """Wrong pairs and known pairs."""
        return float((self.relevant + self.predicted - 2 * self.both).sum()), self.known

    def micro_f1(self) -> tuple[float, float]:
        """Numerator and denominator; 0 where nothing is there and nothing predicted."""
        size = (self.relevant + self.predicted).sum()
        return (2 * float(self.both.sum()), float(size)) if size or not self.known else (0.0, 1.0)

    def macro_f1(self) -> tuple[float, int]:
        """Sum of the labels' F1 (0 for a label neither there nor predicted) and number of known labels."""
        size = self.relevant + self.predicted
        values = np.divide(2 * self.both, size, out=np.zeros(len(size)), where=size > 0)
        return float(values.sum()), int(np.count_nonzero(self.known_rows))


def hamming_loss(Y: ArrayLike, P: ArrayLike) -> float:
    """Share of the known pairs whose predicted label is wrong.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; smaller is better.

    Examples
    --------
    >>> from mlspl.metrics import hamming_loss
    >>> hamming_loss([[1, 0, 0, 1]], [[1, 1, 0, 1]])
    0.25
    """
    return mean(*Decisions.of(Y, P).hamming_loss(), "hamming loss", NEEDS_ONE)


def micro_f1(Y: ArrayLike, P: ArrayLike) -> float:
    """F1 of all pairs together, whatever their label.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import micro_f1
    >>> micro_f1([[1, 0, 1]], [[1, 1, 0]])
    0.5
    """
    return mean(*Decisions.of(Y, P).micro_f1(), "micro F1", NEEDS_ONE)


def macro_f1(Y: ArrayLike, P: ArrayLike) -> float:
    """Mean over labels of the F1 of each; a label neither there nor predicted counts 0, an unknown one not.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import macro_f1
    >>> macro_f1([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    return mean(*Decisions.of(Y, P).macro_f1(), "macro F1", NEEDS_ONE)


def sample_f1(Y: ArrayLike, P: ArrayLike) -> float:
    """Mean over rows of the F1 of each; a row without labels, predicted so, counts 1.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import sample_f1
    >>> sample_f1([[1, 0, 1], [0, 0, 0]], [[1, 1, 0], [0, 0, 0]])
    0.75
    """
    decisions = Decisions.of(Y, P)
    return mean(decisions.f1, decisions.rows, "sample F1", NEEDS_ONE)


def subset_accuracy(Y: ArrayLike, P: ArrayLike) -> float:
    """Share of the rows whose known labels are all predicted right.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import subset_accuracy
    >>> subset_accuracy([[1, 0], [1, 1]], [[1, 0], [1, 0]])
    0.5
    """
    decisions = Decisions.of(Y, P)
    return mean(decisions.exact, decisions.rows, "subset accuracy", NEEDS_ONE)


def jaccard(Y: ArrayLike, P: ArrayLike) -> float:
    """Mean over rows of the labels both relevant and predicted among those that are either.

    A row without labels, predicted so, counts 1.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        True labels; NaN where unknown.
    P : array-like or sparse matrix of shape (n, L)
        Predicted labels.

    Returns
    -------
    float
        In [0, 1]; greater is better.

    Examples
    --------
    >>> from mlspl.metrics import jaccard
    >>> jaccard([[1, 1, 0, 1]], [[1, 1, 1, 0]])
    0.5
    """
    decisions = Decisions.of(Y, P)
    return mean(decisions.jaccard, decisions.rows, "Jaccard index", NEEDS_ONE)


def _count_sparse(relevant: Any, predicted: Any, unknown: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `count_decisions` does, of CSR arrays."""
    if unknown is not None:
        predicted = predicted > unknown
    tables = (relevant, predicted, relevant.multiply(predicted))
    if unknown is None:
        unknown = sparse.csr_array(relevant.shape, dtype=bool)
    by_label, by_row = (np.stack([_sum(table, axis) for table in (*tables, unknown)]) for axis in (0, 1))
    return by_label, by_row


def _sum(table: Any, axis: int) -> NDArray[np.int64]:
    return np.asarray(table.sum(axis=axis, dtype=np.int64)).ravel()


def _rows(table: Any, rows: slice) -> NDArray[np.bool_]:
    if table is None:
        return np.empty((0, 0), dtype=bool)
    return np.ascontiguousarray(table[rows].toarray() if sparse.issparse(table) else table[rows])
