"""The curve of a label under noise: from its log-odds z to P(given), flat at the rates of its errors.

P(given = 1 | z) = false + (1 − false − lost) · σ(a z + b): a logistic curve between two asymptotes, the
four-parameter logistic of item response theory. Where the model is sure, what is given still errs as often
as the annotator did; so the asymptotes are the rates of noise, and the slope tells hard pairs, which lie
between, from wrong ones. Every label is counted in bins of z once; all else works on the counts.
"""

import numpy as np

from mlspl._numba_cache import njit

__all__ = [
    "FALSE",
    "LOST",
    "N_BINS",
    "SLOPE_MEAN",
    "SLOPE_SPREAD",
    "count_pairs",
    "fit_curves",
    "lookup_truth",
    "skew",
    "truth_tables",
]

N_BINS = 64
# What the rates may be. Dense where most data sets are: among a thousand rows a share of .2 is known to .013,
# and a label that cannot have its own rate is given true positives instead. Together below .85, as beyond it
# labels are all noise.
_RATES = (
    0.0, 0.003, 0.007, 0.015, 0.03, 0.045, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25, 0.28,
    0.32, 0.36, 0.4, 0.45, 0.5, 0.6, 0.7,
)  # fmt: skip
_GRID = np.array([(f, r) for f in _RATES for r in _RATES if f + r < 0.85])
FALSE, LOST = _GRID[:, 0].copy(), _GRID[:, 1].copy()
# Before the data, the log-slope is normal: a model fitted on noisy labels is less sure than it should be, by
# a factor of 1.6, or from .6 to 4.5. The offset is held only where a label is separable.
SLOPE_MEAN, SLOPE_SPREAD = 0.5, 1.0
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
def _penalty(c, b):
    """−log of the prior of log-slope c and offset b, but for a constant."""
    return 0.5 * ((c - SLOPE_MEAN) / SLOPE_SPREAD) ** 2 + 0.5 * _RIDGE * b * b


@njit(cache=True, nogil=True)
def fit_curves(z, n, k, false, lost, tolerance):
    """Return how well each pair of rates explains a label, the share that is then truly 1, and the curves.

    z, n, k: the bins' mean log-odds (less their mean), pairs, and pairs given 1. The largest posterior
    likelihood over slope and offset, by Fisher scoring on log-slope and offset with Levenberg's damping, each
    pair of rates started from the one before, until a step gains less than `tolerance`.
    """
    G = len(false)
    explained, shares, slopes, offsets = np.empty(G), np.empty(G), np.empty(G), np.empty(G)
    share = (k.sum() + 0.5) / (n.sum() + 1.0)
    c, b = SLOPE_MEAN, np.log(share / (1.0 - share))
    narrow = 1.0 / SLOPE_SPREAD**2
    true, tried = np.zeros(len(z)), np.zeros(len(z))
    for g in range(G):
        low, span = false[g], 1.0 - false[g] - lost[g]
        damping, a = 1e-3, np.exp(c)
        best = _likelihood(z, n, k, low, span, a, b, true) - _penalty(c, b)
        for _ in range(100):
            gc, gb, hcc, hcb, hbb = narrow * (SLOPE_MEAN - c), -_RIDGE * b, narrow, 0.0, _RIDGE
            for i in range(len(z)):
                if n[i] > 0.0:
                    p = min(max(low + span * true[i], 1e-12), 1.0 - 1e-12)
                    d = span * true[i] * (1.0 - true[i])
                    slope = (k[i] - n[i] * p) * d / (p * (1.0 - p))
                    weight = n[i] * d * d / (p * (1.0 - p))
                    az = a * z[i]
                    gc += slope * az
                    gb += slope
                    hcc += weight * az * az
                    hcb += weight * az
                    hbb += weight
            gained = -1.0
            while damping < 1e9:
                dc, db = hcc * (1.0 + damping), hbb * (1.0 + damping)
                determinant = dc * db - hcb * hcb
                step = (db * gc - hcb * gb) / determinant
                # The exponential of a longer step would leave the numbers there are.
                part = min(1.0, 1.0 / max(abs(step), 1e-12))
                c_new, b_new = c + part * step, b + part * (dc * gb - hcb * gc) / determinant
                trial = _likelihood(z, n, k, low, span, np.exp(c_new), b_new, tried) - _penalty(c_new, b_new)
                gained = trial - best
                if gained >= 0.0:
                    damping = max(damping / 10.0, 1e-9)
                    c, b, a, best = c_new, b_new, np.exp(c_new), trial
                    true, tried = tried, true
                    break
                damping *= 10.0
            if gained < tolerance:
                break
        explained[g], slopes[g], offsets[g] = best, a, b
        shares[g] = (0.5 + (n * true).sum()) / (n.sum() + 1.0)
    return explained, shares, slopes, offsets


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
