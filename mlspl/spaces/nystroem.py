"""A kernel by landmarks: linear functions of a row's kernel values with a few training rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state, gen_batches

from mlspl._limits import available_memory, check_memory
from mlspl.errors import UserError
from mlspl.spaces._kernels import kernel_matrix
from mlspl.spaces.base import KernelSpace
from mlspl.spaces.gram import KernelExpansion
from mlspl.spaces.linear import Linear, LinearRows

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
    row a landmark, inner products in Z are the kernel. With fewer, up to 700 features x are added as columns,
    minus what the map predicts of them: x − X_Sᵀ k(S, S)⁻¹ k(S, x), which is 0 at landmarks.

    Parameters
    ----------
    kernel, gamma
        See :class:`Gram`; the kernel cannot be precomputed.
    n_landmarks : "auto" or int, default="auto"
        Training rows drawn as landmarks. "auto" makes 1,400 columns of landmarks and features, or fewer where
        these would take a quarter of the memory.
    n_threads : int, default=1
        Groups of labels solved at a time.
    tol : float, default=1e-3
        A twentieth of the relative distance of the objective to its minimum.
    random_state : int, RandomState or None, default=None
        Seeds the choice of landmarks.
    """

    n_landmarks: Any = "auto"
    tol: float = 1e-3
    n_threads: int = 1
    random_state: Any = None

    many_rows = True

    def prepare(self, X) -> "NystroemRows":
        """The rows X by their kernel values with landmarks drawn from them."""
        if self.kernel == "precomputed":
            raise UserError("A precomputed kernel has no rows to take landmarks from; use space='gram'.")
        m, beside = count_columns(self.n_landmarks, *X.shape)
        order = check_random_state(self.random_state).permutation(X.shape[0])
        check_memory(
            4.0 * X.shape[0] * (m + beside) + 32.0 * m**2,
            f"The kernel values of {X.shape[0]:,} rows with {m:,} landmarks",
            "Use fewer landmarks (n_landmarks), space='linear', or fewer rows.",
        )
        return NystroemRows(self, X, np.sort(order[:m]), beside > 0)

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
    """The mapped rows, with features joined if `beside`; parts draw landmarks from their own rows."""

    def __init__(self, space, X, landmarks, beside):
        self._nystroem, self._rows = space, X
        self._landmarks, self._beside = landmarks, beside
        self._kernel = space.kernel_options(X)
        S = self._landmark_rows = X[landmarks]
        K = kernel_matrix(S, S, **self._kernel)
        values, vectors = np.linalg.eigh(K)
        kept = values > _FLAT * max(values[-1], 0.0)
        # k(S, S)^(−½) in the eigenvectors' coordinates, which suit a solver that scales each by itself.
        self._root = vectors[:, kept] / np.sqrt(values[kept])
        self._centre = np.asarray(S.mean(axis=0)).ravel() if beside else np.zeros(0)
        features = _dense(S) - self._centre if beside else np.zeros((len(landmarks), 0))
        length = float(np.sum(features**2))
        self._scale = float(np.sqrt(_SHARE * np.trace(K) / length)) if length > 0 else 0.0
        # What the map predicts of the scaled features, interpolating between landmarks.
        self._predicted = self._scale * (self._root.T @ features)
        super().__init__(Linear(_LOOSER * space.tol, space.n_threads), self._map(X))

    def split(self, train, test):
        """A map of the rows of `train`, with landmarks among them."""
        inner = self._nystroem.prepare(self._rows[train])
        Z = inner._map(self._rows[test])
        return inner, lambda coef, intercept: Z @ coef.T + intercept

    def make_model(self, coef, intercept) -> KernelExpansion:
        """The expansion over the landmarks, and the linear part."""
        mapped, beside = np.hsplit(coef, [len(self._predicted)])
        expansion = (mapped - beside @ self._predicted.T) @ self._root.T
        linear = self._scale * beside
        intercept = intercept - linear @ self._centre
        options = {**self._kernel, "linear": linear if self._beside else None}
        return KernelExpansion(self._landmarks, self._landmark_rows, expansion, intercept, **options)

    def _map(self, X) -> np.ndarray:
        """Z = k(X, S) k(S, S)^(−½) and the rest of the features in float32, a block of rows at a time."""
        m, beside = self._predicted.shape
        Z = np.empty((X.shape[0], m + beside), dtype=np.float32)
        for block in gen_batches(X.shape[0], _BLOCK_ROWS):
            mapped = kernel_matrix(X[block], self._landmark_rows, **self._kernel) @ self._root
            Z[block, :m] = mapped
            if beside:
                Z[block, m:] = self._scale * (_dense(X[block]) - self._centre) - mapped @ self._predicted
        return Z


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


def _memory_columns(n_rows) -> float:
    """Number of columns whose map takes a quarter of the memory, and the landmarks' matrices another."""
    memory = available_memory()
    return min(memory / (16 * max(n_rows, 1)), (memory / 128) ** 0.5)
