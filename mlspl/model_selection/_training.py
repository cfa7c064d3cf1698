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
    return _newton(
        *(np.ascontiguousarray(part, dtype=np.float64) for part in (features, target, weight, start)),
        np.zeros((n_targets, n if np.ndim(offset) else 1)) + offset,
        np.zeros(d) + ridge,
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(features, target, weight, start, offset, ridge):
    """Minimise by Newton's method; a step is halved while the loss still rises steeply at its end."""
    coefs = start.copy()
    n = features.shape[2]
    residual, curvature = np.empty(n), np.empty(n)
    hessian = np.empty((features.shape[1], features.shape[1]))
    for b in range(len(features)):
        x, t, w, coef = features[b], target[b], weight[b], coefs[b].copy()
        total = w.sum()
        direction, slope, step = np.zeros(len(coef)), -np.inf, 1.0
        for _ in range(200):
            scores = coef @ x + offset[b]
            for i in range(n):
                s = scores[i]
                e = np.exp(-abs(s))
                q = 1.0 / (1.0 + e)
                residual[i] = w[i] * ((q if s > 0.0 else e * q) - t[i])
                curvature[i] = w[i] * e * q * q
            gradient = x @ residual + ridge * coef
            if gradient @ direction > -0.5 * slope:
                if step < 1e-10:
                    break
                step /= 2.0
                coef = coef - step * direction
                continue
            if np.abs(gradient).max() <= 1e-10 * total:
                break
            for k in range(len(coef)):
                scaled = x[k] * curvature
                for m in range(k + 1):
                    hessian[k, m] = hessian[m, k] = scaled @ x[m]
                hessian[k, k] += ridge[k] + 1e-12 * total
            direction = -np.linalg.solve(hessian, gradient)
            slope, step = gradient @ direction, 1.0
            coef = coef + direction
            if -slope <= 1e-10 * total:  # convergence is quadratic: the next step would be rounding errors
                break
        coefs[b] = coef
    return coefs
