"""The curve of a label under noise: from its log-odds z to P(given), flat at the rates of its errors.

P(given = 1 | z) = false + (1 − false − lost) · σ(a z + b): a logistic curve between two asymptotes, the
four-parameter logistic of item response theory. Where the model is sure, what is given still errs as often
as the annotator did; so the asymptotes are the rates of noise, and the slope tells hard pairs, which lie
between, from wrong ones. Every label is counted in bins of z once; all else works on the counts.
"""

import numpy as np
from numba import njit

__all__ = ["FALSE", "LOST", "N_BINS", "count_pairs", "fit_curves", "lookup_truth", "skew", "truth_tables"]

N_BINS = 64
# What the rates may be. Dense where most data sets are; together below .85, as beyond it labels are all
# noise.
_RATES = (
    0.0, 0.003, 0.007, 0.015, 0.03, 0.05, 0.075, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
    0.7,
)  # fmt: skip
_GRID = np.array([(f, r) for f in _RATES for r in _RATES if f + r < 0.85])
FALSE, LOST = _GRID[:, 0].copy(), _GRID[:, 1].copy()
# Weight of a prior on slope and offset that keeps the curve of a separable label finite.
_RIDGE = 1e-3


def skew(z, by):
    """Return log-odds z with slope e^by far above 0 and e^−by far below: the family of beta calibration.

    Kull, Silva Filho & Flach 2017. Models are surer of one side than of the other, all labels alike.
    """
    return np.exp(by) * np.logaddexp(0.0, z) - np.exp(-by) * np.logaddexp(0.0, -z)


@njit(cache=True, nogil=True)
def count_pairs(given, z, low, step, counts, sums):
    """Add a block of pairs to counts (L, bins, 2: given 0, given 1) and to the sums of z (L, bins)."""
    n, L = z.shape
    last = counts.shape[1] - 1
    for i in range(n):
        for label in range(L):
            g = given[i, label]
            if g >= 0:
                b = min(last, int((z[i, label] - low[label]) / step[label]))
                counts[label, b, g] += 1.0
                sums[label, b] += z[i, label]


@njit(cache=True, nogil=True)
def _likelihood(z, n, k, false, span, a, b, true):
    """The log-likelihood of a curve; P(true = 1) of the bins goes into `true`."""
    total = 0.0
    for i in range(len(z)):
        if n[i] > 0.0:
            true[i] = 1.0 / (1.0 + np.exp(-(a * z[i] + b)))
            p = min(max(false + span * true[i], 1e-12), 1.0 - 1e-12)
            total += k[i] * np.log(p) + (n[i] - k[i]) * np.log(1.0 - p)
    return total


@njit(cache=True, nogil=True)
def fit_curves(z, n, k, false, lost):
    """Return how well each pair of rates explains a label, and the slopes and offsets that do.

    z, n, k: the bins' mean log-odds (standardised), pairs, and pairs given 1. The largest log-likelihood, by
    Fisher scoring with Levenberg's damping, each pair of rates started from the one before; plus the log of a
    prior 1/(π(1 − π)) of the share π that is truly 1. Shares of labels spread over orders of magnitude, so
    that a label without any pattern at exactly the share that the others are falsely given is all noise.
    """
    G = len(false)
    explained, slopes, offsets = np.empty(G), np.empty(G), np.empty(G)
    share = (k.sum() + 0.5) / (n.sum() + 1.0)
    a, b = 1.0, np.log(share / (1.0 - share))
    true, tried = np.zeros(len(z)), np.zeros(len(z))
    for g in range(G):
        low, span = false[g], 1.0 - false[g] - lost[g]
        damping = 1e-3
        best = _likelihood(z, n, k, low, span, a, b, true) - 0.5 * _RIDGE * (a * a + b * b)
        for _ in range(100):
            ga, gb, haa, hab, hbb = -_RIDGE * a, -_RIDGE * b, _RIDGE, 0.0, _RIDGE
            for i in range(len(z)):
                if n[i] > 0.0:
                    p = min(max(low + span * true[i], 1e-12), 1.0 - 1e-12)
                    d = span * true[i] * (1.0 - true[i])
                    slope = (k[i] - n[i] * p) * d / (p * (1.0 - p))
                    weight = n[i] * d * d / (p * (1.0 - p))
                    ga += slope * z[i]
                    gb += slope
                    haa += weight * z[i] * z[i]
                    hab += weight * z[i]
                    hbb += weight
            gained = -1.0
            while damping < 1e9:
                da, db = haa * (1.0 + damping), hbb * (1.0 + damping)
                determinant = da * db - hab * hab
                # The slope is held positive: a curve that falls would call the model's order wrong.
                a_new = max((db * ga - hab * gb) / determinant + a, 1e-3)
                b_new = (da * gb - hab * ga) / determinant + b
                trial = _likelihood(z, n, k, low, span, a_new, b_new, tried)
                trial -= 0.5 * _RIDGE * (a_new * a_new + b_new * b_new)
                gained = trial - best
                if gained >= 0.0:
                    damping = max(damping / 10.0, 1e-9)
                    a, b, best = a_new, b_new, trial
                    true, tried = tried, true
                    break
                damping *= 10.0
            if gained < 1e-3:
                break
        share = (0.5 + (n * true).sum()) / (n.sum() + 1.0)
        explained[g], slopes[g], offsets[g] = best - np.log(share * (1.0 - share)), a, b
    return explained, slopes, offsets


def truth_tables(posterior, slopes, offsets, nodes):
    """Return P(true = 1 | z, given) at the nodes for given 0, given 1 and unknown, of shape (3, nodes).

    The mean over what the rates may be, `posterior` (G,).
    """
    likely = posterior > 1e-4 * posterior.max()
    weight = posterior[likely] / posterior[likely].sum()
    f, r = FALSE[likely, None], LOST[likely, None]
    true = 1.0 / (1.0 + np.exp(-(slopes[likely, None] * nodes + offsets[likely, None])))
    given = np.clip(f + (1.0 - f - r) * true, 1e-12, 1.0 - 1e-12)
    return np.stack([weight @ (r * true / (1.0 - given)), weight @ ((1.0 - r) * true / given), weight @ true])


@njit(cache=True, nogil=True)
def lookup_truth(given, z, low, step, tables, truth):
    """Write P(true = 1) of every pair into truth (n, L), by tables (L, 3, nodes), linear between nodes."""
    n, L = z.shape
    last = tables.shape[2] - 2
    for i in range(n):
        for label in range(L):
            g = given[i, label] if given[i, label] >= 0 else 2
            at = (z[i, label] - low[label]) / step[label]
            b = min(last, int(at))
            part = at - b
            truth[i, label] = (1.0 - part) * tables[label, g, b] + part * tables[label, g, b + 1]
