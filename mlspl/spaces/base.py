"""The contract of a space: training rows, weighted linear functions fitted on them, models of new rows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from mlspl.spaces._kernels import resolve_gamma


class Solutions(NamedTuple):
    """Coordinates (L, p), biases (L,), weights (m, L) of the codes, and scores (n, L) of training rows."""

    coef: np.ndarray
    intercept: np.ndarray
    code_weights: np.ndarray
    scores: np.ndarray
    warm_start: Any


class Regression(NamedTuple):
    """One regression per target: coordinates (m, p), intercepts (m,), and out-of-fold predictions (n, m)."""

    coef: np.ndarray
    intercept: np.ndarray
    out_of_fold: np.ndarray | None


class Model(ABC):
    """Scores new rows."""

    @abstractmethod
    def scores(self, X) -> np.ndarray:
        """Scores (n, L) of new rows."""


class Rows(ABC):
    """Training rows in a space; holds what is computed once for all labels, paces and costs."""

    space: Any

    @abstractmethod
    def split(self, train, test) -> tuple["Rows", Callable[..., np.ndarray]]:
        """The rows of `train`, and a function of (coef, intercept) that scores the rows of `test`."""

    @abstractmethod
    def join(self, codes) -> "Rows":
        """The same rows with the codes (n, m) as further features."""

    @abstractmethod
    def solve(self, signs, costs, warm_start=None) -> Solutions:
        """Fit one function per label, given signs -1 or +1 and costs of the pairs, both (L, n).

        A cost of 0 leaves a pair out. `warm_start` is that of the same labels at other costs or codes.
        """

    @abstractmethod
    def loss(self, signs, scores) -> np.ndarray:
        """The loss that `solve` minimises, for every pair."""

    @abstractmethod
    def regress(self, targets, regressor, folds=None) -> Regression:
        """A regression, "ridge" or "svr", of every column of targets (n, m), on all rows and out-of-fold."""

    @abstractmethod
    def squared_norm(self, coef, scores) -> float:
        """Σ_l ‖w_l‖² of functions, given their scores without bias and codes."""

    @abstractmethod
    def make_model(self, coef, intercept) -> Model:
        """A model that scores new rows by these functions."""


class Space(ABC):
    """A feature space and how functions are fitted in it; holds parameters only, and says what it can do."""

    many_rows: ClassVar[bool] = False
    """Whether memory and time grow linearly with the rows. Then the loss is smooth, and codes do not move."""
    on_features: ClassVar[bool] = False
    """Whether coordinates are weights of the features; then preparing rows costs nothing."""

    @abstractmethod
    def prepare(self, X) -> Rows:
        """The rows X, an array or CSR matrix (n, d), in this space."""

    def unit_cost(self, X) -> float:
        """The C that regularises the rows X as C = 1 does with a kernel of diagonal 1."""
        return 1.0

    def for_sample(self) -> Self:
        """The same space, cheaper, for choosing C on a sample of the rows."""
        return self

    def rbf_gamma(self, X) -> float | None:
        """The γ of the RBF kernel on the rows X; None for other kernels."""
        return None


@dataclass(frozen=True)
class KernelSpace(Space):
    """A space of a kernel; see `Gram` for the parameters."""

    kernel: Any = "rbf"
    gamma: Any = "scale"

    def kernel_options(self, X) -> dict[str, Any]:
        """The kernel, with γ a number, for training rows X."""
        return {"kernel": self.kernel, "gamma": self.rbf_gamma(X)}

    def rbf_gamma(self, X) -> float | None:
        """The γ of the RBF kernel."""
        return resolve_gamma(self.gamma, X) if self.kernel == "rbf" else None
