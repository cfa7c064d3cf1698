"""Sums for the criteria of predicted labels: of every row and label, how many are relevant, predicted, both.

A pair whose label is unknown (NaN in Y) counts as if that label did not exist for that row.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import Labels, check_labels_beside, check_predictions

Sums = dict[str, Any]
"""Arrays that can be added for further rows: numerator and denominator of a criterion, or label counts."""


def decision_sums(Y: ArrayLike | Labels, P: ArrayLike) -> Sums:
    """Return sums over rows; if Y or P is sparse, without a dense table.

    ``labels`` (4, L) are the numbers of rows that are relevant, predicted, both, and known.
    """
    relevant, predicted, unknown = _tables(Y, P)
    if unknown is not None:
        predicted = predicted > unknown
    both = relevant.multiply(predicted) if sparse.issparse(relevant) else relevant & predicted
    r, p, b = (_sum(table, 1) for table in (relevant, predicted, both))
    n, n_labels = relevant.shape
    known = np.full(n_labels, n)
    if unknown is not None:
        known = n - _sum(unknown, 0)
        some = _sum(unknown, 1) < n_labels
        r, p, b = r[some], p[some], b[some]
    # Without relevant and predicted labels, a row is perfect.
    rows = {
        "sample_f1": np.divide(2 * b, r + p, out=np.ones(len(b)), where=r + p > 0),
        "subset_accuracy": (r == b) & (p == b),
        "jaccard": np.divide(b, r + p - b, out=np.ones(len(b)), where=r + p > 0),
    }
    counts = np.array([*(_sum(table, 0) for table in (relevant, predicted, both)), known])
    return {"labels": counts} | {name: np.array([values.sum(), len(r)]) for name, values in rows.items()}


def add_label_criteria(sums: Sums) -> Sums:
    """Return the sums with those of the criteria that follow from the counts of the labels."""
    relevant, predicted, both, known = sums["labels"]
    size = relevant + predicted
    f1 = np.divide(2 * both, size, out=np.zeros(len(size)), where=size > 0)
    return sums | {
        "hamming_loss": ((size - 2 * both).sum(), known.sum()),
        # 0 without relevant and predicted labels.
        "micro_f1": (2 * both.sum(), size.sum() or np.sign(known.sum())),
        "macro_f1": (f1.sum(), np.count_nonzero(known)),
    }


def label_values(sums: Sums) -> dict[str, NDArray]:
    """Precision, recall, F1 and support (relevant rows) of every label, NaN where they are not defined."""
    relevant, predicted, both, _ = sums["labels"]
    parts = {
        "precision": (both, predicted),
        "recall": (both, relevant),
        "f1": (2 * both, predicted + relevant),
    }
    values = {
        name: np.divide(top, bottom, out=np.full(len(top), np.nan), where=bottom > 0)
        for name, (top, bottom) in parts.items()
    }
    return values | {"support": relevant}


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
