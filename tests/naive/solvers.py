"""Slow, obvious twins of what `mlspl.solvers` computes fast."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import linprog, minimize
from sklearn.svm import SVC


def code_objective(q, scores, targets, code_weights, distances, label_weights, beta):
    """One instance's objective of the Q step, as ALGORITHMS.md §3 writes it."""
    loss = 0.0
    for label in range(len(targets)):
        score = scores[label] + sum(code_weights[label][j] * q[j] for j in range(len(q)))
        loss += label_weights[label] * max(0.0, 1.0 - targets[label] * score)
    return loss + beta * sum(q[j] * distances[j] for j in range(len(q)))


def solve_code(scores, targets, code_weights, distances, label_weights, beta):
    """One instance's Q step as a linear program in (q, ξ) for HiGHS; returns the optimal objective."""

    n_labels, m = code_weights.shape
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    result = linprog(
        np.concatenate([beta * distances, label_weights]),
        A_ub=np.hstack([-targets[:, None] * code_weights, -np.eye(n_labels)]),
        b_ub=targets * scores - 1.0,
        A_eq=np.concatenate([np.ones(m), np.zeros(n_labels)])[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
        options=tight,
    )
    assert result.status == 0, result.message
    return result.fun


def minimise_hinges(cost, hinges, heights):
    """The least objective over all vertices of the arrangement of q_a = 0 and Σ_a q_a hinges_ab = 0."""
    from itertools import combinations

    p, r = hinges.shape
    constraints = np.vstack([np.eye(p), hinges.T])
    best = np.inf
    for held in combinations(range(p + r), p - 1):
        system = np.vstack([np.ones(p), constraints[list(held)]])
        if abs(np.linalg.det(system)) < 1e-9:
            continue
        q = np.linalg.solve(system, np.eye(p)[0])
        if q.min() >= -1e-9:
            best = min(best, cost @ q + heights @ np.maximum(hinges.T @ q, 0.0))
    return best


def svr_objective(coef, K, target, epsilon):
    """The dual objective of ε-SVR in β = α − α*."""
    return 0.5 * coef @ K @ coef - target @ coef + epsilon * np.abs(coef).sum()


def svr_violation(coef, K, target, C, epsilon):
    """LIBSVM's stopping criterion: by how much the worst pair of one-sided derivatives disagrees."""
    gradient = K @ coef - target
    up = [g + (epsilon if b >= 0 else -epsilon) for g, b, c in zip(gradient, coef, C, strict=True) if b < c]
    down = [g + (epsilon if b > 0 else -epsilon) for g, b, c in zip(gradient, coef, C, strict=True) if b > -c]
    return max(0.0, max(down) - min(up)) if up and down else 0.0


def rank_svm_pairs(signed_weight):
    """Every (row, relevant label, irrelevant label, cost), one after the other."""
    return [
        (i, p, q, weights[p] * -weights[q])
        for i, weights in enumerate(signed_weight)
        for p in range(len(weights))
        if weights[p] > 0
        for q in range(len(weights))
        if weights[q] < 0
    ]


def rank_svm_coef(signed_weight, alpha):
    """What the dual variables of the pairs make of every (row, label)."""
    coef = np.zeros(np.shape(signed_weight))
    for (i, p, q, _), a in zip(rank_svm_pairs(signed_weight), alpha, strict=True):
        coef[i, p] += a
        coef[i, q] -= a
    return coef


def rank_svm_primal(K, signed_weight, coef):
    """½ Σ‖w_l‖² + Σ c [1 − (f_p − f_q)]₊."""
    F = K @ coef
    loss = sum(c * max(0.0, 1 - F[i, p] + F[i, q]) for i, p, q, c in rank_svm_pairs(signed_weight))
    return 0.5 * np.sum(coef * (K @ coef)) + loss


def rank_svm_dual(K, signed_weight, alpha):
    coef = rank_svm_coef(signed_weight, alpha)
    return np.sum(alpha) - 0.5 * np.sum(coef * (K @ coef))


def rank_svm_frank_wolfe(K, signed_weight, max_iter=50):
    """The literature's solver: a linear program (HiGHS) for every direction, an exact line search.

    Returns the dual variables and the last Frank–Wolfe gap, which is the duality gap at the best bias.
    """
    from scipy.sparse import csr_array

    pairs = rank_svm_pairs(signed_weight)
    i, p, q = (np.array([pair[k] for pair in pairs]) for k in range(3))
    cost = np.array([pair[3] for pair in pairs])
    n, L = signed_weight.shape
    m = len(pairs)
    balance = csr_array(
        (np.repeat([1.0, -1.0], m), (np.concatenate([p, q]), np.tile(np.arange(m), 2))), shape=(L, m)
    )

    def coef(a):
        B = np.zeros((n, L))
        np.add.at(B, (i, p), a)
        np.add.at(B, (i, q), -a)
        return B

    alpha, F, gap = np.zeros(m), np.zeros((n, L)), np.inf
    for _ in range(max_iter):
        gradient = F[i, p] - F[i, q] - 1.0
        bounds = np.column_stack([np.zeros(m), cost])
        corner = linprog(gradient, A_eq=balance, b_eq=np.zeros(L), bounds=bounds, method="highs").x
        direction = corner - alpha
        gap = -gradient @ direction
        D = coef(direction)
        KD = K @ D
        curvature = np.sum(D * KD)
        step = min(gap / curvature, 1.0) if curvature > 0 else 1.0
        if step < 1e-6 or step * np.abs(direction).max() < 1e-4:
            break
        alpha, F = alpha + step * direction, F + step * KD
    return alpha, gap


def rank_svm_optimum(K, signed_weight):
    """The optimal dual value by SLSQP, a general program for a handful of pairs."""
    from scipy.optimize import minimize

    pairs = rank_svm_pairs(signed_weight)
    m, L = len(pairs), signed_weight.shape[1]
    to_coef = np.zeros((signed_weight.size, m))
    for k, (i, p, q, _) in enumerate(pairs):
        to_coef[i * L + p, k], to_coef[i * L + q, k] = 1.0, -1.0
    hessian = to_coef.T @ np.kron(K, np.eye(L)) @ to_coef
    found = minimize(
        lambda a: 0.5 * a @ hessian @ a - a.sum(),
        np.zeros(m),
        jac=lambda a: hessian @ a - 1.0,
        bounds=[(0.0, pair[3]) for pair in pairs],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return -found.fun


def svm_dual(K, y, cost):
    """The largest Σα − ½ Σ α_i α_j y_i y_j K_ij, 0 ≤ α ≤ C, by a general-purpose optimiser."""
    Q = K * np.outer(y, y)
    balance = [{"type": "eq", "fun": lambda alpha: alpha @ y, "jac": lambda alpha: y}]
    return -minimize(
        lambda alpha: alpha @ Q @ alpha / 2 - alpha.sum(),
        np.zeros(len(y)),
        jac=lambda alpha: Q @ alpha - 1,
        bounds=[(0, c) for c in cost],
        constraints=balance,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    ).fun


def svm_primal(K, y, cost, alpha, bias):
    """½‖w‖² + Σ C_i hinge_i, and the worst breach of the optimality conditions, as both are defined."""
    scores = K @ (alpha * y) + bias
    objective = (alpha * y) @ K @ (alpha * y) / 2
    breach = abs(alpha @ y) if bias != 0 else 0.0
    for a, c, margin in zip(alpha, cost, y * scores, strict=True):
        objective += c * max(0.0, 1 - margin)
        if a < c:
            breach = max(breach, 1 - margin)
        if a > 0:
            breach = max(breach, margin - 1)
        breach = max(breach, -a, a - c)
    return objective, breach


LINEAR_LOSS = {
    "logistic": lambda t, z: np.logaddexp(0.0, -t * z),
    "squared": lambda t, z: (t - z) ** 2,
}


def linear_objective(X, target, cost, loss, w):
    """½‖w‖² + Σ C loss with the bias last in w, regularised unless the loss is squared."""
    regularised = w[:-1] if loss == "squared" else w
    return regularised @ regularised / 2 + np.sum(cost * LINEAR_LOSS[loss](target, X @ w[:-1] + w[-1]))


def linear_minimum(X, target, cost, loss):
    """The least objective by BFGS."""
    return minimize(
        lambda w: linear_objective(X, target, cost, loss, w),
        np.zeros(X.shape[1] + 1),
        method="BFGS",
        options={"gtol": 1e-8},
    ).fun


def extra_tree(X, targets, weight, seed, min_leaf, max_features):
    """A tree as `grow_extra_trees` grows it from a seed, in nested tuples; leaves are lists of rows."""
    generator = _Xorshift(seed)
    features = list(range(len(X[0])))

    def gain(rows):
        sums = sum(weight[i] * targets[i] for i in rows)
        return float((sums**2).sum() / sum(weight[i] for i in rows))

    def node(rows, constant):
        if len(rows) < max(2, 2 * min_leaf) or all((targets[i] == targets[rows[0]]).all() for i in rows):
            return rows
        best, drawn, varied = None, 0, 0
        while drawn < len(features) and (drawn < max_features or not varied):
            j = drawn + int(generator.next() * (len(features) - drawn))
            features[drawn], features[j] = features[j], features[drawn]
            f = features[drawn]
            drawn += 1
            values = [X[i][f] for i in rows]
            if f in constant or max(values) <= min(values) + 1e-7:
                constant = constant | {f}
                continue
            varied += 1
            cut = min(values) + generator.next() * (max(values) - min(values))
            left, right = [i for i in rows if X[i][f] <= cut], [i for i in rows if X[i][f] > cut]
            if min(len(left), len(right)) < min_leaf:
                continue
            score = gain(left) + gain(right)
            if best is None or score > best[0]:
                best = score, f, cut, left, right
        if best is None:
            return rows
        _, f, cut, left, right = best
        first = node(left, constant)
        return f, cut, first, node(right, constant)

    return node([i for i in range(len(X)) if weight[i] > 0], frozenset())


def descend(tree, x):
    """The leaf of a tree of nested tuples."""
    while isinstance(tree, tuple):
        f, cut, left, right = tree
        tree = left if x[f] <= cut else right
    return tree


class _Xorshift:
    """xorshift64*, seeded by splitmix64; numbers from 0 to below 1."""

    def __init__(self, seed):
        mask = 2**64 - 1
        z = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        self.state = (z ^ (z >> 31)) | 1

    def next(self):
        mask = 2**64 - 1
        self.state ^= (self.state << 13) & mask
        self.state ^= self.state >> 7
        self.state ^= (self.state << 17) & mask
        return (((self.state * 0x2545F4914F6CDD1D) & mask) >> 11) * 2.0**-53


def svm_libsvm(K, Y, C, tol=1e-3):
    """The SVMs of `solve_svms` by LIBSVM, label by label; both classes must have positive costs."""
    costs = np.broadcast_to(np.asarray(C, dtype=np.float64), Y.shape)
    alpha, bias, n_iter = np.zeros(Y.shape), np.empty(len(Y)), np.empty(len(Y), dtype=int)
    for label, (y, cost) in enumerate(zip(Y, costs, strict=True)):
        rows = np.flatnonzero(cost > 0)
        svc = SVC(C=1.0, kernel="precomputed", tol=tol)
        svc.fit(K[np.ix_(rows, rows)], y[rows], sample_weight=cost[rows])
        alpha[label, rows[svc.support_]] = np.abs(svc.dual_coef_[0])
        bias[label], n_iter[label] = svc.intercept_[0], svc.n_iter_[0]
    scores = (alpha * Y) @ K + bias[:, None]
    return SimpleNamespace(coef=alpha * Y, bias=bias, scores=scores, n_iter=n_iter)


def svm_objectives(K, Y, C, solution):
    """The primal and the dual objective of every SVM."""
    costs, coef = np.broadcast_to(np.asarray(C, dtype=np.float64), Y.shape), solution.coef
    squared_norm = np.sum(coef * (coef @ K), axis=1)
    loss = np.sum(costs * np.maximum(0.0, 1.0 - Y * solution.scores), axis=1)
    return squared_norm / 2 + loss, np.abs(coef).sum(axis=1) - squared_norm / 2
