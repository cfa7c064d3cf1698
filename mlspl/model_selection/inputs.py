"""Labels, scores and weights in whatever container they come, as the arrays this room works on."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from mlspl.errors import UserError

__all__ = ["carriers", "check_scores", "check_training"]


def carriers(Y: ArrayLike) -> sparse.csr_array:
    """Return a CSR array with an entry for every pair that is relevant; an unknown label (NaN) has none."""
    labels = check_labels(Y)
    return sparse.csr_array(labels == 1)


def check_training(
    F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return scores, which pairs are relevant, and weights (0 where Y is unknown), all of shape (n, L)."""
    labels = check_labels(Y)
    labels = labels.toarray() if sparse.issparse(labels) else labels
    scores = check_scores(F, labels.shape[1])
    weight = np.ones(labels.shape) if label_weight is None else table(label_weight, "label_weight")
    for name, other in (("F", scores), ("label_weight", weight)):
        if other.shape != labels.shape:
            raise UserError(
                f"{name} has shape {other.shape} but Y has shape {labels.shape}: they must match."
            )
    if not (weight >= 0).all() or np.isinf(weight).any():
        raise UserError("label_weight must be finite and not negative; 0 leaves a pair out.")
    return scores, labels == 1, np.where(np.isnan(labels), 0.0, weight)


def check_scores(F: ArrayLike, n_labels: int) -> NDArray[np.float64]:
    """Return finite scores of shape (n, n_labels)."""
    scores = table(F, "F").astype(np.float64, copy=False)
    if scores.shape[1] != n_labels:
        raise UserError(f"F has {scores.shape[1]} columns, but there are {n_labels} labels.")
    if not np.isfinite(scores).all():
        i, label = np.argwhere(~np.isfinite(scores))[0]
        raise UserError(f"F[{i}, {label}] is {scores[i, label]}: scores must be finite here.")
    return scores


def check_labels(Y: ArrayLike) -> Any:
    """Return an array or CSR array of shape (n, L) that holds 1, 0 or -1, and NaN where unknown."""
    labels = table(Y, "Y", accept_sparse=True)
    values = labels.data if sparse.issparse(labels) else labels
    zero, minus, one = values == 0, values == -1, values == 1
    wrong = ~(zero | minus | one | np.isnan(values))
    if wrong.any():
        raise UserError(
            f"Y holds {values[wrong][0]:g}: a label is 0 or 1 (or -1 and +1), or NaN where it is unknown."
        )
    if minus.any() and (zero.any() or values.size < np.prod(labels.shape)):
        raise UserError(
            "Y holds both 0 and -1, so it is unclear which of them means 'not relevant': "
            "use 0 and 1, or -1 and +1, and NaN where a label is unknown."
        )
    return labels


def table(values: ArrayLike, name: str, accept_sparse: bool = False) -> Any:
    try:
        return check_array(
            values,
            accept_sparse="csr" if accept_sparse else False,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        raise UserError(f"{name} must be a numeric table of shape (n, L). {error}") from error
