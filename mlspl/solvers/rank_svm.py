"""The ranking SVM of Elisseeff & Weston on one kernel matrix, by dual ascent over the rows.

Row i has a weight u_il for label l: positive if it is relevant, negative if not, 0 if it is left out. Every
(relevant p, irrelevant q) of a row is a pair of cost c_ipq = u_ip·|u_iq|. The program is

    min_{w,b} ½ Σ_l (‖w_l‖² + b_l²/ρ) + Σ_ipq c_ipq [1 − (f_p(x_i) − f_q(x_i))]₊,  f_l(x) = ⟨w_l, φ(x)⟩ + b_l,

with ρ the median of the kernel's diagonal: a bias is the weight of a constant feature, as in LIBLINEAR. Its
dual has one variable 0 ≤ α_ipq ≤ c_ipq per pair. With β_il = Σ_q α_ilq − Σ_p α_ipl it is

    max_α Σ α − ½ Σ_l β_lᵀ(K + ρ)β_l,   w_l = Σ_i β_il φ(x_i),   b_l = ρ Σ_i β_il.
"""

from typing import NamedTuple

import numpy as np

from mlspl._numba_cache import njit
from mlspl.errors import UserError

# About a minute of fitting and 600 MB.
_MOST_PAIRS = 5_000_000


class RankSVMSolution(NamedTuple):
    """New scores are ``K_new @ coef + bias``; `n_iter` counts sweeps.

    `alpha` has the dual variable of each pair: rows ascending, then relevant labels, then irrelevant ones.
    """

    coef: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    alpha: np.ndarray
    objective: float
    dual_gap: float
    n_iter: int


def solve_rank_svm(K, signed_weight, *, tol=1e-4, max_iter=10_000) -> RankSVMSolution:
    """Solve the ranking SVM with weights u (n, L) until its duality gap is ``tol`` times its objective."""
    K = np.ascontiguousarray(K, dtype=np.float64)
    signed_weight = np.ascontiguousarray(signed_weight, dtype=np.float64)
    n_worse = np.sum(signed_weight < 0, axis=1)
    n_pairs = np.sum(signed_weight > 0, axis=1) * n_worse
    if n_pairs.sum() > _MOST_PAIRS:
        raise UserError(
            f"RankSVM compares each relevant with each irrelevant label of a row: {n_pairs.sum():,} pairs, "
            f"more than {_MOST_PAIRS:,}. Use fewer labels or rows, or BSVMClassifier or MLSPLClassifier."
        )
    n, n_labels = signed_weight.shape
    first = np.concatenate([[0], np.cumsum(n_pairs)])
    # The pairs of a relevant label are a run as long as the row's irrelevant labels.
    row, label = np.nonzero(signed_weight > 0)
    runs = n_worse[row]
    rows, relevant = np.repeat(row, runs), np.repeat(label, runs)
    place = np.cumsum(n_worse)[row] - np.cumsum(runs)
    irrelevant = np.nonzero(signed_weight < 0)[1][np.repeat(place, runs) + np.arange(first[-1])]
    cost = -signed_weight[rows, relevant] * signed_weight[rows, irrelevant]
    better, worse = relevant * n + rows, irrelevant * n + rows  # of each pair, in `scores`
    rho = float(np.median(K.diagonal())) or 1.0
    alpha, coef, scores = np.zeros(len(cost)), np.zeros((n_labels, n)), np.zeros((n_labels, n))
    rng = np.random.default_rng(0)
    n_iter, gap, objective = 0, np.inf, 0.0
    while n_iter < max_iter and gap > tol * objective:
        n_iter += 1
        _sweep(rng.permutation(n), K, rho, first, relevant, irrelevant, cost, alpha, coef, scores)
        error = 1.0 - scores.take(better) + scores.take(worse)
        loss = np.dot(cost, np.maximum(error, 0.0))
        gap = loss - np.dot(alpha, error)
        objective = 0.5 * np.einsum("li,li->", coef, scores) + loss
    bias = rho * coef.sum(axis=1)
    return RankSVMSolution(coef.T.copy(), bias, scores.T.copy(), alpha, objective, max(gap, 0.0), n_iter)


@njit(cache=True, nogil=True)
def _sweep(order, K, rho, first, relevant, irrelevant, cost, alpha, coef, scores):
    """Row by row, maximise the dual over the row's own α; `alpha`, `coef` and `scores` change in place."""
    n_labels, n = scores.shape
    f, change = np.empty(n_labels), np.empty(n_labels)
    for i in order:
        if first[i] == first[i + 1]:
            continue
        for label in range(n_labels):
            f[label], change[label] = scores[label, i], 0.0
        _solve_row(K[i, i] + rho, first[i], first[i + 1], relevant, irrelevant, cost, alpha, f, change)
        for label in range(n_labels):
            step = change[label]
            if step != 0.0:
                coef[label, i] += step
                for j in range(n):
                    scores[label, j] += step * (K[i, j] + rho)


@njit(cache=True, nogil=True)
def _solve_row(diagonal, begin, end, relevant, irrelevant, cost, alpha, f, change):
    """Coordinate steps over one row's pairs until their errors have fallen to a tenth."""
    at_first = 0.0
    for turn in range(20):
        largest = 0.0
        for a in range(begin, end):
            p, q = relevant[a], irrelevant[a]
            best = min(max(alpha[a] + (1.0 - f[p] + f[q]) / (2.0 * diagonal), 0.0), cost[a])
            step = best - alpha[a]
            if step != 0.0:
                alpha[a] = best
                change[p] += step
                change[q] -= step
                f[p] += diagonal * step
                f[q] -= diagonal * step
                largest = max(largest, abs(step))
        if turn == 0:
            at_first = largest
        if largest <= 0.1 * at_first:
            return
