"""A kernel by landmarks: rows become their kernel values with a few of them; machines are linear in those."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state, gen_batches

from mlspl._limits import Cost, machine_memory
from mlspl.errors import UserError
from mlspl.spaces._kernels import kernel_matrix, resolve_gamma
from mlspl.spaces.base import HeldOut, Space
from mlspl.spaces.gram import KernelExpansion
from mlspl.spaces.linear import Linear, LinearRows

__all__ = ["Nystroem", "count_landmarks"]

# Directions of the landmarks' kernel below this share of the largest are rounding in the float32 map.
_FLAT = 1e-7
_BLOCK_ROWS = 4096
_MOST_LANDMARKS = 2000
_SAMPLE_PER_LANDMARK = 20
_DIAGONAL_ROWS = 500
# Landmarks are a sample: what machines on their map gain by another digit is lost in it.
_LOOSER = 10.0


@dataclass(frozen=True)
class Nystroem(Space):
    """The features of a kernel as far as m landmarks span them: memory n·m, time as m linear features.

    Rows are mapped to Z = k(X, S) k(S, S)^(−½) in float32, once for all labels, paces and costs. With every
    row a landmark, inner products in Z are the kernel itself.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"} or callable, default="rbf"
        The kernel of the features, which should be scaled.
    gamma : {"scale", "auto"} or float, default="scale"
        "auto" is 1/d, "scale" is 1/(d·variance).
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    n_landmarks : "auto" or int, default="auto"
        At most the number of rows. "auto" is 2,000, or fewer where the map would take a quarter of the
        memory.
    landmarks : {"uniform", "kmeans"}, default="uniform"
        Rows drawn at random, or the row next to each centre of k-means on a sample of them.
    loss, n_threads, n_lanes
        See :class:`Linear`.
    tol : float, default=1e-3
        A tenth of how close the objective is to its minimum, relatively.
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
        return NystroemRows(self, X, _Chart(numbers, X[numbers], self._kernel(X)))

    def unit_cost(self, X) -> float:
        """1 for the RBF kernel; for others one over the mean of k(x, x), of some of the rows."""
        if self.kernel == "rbf":
            return 1.0
        some = X[np.unique(np.linspace(0, X.shape[0] - 1, _DIAGONAL_ROWS).astype(int))]
        mean = float(np.mean(np.diag(kernel_matrix(some, some, **self._kernel(X)))))
        return 1.0 / mean if mean > 0 else 1.0

    def cost(self, size, copies=0.0) -> Cost:
        """The map, the square root of the landmarks' kernel, and what linear machines on the map take."""
        m = count_landmarks(self.n_landmarks, size.rows)
        mapped = size._replace(features=m, values=size.rows * m)
        machines = self._linear().cost(mapped)
        return Cost(4 * size.rows * m + 32 * m**2 + machines.bytes, machines.seconds)

    def _kernel(self, X) -> dict[str, Any]:
        gamma = resolve_gamma(self.gamma, X) if self.kernel in ("rbf", "poly") else None
        return {"kernel": self.kernel, "gamma": gamma, "degree": self.degree, "coef0": self.coef0}

    def _linear(self) -> Linear:
        return Linear(self.loss, _LOOSER * self.tol, self.n_threads, self.n_lanes)

    def _choose_landmarks(self, X) -> np.ndarray:
        n = X.shape[0]
        m = count_landmarks(self.n_landmarks, n)
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
        """The expansion over the landmarks."""
        chart = self._chart
        return KernelExpansion(chart.numbers, chart.X, coef @ chart.root.T, intercept, **chart.kernel)


class _HeldOutMap(HeldOut):
    """Rows left out, mapped by the landmarks of the others."""

    def __init__(self, Z):
        self._Z = Z

    def scores(self, coef, intercept) -> np.ndarray:
        return self._Z @ coef.T + intercept


class _Chart:
    """Landmarks and how rows are mapped by them."""

    def __init__(self, numbers, X, kernel):
        self.numbers = numbers
        self.X = X
        self.kernel = kernel
        values, vectors = np.linalg.eigh(kernel_matrix(X, X, **kernel))
        kept = values > _FLAT * max(values[-1], 0.0)
        self.root = vectors[:, kept] / np.sqrt(values[kept])
        """k(S, S)^(−½), turned so that its directions, of which the flat are left out, are the coordinates:
        along them rows vary apart, and a solver that scales each by itself has little left to do."""

    def map(self, X) -> np.ndarray:
        """Z = k(X, S) k(S, S)^(−½) in float32, a block of rows at a time."""
        Z = np.empty((X.shape[0], self.root.shape[1]), dtype=np.float32)
        for block in gen_batches(X.shape[0], _BLOCK_ROWS):
            Z[block] = kernel_matrix(X[block], self.X, **self.kernel) @ self.root
        return Z


def count_landmarks(n_landmarks, n_rows) -> int:
    """How many landmarks "auto" or a number means for so many rows."""
    if n_landmarks == "auto":
        affordable = (
            int(machine_memory() / 4 / (4 * max(n_rows, 1))) if np.isfinite(machine_memory()) else n_rows
        )
        return max(1, min(n_rows, _MOST_LANDMARKS, affordable))
    if isinstance(n_landmarks, str) or n_landmarks < 1:
        raise UserError(f"n_landmarks is {n_landmarks!r}; give 'auto' or a number of at least 1.")
    return min(int(n_landmarks), n_rows)
