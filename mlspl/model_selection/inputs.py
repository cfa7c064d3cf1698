"""Labels and scores as this room works on them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from mlspl._validation import check_label_weight, check_labels, check_labels_beside, check_scores

__all__ = ["carriers", "check_training"]


def carriers(Y: ArrayLike) -> sparse.csr_array:
    """Return a CSR array with an entry for every pair that is relevant; an unknown label (NaN) has none."""
    return sparse.csr_array(check_labels(Y).relevant)


def check_training(
    F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return scores, which pairs are relevant, and weights (0 where Y is unknown), all of shape (n, L)."""
    labels: Any = check_labels_beside(Y, F, "F").dense()
    scores = check_scores(F, labels.shape).astype(np.float64, copy=False)
    weight = check_label_weight(label_weight, labels)
    return scores, labels.relevant, np.ones(labels.shape) if weight is None else weight
