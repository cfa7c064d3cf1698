"""Log-odds of each label given the model's log-odds and the other labels of the row.

One ridge-penalised logistic regression per label, on the model's log-odds and the other labels as given. Each
row is scored by coefficients fitted on other folds. The penalty is chosen by the held-out likelihood of the
label; "no other labels" is among the choices, and keeps the model's log-odds.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import expit

from mlspl._validation import row_blocks
from mlspl.model_selection import fit_logistic

FOLDS = 5
# Penalties on the coefficients of other labels, ½ ridge · coefficient².
RIDGES = np.array([300.0, 30.0, 3.0])
# With more rows the coefficients of a few dozen columns hardly change; other rows are scored by their means.
MOST_ROWS = 10_000
# Other labels used: those that correlate most with the residuals of the model in the training folds.
MOST_LABELS = 24
# Labels with fewer positives or negatives are not adjusted.
LEAST_ROWS = 10


@dataclass(frozen=True)
class OtherLabels:
    """Adjusted log-odds (n, L); label j moved those of label l by weights[l, j] (y_j − centre_j)."""

    odds: NDArray
    weights: NDArray[np.float64]
    centre: NDArray[np.float64]


def adjust_for_other_labels(given, z, n_jobs=None) -> OtherLabels:
    """Return the log-odds of each label given the model's, z, and the other labels, `given` (-1 unknown)."""
    n, L = z.shape
    adjusted = np.empty_like(z)
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
        delayed(_adjust_label)(label, y[:, label], odds[:, label], others, fold, partners)
        for label in range(L)
    )
    for label, fit in enumerate(found):
        if fit is not None:
            mean, scored[:, label] = fit
            weights[label], slopes[label], offsets[label] = mean[:L], mean[L], mean[L + 1]
    offsets -= weights @ centre
    # In the precision of z, which is float32 where there are very many rows.
    turned, slopes, offsets = (array.astype(z.dtype) for array in (weights.T, slopes, offsets))
    for block, part in row_blocks(z):
        adjusted[block] = part * slopes + _evidence(given[block], part) @ turned + offsets
    adjusted[rows] = scored
    return OtherLabels(adjusted, weights, centre)


def _adjust_label(label, y, odds, others, fold, partners):
    """Return mean coefficients (L + 2) and held-out log-odds of a label; None if others do not help."""
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
    """Return the given labels as columns of a regression; unknown ones are the model's probabilities."""
    evidence, unknown = given.astype(z.dtype), given < 0
    evidence[unknown] = expit(z[unknown])
    return evidence


def _partners(given, z, others):
    """Return, for each label, the others that correlate most with its residuals, at most MOST_LABELS."""
    L = given.shape[1]
    if L - 1 <= MOST_LABELS:
        return [np.delete(np.arange(L), label) for label in range(L)]
    p = expit(z)
    residual = np.where(given >= 0, given - p, 0.0) / np.sqrt(np.maximum((p * (1 - p)).mean(axis=0), 1e-12))
    spread = np.maximum(others.std(axis=0), 1e-12)
    strength = np.abs(residual.T @ others) / spread
    np.fill_diagonal(strength, -1.0)
    return list(np.sort(np.argpartition(-strength, MOST_LABELS, axis=1)[:, :MOST_LABELS], axis=1))


def fit_path(design, y, ridges):
    """Return coefficients (ridges, columns) of logistic regressions; the last two columns have no penalty."""
    n, d = design.shape
    coefficients = np.zeros((len(ridges) + 1, d))
    coefficients[0, d - 2] = 1.0
    for r, ridge in enumerate(ridges):
        penalty = np.append(np.full(d - 2, ridge), [1e-3, 1e-3])
        target = y.astype(np.float64)
        coefficients[r + 1] = fit_logistic(design, target, np.ones(n), ridge=penalty, start=coefficients[r])
    return coefficients[1:]
