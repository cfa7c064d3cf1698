"""A kernel by landmarks: rows become their kernel values with a few of them; machines are linear in those."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state, gen_batches

from mlspl._limits import Cost, machine_memory
from mlspl.errors import UserError
from mlspl.spaces._kernels import kernel_matrix, resolve_gamma
from mlspl.spaces.base import HeldOut, Regression, Space
from mlspl.spaces.gram import KernelExpansion
from mlspl.spaces.linear import FEW_FEATURES, Linear, LinearModel, LinearRows

__all__ = ["LandmarkExpansion", "Nystroem", "NystroemRows", "count_columns", "count_ridge_landmarks"]

# Directions of the landmarks' kernel below this share of the largest are rounding in the float32 map.
_FLAT = 1e-7
_BLOCK_ROWS = 4096
_MOST_COLUMNS = 1400
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
    is far from them all: up to 700 features x stand beside the map, less what the map says of them,
    x − X_Sᵀ k(S, S)⁻¹ k(S, x), which is 0 at landmarks.

    Ridge regressions have up to twice as many landmarks, as far as they have a closed form (2,048 columns at
    most, and no more than rows) and memory allows: it serves all targets at once, while machines take steps
    for every label, pace and fold.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly"} or callable, default="rbf"
        The kernel of the features, which should be scaled.
    gamma : {"scale", "auto"} or float, default="scale"
        "auto" is 1/d, "scale" is 1/(d·variance).
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    n_landmarks : "auto" or int, default="auto"
        At most the number of rows. "auto" makes 1,400 columns of landmarks and features, or fewer where they
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
        m, beside = count_columns(self.n_landmarks, *X.shape)
        landmarks = self._choose_landmarks(X, m, count_ridge_landmarks(m, X.shape[0], beside))
        return NystroemRows(self, X, *landmarks, beside > 0)

    def unit_cost(self, X) -> float:
        """1 for the RBF kernel; for others one over the mean of k(x, x), of some of the rows."""
        if self.kernel == "rbf":
            return 1.0
        some = X[np.unique(np.linspace(0, X.shape[0] - 1, _DIAGONAL_ROWS).astype(int))]
        mean = float(np.mean(np.diag(kernel_matrix(some, some, **self._kernel(X)))))
        return 1.0 / mean if mean > 0 else 1.0

    def cost(self, size, copies=0.0) -> Cost:
        """The maps, the square roots of the landmarks' kernels, and what linear machines on the map take."""
        m, beside = count_columns(self.n_landmarks, size.rows, size.features)
        columns = m + beside
        machines = self._linear().cost(size._replace(features=columns, values=size.rows * columns))
        maps = 4 * size.rows * columns + 32 * m**2
        wider = count_ridge_landmarks(m, size.rows, beside)
        if copies and wider > m:
            maps += 4 * size.rows * (wider + beside) + 32 * wider**2
        return Cost(maps + machines.bytes, machines.seconds)

    def _kernel(self, X) -> dict[str, Any]:
        gamma = resolve_gamma(self.gamma, X) if self.kernel in ("rbf", "poly") else None
        return {"kernel": self.kernel, "gamma": gamma, "degree": self.degree, "coef0": self.coef0}

    def _linear(self) -> Linear:
        return Linear(self.loss, _LOOSER * self.tol, self.n_threads, self.n_lanes)

    def _choose_landmarks(self, X, m, n_wider) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of m rows for the machines, and of those and others for ridge regressions."""
        rng = check_random_state(self.random_state)
        order = rng.permutation(X.shape[0])
        if self.landmarks == "uniform" or m == len(order):
            chosen = order[:m]
        elif self.landmarks == "kmeans":
            sample = np.sort(order[: _SAMPLE_PER_LANDMARK * m])
            kmeans = MiniBatchKMeans(m, n_init=1, batch_size=max(1024, m), random_state=rng).fit(X[sample])
            chosen = np.unique(sample[kmeans.transform(X[sample]).argmin(axis=0)])
        else:
            raise UserError(f"landmarks is {self.landmarks!r}; give 'uniform' or 'kmeans'.")
        others = order[~np.isin(order, chosen)][: n_wider - m]
        return np.sort(chosen), np.sort(np.concatenate([chosen, others]))


class NystroemRows(LinearRows):
    """The mapped rows; landmarks of a part are chosen among its own rows.

    Coordinates are those of the machines' map and, behind them, those of the ridge regressions' map, if any.
    """

    def __init__(self, space, X, landmarks, ridge_landmarks, beside):
        self._nystroem = space
        self._rows = X
        self._ridge_landmarks = ridge_landmarks
        self._kernel = space._kernel(X)
        self._beside = beside
        self._chart = self._draw(landmarks)
        self._wider: list[_Chart] = []
        super().__init__(space._linear(), self._chart.map(X))

    def split(self, train, test):
        """A map of the rows of `train`, by landmarks among them."""
        inner = self._nystroem.place(self._rows[train])
        return inner, _HeldOutMap(inner, self._rows[test])

    def ridge(self, targets, alpha, folds=None) -> Regression:
        """Ridge regressions by the wider map, which is not kept."""
        if len(self._ridge_landmarks) == len(self._chart.numbers):
            return super().ridge(targets, alpha, folds)
        wider = LinearRows(self.space, self._wider_chart.map(self._rows)).ridge(targets, alpha, folds)
        return wider._replace(coef=np.pad(wider.coef, ((0, 0), (self._X.shape[1], 0))))

    def add(self, coef, others) -> np.ndarray:
        """The sum; coordinates that one of them lacks are 0."""
        short, long = sorted((coef, others), key=lambda each: each.shape[1])
        total = long.copy()
        total[:, : short.shape[1]] += short
        return total

    def keep(self, coef, intercept) -> KernelExpansion:
        """The expansion over the landmarks, and what is linear beside it."""
        chart, (own, rest) = self._chart, np.hsplit(coef, [self._X.shape[1]])
        expansion, linear, bias = chart.expand(own)
        if rest.shape[1]:
            chart = self._wider_chart
            narrow = expansion, linear, bias
            expansion, linear, bias = chart.expand(rest)
            expansion[:, np.searchsorted(chart.numbers, self._chart.numbers)] += narrow[0]
            linear, bias = linear + narrow[1], bias + narrow[2]
        bias = bias + intercept
        if not self._beside:
            return KernelExpansion(chart.numbers, chart.X, expansion, bias, **self._kernel)
        return LandmarkExpansion(linear, chart.numbers, chart.X, expansion, bias, **self._kernel)

    @property
    def _wider_chart(self) -> "_Chart":
        """Drawn when it is first asked for; copies of these rows, of other tolerance, have the same."""
        if not self._wider:
            self._wider.append(self._draw(self._ridge_landmarks))
        return self._wider[0]

    def _draw(self, numbers) -> "_Chart":
        return _Chart(numbers, self._rows[numbers], self._kernel, self._beside)


class _HeldOutMap(HeldOut):
    """Rows left out, mapped by the landmarks of the others."""

    def __init__(self, rows, X):
        self._rows = rows
        self._X = X
        self._Z = rows._chart.map(X)

    def scores(self, coef, intercept) -> np.ndarray:
        own, rest = np.hsplit(coef, [self._Z.shape[1]])
        scores = self._Z @ own.T + intercept
        return scores + self._wider_Z @ rest.T if rest.shape[1] else scores

    @cached_property
    def _wider_Z(self) -> np.ndarray:
        return self._rows._wider_chart.map(self._X)


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
        self.centre = np.asarray(X.mean(axis=0)).ravel() if beside else np.zeros(0)
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

    def expand(self, coef) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Functions with these coordinates: weights of kernel values and of features, and constants."""
        mapped, beside = np.hsplit(coef, [len(self.told)])
        linear = self.scale * beside
        return (
            (mapped - beside @ self.told.T) @ self.root.T,
            linear,
            -(linear @ self.centre),
        )


def _dense(X) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else X


def count_columns(n_landmarks, n_rows, n_features) -> tuple[int, int]:
    """How many landmarks "auto" or a number means for so many rows, and how many features are beside them."""
    columns = _MOST_COLUMNS
    if n_landmarks == "auto":
        columns = int(min(columns, _memory_columns(n_rows)))
    elif isinstance(n_landmarks, str) or n_landmarks < 1:
        raise UserError(f"n_landmarks is {n_landmarks!r}; give 'auto' or a number of at least 1.")
    beside = n_features if n_features <= columns // 2 else 0
    m = min(n_rows, max(1, columns - beside) if n_landmarks == "auto" else int(n_landmarks))
    return m, beside if m < n_rows else 0


def count_ridge_landmarks(m, n_rows, beside) -> int:
    """Twice as many as the machines', as far as regressions have a closed form and their map has room."""
    return max(m, int(min(2 * m, min(n_rows, FEW_FEATURES, _memory_columns(n_rows)) - beside)))


def _memory_columns(n_rows) -> float:
    """How many columns of float32 take a quarter of the memory, if that is known."""
    return machine_memory() / (16 * max(n_rows, 1))
