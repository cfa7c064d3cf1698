"""Truncated Newton on the primal of linear models with a smooth loss, several labels at a time.

For each label, min over w of ½‖w‖² + Σ_i C_i loss(t_i, ⟨w, x_i⟩). Newton directions come from preconditioned
conjugate gradients that stop early, as in LIBLINEAR (Hsia, Chiang and Lin 2018); steps are halved until the
objective falls. By ½‖w‖² the objective is strongly convex: ½‖gradient‖² bounds its distance to the minimum.
The weights of several labels are the columns of one matrix.
"""

import numpy as np
from scipy import sparse

from mlspl._numba_cache import njit
from mlspl.solvers.threads import read_only

__all__ = ["Design", "minimise"]

# Share of the Hessian's diagonal in the preconditioner, for sparse and for dense features.
_DIAGONAL_SHARE, _DENSE_DIAGONAL_SHARE = 0.1, 0.5
# Conjugate gradients stop when a step gains less than this share of the mean step. For a squared loss, which
# one Newton step solves, they go on.
_WORTHWHILE, _WORTHWHILE_FOR_SQUARES = 0.5, 1e-3
_CONJUGATE_STEPS = 300
_NEWTON_STEPS = 200
_HALVINGS = 40
_DESCENT = 0.01
_BLOCK_ROWS = 1024
# Numbers in a block of dense rows: large enough for BLAS, small enough for the cache.
_BLOCK_NUMBERS, _SPARSE_BLOCK_ROWS = 2**20, 2048


class Design:
    """The rows [x_i, q_i, 1] of features, codes and a constant, in blocks; the features are not copied."""

    def __init__(self, X, codes=None):
        n, self.n_features = X.shape
        self.is_sparse = sparse.issparse(X)
        X = X.tocsr() if self.is_sparse else np.ascontiguousarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        others = np.ones((n, 1)) if codes is None else np.column_stack([codes, np.ones(n)])
        self.shape = n, self.n_features + others.shape[1]
        height = _SPARSE_BLOCK_ROWS if self.is_sparse else max(1, _BLOCK_NUMBERS // max(1, self.n_features))
        blocks = [slice(start, min(start + height, n)) for start in range(0, n, height)]
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


def minimise(
    design: Design, loss, targets, costs, free, weights, tol
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Minimise from the start `weights` (width, k) until every label is within `tol` of its minimum.

    `tol` is relative. `targets` and `costs` are (n, k); `free` (width, k) is 0 for weights that stay 0. The
    last weight is the bias, which is not regularised for the squared loss. Returns weights, scores (n, k),
    and per label the objective and a bound on its distance to the minimum.
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
    for start in range(0, len(scores), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        t, c, z = targets[rows], costs[rows], scores[rows]
        if loss == "logistic":
            margin, e = t * z, np.exp(-np.abs(z))
            right = 1.0 / (1.0 + e)
            wrong = right * e
            slope[rows] = -c * t * np.where(margin > 0, wrong, right)
            curvature[rows] = c * right * wrong
            losses = np.maximum(-margin, 0.0) + np.log1p(e)
        else:
            hinge = loss == "squared_hinge"
            rest = np.maximum(1.0 - t * z, 0.0) if hinge else t - z
            slope[rows] = -2.0 * c * (t if hinge else 1.0) * rest
            curvature[rows] = 2.0 * c * (rest > 0.0) if hinge else 2.0 * c
            losses = rest * rest
        total += _dots(c, losses)
    return total, slope, curvature


def _dots(A, B) -> np.ndarray:
    """Σ_i A_ib B_ib for every column b."""
    return np.einsum("ib,ib->b", A, B)


def _divide(a, b) -> np.ndarray:
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
