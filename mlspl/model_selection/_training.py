"""Base of calibrations and thresholds, and the Newton method of all logistic fits."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from mlspl._numba_cache import njit
from mlspl._validation import check_label_weight, check_labels_beside, check_scores
from mlspl.errors import UserError


class ScoreEstimator(BaseEstimator):
    """Base of what is fitted on out-of-fold scores; subclasses define `_fit` on checked arrays (n, L)."""

    def fit(self, F: ArrayLike, Y: ArrayLike, label_weight: ArrayLike | None = None) -> Self:
        """Fit on scores of rows that the model was not fitted on.

        Parameters
        ----------
        F : array-like of shape (n, L)
            Out-of-fold scores.
        Y : array-like or sparse matrix of shape (n, L)
            Labels: 0/1, ±1 or boolean; NaN where unknown.
        label_weight : array-like of shape (n, L), default=None
            Weight of each pair; 1 if not given.
        """
        labels: Any = check_labels_beside(Y, F, "F").dense()
        scores = check_scores(F, labels.shape).astype(np.float64, copy=False)
        weight = check_label_weight(label_weight, labels)
        self._fit(scores, labels.relevant, np.ones(labels.shape) if weight is None else weight)
        return self

    def _fit(self, scores, relevant, weight) -> None:
        """Fit on arrays (n, L); weights are 0 where the label is unknown."""
        raise NotImplementedError


def resolve(value: Any, base: type, known: Mapping[str, Callable[[], Any]]) -> Any:
    """Return a new instance by its name; an instance of the base passes through."""
    if isinstance(value, base):
        return value
    if value not in known:
        what = base.__name__.lower()
        raise UserError(f"There is no {what} {value!r}. Choose one of {', '.join(known)}.")
    return known[value]()


def smooth_targets(relevant: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Platt's targets per column: (N₊ + 1)/(N₊ + 2) for relevant rows, 1/(N₋ + 2) for irrelevant ones."""
    positives = (weight * relevant).sum(axis=0)
    negatives = weight.sum(axis=0) - positives
    return np.where(relevant, (positives + 1) / (positives + 2), 1 / (negatives + 2))


def fit_logistic(features, target, weight, *, offset=0.0, ridge=0.0, start=None) -> NDArray[np.float64]:
    """Return coefficients c of the smallest Σ w (ln(1 + eˢ) − t s) + ½ ridge·c², s = offset + features @ c.

    Targets strictly between 0 and 1, or a ridge, keep the minimum finite. Features (n, d) should be of the
    order of 1.
    """
    begin = np.zeros(features.shape[1]) if start is None else start
    return fit_curves(features.T[None], target[None], weight[None], begin[None], offset, ridge)[0]


def fit_curves(features, target, weight, start, offset=0.0, ridge=0.0) -> NDArray[np.float64]:
    """Fit as `fit_logistic` does for each of B targets: features (B, d, n), target and weight (B, n)."""
    n_targets, d, n = features.shape
    coef = np.array(start, dtype=np.float64)
    parts = (np.ascontiguousarray(part, dtype=np.float64) for part in (features, target, weight))
    offsets = np.zeros((n_targets, n if np.ndim(offset) else 1)) + offset
    _newton(*parts, coef, offsets, np.zeros(d) + ridge)
    return coef


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(features, targets, weights, coefs, offsets, ridge):
    """Minimise by Newton's method; a step is halved while the loss still rises steeply at its end.

    In loops, because array expressions and LAPACK take seconds to compile.
    """
    d, n = features.shape[1:]
    scores, residual, scaled, curvature = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    direction, hessian = np.empty(d), np.empty((d + 1, d))
    gradient = hessian[d]  # as the last row, so that Cholesky's method solves with it
    for b in range(len(features)):
        x, coef, weight, target, offset = features[b], coefs[b], weights[b], targets[b], offsets[b]
        total, slope, step = weight.sum(), -np.inf, 1.0
        direction[:] = 0.0
        for _ in range(200):
            for i in range(n):
                scores[i] = coef[0] * x[0, i] + offset[i if len(offset) > 1 else 0]
            for k in range(1, d):
                for i in range(n):
                    scores[i] += coef[k] * x[k, i]
            for i in range(n):
                s = scores[i]
                e = np.exp(-abs(s))
                q = 1.0 / (1.0 + e)
                residual[i] = weight[i] * ((q if s > 0.0 else e * q) - target[i])
                curvature[i] = weight[i] * e * q * q
            rise, largest = 0.0, 0.0
            for k in range(d):
                gradient[k] = _dot(x[k], residual) + ridge[k] * coef[k]
                rise += gradient[k] * direction[k]
                largest = max(largest, abs(gradient[k]))
            if rise > -0.5 * slope:
                if step < 1e-10:
                    break
                step /= 2.0
                for k in range(d):
                    coef[k] -= step * direction[k]
                continue
            if largest <= 1e-10 * total:
                break
            for k in range(d):
                for i in range(n):
                    scaled[i] = x[k, i] * curvature[i]
                for m in range(k + 1):
                    hessian[k, m] = _dot(scaled, x[m])
                hessian[k, k] += ridge[k] + 1e-12 * total
            for k in range(d + 1):
                for j in range(min(k + 1, d)):
                    left = hessian[k, j]
                    for m in range(j):
                        left -= hessian[k, m] * hessian[j, m]
                    hessian[k, j] = np.sqrt(left) if j == k else left / hessian[j, j]
            slope, step = 0.0, 1.0
            for k in range(d - 1, -1, -1):
                left = -gradient[k]
                slope -= left * left
                for m in range(k + 1, d):
                    left -= hessian[m, k] * direction[m]
                direction[k] = left / hessian[k, k]
                coef[k] += direction[k]
            if -slope <= 1e-10 * total:  # convergence is quadratic: the next step would be rounding errors
                break


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _dot(a, b):
    """a·b, summed in an order of the processor's choice, as BLAS does."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total
