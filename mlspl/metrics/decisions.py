"""Criteria of predicted labels, from three counts per row and per label: relevant, predicted, both.

A pair whose label is unknown (NaN in Y) counts as if that label did not exist for that row.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels_beside, check_predictions
from mlspl.metrics._shared import NEEDS_ONE, document_criterion, mean


@dataclass(frozen=True)
class Decisions:
    """Sums over rows that define the criteria of predicted labels; two of them can be added.

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
        relevant, predicted, unknown = _tables(Y, P)
        if unknown is not None:
            predicted = predicted > unknown
        both = relevant.multiply(predicted) if sparse.issparse(relevant) else relevant & predicted
        r, p, b = (_sum(table, 1) for table in (relevant, predicted, both))
        n, n_labels = relevant.shape
        known_rows = np.full(n_labels, n)
        if unknown is not None:
            known_rows = n - _sum(unknown, 0)
            some = _sum(unknown, 1) < n_labels
            r, p, b = r[some], p[some], b[some]
        # Without relevant and predicted labels, a row is perfect.
        union, size = r + p - b, r + p
        return cls(
            relevant=_sum(relevant, 0),
            predicted=_sum(predicted, 0),
            both=_sum(both, 0),
            known_rows=known_rows,
            rows=len(r),
            exact=int(np.sum((r == b) & (p == b))),
            jaccard=float(np.divide(b, union, out=np.ones(len(b)), where=union > 0).sum()),
            f1=float(np.divide(2 * b, size, out=np.ones(len(b)), where=size > 0).sum()),
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def fractions(self) -> dict[str, tuple[float, float]]:
        """Numerator and denominator of every criterion; the denominator is 0 where no label is known."""
        size, known = self.relevant + self.predicted, self.known_rows.sum()
        return {
            "hamming_loss": ((size - 2 * self.both).sum(), known),
            # 0 without relevant and predicted labels.
            "micro_f1": (2 * self.both.sum(), size.sum() or np.sign(known)),
            "macro_f1": (np.nansum(self.label_values()["f1"]), np.count_nonzero(self.known_rows)),
            "sample_f1": (self.f1, self.rows),
            "subset_accuracy": (self.exact, self.rows),
            "jaccard": (self.jaccard, self.rows),
        }

    def values(self) -> dict[str, float]:
        """The criteria by name; NaN where no label is known."""
        return {
            name: float(top / bottom) if bottom else np.nan
            for name, (top, bottom) in self.fractions().items()
        }

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


def _tables(Y: ArrayLike | Labels, P: ArrayLike) -> tuple[Any, ...]:
    """Which pairs are relevant, predicted and (or None) unknown; all are dense, or all are sparse."""
    labels = check_labels_beside(Y, P, "P")
    tables = labels.relevant, check_predictions(P, labels.shape).relevant, labels.unknown
    if sparse.issparse(tables[0]) or sparse.issparse(tables[1]):
        return tuple(None if table is None else sparse.csr_array(table) for table in tables)
    return tables


def _sum(table: Any, axis: int) -> NDArray[np.int64]:
    if sparse.issparse(table):
        return np.asarray(table.sum(axis=axis, dtype=np.int64)).ravel()
    return np.count_nonzero(table, axis=axis)


def _make(name: str, summary: str) -> Callable[[ArrayLike, ArrayLike], float]:
    """Make the function of a criterion, by its name in `Decisions.fractions`."""

    def criterion(Y: ArrayLike, P: ArrayLike) -> float:
        return mean(*Decisions.count(Y, P).fractions()[name], name.replace("_", " "), NEEDS_ONE)

    return document_criterion(criterion, name, summary, "{labels}")


hamming_loss = _make("hamming_loss", "Share of the known pairs whose predicted label is wrong.")
micro_f1 = _make("micro_f1", "F1 of all pairs together.")
macro_f1 = _make(
    "macro_f1",
    "Mean of the labels' F1; a label neither relevant nor predicted counts 0, an unknown one is left out.",
)
sample_f1 = _make("sample_f1", "Mean of the rows' F1; a row without relevant and predicted labels counts 1.")
subset_accuracy = _make("subset_accuracy", "Share of the rows whose known labels are all predicted right.")
jaccard = _make(
    "jaccard",
    "Mean over rows of the Jaccard index of relevant and predicted labels; a row without either counts 1.",
)
