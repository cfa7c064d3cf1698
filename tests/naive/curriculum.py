"""Slow twins of mlspl.curriculum: one label, one pair, one row at a time."""

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import beta


def best_curve(z, given, false, lost, mean, spread, ridge):
    """The log-likelihood of the best curve false + (1 − false − lost) σ(a z + b), and its share of 1."""

    def loss(parameters):
        a, b = np.exp(parameters[0]), parameters[1]
        p = np.clip(false + (1 - false - lost) * expit(a * z + b), 1e-12, 1 - 1e-12)
        prior = ((parameters[0] - mean) / spread) ** 2 / 2 + ridge * b * b / 2
        return -np.sum(given * np.log(p) + (1 - given) * np.log(1 - p)) + prior

    starts = [(0.0, -1.0), (1.0, 0.0), (1.0, -3.0)]
    fits = [minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-7}) for start in starts]
    best = min(fits, key=lambda fit: fit.fun)
    return -best.fun, (expit(np.exp(best.x[0]) * z + best.x[1]).sum() + 0.5) / (len(z) + 1)


def pool(likelihood, false, lost, rates, strengths, scale, least):
    """The posterior of every label's rates, summed over what all labels may have in common."""
    edges = np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, [1.0]])
    width = dict(zip(rates, np.diff(edges), strict=True))

    def mass(mean, strength):
        mean = max(mean, least)
        cumulated = beta.cdf(edges, strength * mean, strength * (1 - mean))
        return dict(zip(rates, np.diff(cumulated), strict=True))

    def fall(*means):
        return np.prod([width[mean] for mean in means]) * np.exp(-sum(means) / scale)

    both = list(zip(false, lost, strict=True))
    one = sum(fall(rate) for rate in rates)
    same = sum(fall(f) for f, r in both if f == r)
    all_pairs = sum(fall(f, r) for f, r in both)
    total, posterior = 0.0, np.zeros_like(likelihood)
    likely = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    for strength, (f, r) in product(strengths, both):
        of_false, of_lost = mass(f, strength), mass(r, strength)
        prior = np.array([of_false[x] * of_lost[y] for x, y in zip(false, lost, strict=True)]) + 1e-12
        prior /= prior.sum()
        joint = prior * likely
        kinds = fall(f, r) / all_pairs + (f == r) * fall(f) / same
        kinds += (f == 0) * fall(r) / one + (r == 0) * fall(f) / one
        weight = kinds * np.prod(joint.sum(axis=1))
        posterior += weight * joint / joint.sum(axis=1, keepdims=True)
        total += weight
    return posterior / total


def ridge_path(design, y, ridges):
    """Logistic regressions whose last two columns are not penalised, each by a general minimiser."""

    def loss(coefficient, penalty):
        score = design @ coefficient
        return np.sum(np.logaddexp(0, score) - y * score) + penalty @ coefficient**2 / 2

    path = []
    for ridge in ridges:
        penalty = np.append(np.full(design.shape[1] - 2, ridge), [1e-3, 1e-3])
        path.append(minimize(loss, np.zeros(design.shape[1]), penalty, tol=1e-10).x)
    return np.array(path)


def row_scores(suspicion):
    """P(any), P(several) and the expected number of errors of a row, over all 2^L ways to err."""
    scores = []
    for row in suspicion:
        any_error = several = expected = 0.0
        for wrong in product([False, True], repeat=len(row)):
            p = np.prod([s if w else 1 - s for s, w in zip(row, wrong, strict=True)])
            any_error += p * (sum(wrong) >= 1)
            several += p * (sum(wrong) >= 2)
            expected += p * sum(wrong)
        scores.append((any_error, several, expected))
    return np.array(scores)


def look_up(given, z, low, step, tables):
    """P(true = 1) of each pair by the table of its given label, P(given = 1), and surprises of rows."""
    nodes = np.arange(tables.shape[2])

    def value(i, label, table):
        return np.interp((z[i, label] - low[label]) / step[label], nodes, tables[label, table])

    n, L = z.shape
    first = [[value(i, k, given[i, k] if given[i, k] >= 0 else 2) for k in range(L)] for i in range(n)]
    second = [[value(i, k, 3) for k in range(L)] for i in range(n)]
    squares = variance = 10.0
    for i in range(n):
        total = 0.0
        for k in range(L):
            p = 1 / (1 + np.exp(-z[i, k]))
            if given[i, k] >= 0 and min(p, 1 - p) < 0.2:
                total += float((given[i, k] == 1) != (p > 0.5)) - min(p, 1 - p)
                variance += p * (1 - p)
        squares += total**2
    return np.array(first), np.array(second), squares / variance
