"""Many weighted linear models on the same rows, sparse or dense, without an n×n matrix.

For each label, min over w of ½‖w‖² + Σ_i C_i loss(t_i, ⟨w, [x_i, q_i, 1]⟩) by truncated Newton on the primal,
the weights of several labels being the columns of one matrix. Newton directions come from preconditioned
conjugate gradients that stop early, as in LIBLINEAR (Hsia, Chiang and Lin 2018); steps are halved until the
objective falls. By ½‖w‖² the objective is strongly convex: ½‖gradient‖² bounds its distance to the minimum.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve
from sklearn.utils import gen_batches

from mlspl._numba_cache import njit
from mlspl.solvers.threads import check_costs, one_library_thread, read_only, run_threads

# From so many values on, BLAS solves up to 32 models side by side faster than 8.
_MANY_VALUES = 2**24
# Share of the Hessian's diagonal in the preconditioner, for sparse and for dense features.
_DIAGONAL_SHARE, _DENSE_DIAGONAL_SHARE = 0.1, 0.5
# Conjugate gradients stop when a step gains less than this share of the mean step. For a squared loss, which
# one Newton step solves, they go on.
_WORTHWHILE, _WORTHWHILE_FOR_SQUARES = 0.5, 1e-3
_CONJUGATE_STEPS = 300
_NEWTON_STEPS = 200
_HALVINGS = 40
_DESCENT = 0.01
_BLOCK_ROWS, _RIDGE_BLOCK_ROWS = 1024, 4096
# Numbers in a block of dense rows: large enough for BLAS, small enough for the cache.
_BLOCK_NUMBERS, _SPARSE_BLOCK_ROWS = 2**20, 2048


class LinearSolution(NamedTuple):
    """One row per label; `gap` is an upper bound of the distance of the `objective` to its minimum."""

    coef: np.ndarray
    code_coef: np.ndarray
    bias: np.ndarray
    scores: np.ndarray
    objective: np.ndarray
    gap: np.ndarray


def solve_linear(
    X, targets, C=1.0, loss="logistic", *, codes=None, start=None, tol=1e-3, n_threads=1
) -> LinearSolution:
    """Fit one linear model per row of targets, with a cost for every pair of model and instance.

    The optimum is LIBLINEAR's. The bias is regularised, except for ``loss="squared"`` (ridge regression). A
    model with a single class has a constant score.

    X (n, d) is an array or CSR matrix, `codes` (n, m) are further dense features. `targets` (L, n) are +1 or
    −1, or any numbers for "squared". C is a number or an array (L, n); a pair of cost 0 is left out. The loss
    of a score z is ln(1 + exp(−t·z)), or (t − z)² if "squared". `start` is a solution for the same rows.
    `tol` is the relative distance of the objective to its minimum. `n_threads` groups are solved at a time.
    """
    targets = read_only(targets)
    if targets.ndim != 2 or targets.shape[1] != X.shape[0]:
        raise ValueError(f"X has shape {X.shape} and the targets {targets.shape}; give targets as (L, n).")
    costs = check_costs(C, targets.shape)
    L = len(targets)
    shapes = (X.shape[1],), (0 if codes is None else codes.shape[1],), (), (X.shape[0],), (), ()
    solution = LinearSolution(*(np.zeros((L, *shape)) for shape in shapes))
    smaller_class = np.full(L, X.shape[0])
    if loss != "squared":
        n_positive = np.sum((costs > 0) & (targets > 0), axis=1)
        smaller_class = np.minimum(n_positive, np.sum(costs > 0, axis=1) - n_positive)
    # Hard models first, so that no thread is left with one, and models of similar difficulty together.
    order = np.argsort(-smaller_class, kind="stable")
    groups = np.array_split(order, max(1, -(-L // _count_lanes(X, L))))
    problem = (_Design(X, codes), smaller_class, targets, costs, loss, start, tol, solution)
    # BLAS threads would compete with these, and round differently.
    with one_library_thread():
        run_threads(_solve_group, [(group, *problem) for group in groups], n_threads)
    if not np.isfinite(solution.objective).all():
        raise ValueError("X or the codes contain NaN, infinite or very large values. Clean and scale them.")
    return solution


def _count_lanes(X, n_models) -> int:
    """Models solved side by side; BLAS rounds one of 32 by its position, one of 8 always alike."""
    if sparse.issparse(X):
        return 16
    return 8 if X.shape[0] * X.shape[1] < _MANY_VALUES else min(32, max(8, -(-n_models // 16) * 8))


def _solve_group(group, design, smaller_class, targets, costs, loss, start, tol, solution) -> None:
    """Solve a group of models and write their rows of the solution."""
    target, cost = np.ascontiguousarray(targets[group].T), np.ascontiguousarray(costs[group].T)
    d = design.n_features
    free, weights = np.ones((design.shape[1], len(group))), np.zeros((design.shape[1], len(group)))
    free[:-1, smaller_class[group] == 0] = 0.0
    if start is not None:
        weights[:d], weights[-1] = start.coef[group].T, start.bias[group]
        if start.code_coef.shape == solution.code_coef.shape:
            weights[d:-1] = start.code_coef[group].T
    elif loss != "squared":
        # Start at the bias that is about the best one without features.
        positive, total = np.sum(cost * (target > 0), axis=0), np.sum(cost, axis=0)
        share = np.divide(positive, total, out=np.full(len(group), 0.5), where=total > 0).clip(1e-4, 1 - 1e-4)
        weights[-1] = np.log(share / (1.0 - share))
    weights, scores, objective, excess = _minimise(design, loss, target, cost, free, weights, tol)
    solution.coef[group], solution.code_coef[group] = weights[:d].T, weights[d:-1].T
    solution.bias[group], solution.scores[group] = weights[-1], scores.T
    solution.objective[group], solution.gap[group] = objective, excess


def _minimise(
    design, loss, targets, costs, free, weights, tol
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Minimise from the start `weights` (width, k), whose last row are the biases, for `targets` (n, k).

    `free` (width, k) is 0 for weights that stay 0. Returns weights, scores (n, k), and per label the
    objective and a bound on its distance to the minimum.
    """
    penalty = np.ones((design.shape[1], 1))
    penalty[-1] = 0.0 if loss == "squared" else 1.0
    share = _DIAGONAL_SHARE if design.is_sparse else _DENSE_DIAGONAL_SHARE
    problem = (loss, targets, costs, penalty)
    weights = weights * free
    scores = design.matmat(weights)
    objective, slope, curvature = _evaluate(problem, weights, scores)
    todo = np.ones(weights.shape[1], dtype=bool)
    scale = None
    for n_steps in range(_NEWTON_STEPS + 1):
        gradient = free * (penalty * weights + design.rmatmat(slope))
        excess = _dots(gradient, gradient) / 2
        todo = todo & (excess > tol * objective)
        if not todo.any() or n_steps == _NEWTON_STEPS:
            break
        if scale is None:
            scale = 1.0 / (1.0 - share + share * (penalty + design.rmatmat(curvature, squared=True)))
        wanted = np.where(todo, gradient, 0.0)
        direction = _find_direction(design, loss, penalty, free, curvature, wanted, scale)
        # The first step of 1, ½, ¼, … at which the objective falls enough; 0 if there is none.
        along, descent = design.matmat(direction), _dots(gradient, direction)
        step = todo.astype(np.float64)
        for number in range(_HALVINGS + 1):
            new_weights, new_scores = weights + step * direction, scores + step * along
            found = _evaluate(problem, new_weights, new_scores)
            too_long = (step > 0) & ~(found[0] <= objective + _DESCENT * step * descent)
            if not too_long.any():
                break
            step = np.where(too_long, step / 2 if number < _HALVINGS - 1 else 0.0, step)
        weights, scores, (objective, slope, curvature) = new_weights, new_scores, found
        # Where rounding leaves no descent, the minimum has been reached.
        todo = todo & (step > 0)
    return weights, scores, objective, excess


def _find_direction(design, loss, penalty, free, curvature, gradient, scale) -> np.ndarray:
    """Conjugate gradients on the Newton system until a step hardly improves its quadratic model."""
    worthwhile = _WORTHWHILE_FOR_SQUARES if loss == "squared" else _WORTHWHILE
    direction, residual = np.zeros_like(gradient), -gradient
    search = scale * residual
    energy = _dots(residual, search)
    model, live = np.zeros(len(energy)), energy > 0
    for n_steps in range(1, _CONJUGATE_STEPS + 1):
        bent = free * (penalty * search + design.curve(curvature, search))
        length = _divide(energy, _dots(search, bent)) * live
        direction += length * search
        residual -= length * bent
        before, model = model, _dots(direction, gradient - residual) / 2
        live = live & (n_steps * (model - before) < worthwhile * model)
        if not live.any():
            break
        conditioned = scale * residual
        before, energy = energy, _dots(residual, conditioned)
        search = (conditioned + _divide(energy, before) * search) * live
    return direction


def _evaluate(problem, weights, scores) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The objective per label, and slope and curvature of every pair's loss."""
    loss, targets, costs, penalty = problem
    total = _dots(penalty * weights, weights) / 2
    slope, curvature = np.empty_like(scores), np.empty_like(scores)
    for rows in gen_batches(len(scores), _BLOCK_ROWS):
        t, c, z = targets[rows], costs[rows], scores[rows]
        if loss == "logistic":
            margin, e = t * z, np.exp(-np.abs(z))
            right = 1.0 / (1.0 + e)
            wrong = right * e
            slope[rows] = -c * t * np.where(margin > 0, wrong, right)
            curvature[rows] = c * right * wrong
            losses = np.maximum(-margin, 0.0) + np.log1p(e)
        else:
            slope[rows], curvature[rows] = -2.0 * c * (t - z), 2.0 * c
            losses = np.square(t - z)
        total += _dots(c, losses)
    return total, slope, curvature


def _dots(A, B) -> np.ndarray:
    """Σ_i A_ib B_ib for every column b."""
    return np.einsum("ib,ib->b", A, B)


def _divide(a, b) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)


class _Design:
    """The rows [x_i, q_i, 1] of features, codes and a constant, in blocks; the features are not copied."""

    def __init__(self, X, codes=None):
        n, self.n_features = X.shape
        self.is_sparse = sparse.issparse(X)
        X = X.tocsr() if self.is_sparse else np.ascontiguousarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        others = np.ones((n, 1)) if codes is None else np.column_stack([codes, np.ones(n)])
        self.shape = n, self.n_features + others.shape[1]
        height = _SPARSE_BLOCK_ROWS if self.is_sparse else max(1, _BLOCK_NUMBERS // max(1, self.n_features))
        blocks = list(gen_batches(n, height))
        if self.is_sparse:
            data, indices = read_only(X.data, X.dtype), read_only(X.indices, np.uint32)
            indptr = read_only(X.indptr, np.int64)
            parts = [(data, indices, indptr[rows.start : rows.stop + 1]) for rows in blocks]
        else:
            parts = [X[rows] for rows in blocks]
        self._blocks = [(rows, part, others[rows]) for rows, part in zip(blocks, parts, strict=True)]

    def matmat(self, W) -> np.ndarray:
        """[X, Q, 1] W for weights W (width, k)."""
        out = np.empty((self.shape[0], W.shape[1]))
        for rows, X, others in self._blocks:
            out[rows] = self._multiply(X, others, W)
        return out

    def rmatmat(self, G, squared=False) -> np.ndarray:
        """[X, Q, 1]ᵀ G for G (n, k), or the same with squared features."""
        out = np.zeros((self.shape[1], G.shape[1]))
        for rows, X, others in self._blocks:
            self._add_transposed(X, others, G[rows], out, squared)
        return out

    def curve(self, D, V) -> np.ndarray:
        """[X, Q, 1]ᵀ (D ∘ [X, Q, 1] V)."""
        out = np.zeros(V.shape)
        for rows, X, others in self._blocks:
            self._add_transposed(X, others, self._multiply(X, others, V) * D[rows], out)
        return out

    def _multiply(self, X, others, W) -> np.ndarray:
        product = others @ W[self.n_features :]
        if self.is_sparse:
            _multiply(*X, W, product)
        else:
            product += X @ W[: self.n_features].astype(X.dtype, copy=False)
        return product

    def _add_transposed(self, X, others, G, out, squared=False) -> None:
        out[self.n_features :] += (others**2 if squared else others).T @ G
        if self.is_sparse:
            _multiply_transposed(*X, G, squared, out)
        else:
            # Transposed twice, so that BLAS reads the rows of X in order.
            out[: self.n_features] += (np.ascontiguousarray(G.T, X.dtype) @ (X**2 if squared else X)).T


# Unlike SciPy's products, these release the GIL.
_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})


@_compiled
def _multiply(data, indices, indptr, W, out):  # pragma: no cover - compiled
    for i in range(out.shape[0]):
        row = out[i]
        for t in range(indptr[i], indptr[i + 1]):
            value, weights = data[t], W[indices[t]]
            for b in range(len(row)):
                row[b] += value * weights[b]


@_compiled
def _multiply_transposed(data, indices, indptr, G, squared, out):  # pragma: no cover - compiled
    for i in range(G.shape[0]):
        row = G[i]
        for t in range(indptr[i], indptr[i + 1]):
            value, sums = data[t], out[indices[t]]
            if squared:
                value *= value
            for b in range(len(row)):
                sums[b] += value * row[b]


def solve_ridge(X, targets, alpha, folds=None) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Minimise ‖t − X w − b‖² + α‖w‖² for every column t of `targets`, on all rows and without each fold.

    Returns coefficients (m, d), intercepts (m,) and, given folds, out-of-fold predictions (n, m).
    """
    parts = [np.arange(len(X))] if folds is None else [test for _, test in folds]
    sums = [_sum_products(X, targets, rows) for rows in parts]
    whole = np.sum(sums, axis=0)
    if folds is None:
        return *_solve_normal(whole, alpha), None
    predicted = np.empty(targets.shape)
    for rows, own in zip(parts, sums, strict=True):
        coef, intercept = _solve_normal(whole - own, alpha)
        predicted[rows] = X[rows] @ coef.T + intercept
    return *_solve_normal(whole, alpha), predicted


def _sum_products(X, targets, rows) -> np.ndarray:
    """[X, 1]ᵀ [X, 1, T] of some rows, in double precision."""
    d = X.shape[1]
    total = np.zeros((d + 1, d + 1 + targets.shape[1]))
    for part in gen_batches(len(rows), _RIDGE_BLOCK_ROWS):
        block = rows[part]
        features, others = X[block].astype(np.float64), np.ones((len(block), 1 + targets.shape[1]))
        others[:, 1:] = targets[block]
        total[:d, :d] += features.T @ features
        total[:d, d:] += features.T @ others
        total[d, d:] += others.sum(axis=0)
    return total


def _solve_normal(sums, alpha) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and intercepts: centred features and targets have no intercept."""
    d = len(sums) - 1
    count, feature_sums, target_sums = sums[d, d], sums[:d, d], sums[d, d + 1 :]
    inner = sums[:d, :d] - np.outer(feature_sums, feature_sums) / count
    inner[np.diag_indices(d)] += alpha
    coef = solve(inner, sums[:d, d + 1 :] - np.outer(feature_sums, target_sums) / count, assume_a="pos").T
    return coef, (target_sums - coef @ feature_sums) / count
