"""Slow, obvious twins of what `mlspl.models` computes fast."""

import itertools
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR


def nearest_rows(distances, k, excluded=None):
    """The k smallest of a row of exact distances; of equal ones the lower index first."""
    others = [j for j in range(len(distances)) if j != excluded]
    return sorted(others, key=lambda j: (distances[j], j))[:k]


def squared_distances(A, B):
    """Python numbers, exact when A and B hold whole numbers."""
    return [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in B] for x in A]


def carriers(neighbours, Y, weight, label, k):
    """Weighted share of the neighbours that carry the label, times k; None if none of them has a say."""
    heard = sum(weight[j][label] for j in neighbours)
    if heard == 0:
        return None
    return k * sum(weight[j][label] * Y[j][label] for j in neighbours) / heard


def interpolate(counts, c):
    """The value of a list at a fractional place."""
    below = min(int(c), len(counts) - 2)
    return (1 - (c - below)) * counts[below] + (c - below) * counts[below + 1]


def ml_knn(X, Y, X_new, k, s, weight=None):
    """Posteriors of ML-kNN pair by pair, in exact fractions for X in whole numbers.

    Without new rows, those of the rows themselves, none of which counts for itself.
    """
    n, n_labels, s = len(X), len(Y[0]), Fraction(s)
    weight = [[Fraction(w) for w in row] for row in (weight or [[1] * n_labels] * n)]
    among_themselves = [nearest_rows(d, k, excluded=i) for i, d in enumerate(squared_distances(X, X))]
    asked = among_themselves if X_new is None else [nearest_rows(d, k) for d in squared_distances(X_new, X)]
    posteriors = [[None] * n_labels for _ in asked]
    for i, neighbours in enumerate(asked):
        for label in range(n_labels):
            counts = {0: [0] * (k + 1), 1: [0] * (k + 1)}
            rows = {0: 0, 1: 0}
            for j in range(n):
                if X_new is None and i == j:
                    continue
                rows[Y[j][label]] += weight[j][label]
                c = carriers(among_themselves[j], Y, weight, label, k)
                if c is not None:
                    below = min(int(c), k - 1)
                    counts[Y[j][label]][below] += weight[j][label] * (1 - (c - below))
                    counts[Y[j][label]][below + 1] += weight[j][label] * (c - below)
            present = (s + rows[1]) / (2 * s + rows[0] + rows[1])
            absent = 1 - present
            c = carriers(neighbours, Y, weight, label, k)
            if c is not None:
                present *= (s + interpolate(counts[1], c)) / (s * (k + 1) + sum(counts[1]))
                absent *= (s + interpolate(counts[0], c)) / (s * (k + 1) + sum(counts[0]))
            posteriors[i][label] = present / (present + absent)
    return posteriors


def tram_graph(X, k):
    """The weights of TRAM as an n×n matrix, edge by edge."""
    squared = squared_distances(X, X)
    edges = [(i, j) for i in range(len(X)) for j in nearest_rows(squared[i], k, excluded=i)]
    scale = np.mean([squared[i][j] for i, j in edges])
    W = np.zeros((len(X), len(X)))
    for i, j in edges:
        W[i, j] = W[j, i] = np.exp(-squared[i][j] / (2 * scale)) if scale > 0 else 1.0
    return W


def tram(W, Y):
    """Label shares and label counts of the rows after the first len(Y), by a dense solve."""
    n = len(Y)
    sizes = Y.sum(axis=1)
    known = np.column_stack([[y / size if size else 0 * y for y, size in zip(Y, sizes, strict=True)], sizes])
    reached = set(range(n))
    while grown := {j for i in reached for j in np.flatnonzero(W[i])} - reached:
        reached |= grown
    spread = np.tile(known.mean(axis=0), (len(W) - n, 1))
    rows = np.array(sorted(reached - set(range(n))), dtype=int)
    P = W[rows] / W[rows].sum(axis=1, keepdims=True)
    spread[rows - n] = np.linalg.solve(np.eye(len(rows)) - P[:, rows], P[:, :n] @ known)
    return spread[:, :-1], spread[:, -1]


def best_cut(scores, signed_weight):
    """A row's cut with the least weight on the wrong side: all gaps tried, the widest of the best wins."""
    ordered = sorted(scores, reverse=True)
    inside = [((a + b) / 2, a - b) for a, b in itertools.pairwise(ordered)]
    candidates = [(ordered[0] + 0.5, 0.0), *inside, (ordered[-1] - 0.5, 0.0)]

    def errors(cut):
        return sum(abs(w) for f, w in zip(scores, signed_weight, strict=True) if (f - cut) * w < 0)

    least = min(errors(cut) for cut, _ in candidates)
    return max((c for c in candidates if errors(c[0]) <= least + 1e-12), key=lambda c: c[1])[0]


class PublishedMLSPL:
    """Algorithm 1 of the paper, errata corrected, straight from `SVC`, `SVR` and `linprog`."""

    def __init__(self, function, pace=1e-2, growth=1.3, steps=20, n_codes=15, C=0.5, beta=100.0, tol=1e-3):
        self.function, self.pace, self.growth, self.steps = function, pace, growth, steps
        self.n_codes, self.C, self.beta, self.tol = n_codes, C, beta, tol

    def fit(self, X, Y, codes, prototypes):
        """Fit from the given start of Q and A (k-means, which is seeded elsewhere)."""
        S = np.where(Y, 1.0, -1.0)
        self.X, self.gamma = X, 1.0 / X.shape[1]
        K = rbf_kernel(X, gamma=self.gamma)
        Q, A, pace = codes, prototypes, self.pace
        V = np.ones(S.shape)
        coef, bias = self._svms(K + Q @ Q.T, S, V)
        for _ in range(self.steps):
            scores = (K + Q @ Q.T) @ coef.T + bias
            V = self.function.weight(np.maximum(0, 1 - S * scores), pace)
            coef, bias = self._svms(K + Q @ Q.T, S, V)
            W_q = Q.T @ coef.T
            Q = np.array([self._code(K[i] @ coef.T + bias, S[i], W_q, A, V[i]) for i in range(len(S))])
            mass = Q.sum(axis=0)
            A = np.array([Q[:, j] @ S / mass[j] if mass[j] > 0 else A[j] for j in range(len(A))])
            pace *= self.growth
        self.coef, self.bias, self.W_q, self.V, self.Q, self.A = coef, bias, W_q, V, Q, A
        self.regressors = [SVR(kernel="precomputed", C=1.0, epsilon=0.1, tol=self.tol).fit(K, q) for q in Q.T]
        return self

    def decision_function(self, X):
        K = rbf_kernel(X, self.X, gamma=self.gamma)
        codes = np.column_stack([regressor.predict(K) for regressor in self.regressors])
        return K @ self.coef.T + codes @ self.W_q + self.bias

    def _svms(self, K, S, V):
        coef, bias = np.zeros((S.shape[1], len(S))), np.zeros(S.shape[1])
        for label in range(S.shape[1]):
            svm = SVC(kernel="precomputed", C=self.C, tol=self.tol)
            svm.fit(K, S[:, label], sample_weight=np.ascontiguousarray(V[:, label]))
            coef[label, svm.support_] = svm.dual_coef_[0]
            bias[label] = svm.intercept_[0]
        return coef, bias

    def _code(self, scores, signs, W_q, A, weights):
        """One linear program over (q, ξ): min Σ v ξ + β Σ q_j ‖y − a_j‖²."""
        m, n_labels = len(A), len(signs)
        cost = np.concatenate([self.beta * ((signs - A) ** 2).sum(axis=1), weights])
        margins = np.hstack([-signs[:, None] * W_q.T, -np.eye(n_labels)])
        simplex = np.concatenate([np.ones(m), np.zeros(n_labels)])[None]
        return linprog(cost, margins, signs * scores - 1, simplex, [1.0], bounds=(0, None)).x[:m]
