"""A kernel by landmarks: rows become their kernel values with a few of them; machines are linear in those."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state, gen_batches

from mlspl._limits import Cost, machine_memory
from mlspl.errors import UserError
from mlspl.spaces._kernels import kernel_matrix, resolve_gamma
from mlspl.spaces.base import HeldOut, Space
from mlspl.spaces.gram import KernelExpansion
from mlspl.spaces.linear import Linear, LinearModel, LinearRows

__all__ = ["LandmarkExpansion", "Nystroem", "count_columns"]

# Directions of the landmarks' kernel below this share of the largest are rounding in the float32 map.
_FLAT = 1e-7
_BLOCK_ROWS = 4096
_MOST_COLUMNS = 1600
# Squared length of the features beside the map, in units of the kernel's mean diagonal.
_SHARE = 0.1
_SAMPLE_PER_LANDMARK = 20
_DIAGONAL_ROWS = 500
# Landmarks are a sample: what machines on their map gain by another digit is lost in it.
_LOOSER = 20.0


@dataclass(frozen=True)
class Nystroem(Space):
    """The features of a kernel as far as m landmarks span them: memory n·m, time as m linear features.

    Rows are mapped to Z = k(X, S) k(S, S)^(−½) in float32, once for all labels, paces and costs. With every
    row a landmark, inner products in Z are the kernel itself. With fewer, landmarks know little of a row that
    is far from them all: up to 800 features x stand beside the map, less what the map says of them,
    x − X_Sᵀ k(S, S)⁻¹ k(S, x), which is 0 at landmarks.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"} or callable, default="rbf"
        The kernel of the features, which should be scaled.
    gamma : {"scale", "auto"} or float, default="scale"
        "auto" is 1/d, "scale" is 1/(d·variance).
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    n_landmarks : "auto" or int, default="auto"
        At most the number of rows. "auto" makes 1,600 columns of landmarks and features, or fewer where they
        would take a quarter of the memory.
    landmarks : {"uniform", "kmeans"}, default="uniform"
        Rows drawn at random, or the row next to each centre of k-means on a sample of them.
    loss, n_threads, n_lanes
        See :class:`Linear`.
    tol : float, default=1e-3
        A twentieth of how close the objective is to its minimum, relatively.
    random_state : int, RandomState or None, default=None
        Seeds the choice of landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.spaces import Nystroem
    >>> X = np.random.RandomState(0).normal(size=(50, 2))
    >>> rows = Nystroem(gamma=0.5, n_landmarks=20, random_state=0).place(X)
    >>> signs = np.where(X[:, :1].T * X[:, 1] > 0, 1.0, -1.0)
    >>> machines = rows.solve(signs, np.full((1, 50), 100.0))
    >>> float(np.mean(np.sign(machines.scores.T) == signs)) > 0.9
    True
    """

    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0
    n_landmarks: Any = "auto"
    landmarks: str = "uniform"
    loss: str = "logistic"
    tol: float = 1e-3
    n_threads: int = 1
    n_lanes: int = 8
    random_state: Any = None

    def place(self, X) -> "NystroemRows":
        """The rows X by their kernel values with landmarks among them."""
        if self.kernel == "precomputed":
            raise UserError("A precomputed kernel has no rows to take landmarks from; use space='gram'.")
        numbers = self._choose_landmarks(X)
        _, beside = count_columns(self.n_landmarks, *X.shape)
        return NystroemRows(self, X, _Chart(numbers, X[numbers], self._kernel(X), beside > 0))

    def unit_cost(self, X) -> float:
        """1 for the RBF kernel; for others one over the mean of k(x, x), of some of the rows."""
        if self.kernel == "rbf":
            return 1.0
        some = X[np.unique(np.linspace(0, X.shape[0] - 1, _DIAGONAL_ROWS).astype(int))]
        mean = float(np.mean(np.diag(kernel_matrix(some, some, **self._kernel(X)))))
        return 1.0 / mean if mean > 0 else 1.0

    def cost(self, size, copies=0.0) -> Cost:
        """The map, the square root of the landmarks' kernel, and what linear machines on the map take."""
        m, beside = count_columns(self.n_landmarks, size.rows, size.features)
        columns = m + beside
        machines = self._linear().cost(size._replace(features=columns, values=size.rows * columns))
        return Cost(4 * size.rows * columns + 32 * m**2 + machines.bytes, machines.seconds)

    def _kernel(self, X) -> dict[str, Any]:
        gamma = resolve_gamma(self.gamma, X) if self.kernel in ("rbf", "poly") else None
        return {"kernel": self.kernel, "gamma": gamma, "degree": self.degree, "coef0": self.coef0}

    def _linear(self) -> Linear:
        return Linear(self.loss, _LOOSER * self.tol, self.n_threads, self.n_lanes)

    def _choose_landmarks(self, X) -> np.ndarray:
        n = X.shape[0]
        m, _ = count_columns(self.n_landmarks, *X.shape)
        rng = check_random_state(self.random_state)
        if self.landmarks == "uniform" or m == n:
            return np.sort(rng.permutation(n)[:m])
        if self.landmarks != "kmeans":
            raise UserError(f"landmarks is {self.landmarks!r}; give 'uniform' or 'kmeans'.")
        sample = np.sort(rng.permutation(n)[: _SAMPLE_PER_LANDMARK * m])
        kmeans = MiniBatchKMeans(m, n_init=1, batch_size=max(1024, m), random_state=rng).fit(X[sample])
        distances = kmeans.transform(X[sample])
        return np.unique(sample[distances.argmin(axis=0)])


class NystroemRows(LinearRows):
    """The mapped rows; landmarks of a part are chosen among its own rows."""

    def __init__(self, space, X, chart):
        super().__init__(space._linear(), chart.map(X))
        self._nystroem = space
        self._rows = X
        self._chart = chart

    def split(self, train, test):
        """A map of the rows of `train`, by landmarks among them."""
        inner = self._nystroem.place(self._rows[train])
        return inner, _HeldOutMap(inner._chart.map(self._rows[test]))

    def keep(self, coef, intercept) -> KernelExpansion:
        """The expansion over the landmarks, and what is linear beside it."""
        return self._chart.expand(coef, intercept)


class _HeldOutMap(HeldOut):
    """Rows left out, mapped by the landmarks of the others."""

    def __init__(self, Z):
        self._Z = Z

    def scores(self, coef, intercept) -> np.ndarray:
        return self._Z @ coef.T + intercept


class LandmarkExpansion(KernelExpansion):
    """f_l(x) = Σ_i coef_li k(x, x_i) + ⟨linear_l, x⟩ + b_l over landmarks x_i.

    Parameters
    ----------
    linear : array (L, d)
        Weights of the features.
    support, X, coef, intercept, kernel, gamma, degree, coef0
        See :class:`KernelExpansion`.
    """

    _contents = {"linear": "float (labels, columns)"}

    def __init__(self, linear, support, X, coef, intercept, kernel, gamma, degree, coef0):
        super().__init__(support, X, coef, intercept, kernel, gamma, degree, coef0)
        self.linear = linear

    def scores(self, X) -> np.ndarray:
        """Scores (n, L), a block of rows at a time."""
        return super().scores(X) + LinearModel(self.linear, np.zeros(len(self.linear))).scores(X)


class _Chart:
    """Landmarks and how rows are mapped by them, with features beside the map if asked for."""

    def __init__(self, numbers, X, kernel, beside):
        self.numbers = numbers
        self.X = X
        self.kernel = kernel
        K = kernel_matrix(X, X, **kernel)
        values, vectors = np.linalg.eigh(K)
        kept = values > _FLAT * max(values[-1], 0.0)
        self.root = vectors[:, kept] / np.sqrt(values[kept])
        """k(S, S)^(−½), turned so that its directions, of which the flat are left out, are the coordinates:
        along them rows vary apart, and a solver that scales each by itself has little left to do."""
        self.centre = np.asarray(X.mean(axis=0)).ravel()
        features = _dense(X) - self.centre if beside else np.zeros((len(numbers), 0))
        length = float(np.sum(features**2))
        self.scale = float(np.sqrt(_SHARE * np.trace(K) / length)) if length > 0 else 0.0
        self.told = self.scale * (self.root.T @ features)
        """What the map says of the features so scaled, which it interpolates between landmarks."""

    def map(self, X) -> np.ndarray:
        """Z = k(X, S) k(S, S)^(−½) and the rest of the features in float32, a block of rows at a time."""
        m, beside = self.told.shape
        Z = np.empty((X.shape[0], m + beside), dtype=np.float32)
        for block in gen_batches(X.shape[0], _BLOCK_ROWS):
            mapped = kernel_matrix(X[block], self.X, **self.kernel) @ self.root
            Z[block, :m] = mapped
            if beside:
                Z[block, m:] = self.scale * (_dense(X[block]) - self.centre) - mapped @ self.told
        return Z

    def expand(self, coef, intercept) -> KernelExpansion:
        """Machines with these coordinates as functions of a row."""
        mapped, beside = np.hsplit(coef, [len(self.told)])
        expansion = (mapped - beside @ self.told.T) @ self.root.T
        if not beside.size:
            return KernelExpansion(self.numbers, self.X, expansion, intercept, **self.kernel)
        linear = self.scale * beside
        bias = intercept - linear @ self.centre
        return LandmarkExpansion(linear, self.numbers, self.X, expansion, bias, **self.kernel)


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def count_columns(n_landmarks, n_rows, n_features) -> tuple[int, int]:
    """How many landmarks "auto" or a number means for so many rows, and how many features are beside them."""
    columns = _MOST_COLUMNS
    if n_landmarks == "auto":
        if np.isfinite(machine_memory()):
            columns = min(columns, int(machine_memory() / 4 / (4 * max(n_rows, 1))))
    elif isinstance(n_landmarks, str) or n_landmarks < 1:
        raise UserError(f"n_landmarks is {n_landmarks!r}; give 'auto' or a number of at least 1.")
    beside = n_features if n_features <= columns // 2 else 0
    m = min(n_rows, max(1, columns - beside) if n_landmarks == "auto" else int(n_landmarks))
    return m, beside if m < n_rows else 0
