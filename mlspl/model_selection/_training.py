"""What calibrations and thresholds are fitted on, and the one Newton's method for logistic curves."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._docs import substitute
from mlspl._numba_cache import njit
from mlspl._validation import check_label_weight, check_labels_beside, check_scores

__all__ = ["check_training", "document", "fit_logistic", "smooth_targets"]

document = substitute(
    fit="""Parameters
----------
F : array-like of shape (n, L)
    Out-of-fold scores.
Y : array-like or sparse matrix of shape (n, L)
    Labels: 0/1, ±1 or boolean; NaN where unknown.
label_weight : array-like of shape (n, L), default=None
    Weight of each pair; 1 if not given."""
)
"""Fill in the parameters of a `fit`: {fit}."""


def check_training(
    F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Return scores, which pairs are relevant, and weights (0 where Y is unknown), all of shape (n, L)."""
    labels: Any = check_labels_beside(Y, F, "F").dense()
    scores = check_scores(F, labels.shape).astype(np.float64, copy=False)
    weight = check_label_weight(label_weight, labels)
    return scores, labels.relevant, np.ones(labels.shape) if weight is None else weight


def smooth_targets(relevant: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Platt's targets per column: (N₊ + 1)/(N₊ + 2) for relevant rows, 1/(N₋ + 2) for irrelevant ones."""
    positives = (weight * relevant).sum(axis=0)
    negatives = weight.sum(axis=0) - positives
    return np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def fit_logistic(
    features: NDArray[np.float64],
    target: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    offset: NDArray[np.float64] | float = 0.0,
    ridge: NDArray[np.float64] | float = 0.0,
    start: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return coefficients c of the smallest Σ w (ln(1 + eˢ) − t s) + ½ ridge·c², s = offset + features @ c.

    Targets strictly between 0 and 1, or a ridge, keep the minimum finite. Features should be of the order
    of 1.
    """
    n, d = features.shape
    return _newton(
        *(np.ascontiguousarray(part, dtype=np.float64) for part in (features, target, weight)),
        np.ascontiguousarray(np.broadcast_to(offset, n), dtype=np.float64),
        np.ascontiguousarray(np.broadcast_to(ridge, d), dtype=np.float64),
        np.zeros(d) if start is None else start.astype(np.float64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(features, target, weight, offset, ridge, coef):
    """Minimise by Newton's method; a step is halved while the loss still rises steeply at its end."""
    n, d = features.shape
    total = weight.sum()
    residual, curvature = np.empty(n), np.empty(n)
    direction, slope, step = np.zeros(d), -np.inf, 1.0
    for _ in range(200):
        scores = features @ coef
        for i in range(n):
            s = offset[i] + scores[i]
            e = np.exp(-abs(s))
            q = 1.0 / (1.0 + e)
            residual[i] = weight[i] * ((q if s > 0.0 else e * q) - target[i])
            curvature[i] = weight[i] * e * q * q
        gradient = features.T @ residual + ridge * coef
        if gradient @ direction > -0.5 * slope:
            if step < 1e-10:
                break
            step /= 2.0
            coef = coef - step * direction
            continue
        if np.abs(gradient).max() <= 1e-10 * total:
            break
        hessian = features.T @ (features * curvature.reshape(-1, 1))
        for k in range(d):
            hessian[k, k] += ridge[k] + 1e-12 * total
        direction = -np.linalg.solve(hessian, gradient)
        slope, step = gradient @ direction, 1.0
        coef = coef + direction
        if -slope <= 1e-14 * total:  # the next gradient would be rounding errors
            break
    return coef
