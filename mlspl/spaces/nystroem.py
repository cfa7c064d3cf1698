"""A kernel by landmarks: linear functions of a row's kernel values with a few training rows."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, gen_batches

from mlspl._limits import available_memory, check_memory
from mlspl.errors import UserError
from mlspl.spaces._kernels import kernel_matrix
from mlspl.spaces.base import KernelSpace, Regression
from mlspl.spaces.gram import KernelExpansion
from mlspl.spaces.linear import Linear, LinearRows

__all__ = ["Nystroem", "NystroemRows", "count_columns", "count_ridge_landmarks"]

# Eigenvalues of the landmarks' kernel below this share of the largest are rounding errors in float32.
_FLAT = 1e-7
_BLOCK_ROWS = 4096
_MOST_COLUMNS = 1400
# Squared length of the joined features, in units of the kernel's mean diagonal.
_SHARE = 0.1
_DIAGONAL_ROWS = 500
# Landmarks are a sample, so a tighter tolerance gains nothing.
_LOOSER = 20.0
_SAMPLE_LANDMARKS = 500


@dataclass(frozen=True)
class Nystroem(KernelSpace):
    """A kernel approximated by m landmarks: memory n·m, time as for m linear features.

    Rows are mapped to Z = k(X, S) k(S, S)^(−½) in float32, once for all labels, paces and costs. With every
    row a landmark, inner products in Z are the kernel. With fewer, up to 700 features x are joined,
    less what the map predicts of them: x − X_Sᵀ k(S, S)⁻¹ k(S, x), which is 0 at landmarks.

    Ridge regressions use up to twice as many landmarks, within 1,400 columns, the number of rows and the
    memory: their closed form serves all targets at once.

    Parameters
    ----------
    kernel, gamma, degree, coef0
        See :class:`Gram`; the kernel cannot be precomputed.
    n_landmarks : "auto" or int, default="auto"
        Training rows drawn as landmarks. "auto" makes 1,400 columns of landmarks and features, or fewer where
        these would take a quarter of the memory.
    loss, n_threads
        See :class:`Linear`.
    tol : float, default=1e-3
        A twentieth of the relative distance of the objective to its minimum.
    random_state : int, RandomState or None, default=None
        Seeds the choice of landmarks.
    """

    n_landmarks: Any = "auto"
    loss: str = "logistic"
    tol: float = 1e-3
    n_threads: int = 1
    random_state: Any = None

    many_rows = True

    @property
    def smooth(self) -> bool:
        """Whether the loss is not the hinge."""
        return self.loss != "hinge"

    def prepare(self, X) -> "NystroemRows":
        """The rows X by their kernel values with landmarks drawn from them."""
        if self.kernel == "precomputed":
            raise UserError("A precomputed kernel has no rows to take landmarks from; use space='gram'.")
        m, beside = count_columns(self.n_landmarks, *X.shape)
        order = check_random_state(self.random_state).permutation(X.shape[0])
        wider = count_ridge_landmarks(m, X.shape[0], beside)
        check_memory(
            4.0 * X.shape[0] * (m + beside) + 32.0 * m**2,
            f"The kernel values of {X.shape[0]:,} rows with {m:,} landmarks",
            "Use fewer landmarks (n_landmarks), space='linear', or fewer rows.",
        )
        return NystroemRows(self, X, np.sort(order[:m]), np.sort(order[:wider]), beside > 0)

    def for_sample(self) -> "Nystroem":
        """With at most 500 landmarks, fewer if memory is short."""
        most = int(min(_SAMPLE_LANDMARKS, max(1, _memory_columns(1))))
        return replace(self, n_landmarks=most if self.n_landmarks == "auto" else min(self.n_landmarks, most))

    def unit_cost(self, X) -> float:
        """1 for the RBF kernel; for others 1 over the mean of k(x, x) on a sample."""
        if self.kernel == "rbf":
            return 1.0
        some = X[np.unique(np.linspace(0, X.shape[0] - 1, _DIAGONAL_ROWS).astype(int))]
        mean = float(np.mean(np.diag(kernel_matrix(some, some, **self.kernel_options(X)))))
        return 1.0 / mean if mean > 0 else 1.0


class NystroemRows(LinearRows):
    """The mapped rows; parts draw landmarks from their own rows.

    Coordinates are those of the map and, after them, those of the wider map of ridge regressions, if any.
    """

    def __init__(self, space, X, landmarks, ridge_landmarks, beside):
        self._nystroem = space
        self._rows = X
        self._ridge_landmarks = ridge_landmarks
        self._kernel = space.kernel_options(X)
        self._beside = beside
        self._map = self._make_map(landmarks)
        self._wider: list[_Map] = []
        super().__init__(Linear(space.loss, _LOOSER * space.tol, space.n_threads), self._map.map(X))

    def split(self, train, test):
        """A map of the rows of `train`, with landmarks among them."""
        inner, X = self._nystroem.prepare(self._rows[train]), self._rows[test]
        Z, map_wider = inner._map.map(X), cache(lambda: inner._wider_map.map(X))

        def scores(coef, intercept) -> np.ndarray:
            own, rest = np.hsplit(coef, [Z.shape[1]])
            found = Z @ own.T + intercept
            return found + map_wider() @ rest.T if rest.shape[1] else found

        return inner, scores

    def ridge(self, targets, alpha, folds=None) -> Regression:
        """Ridge regressions on the wider map, which is computed anew each time."""
        if len(self._ridge_landmarks) == len(self._map.indices):
            return super().ridge(targets, alpha, folds)
        wider = LinearRows(self.space, self._wider_map.map(self._rows)).ridge(targets, alpha, folds)
        return wider._replace(coef=np.pad(wider.coef, ((0, 0), (self._X.shape[1], 0))))

    def add(self, coef, others) -> np.ndarray:
        """The sum; missing coordinates are 0."""
        short, long = sorted((coef, others), key=lambda each: each.shape[1])
        total = long.copy()
        total[:, : short.shape[1]] += short
        return total

    def make_model(self, coef, intercept) -> KernelExpansion:
        """The expansion over the landmarks, and the linear part."""
        mapping, (own, rest) = self._map, np.hsplit(coef, [self._X.shape[1]])
        expansion, linear, bias = mapping.expand(own)
        if rest.shape[1]:
            mapping, narrow = self._wider_map, expansion
            expansion, more_linear, more_bias = mapping.expand(rest)
            expansion[:, np.searchsorted(mapping.indices, self._map.indices)] += narrow
            linear, bias = linear + more_linear, bias + more_bias
        options = {**self._kernel, "linear": linear if self._beside else None}
        return KernelExpansion(mapping.indices, mapping.X, expansion, bias + intercept, **options)

    @property
    def _wider_map(self) -> "_Map":
        """Computed on first use, and shared by copies with another tolerance."""
        if not self._wider:
            self._wider.append(self._make_map(self._ridge_landmarks))
        return self._wider[0]

    def _make_map(self, indices) -> "_Map":
        return _Map(indices, self._rows[indices], self._kernel, self._beside)


class _Map:
    """Landmarks, and the map of rows by them, with the features joined if asked for."""

    def __init__(self, indices, X, kernel, beside):
        self.indices = indices
        self.X = X
        self.kernel = kernel
        K = kernel_matrix(X, X, **kernel)
        values, vectors = np.linalg.eigh(K)
        kept = values > _FLAT * max(values[-1], 0.0)
        self.root = vectors[:, kept] / np.sqrt(values[kept])
        """k(S, S)^(−½) in the eigenvectors' coordinates, which suit a solver that scales each by itself."""
        self.centre = np.asarray(X.mean(axis=0)).ravel() if beside else np.zeros(0)
        features = _dense(X) - self.centre if beside else np.zeros((len(indices), 0))
        length = float(np.sum(features**2))
        self.scale = float(np.sqrt(_SHARE * np.trace(K) / length)) if length > 0 else 0.0
        self.predicted = self.scale * (self.root.T @ features)
        """What the map predicts of the scaled features, interpolating between landmarks."""

    def map(self, X) -> np.ndarray:
        """Z = k(X, S) k(S, S)^(−½) and the rest of the features in float32, a block of rows at a time."""
        m, beside = self.predicted.shape
        Z = np.empty((X.shape[0], m + beside), dtype=np.float32)
        for block in gen_batches(X.shape[0], _BLOCK_ROWS):
            mapped = kernel_matrix(X[block], self.X, **self.kernel) @ self.root
            Z[block, :m] = mapped
            if beside:
                Z[block, m:] = self.scale * (_dense(X[block]) - self.centre) - mapped @ self.predicted
        return Z

    def expand(self, coef) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights of kernel values and of features, and constants, of functions with these coordinates."""
        mapped, beside = np.hsplit(coef, [len(self.predicted)])
        linear = self.scale * beside
        return (mapped - beside @ self.predicted.T) @ self.root.T, linear, -(linear @ self.centre)


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def count_columns(n_landmarks, n_rows, n_features) -> tuple[int, int]:
    """Number of landmarks for the parameter ``n_landmarks``, and number of features joined to them."""
    columns = _MOST_COLUMNS
    if n_landmarks == "auto":
        columns = int(min(columns, _memory_columns(n_rows)))
    elif isinstance(n_landmarks, str) or n_landmarks < 1:
        raise UserError(f"n_landmarks is {n_landmarks!r}; give 'auto' or a number of at least 1.")
    beside = n_features if n_features <= columns // 2 else 0
    m = min(n_rows, max(1, columns - beside) if n_landmarks == "auto" else int(n_landmarks))
    return m, beside if m < n_rows else 0


def count_ridge_landmarks(m, n_rows, beside) -> int:
    """Twice as many, within 1,400 columns and the memory: the time grows with the square of the columns."""
    return max(m, int(min(2 * m, min(n_rows, _MOST_COLUMNS, _memory_columns(n_rows)) - beside)))


def _memory_columns(n_rows) -> float:
    """Number of columns whose map takes a quarter of the memory, and the landmarks' matrices another."""
    memory = available_memory()
    return min(memory / (16 * max(n_rows, 1)), (memory / 128) ** 0.5)
