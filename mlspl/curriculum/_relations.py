"""What the other labels of a row say about each label: its log-odds given the model's and the other given
labels.

A logistic regression per label on the model's log-odds and the other labels as given, ridge-penalised,
every row scored by coefficients fitted on other folds. How much the others count is chosen by the held-out
likelihood of each label; "not at all" is among the choices, so that a label without relations keeps the
model's log-odds.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit

from mlspl._numba_cache import njit
from mlspl._validation import row_blocks

__all__ = ["Relations", "fit_path", "relate"]

FOLDS = 5
# Penalties on the coefficients of other labels, ½ ridge · coefficient².
RIDGES = np.array([300.0, 30.0, 3.0])
# Rows beyond which the coefficients of a few dozen columns hardly change; others are scored with their means.
MOST_ROWS = 10_000
# Other labels taken into account: those that go most with what the model leaves unexplained in the training
# folds.
MOST_LABELS = 24
# Fewer rows with (or without) a label than this teach nothing about its relations.
LEAST_ROWS = 10


@dataclass(frozen=True)
class Relations:
    """Log-odds (n, L) after the other labels; label j moved those of l by weights[l, j] (y_j − centre_j)."""

    odds: NDArray
    weights: NDArray[np.float64]
    centre: NDArray[np.float64]


def relate(given, z, n_jobs=None) -> Relations:
    """Return the log-odds of each label given the model's, z, and the other labels, `given` (-1 unknown)."""
    n, L = z.shape
    related = np.empty_like(z)
    rows = np.random.RandomState(0).permutation(n)[:MOST_ROWS]
    y, odds = given[rows], z[rows].astype(np.float64)
    scored = odds.copy()
    others = _evidence(y, odds)
    centre = others.mean(axis=0)
    others -= centre
    fold = np.arange(len(rows)) % FOLDS
    partners = [_partners(y[fold != f], odds[fold != f], others[fold != f]) for f in range(FOLDS)]
    weights, slopes, offsets = np.zeros((L, L)), np.ones(L), np.zeros(L)
    found = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(_relate_label)(label, y[:, label], odds[:, label], others, fold, partners)
        for label in range(L)
    )
    for label, relation in enumerate(found):
        if relation is not None:
            mean, scored[:, label] = relation
            weights[label], slopes[label], offsets[label] = mean[:L], mean[L], mean[L + 1]
    offsets -= weights @ centre
    # In the precision of z, which is float32 where there are very many rows.
    turned, slopes, offsets = (array.astype(z.dtype) for array in (weights.T, slopes, offsets))
    for block, part in row_blocks(z):
        related[block] = part * slopes + _evidence(given[block], part) @ turned + offsets
    related[rows] = scored
    return Relations(related, weights, centre)


def _relate_label(label, y, odds, others, fold, partners):
    """Return the mean coefficients (L + 2) and the held-out log-odds of one label; None without relations."""
    known = y >= 0
    positives = (y == 1).sum()
    if min(positives, known.sum() - positives) < LEAST_ROWS:
        return None
    L = others.shape[1]
    held_out = np.empty((len(RIDGES), len(y)))
    coefficients = np.zeros((FOLDS, len(RIDGES), L + 2))
    for f in range(FOLDS):
        columns = np.append(partners[f][label], [L, L + 1])
        design = np.column_stack([others[:, partners[f][label]], odds, np.ones(len(y))])
        train = known & (fold != f)
        fits = fit_path(design[train], y[train], RIDGES)
        held_out[:, fold == f] = fits @ design[fold == f].T
        coefficients[f][:, columns] = fits
    candidates = np.vstack([odds, held_out])[:, known]
    losses = (np.logaddexp(0, candidates) - y[known] * candidates).sum(axis=1)
    best = losses.argmin() - 1
    return (coefficients[:, best].mean(axis=0), held_out[best]) if best >= 0 else None


def _evidence(given, z):
    """The labels as given, as columns of a regression; what is unknown as the model expects it."""
    evidence, unknown = given.astype(z.dtype), given < 0
    evidence[unknown] = expit(z[unknown])
    return evidence


def _partners(given, z, others):
    """For each label the others that go most with its residuals, at most MOST_LABELS."""
    L = given.shape[1]
    if L - 1 <= MOST_LABELS:
        return [np.delete(np.arange(L), label) for label in range(L)]
    p = expit(z)
    residual = np.where(given >= 0, given - p, 0.0) / np.sqrt(np.maximum((p * (1 - p)).mean(axis=0), 1e-12))
    spread = np.maximum(others.std(axis=0), 1e-12)
    strength = np.abs(residual.T @ others) / spread
    np.fill_diagonal(strength, -1.0)
    return list(np.sort(np.argpartition(-strength, MOST_LABELS, axis=1)[:, :MOST_LABELS], axis=1))


@njit(cache=True, nogil=True)
def fit_path(design, y, ridges):
    """Coefficients (ridges, columns) of logistic regressions; the last two columns are not penalised."""
    n, d = design.shape
    path = np.empty((len(ridges), d))
    coefficient = np.zeros(d)
    coefficient[d - 2] = 1.0
    for r in range(len(ridges)):
        penalty = np.full(d, ridges[r])
        penalty[d - 2 :] = 1e-3
        for _ in range(30):
            gradient, curvature = -penalty * coefficient, np.diag(penalty)
            for i in range(n):
                score = 0.0
                for a in range(d):
                    score += design[i, a] * coefficient[a]
                p = 1.0 / (1.0 + np.exp(-score))
                weight = p * (1.0 - p) + 1e-9
                for a in range(d):
                    gradient[a] += (y[i] - p) * design[i, a]
                    weighted = weight * design[i, a]
                    for b in range(a + 1):
                        curvature[a, b] += weighted * design[i, b]
            for a in range(d):
                curvature[: a + 1, a] = curvature[a, : a + 1]
            step = np.linalg.solve(curvature, gradient)
            largest = np.abs(step).max()
            # A Newton step of a logistic regression overshoots only where it is large.
            coefficient += step * min(1.0, 5.0 / max(largest, 1e-12))
            if largest < 1e-3:
                break
        path[r] = coefficient
    return path
