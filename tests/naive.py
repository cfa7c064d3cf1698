"""Slow, obvious versions of everything fast in mlspl. Every fast path is compared with its twin here."""

import itertools
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog, minimize
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR


def ranked_labels(y, f):
    """Known labels of a row, best first; among equal scores the higher index is better."""
    known = [label for label in range(len(y)) if not np.isnan(y[label])]
    return sorted(known, key=lambda label: (f[label], label), reverse=True)


def relevant_labels(y):
    return [label for label in range(len(y)) if y[label] == 1]


def irrelevant_labels(y):
    return [label for label in range(len(y)) if y[label] == 0]


def hamming_loss(Y, P):
    """0/1 labels with NaN for unknown, as all the criteria here."""
    wrong = [Y[i][j] != P[i][j] for i in range(len(Y)) for j in range(len(Y[i])) if not np.isnan(Y[i][j])]
    return sum(wrong) / len(wrong) if wrong else np.nan


def mean_over_mixed_rows(Y, F, row_criterion):
    """Mean over the rows with a relevant and an irrelevant label."""
    mixed = [(y, f) for y, f in zip(Y, F, strict=True) if relevant_labels(y) and irrelevant_labels(y)]
    values = [row_criterion(y, f) for y, f in mixed]
    return sum(values) / len(values) if values else np.nan


def ranking_loss(Y, F):
    def of_row(y, f):
        pairs = [(p, q) for p in relevant_labels(y) for q in irrelevant_labels(y)]
        return sum(f[p] <= f[q] for p, q in pairs) / len(pairs)

    return mean_over_mixed_rows(Y, F, of_row)


def one_error(Y, F):
    def of_row(y, f):
        best = max(f[label] for label in ranked_labels(y, f))
        return not any(f[label] == best for label in relevant_labels(y))

    return mean_over_mixed_rows(Y, F, of_row)


def coverage(Y, F):
    depths = []
    for y, f in zip(Y, F, strict=True):
        order = ranked_labels(y, f)
        if order:
            depths.append(max([order.index(label) for label in relevant_labels(y)], default=0))
    return sum(depths) / len(depths) if depths else np.nan


def average_precision(Y, F):
    def of_row(y, f):
        order = ranked_labels(y, f)
        ranks = {label: order.index(label) + 1 for label in relevant_labels(y)}
        return np.mean([sum(r <= rank for r in ranks.values()) / rank for rank in ranks.values()])

    return mean_over_mixed_rows(Y, F, of_row)


def holm(p_values):
    """Holm's step-down adjustment, one p-value after the other."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, (len(p_values) - rank) * p_values[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


def wilcoxon_p_value(differences):
    """Two-sided exact p-value of the signed-rank test by going through all 2^n signs; zeros do not count."""
    differences = [d for d in differences if d != 0]
    ranks = [
        sum(abs(other) < abs(d) for other in differences)
        + (1 + sum(abs(other) == abs(d) for other in differences)) / 2
        for d in differences
    ]
    middle = sum(ranks) / 2
    seen = abs(sum(rank for d, rank in zip(differences, ranks, strict=True) if d > 0) - middle)
    extreme = 0
    for signs in range(2 ** len(differences)):
        statistic = sum(rank for i, rank in enumerate(ranks) if signs >> i & 1)
        extreme += abs(statistic - middle) >= seen
    return extreme / 2 ** len(differences)


def arff_words(line, sparse):
    """Words, commas and, in a sparse row, the closing brace of a line, up to a comment; quotes stay on."""
    words, pos = [], 0
    separators = " \t," + ("}" if sparse else "")
    while pos < len(line):
        char = line[pos]
        if char in " \t":
            pos += 1
            continue
        if char == "%":
            break
        stop = pos + 1
        if char in "'\"":
            while line[stop] != char:  # IndexError: not closed
                stop += 2 if line[stop] == "\\" else 1
            stop += 1
            if stop < len(line) and line[stop] not in separators:
                raise ValueError("text after a quote")
        elif char not in separators:
            while stop < len(line) and line[stop] not in separators:
                stop += 1
        words.append(line[pos:stop])
        pos = stop
    return words


def arff_value(word, values):
    """Number or code of a word; `values` is None for a number, "text" for what is not read."""
    if word in (",", "}"):
        raise ValueError("no value")
    if values == "text":
        return 0.0
    if word == "?":
        return float("nan")
    if word[0] in "'\"":
        plain, escaped = "", False
        for char in word[1:-1]:
            if escaped:
                plain, escaped = plain + {"n": "\n", "r": "\r", "t": "\t"}.get(char, char), False
            elif char == "\\":
                escaped = True
            else:
                plain += char
        word = plain
    if values is not None:
        return float(values.index(word))
    if "_" in word or np.isinf(float(word)):
        raise ValueError(word)
    return float(word)


def arff_rows(text, columns):
    """Rows of an ARFF data section as {column: value}; ValueError or IndexError where it is not one."""
    rows = []
    for line in text.split("\n"):
        line = line.strip(" \t")
        if not line or line[0] == "%":
            continue
        row = {}
        sparse = line[0] == "{"
        words = arff_words(line[1:] if sparse else line, sparse)
        while words and not (sparse and words[0] == "}"):
            if sparse:
                index, words = words[0], words[1:]
                if not all(char in "0123456789" for char in index) or int(index) in row:
                    raise ValueError(index)
                column = int(index)
            else:
                column = len(row)
            row[column] = arff_value(words[0], columns[column])
            words = words[1:]
            if words and words[0] == ",":
                words = words[1:]
                if not words or words[0] == "}":
                    raise ValueError("nothing after a comma")
        if words != (["}"] if sparse else []) or not (sparse or len(row) == len(columns)):
            raise ValueError(line)
        rows.append(row)
    return rows


def one_hot(rows, nominal):
    """Rows of codes with one 0/1 entry per value in the place of each code, cell by cell."""
    encoded = []
    for row in rows:
        cells = []
        for value, values in zip(row, nominal, strict=True):
            if values is None or (len(values) <= 2 and values != ("1", "0")):
                cells.append(value)
            elif values == ("1", "0"):
                cells.append(1 - value)
            else:
                cells += [value if np.isnan(value) else float(value == code) for code in range(len(values))]
        encoded.append(cells)
    return encoded


def share_out(Y, shares, sizes, random):
    """Algorithm 1 of Sechidis et al. (2011) on a 0/1 array, line by line; full subsets take no more rows."""
    rows, labels = random.permutation(len(Y)), random.permutation(Y.shape[1])
    chance = random.random_sample(len(Y))
    Y = Y[rows][:, labels]
    lacking_rows = [int(size) for size in sizes]
    lacking = [[Y[:, label].sum() * share for share in shares] for label in range(Y.shape[1])]
    subset = {}

    def place(i, wanted):
        possible = [j for j in range(len(sizes)) if lacking_rows[j] > 0]
        possible = [j for j in possible if wanted[j] == max(wanted[m] for m in possible)]
        possible = [j for j in possible if lacking_rows[j] == max(lacking_rows[m] for m in possible)]
        j = possible[int(chance[i] * len(possible))]
        subset[i] = j
        lacking_rows[j] -= 1
        for label in np.flatnonzero(Y[i]):
            lacking[label][j] -= 1

    while True:
        left = [i for i in range(len(Y)) if i not in subset]
        carried = [sum(Y[i, label] for i in left) for label in range(Y.shape[1])]
        if not any(carried):
            break
        rarest = min(np.flatnonzero(carried), key=lambda label: carried[label])
        for i in left:
            if Y[i, rarest]:
                place(i, lacking[rarest])
    for i in left:
        place(i, [0] * len(sizes))
    result = np.empty(len(Y), dtype=int)
    result[rows] = [subset[i] for i in range(len(Y))]
    return result


def best_cuts(F, Y, weight, criterion):
    """Value of the best cut of every label, trying one below, between and above all scores; 0/1 labels."""
    values = []
    for f, y, w in zip(F.T, Y.T, weight.T, strict=True):
        cuts = [-np.inf, np.inf, *f]
        values.append(max(cut_value(f, y, w, cut, criterion) for cut in cuts))
    return values


def cut_value(f, y, w, cut, criterion):
    """F1, or minus the weight of wrong predictions, of one label that is predicted above `cut`."""
    w = np.where(np.isnan(y), 0, w)
    relevant, predicted = y == 1, f > cut
    if criterion == "hamming_loss":
        return -w[relevant != predicted].sum()
    size = w[relevant].sum() + w[predicted].sum()
    return 2 * w[relevant & predicted].sum() / size if size else 1.0


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
    """Posteriors of ML-kNN pair by pair, in exact fractions for X in whole numbers."""
    n, n_labels, s = len(X), len(Y[0]), Fraction(s)
    weight = [[Fraction(w) for w in row] for row in (weight or [[1] * n_labels] * n)]
    among_themselves = [nearest_rows(d, k, excluded=i) for i, d in enumerate(squared_distances(X, X))]
    of_new = [nearest_rows(d, k) for d in squared_distances(X_new, X)]
    posteriors = [[None] * n_labels for _ in X_new]
    for label in range(n_labels):
        counts = {0: [0] * (k + 1), 1: [0] * (k + 1)}
        rows = {0: 0, 1: 0}
        for i in range(n):
            rows[Y[i][label]] += weight[i][label]
            c = carriers(among_themselves[i], Y, weight, label, k)
            if c is not None:
                below = min(int(c), k - 1)
                counts[Y[i][label]][below] += weight[i][label] * (1 - (c - below))
                counts[Y[i][label]][below + 1] += weight[i][label] * (c - below)
        prior = (s + rows[1]) / (2 * s + rows[0] + rows[1])
        for i, neighbours in enumerate(of_new):
            c = carriers(neighbours, Y, weight, label, k)
            present, absent = prior, 1 - prior
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


def code_objective(q, scores, targets, code_weights, distances, label_weights, beta):
    """One instance's objective of the Q step, as ALGORITHMS.md §3 writes it."""
    loss = 0.0
    for label in range(len(targets)):
        score = scores[label] + sum(code_weights[label][j] * q[j] for j in range(len(q)))
        loss += label_weights[label] * max(0.0, 1.0 - targets[label] * score)
    return loss + beta * sum(q[j] * distances[j] for j in range(len(q)))


def solve_code(scores, targets, code_weights, distances, label_weights, beta):
    """One instance's Q step as a linear program in (q, ξ) for HiGHS; returns the optimal objective."""
    from scipy.optimize import linprog

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


def kernel_ridge(K, codes, alpha):
    """Kernel ridge regression with an intercept, from its bordered normal equations."""
    n = len(K)
    system = np.block([[K + alpha * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([codes, np.zeros((1, codes.shape[1]))]))
    return solution[:n].T, solution[n]


def cross_fit_codes(make_regressor, K, codes, folds):
    """Out-of-fold codes by a fresh regressor on every fold's own part of the kernel."""
    predicted = np.full(codes.shape, np.nan)
    for train, test in folds:
        model = make_regressor().fit(K[train][:, train], codes[train])
        predicted[test] = model.predict(K[test][:, train])
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


def minimising_weight(loss, penalty, points=20001):
    """The v in [0, 1] of the smallest v·l + f(v), on a fine grid and then on a finer one around it."""
    low, high = 0.0, 1.0
    for _ in range(3):
        grid = np.linspace(low, high, points)
        with np.errstate(all="ignore"):
            best = grid[np.argmin(grid * loss + penalty(grid))]
        step = (high - low) / (points - 1)
        low, high = max(0.0, best - step), min(1.0, best + step)
    return best


def diversity_cost(v, loss, pace, gamma, groups):
    """Σ v·l − λ Σ v − γ Σ_b ‖v_b‖₂ of weights given pair by pair."""
    cost = sum(vi * (li - pi) for vi, li, pi in zip(v, loss, pace, strict=True))
    for group in set(groups):
        cost -= gamma * sum(vi**2 for vi, g in zip(v, groups, strict=True) if g == group) ** 0.5
    return cost


def quantile_pace(losses, Y, target, per):
    """The pace of every pair, one group after another."""
    n, L = losses.shape
    pace = np.empty((n, L))
    for i in range(n):
        for label in range(L):
            group = [
                losses[j, k]
                for j in range(n)
                for k in range(L)
                if per == "all" or (k == label and (per == "label" or (Y[j, k] > 0) == (Y[i, label] > 0)))
            ]
            larger = [loss for loss in group if loss > min(group)]
            quantile = np.quantile(group, target)
            if target == 1 or (per == "negatives" and Y[i, label] > 0):
                pace[i, label] = np.inf
            elif quantile > min(group):
                pace[i, label] = quantile
            else:
                pace[i, label] = min(larger, default=np.inf)
    return pace


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


def rank_svm_primal(K, signed_weight, coef, bias):
    """½ Σ‖w_l‖² + Σ c [1 − (f_p − f_q)]₊."""
    F = K @ coef + bias
    loss = sum(c * max(0.0, 1 - F[i, p] + F[i, q]) for i, p, q, c in rank_svm_pairs(signed_weight))
    return 0.5 * np.sum(coef * (K @ coef)) + loss


def rank_svm_dual(K, signed_weight, alpha):
    coef = rank_svm_coef(signed_weight, alpha)
    return np.sum(alpha) - 0.5 * np.sum(coef * (K @ coef))


def rank_svm_frank_wolfe(K, signed_weight, max_iter=50):
    """The literature's solver: a linear program (HiGHS) for every direction, an exact line search.

    Returns the dual variables and the last Frank–Wolfe gap, which is the duality gap at the best bias.
    """
    from scipy.optimize import linprog
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
    balance = to_coef.reshape(-1, L, m).sum(axis=0)[:-1]
    found = minimize(
        lambda a: 0.5 * a @ hessian @ a - a.sum(),
        np.zeros(m),
        jac=lambda a: hessian @ a - 1.0,
        bounds=[(0.0, pair[3]) for pair in pairs],
        constraints={"type": "eq", "fun": lambda a: balance @ a, "jac": lambda a: balance},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return -found.fun


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


def svm_dual(K, y, cost, bias=True):
    """The largest Σα − ½ Σ α_i α_j y_i y_j K_ij, 0 ≤ α ≤ C, by a general-purpose optimiser."""
    Q = K * np.outer(y, y)
    balance = [{"type": "eq", "fun": lambda alpha: alpha @ y, "jac": lambda alpha: y}] if bias else []
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
