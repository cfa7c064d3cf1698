"""Criteria of predicted labels, all from three counts per row and per label: relevant, predicted, both.

A pair whose label is unknown (NaN in Y) counts as if that label did not exist for that row.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels_beside, check_predictions
from mlspl.metrics._shared import NEEDS_ONE, document, mean

__all__ = ["Decisions", "hamming_loss", "jaccard", "macro_f1", "micro_f1", "sample_f1", "subset_accuracy"]


@dataclass(frozen=True)
class Decisions:
    """Sums over rows that define every criterion of predicted labels; two of them can be added.

    `relevant`, `predicted`, `both` and `known_rows` are numbers of rows by label. `rows` have a known
    label, and `exact` of them are predicted right; `jaccard` and `f1` are sums over them.
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
    def count(cls, Y: ArrayLike | Labels, P: ArrayLike) -> Self:
        """Count; if Y or P is sparse, without a dense table."""
        labels = check_labels_beside(Y, P, "P")
        relevant, predicted = labels.relevant, check_predictions(P, labels.shape).relevant
        unknown = labels.unknown
        if sparse.issparse(relevant) or sparse.issparse(predicted):
            relevant, predicted = sparse.csr_array(relevant), sparse.csr_array(predicted)
            unknown = None if unknown is None else sparse.csr_array(unknown)
        if unknown is not None:
            predicted = predicted > unknown
        tables = (
            relevant,
            predicted,
            relevant.multiply(predicted) if sparse.issparse(relevant) else relevant & predicted,
        )
        by_label, (r, p, b) = (np.stack([_sum(table, axis) for table in tables]) for axis in (0, 1))
        n, n_labels = labels.shape
        known_rows = np.full(n_labels, n) if unknown is None else n - _sum(unknown, 0)
        if unknown is not None:
            some = _sum(unknown, 1) < n_labels
            r, p, b = r[some], p[some], b[some]
        # Without relevant and predicted labels, a row is perfect.
        union, size = r + p - b, r + p
        relevant_rows, predicted_rows, both_rows = by_label
        return cls(
            relevant_rows,
            predicted_rows,
            both_rows,
            known_rows=known_rows,
            rows=len(r),
            exact=int(np.sum((r == b) & (p == b))),
            jaccard=float(np.divide(b, union, out=np.ones(len(b)), where=union > 0).sum()),
            f1=float(np.divide(2 * b, size, out=np.ones(len(b)), where=size > 0).sum()),
        )

    @property
    def known(self) -> int:
        """The number of known pairs."""
        return int(self.known_rows.sum())

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

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

    def label_values(self) -> dict[str, NDArray[np.float64]]:
        """Precision, recall and F1 of every label, NaN where they are not defined."""
        parts = {
            "precision": (self.both, self.predicted),
            "recall": (self.both, self.relevant),
            "f1": (2 * self.both, self.predicted + self.relevant),
        }
        return {
            name: np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
            for name, (top, bottom) in parts.items()
        }

    def hamming_loss(self) -> tuple[float, int]:
        """Wrong pairs and known pairs."""
        return float((self.relevant + self.predicted - 2 * self.both).sum()), self.known

    def micro_f1(self) -> tuple[float, float]:
        """Numerator and denominator; 0 without relevant and predicted labels."""
        size = (self.relevant + self.predicted).sum()
        return (2 * float(self.both.sum()), float(size)) if size or not self.known else (0.0, 1.0)

    def macro_f1(self) -> tuple[float, int]:
        """Sum of the labels' F1 (0 if neither relevant nor predicted) and number of known labels."""
        return float(np.nansum(self.label_values()["f1"])), int(np.count_nonzero(self.known_rows))


def _sum(table: Any, axis: int) -> NDArray[np.int64]:
    if sparse.issparse(table):
        return np.asarray(table.sum(axis=axis, dtype=np.int64)).ravel()
    return np.count_nonzero(table, axis=axis)


@document
def hamming_loss(Y: ArrayLike, P: ArrayLike) -> float:
    """Share of the known pairs whose predicted label is wrong.

    {labels}
    """
    return mean(*Decisions.count(Y, P).hamming_loss(), "hamming loss", NEEDS_ONE)


@document
def micro_f1(Y: ArrayLike, P: ArrayLike) -> float:
    """F1 of all pairs together.

    {labels}
    """
    return mean(*Decisions.count(Y, P).micro_f1(), "micro F1", NEEDS_ONE)


@document
def macro_f1(Y: ArrayLike, P: ArrayLike) -> float:
    """Mean of the labels' F1; a label neither relevant nor predicted counts 0, an unknown one is left out.

    {labels}
    """
    return mean(*Decisions.count(Y, P).macro_f1(), "macro F1", NEEDS_ONE)


@document
def sample_f1(Y: ArrayLike, P: ArrayLike) -> float:
    """Mean of the rows' F1; a row without relevant and predicted labels counts 1.

    {labels}
    """
    decisions = Decisions.count(Y, P)
    return mean(decisions.f1, decisions.rows, "sample F1", NEEDS_ONE)


@document
def subset_accuracy(Y: ArrayLike, P: ArrayLike) -> float:
    """Share of the rows whose known labels are all predicted right.

    {labels}
    """
    decisions = Decisions.count(Y, P)
    return mean(decisions.exact, decisions.rows, "subset accuracy", NEEDS_ONE)


@document
def jaccard(Y: ArrayLike, P: ArrayLike) -> float:
    """Mean over rows of the Jaccard index of relevant and predicted labels; a row without either counts 1.

    {labels}
    """
    decisions = Decisions.count(Y, P)
    return mean(decisions.jaccard, decisions.rows, "Jaccard index", NEEDS_ONE)
