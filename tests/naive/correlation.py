"""Slow, obvious twins of what `mlspl.correlation` computes fast."""

import numpy as np

from mlspl.spaces import Gram


def kernel_ridge(K, codes, alpha=1.0):
    """Kernel ridge regression with an intercept, from its bordered normal equations."""
    n = len(K)
    system = np.block([[K + alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([codes, np.zeros((1, codes.shape[1]))]))
    return solution[:n].T, solution[n]


def cross_fit_codes(regressor, K, codes, folds, tol=1e-7):
    """Out-of-fold codes by a fit on every fold's own part of the kernel."""
    predicted = np.full(codes.shape, np.nan)
    for train, test in folds:
        inner = Gram("precomputed", tol=tol).prepare(K[train][:, train])
        coef, intercept, _ = inner.regress(codes[train], regressor)
        predicted[test] = K[test][:, train] @ coef.T + intercept
    return predicted


def prototype_means(signs, codes, prototypes):
    means = np.array(prototypes, dtype=float)
    for j in range(codes.shape[1]):
        mass = sum(codes[i, j] for i in range(len(codes)))
        if mass > 0:
            means[j] = sum(codes[i, j] * signs[i] for i in range(len(codes))) / mass
    return means


def prototype_distances(signs, prototypes):
    return np.array([[sum((y - a) ** 2) for a in prototypes] for y in signs])


def cluster_label_sets(signs, count, chosen):
    """Lloyd's steps on distinct label vectors of ±1, dense, from the vectors `chosen`: groups and means."""
    sums, sizes = signs[chosen].copy(), np.ones(len(chosen))
    group = None
    while True:
        distances = np.array(
            [
                [
                    (len(y) * n * n + np.sum(s * s) - 2 * n * (y @ s)) / (n * n)
                    for s, n in zip(sums, sizes, strict=True)
                ]
                for y in signs
            ]
        )
        nearest = distances.argmin(axis=1)
        if group is not None and np.array_equal(nearest, group):
            return group, sums / sizes[:, None]
        group = nearest
        sums = np.array([count[group == j] @ signs[group == j] for j in range(len(chosen))])
        sizes = np.array([float(count[group == j].sum()) for j in range(len(chosen))])
