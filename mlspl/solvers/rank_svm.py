"""The ranking SVM of Elisseeff & Weston on one kernel matrix: row-wise dual ascent, biases by multipliers.

Row i has a signed weight u_il for label l: positive if the label is relevant, negative if it is not, 0 if it
is left out. Every (relevant p, irrelevant q) of a row is a pair of cost
c_ipq = u_ip·|u_iq|, and the program is

    min_{w,b} ½ Σ_l ‖w_l‖² + Σ_ipq c_ipq [1 − (f_p(x_i) − f_q(x_i))]₊,   f_l(x) = ⟨w_l, φ(x)⟩ + b_l.

Its dual has one variable 0 ≤ α_ipq ≤ c_ipq a pair; β_il = Σ_q α_ilq − Σ_p α_ipl gives w_l = Σ_i β_il φ(x_i):

    max_α Σ α − ½ Σ_l β_lᵀKβ_l   subject to   Σ_i β_il = 0 for every label l,

one balance a label, because of its bias. The α are a flow from label q to label p. Three facts make the
program easy:

- A pair whose two labels lie on no common cycle of that flow carries none. Such pairs are taken out first,
  exactly; afterwards the biases of whole components are moved apart until they are satisfied.
- The other balances are kept by an augmented Lagrangian. Its multiplier is the bias itself, and its penalty
  ρ_l acts as if the kernel of label l were K + ρ_l: all that remains is a box, solved row by row, each row a
  tiny program. The bias then follows the imbalance, b_l ← b_l + ρ_l Σ_i β_il.
- Any b gives a primal value. A dual value needs balance: moving only the free α, by one Laplacian system in
  the L labels, restores it without leaving the box, and at no cost to first order. The difference of the two
  values bounds the distance to the optimum, whatever happened before.

A sweep over n rows costs O(n·m + P) for m changed entries of β and P pairs; memory is O(n² + n·L + P), the
n² being K itself.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import connected_components

from mlspl._numba_cache import njit
from mlspl.errors import UserError
from mlspl.solvers.rank_pairs import component_shift, flow_components, label_pairs
from mlspl.solvers.threads import one_library_thread

__all__ = ["RankSVMSolution", "solve_rank_svm"]

# About a minute of fitting and 600 MB.
_MOST_PAIRS = 5_000_000


class RankSVMSolution(NamedTuple):
    """Result of `solve_rank_svm`.

    Attributes
    ----------
    coef : array (n, L)
        β: new scores are ``K_new @ coef + bias``.
    bias : array (L,)
        b, with mean 0.
    scores : array (n, L)
        f_l(x_i) of the training rows, bias included.
    alpha : array (P,)
        The dual variable of each pair of `label_pairs`.
    objective : float
        The primal objective at (coef, bias).
    dual_gap : float
        The objective is at most this much above its optimum.
    n_iter : int
        Sweeps over the rows.
    """

    coef: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    alpha: np.ndarray
    objective: float
    dual_gap: float
    n_iter: int


@one_library_thread()
def solve_rank_svm(K, signed_weight, *, tol=1e-4, max_iter=10_000) -> RankSVMSolution:
    """Solve the ranking SVM until its duality gap is at most ``tol`` times its objective.

    Parameters
    ----------
    K : array (n, n)
        A positive semi-definite kernel matrix.
    signed_weight : array (n, L)
        u_il: positive where label l is relevant for row i, negative where it is not, 0 to leave it out.
        The cost of ranking q above p in row i is −u_ip·u_iq.
    tol : float
        Relative duality gap to reach.
    max_iter : int
        Sweeps over the rows to stop after; compare `dual_gap` with ``tol * objective`` then.

    Returns
    -------
    RankSVMSolution

    Examples
    --------
    Two rows that disagree about two labels: each label follows its own row.

    >>> import numpy as np
    >>> solution = solve_rank_svm(np.eye(2), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> solution.scores.round(3)
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    K = np.ascontiguousarray(K, dtype=np.float64)
    signed_weight = np.ascontiguousarray(signed_weight, dtype=np.float64)
    n_pairs = np.vdot(np.sum(signed_weight > 0, axis=1), np.sum(signed_weight < 0, axis=1))
    if n_pairs > _MOST_PAIRS:
        raise UserError(
            f"RankSVM compares each relevant with each irrelevant label of a row: {n_pairs:,} pairs, more "
            f"than {_MOST_PAIRS:,}. Use fewer labels or rows, or BSVMClassifier or MLSPLClassifier."
        )
    pairs = label_pairs(signed_weight)
    component, circulates = flow_components(pairs, signed_weight.shape[1])
    state = _DualAscent(K, pairs.only(circulates), signed_weight.shape[1])
    rng = np.random.default_rng(0)
    dual, n_iter = 0.0, 0
    for n_iter in range(1, max_iter + 1):
        state.sweep(rng.permutation(len(K)))
        loss, slackness = state.loss()
        slow = n_iter % 50 == 0
        if slackness <= tol * (state.half_norm() + loss) or slow or n_iter == max_iter:
            if slow and state.restore_balance():
                state.climb()
            if state.restore_balance():
                dual = max(dual, state.alpha.sum() - state.half_norm())
            primal = state.half_norm() + state.loss()[0]
            if primal - dual <= tol * primal:
                break

    scores = state.scores + state.bias[:, None]
    shift = component_shift(scores, component, pairs.only(~circulates))
    shift -= np.mean(state.bias + shift)
    scores += shift[:, None]
    error = 1.0 - scores[pairs.relevant, pairs.row] + scores[pairs.irrelevant, pairs.row]
    objective = state.half_norm() + pairs.cost @ np.maximum(error, 0.0)
    alpha = np.zeros(len(pairs.cost))
    alpha[circulates] = state.alpha
    return RankSVMSolution(
        coef=state.coef.T.copy(),
        bias=state.bias + shift,
        scores=scores.T.copy(),
        alpha=alpha,
        objective=objective,
        dual_gap=max(objective - dual, 0.0),
        n_iter=n_iter,
    )


class _DualAscent:
    """The state of the ascent: α, and what follows from it, label-major so that updates are contiguous."""

    def __init__(self, K, pairs, n_labels):
        self.K, self.pairs = K, pairs
        self.first = np.searchsorted(pairs.row, np.arange(len(K) + 1))
        self.alpha = np.zeros(len(pairs.cost))
        self.coef = np.zeros((n_labels, len(K)))
        self.scores = np.zeros((n_labels, len(K)))
        self.bias = np.zeros(n_labels)
        self.imbalance = np.zeros(n_labels)
        into = np.bincount(pairs.relevant, pairs.cost, n_labels)
        out_of = np.bincount(pairs.irrelevant, pairs.cost, n_labels)
        self.budget = np.minimum(into, out_of)
        # A tenth of the kernel's diagonal leaves the conditioning as it is. For a label of small budget the
        # bias must still cross the margin in a few steps when the imbalance is as large as the budget.
        crossing = np.where(self.budget > 0, 2.0 / np.maximum(self.budget, 1e-300), 0.0)
        self.penalty = np.maximum(0.1 * np.median(np.diagonal(K)) if len(K) else 0.0, crossing)

    def sweep(self, order):
        """Solve every row's program once, then let the biases follow the imbalance."""
        _sweep(
            order,
            self.K,
            self.first,
            self.pairs.relevant,
            self.pairs.irrelevant,
            self.pairs.cost,
            self.penalty,
            self.alpha,
            self.coef,
            self.scores,
            self.bias,
            self.imbalance,
        )
        self.bias += self.penalty * self.imbalance

    def half_norm(self):
        """½ Σ_l ‖w_l‖²."""
        return 0.5 * _inner(self.coef, self.scores)

    def loss(self):
        """Weighted hinge loss at (w, b), and how far α is from complementary slackness."""
        row, relevant, irrelevant, cost = self.pairs
        return _loss(self.scores, self.bias, row, relevant, irrelevant, cost, self.alpha)

    def restore_balance(self) -> bool:
        """Move the free α so that every label balances; whether they could."""
        alpha, rounding = self.alpha, 1e-12 * self.budget
        for _ in range(10):
            imbalance = self._net(alpha)
            if np.all(np.abs(imbalance) <= rounding):
                self._set_alpha(alpha)
                return True
            room, potential = self._free_flow(alpha)
            step = -room * self._drop(potential(imbalance))
            if np.any(np.abs(imbalance + self._net(step)) > rounding):
                return False
            alpha = np.clip(alpha + step, 0.0, self.pairs.cost)
        return False

    def climb(self):
        """From balance, conjugate gradients over the free α until one of them meets a bound.

        Sweeps alone crawl where the kernel is of low rank or C is large. Every α moves in proportion to its
        room, so that those about to meet a bound do not stop the others. The biases are the multipliers that
        keep the direction balanced.
        """
        row, relevant, irrelevant, cost = self.pairs
        room, potential = self._free_flow(self.alpha)

        def gradient(error):
            multiplier = potential(self._net(room * error))
            return multiplier, room * (error - self._drop(multiplier))

        alpha = self.alpha.copy()
        error = 1.0 - self._drop(self.bias) - self.scores[relevant, row] + self.scores[irrelevant, row]
        multiplier, direction = gradient(error)
        slope = error @ direction
        enough = 1e-6 * slope
        for _ in range(30):
            if slope <= enough:
                break
            coef = self._per_row(direction)
            push = _times_kernel(coef, self.K)
            curvature = _inner(coef, push)
            wall = np.where(direction > 0, cost - alpha, alpha)
            speed = np.abs(direction)
            limit = np.min(wall / np.where(speed > 0, speed, 1.0), where=speed > 0, initial=np.inf)
            if slope >= limit * curvature:
                at_wall = wall <= limit * speed * (1.0 + 1e-12)
                alpha = np.where(at_wall & (speed > 0), (direction > 0) * cost, alpha + limit * direction)
                break
            step = slope / curvature
            alpha += step * direction
            error -= step * (push[relevant, row] - push[irrelevant, row])
            multiplier, gradient_now = gradient(error)
            slope, before = error @ gradient_now, slope
            direction = gradient_now + slope / before * direction
        self.bias += multiplier
        self._set_alpha(np.clip(alpha, 0.0, cost))

    def _free_flow(self, alpha):
        """The room of each α to both sides, r = min(α, c − α), and a function from imbalance to potentials.

        When every α moves by r·(x_p − x_q), the labels' balances move by the Laplacian of Σ_i r_ipq times x.
        The Laplacian is singular: a constant on a connected component moves nothing. Adding the projection on
        these constants makes it regular, and changes no solution for an imbalance of sum 0 in each component.
        """
        _, relevant, irrelevant, cost = self.pairs
        n_labels = len(self.bias)
        room = np.minimum(alpha, cost - alpha)
        flow = np.bincount(relevant * n_labels + irrelevant, room, n_labels**2).reshape(n_labels, n_labels)
        flow += flow.T
        degree = flow.sum(axis=0)
        scale = 1.0 / np.sqrt(np.where(degree > 0, degree, 1.0))
        component = connected_components(flow > 0, directed=False)[1]
        constants = (component == np.arange(component.max() + 1)[:, None]) / scale
        constants /= np.linalg.norm(constants, axis=1, keepdims=True)
        laplacian = scale[:, None] * (np.diag(degree) - flow) * scale
        factors = lu_factor(laplacian + constants.T @ constants)
        return room, lambda imbalance: scale * lu_solve(factors, scale * imbalance)

    def _set_alpha(self, alpha):
        self.alpha = alpha
        self.coef = self._per_row(self.alpha)
        self.scores = _times_kernel(self.coef, self.K)
        self.imbalance = self.coef.sum(axis=1)

    def _drop(self, potential):
        """x_p − x_q of every pair."""
        return potential[self.pairs.relevant] - potential[self.pairs.irrelevant]

    def _net(self, flow):
        """What each label gains by a flow over the pairs, shape (L,)."""
        n_labels = len(self.bias)
        gain = np.bincount(self.pairs.relevant, flow, n_labels)
        return gain - np.bincount(self.pairs.irrelevant, flow, n_labels)

    def _per_row(self, flow):
        """What each label gains in each row, shape (L, n): β, for the flow α."""
        row, relevant, irrelevant, _ = self.pairs
        n, size = len(self.K), self.coef.size
        gain = np.bincount(relevant * n + row, flow, size) - np.bincount(irrelevant * n + row, flow, size)
        return gain.reshape(self.coef.shape)


@njit(cache=True, nogil=True)
def _inner(A, B):
    """⟨A, B⟩; here and below BLAS would wake its threads, at many times the cost of so little work."""
    total = 0.0
    for row in range(A.shape[0]):
        for column in range(A.shape[1]):
            total += A[row, column] * B[row, column]
    return total


@njit(cache=True, nogil=True)
def _times_kernel(coef, K):
    """Compute coef @ K, passing over the rows without a coefficient."""
    product = np.zeros(coef.shape)
    for i in range(len(K)):
        for label in range(len(coef)):
            if coef[label, i] != 0.0:
                for j in range(len(K)):
                    product[label, j] += coef[label, i] * K[i, j]
    return product


@njit(cache=True, nogil=True)
def _loss(scores, bias, row, relevant, irrelevant, cost, alpha):
    """Σ c[e]₊ and Σ c[e]₊ − αe, where e = 1 − (f_p − f_q)."""
    loss, slackness = 0.0, 0.0
    for a in range(len(row)):
        p, q = relevant[a], irrelevant[a]
        error = 1.0 - scores[p, row[a]] - bias[p] + scores[q, row[a]] + bias[q]
        hinge = cost[a] * max(error, 0.0)
        loss += hinge
        slackness += hinge - alpha[a] * error
    return loss, slackness


@njit(cache=True, nogil=True)
def _sweep(order, K, first, relevant, irrelevant, cost, penalty, alpha, coef, scores, bias, imbalance):
    """Row by row, maximise the augmented dual over the row's own α; all state arrays change in place."""
    n_labels, n = scores.shape
    f = np.empty(n_labels)
    change = np.empty(n_labels)
    for i in order:
        if first[i] == first[i + 1]:
            continue
        for label in range(n_labels):
            f[label] = scores[label, i] + bias[label]
            change[label] = 0.0
        _solve_row(K[i, i], first[i], first[i + 1], relevant, irrelevant, cost, penalty, alpha, f, change)
        for label in range(n_labels):
            step = change[label]
            if step != 0.0:
                coef[label, i] += step
                imbalance[label] += step
                bias[label] += penalty[label] * step
                for j in range(n):
                    scores[label, j] += step * K[i, j]


@njit(cache=True, nogil=True)
def _solve_row(diagonal, begin, end, relevant, irrelevant, cost, penalty, alpha, f, change):
    """Coordinate steps over one row's pairs until their errors have fallen to a tenth."""
    at_first = 0.0
    for turn in range(20):
        largest = 0.0
        for a in range(begin, end):
            p, q = relevant[a], irrelevant[a]
            curvature = 2.0 * diagonal + penalty[p] + penalty[q]
            best = min(max(alpha[a] + (1.0 - f[p] + f[q]) / curvature, 0.0), cost[a])
            step = best - alpha[a]
            if step != 0.0:
                alpha[a] = best
                change[p] += step
                change[q] -= step
                f[p] += (diagonal + penalty[p]) * step
                f[q] -= (diagonal + penalty[q]) * step
                largest = max(largest, abs(step) * curvature)
        if turn == 0:
            at_first = largest
        if largest <= 0.1 * at_first:
            return
