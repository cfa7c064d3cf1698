"""The noise curve of a label: from a model's log-odds z to P(given = 1).

P(given = 1 | z) = false + (1 − false − lost) · σ(a z + b) is a logistic curve between two asymptotes: the
four-parameter logistic of item response theory. Where the model is sure, given labels still err as often as
annotators do, so the asymptotes are the noise rates. Labels are counted in bins of z, the rest uses counts.

The rates of all labels are estimated together, on a grid: each label's rates come from Beta distributions
with an unknown common mean and strength, so that labels which are predicted badly borrow from the others.
"""

from functools import cache

import numpy as np
from joblib import Parallel, delayed
from scipy.special import betainc, expit, logsumexp, softmax

from mlspl._numba_cache import njit

N_BINS = 64
# Grid of the noise rates. It is dense where most data sets are: in a thousand rows a share of 0.2 has a
# standard error of 0.013. Together the rates stay below 0.85; beyond that, labels are all noise.
_RATES = (
    0.0, 0.003, 0.007, 0.015, 0.03, 0.045, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.18, 0.2, 0.22, 0.25, 0.28,
    0.32, 0.36, 0.4, 0.45, 0.5, 0.6, 0.7,
)  # fmt: skip
_GRID = np.array([(f, r) for f in _RATES for r in _RATES if f + r < 0.85])
FALSE, LOST = _GRID[:, 0].copy(), _GRID[:, 1].copy()
# Prior of the log-slope, normal: a model fitted on noisy labels is less sure than it should be, by a factor
# of 1.6 (0.6 to 4.5). The ridge on the offset matters only where a label is separable.
SLOPE_MEAN, SLOPE_SPREAD = 0.5, 1.0
_RIDGE = 1e-3
# Skews of the log-odds that are tried, and the standard deviation of their prior.
SKEWS = (-0.6, -0.3, 0.0, 0.3, 0.6)
SKEW_SPREAD = 0.3
# The curve is only nearly logistic, and with very many rows its misfit would decide the rates. So the
# likelihood of n rows counts as that of about √(200 n) rows: a power posterior, as for any misspecified model
# (Miller & Dunson 2019).
TRUSTED_ROWS = 200
# A fit stops when a step gains less than this, in log-likelihood after the power.
TOLERANCE = 1e-3
# Strength of the common Beta distributions, as a number of pairs.
STRENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)
# Prior of the common rates: e^(−rate/0.1). Published test sets have some 3 % wrong labels, few above 10 %
# (Northcutt, Athalye & Mueller 2021). With 0.2, a model that is never sure left the rates at their prior.
SCALE = 0.1
# The mean of a Beta distribution cannot be 0.
LEAST = 0.002


def fit_curve(given, z, trusted_positives=False, n_jobs=None):
    """Return the posterior of the rates (L, G), the nodes of tables (L, nodes), and the tables (L, 4, nodes).

    The tables hold P(true = 1 | given 0), P(true = 1 | given 1), P(true = 1) and P(given = 1). The fits of
    every skew are averaged by how well they explain all labels together.
    """
    low, high = z.min(axis=0).astype(np.float64), z.max(axis=0)
    nodes = low[:, None] + np.maximum((high - low) / N_BINS, 1e-9)[:, None] * np.arange(N_BINS + 1)
    n, k, sums = np.zeros((3, z.shape[1], N_BINS))
    for label, (own, y) in enumerate(zip(z.T, given.T, strict=True)):
        own, y = own[y >= 0], y[y >= 0]
        at = np.searchsorted(nodes[label, 1:-1], own, side="right")
        counted = (np.bincount(at, weights, N_BINS) for weights in (None, y, own))
        n[label], k[label], sums[label] = counted
    mean = np.where(n > 0, sums / np.maximum(n, 1), (nodes[:, 1:] + nodes[:, :-1]) / 2)
    fits = [_fit_skewed(n, k, skew(mean, by), skew(nodes, by), trusted_positives, n_jobs) for by in SKEWS]
    evidence = np.array([fit[2] for fit in fits]) - (np.array(SKEWS) / SKEW_SPREAD) ** 2 / 2
    weights = softmax(evidence)
    posterior, tables = (sum(w * fit[i] for w, fit in zip(weights, fits, strict=True)) for i in (0, 1))
    return posterior, nodes, tables


def _fit_skewed(n, k, z, nodes, trusted_positives, n_jobs):
    """Return posterior, tables and log-evidence of one skew."""
    total = np.maximum(n.sum(axis=1, keepdims=True), 1)
    centre = (n * z).sum(axis=1, keepdims=True) / total
    z, nodes = z - centre, nodes - centre
    trust = 1 / np.sqrt(1 + n.sum(axis=1, keepdims=True) / TRUSTED_ROWS)
    curves = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(fit_by_rates)(z[label], n[label], k[label], FALSE, LOST, TOLERANCE / trust[label, 0])
        for label in range(len(n))
    )
    explained, shares = (np.array([curve[i] for curve in curves]) for i in (0, 1))
    # Jeffreys' prior of the share that is truly 1: a label without any pattern, given as often as the others
    # are falsely given, is all noise.
    likelihood = trust * explained - np.log(shares * (1 - shares)) / 2
    if trusted_positives:
        likelihood[:, FALSE > 0] = -np.inf
    posterior, evidence = pool_rates(likelihood)
    tables = [
        _make_tables(posterior[label], slopes, offsets, nodes[label])
        for label, (_, _, slopes, offsets) in enumerate(curves)
    ]
    return posterior, np.stack(tables), evidence


def skew(z, by):
    """Return log-odds z with slope e^by far above 0 and e^−by far below.

    The family of beta calibration (Kull, Silva Filho & Flach 2017): models are surer of one side than of the
    other.
    """
    return np.exp(by) * np.logaddexp(0.0, z) - np.exp(-by) * np.logaddexp(0.0, -z)


@njit(cache=True, nogil=True)
def _likelihood(z, n, k, false, span, a, b, true):
    """Return the log-likelihood of a curve; write P(true = 1) of the bins into `true`."""
    total = 0.0
    for i in range(len(z)):
        if n[i] > 0.0:
            true[i] = 1.0 / (1.0 + np.exp(-(a * z[i] + b)))
            p = min(max(false + span * true[i], 1e-12), 1.0 - 1e-12)
            total += k[i] * np.log(p) + (n[i] - k[i]) * np.log(1.0 - p)
    return total


@njit(cache=True, nogil=True)
def _penalty(c, b):
    """Return −log of the prior of log-slope c and offset b, up to a constant."""
    return 0.5 * ((c - SLOPE_MEAN) / SLOPE_SPREAD) ** 2 + 0.5 * _RIDGE * b * b


@njit(cache=True, nogil=True)
def fit_by_rates(z, n, k, false, lost, tolerance):
    """Return the log-posterior of the best curve for each pair of rates, the share truly 1, and the curves.

    z, n, k: mean log-odds of the bins (centred), pairs, and pairs given 1. Slope and offset are found by
    Fisher scoring with Levenberg's damping; each pair of rates starts from the solution of the one before and
    stops when a step gains less than `tolerance`.
    """
    G = len(false)
    explained, shares, slopes, offsets = np.empty(G), np.empty(G), np.empty(G), np.empty(G)
    share = (k.sum() + 0.5) / (n.sum() + 1.0)
    c, b = SLOPE_MEAN, np.log(share / (1.0 - share))
    narrow = 1.0 / SLOPE_SPREAD**2
    true, tried = np.empty(len(z)), np.empty(len(z))
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
                # The exponential of a longer step may overflow.
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
        ones = 0.0
        for i in range(len(z)):
            if n[i] > 0.0:
                ones += n[i] * true[i]
        shares[g] = (0.5 + ones) / (n.sum() + 1.0)
    return explained, shares, slopes, offsets


def _make_tables(posterior, slopes, offsets, nodes):
    """Return the tables of `fit_curve` for one label, (4, nodes), by the posterior (G,) of its rates."""
    likely = posterior > 1e-4 * posterior.max()
    weight = posterior[likely] / posterior[likely].sum()
    f, r = FALSE[likely, None], LOST[likely, None]
    true = expit(slopes[likely, None] * nodes + offsets[likely, None])
    given = np.clip(f + (1.0 - f - r) * true, 1e-12, 1.0 - 1e-12)
    return np.stack([weight @ t for t in (r * true / (1.0 - given), (1.0 - r) * true / given, true, given)])


def look_up_pairs(given, z, nodes, tables):
    """Return P(true = 1) by the given label, and P(given = 1), of every pair (n, L)."""
    truth, probability = np.empty_like(z), np.empty_like(z)
    for label, (own, y) in enumerate(zip(z.T, given.T, strict=True)):
        *by_given, probability[:, label] = (np.interp(own, nodes[label], table) for table in tables[label])
        # A quotient of probabilities may exceed 1 by a rounding error.
        truth[:, label] = np.minimum(np.choose(np.where(y >= 0, y, 2), by_given), 1.0)
    return truth, probability


def row_dispersion(given, z):
    """Return the variance of the number of surprises in a row, over that of independent labels.

    A surprise is a given label whose probability is below 0.2; only pairs where the model is so sure count.
    Ten pseudo-surprises of independent labels keep the ratio near 1 where there are few.
    """
    q = expit(-np.abs(z))
    sure = (given >= 0) & (q < 0.2)
    surprises = np.where(sure, ((given == 1) != (z > 0)) - q, 0.0).sum(axis=1, dtype=np.float64)
    return (10 + surprises @ surprises) / (10 + np.where(sure, q * (1 - q), 0.0).sum(dtype=np.float64))


def pool_rates(likelihood):
    """Return the posterior (L, G) of the labels' rates from log-likelihoods (L, G), and the log-evidence."""
    prior, weight = _hierarchy()
    largest = likelihood.max(axis=1, keepdims=True)
    likely = np.exp(likelihood - largest)
    evidence = np.maximum(prior @ likely.T, 1e-300)
    common = np.log(weight) + np.log(evidence).sum(axis=1)
    total = logsumexp(common)
    posterior = ((np.exp(common - total)[:, None] / evidence).T @ prior) * likely
    return posterior / posterior.sum(axis=1, keepdims=True), float(total + largest.sum())


@cache
def _hierarchy():
    """Return the prior of the grid under every common mean and strength (H, G), and their weights (H,)."""
    rates = np.unique(FALSE)
    edges = np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, [1.0]])
    width = np.diff(edges)
    mean = np.maximum(rates, LEAST)[:, None]
    at_false, at_lost = np.searchsorted(rates, FALSE), np.searchsorted(rates, LOST)
    # Four kinds of errors, equally likely: labels are overlooked, or given too freely, or mistaken equally
    # often in both directions, or any rates.
    larger = width[np.maximum(at_false, at_lost)] * np.exp(-np.maximum(FALSE, LOST) / SCALE)
    kinds = [np.where(kind, larger, 0.0) for kind in (FALSE == 0, LOST == 0, FALSE == LOST)]
    kinds.append(width[at_false] * width[at_lost] * np.exp(-(FALSE + LOST) / SCALE))
    weight = np.mean([kind / kind.sum() for kind in kinds], axis=0)
    priors = []
    for strength in STRENGTHS:
        mass = np.diff(betainc(strength * mean, strength * (1 - mean), edges), axis=1)
        prior = mass[np.ix_(at_false, at_false)] * mass[np.ix_(at_lost, at_lost)] + 1e-12
        priors.append(prior / prior.sum(axis=1, keepdims=True))
    return np.concatenate(priors), np.tile(weight / len(STRENGTHS), len(STRENGTHS))
