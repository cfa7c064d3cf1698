"""The contract of a space: where machines are fitted, and what they are fitted with."""

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mlspl._limits import Cost, FitSize

__all__ = ["HeldOut", "Machines", "Model", "Regression", "Rows", "Space"]


class Machines(NamedTuple):
    """A machine per label, as `Rows.solve` leaves them.

    Attributes
    ----------
    coef : array (L, p)
        Coordinates in the space, which alone knows what they mean.
    intercept : array (L,)
        The biases.
    code_weights : array (m, L)
        Weights of the codes that were joined to the rows.
    scores : array (n, L)
        Scores of the rows, codes and bias included.
    start : object
        Where to start at other costs.
    """

    coef: np.ndarray
    intercept: np.ndarray
    code_weights: np.ndarray
    scores: np.ndarray
    start: Any


class Regression(NamedTuple):
    """A regression per target in a space.

    Attributes
    ----------
    coef, intercept : arrays (m, p) and (m,)
        Of the fit on all rows, in the coordinates of the space.
    out_of_fold : array (n, m) or None
        Every row as predicted by a fit without its fold, where folds were given.
    """

    coef: np.ndarray
    intercept: np.ndarray
    out_of_fold: np.ndarray | None


class Model(ABC):
    """What is kept of machines to score new rows."""

    @abstractmethod
    def scores(self, X) -> np.ndarray:
        """Scores (n, L) of new rows."""


class HeldOut(ABC):
    """Rows that were left out, as the rows that were not see them."""

    @abstractmethod
    def scores(self, coef, intercept) -> np.ndarray:
        """Scores (n, L) of the rows left out by machines with these coordinates."""


class Rows(ABC):
    """Training rows in a space. Whatever is computed once for all labels, paces and costs is kept here."""

    space: Any
    """The space they are in, with its parameters."""
    n_threads: int
    """How many labels are solved at a time; no answer depends on it."""
    hinge: bool = True
    """Whether the machines' loss is the hinge, which the linear programs of the codes are about."""

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def split(self, train, test) -> tuple["Rows", HeldOut]:
        """The rows of `train`, and those of `test` as they see them."""

    @abstractmethod
    def join(self, codes) -> "Rows":
        """The same rows with further features (n, m) beside their own."""

    def with_tolerance(self, tol) -> "Rows":
        """The same rows, which are not copied, their machines solved to another tolerance."""
        if tol == self.space.tol:
            return self
        rows = copy(self)
        rows.space = replace(self.space, tol=tol)
        return rows

    @abstractmethod
    def solve(self, signs, costs, start=None) -> Machines:
        """Fit a machine per label, with a cost for every pair.

        Parameters
        ----------
        signs : array (L, n)
            Labels, -1 or +1; a block of all labels will do.
        costs : array (L, n)
            Cost of a unit of loss; 0 leaves a pair out.
        start : object, optional
            ``Machines.start`` of the same labels at other costs or with other codes.
        """

    @abstractmethod
    def loss(self, signs, scores) -> np.ndarray:
        """The loss that `solve` minimises, of every pair; signs and scores of one shape."""

    @abstractmethod
    def ridge(self, targets, alpha, folds=None) -> Regression:
        """Ridge regressions with intercept: min ‖t − f‖² + α‖w‖² for each column of targets (n, m)."""

    @abstractmethod
    def svr(self, targets, C, epsilon, tol, folds=None) -> Regression:
        """ε-support vector regressions for each column of targets (n, m)."""

    @abstractmethod
    def squared_norm(self, coef, scores) -> float:
        """Σ_l ‖w_l‖² of machines with these coordinates, whose scores without bias and codes are given."""

    def add(self, coef, others) -> np.ndarray:
        """Coordinates of the sums of functions with these coordinates."""
        return coef + others

    @abstractmethod
    def keep(self, coef, intercept) -> Model:
        """What scores new rows by machines with these coordinates."""


class Space(ABC):
    """A kind of feature space and how machines are solved in it; holds parameters only."""

    @abstractmethod
    def place(self, X) -> Rows:
        """The rows X, an array or CSR matrix (n, d), in this space."""

    def unit_cost(self, X) -> float:
        """The C with which the rows X are regularised as those of a kernel of diagonal 1 are with C = 1."""
        return 1.0

    @abstractmethod
    def cost(self, size: FitSize, copies: float = 0.0) -> Cost:
        """Memory and time of fitting a machine per label, with so many `copies` of the rows beside them."""
