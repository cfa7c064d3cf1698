"""The steps of Algorithm 1 on arrays: machines, losses, codes and prototypes in one space."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mlspl._rounding import on_grid
from mlspl.correlation import (
    cross_fit_codes,
    get_regressor,
    initial_codes,
    prototype_distances,
    prototype_means,
    update_codes,
)
from mlspl.spaces import Machines, Regression, Rows

__all__ = ["Alternation", "Coded", "Coding", "code_rows"]


@dataclass(frozen=True)
class Coding:
    """How codes are made: their number, the weight β of their distance to the prototypes, their regressor."""

    n_codes: int = 15
    beta: float = 100.0
    regressor: Any = "svr"
    random_state: Any = None


class Coded(NamedTuple):
    """What is made of all labels together: codes, prototypes, what the machines see of the codes.

    Codes are (n, m), prototypes (m, L). What is seen, (n, m), are predictions of the codes out of fold, or
    the codes themselves, for which the regression, which predicts codes of new rows, may wait.
    """

    codes: np.ndarray
    prototypes: np.ndarray
    seen: np.ndarray
    regression: Regression | None

    def of(self, labels) -> "Coded":
        """The same for a block of the labels."""
        return self._replace(prototypes=self.prototypes[:, labels])


def code_rows(rows: Rows, Y, coding: Coding, folds=None) -> Coded:
    """Group the label sets of Y (n, L), dense or CSR, and code the rows by their groups."""
    codes, prototypes = initial_codes(Y, coding.n_codes, coding.random_state)
    return Coded(codes, prototypes, *_see(rows, codes, coding, folds))


def _see(rows, codes, coding, folds) -> tuple[np.ndarray, Regression | None]:
    """What the machines see of codes: with folds, what is predicted of them without the row's fold."""
    if folds is None:
        return codes, None
    regression = cross_fit_codes(coding.regressor, rows, codes, folds)
    assert regression.out_of_fold is not None
    return regression.out_of_fold, regression


class Alternation:
    """The learner that Algorithm 1 paces: a machine per label that sees features and codes.

    In the paper the machines see the codes themselves, which were made from the labels: the training fit is
    then near perfect and there is nothing left to pace. Given folds, they see out-of-fold predictions of the
    codes by the regressor that also serves at test time, and the losses come from machines that did not see
    the row; the prototypes, means over all rows, did.

    Y may be a block of the labels, given what was coded of all of them.
    """

    def __init__(self, rows: Rows, Y, coding: Coding, folds=None, coded: Coded | None = None):
        self.rows = rows
        self.coding = coding
        self.folds = folds
        self.signs = np.where(Y, 1.0, -1.0)
        self._label_signs = np.ascontiguousarray(self.signs.T)
        self._weights = np.ones(Y.shape)
        self._starts: dict = {}
        self._unpaced_start: Any = None
        self._machines: Any = None
        self._held_out: np.ndarray | None = None
        self._unpaced: np.ndarray | None = None
        self._losses: np.ndarray | None = None
        self._distances: np.ndarray | None = None
        self.set_costs(1.0, np.ones(Y.shape))
        coded = code_rows(rows, Y, coding, folds) if coded is None else coded
        self.codes, self.prototypes, self._seen_codes, self._regression = coded
        self._joint: Any = rows.join(self._seen_codes)

    def set_costs(self, C: float, prior) -> None:
        """Go on at other costs: C = 1/(2α) of objective (11), times the prior weight of every pair."""
        self.C = C
        self.prior = prior
        self._unpaced = None
        self._weights = np.ones(self.signs.shape)

    def set_tolerance(self, tol: float) -> None:
        """Solve the machines to another tolerance from here on."""
        self.rows, self._joint = self.rows.with_tolerance(tol), self._joint.with_tolerance(tol)

    def fit(self, weights) -> int:
        """W, Q and A step; returns how many rows changed their code.

        The Q step is the paper's linear program, and is there for the hinge only. Under other losses the
        codes stay with their prototypes, from which β = 100 never moves them under the hinge either.
        """
        self.fit_machines(weights)
        if not self.rows.hinge:
            return 0
        codes = on_grid(
            update_codes(
                self._feature_scores + self._machines.intercept,
                self.signs,
                self._machines.code_weights.T,
                self.prototypes,
                weights * self.prior,
                self.coding.beta,
                n_threads=self.rows.n_threads,
            )
        )
        moved = int(np.any(np.abs(codes - self.codes) > 1e-6, axis=1).sum())
        if moved:
            self.codes, self._distances = codes, None
            self._see_codes()
            self.prototypes = prototype_means(self.signs, self.codes, self.prototypes)
        return moved

    def fit_machines(self, weights) -> None:
        """W step: one weighted machine per label on features and codes."""
        self._weights = weights
        self._losses = None
        self._machines = self._solve(weights, "all")
        without_bias = self._machines.scores - self._machines.intercept
        self._feature_scores = without_bias - self._seen_codes @ self._machines.code_weights

    def losses(self) -> np.ndarray:
        """Loss of every pair: in sample, or of machines fitted without the row's fold."""
        if self.folds is not None:
            self._held_out = self._solve_folds()
            if self._unpaced is None and np.all(self._weights == 1.0):
                self._unpaced = self._held_out
                self._unpaced_start = None if self.rows.hinge else self._starts[0]
            return self.rows.loss(self.signs, self._held_out)
        if self._machines is None:
            self.fit_machines(self._weights)
        return self._in_sample_losses()

    def held_out_scores(self) -> np.ndarray:
        """Scores (n, L) by machines fitted without the row's fold: those of the last losses, if any.

        The last losses came before the last weights. If these are all 1, so were the first.
        """
        if self._unpaced is not None and np.all(self._weights == 1.0):
            return self._unpaced
        return self._solve_folds() if self._held_out is None else self._held_out

    def objective(self, weights, penalty) -> dict[str, float]:
        """Every part of objective (11), the penalty f(V, λ) per pair being given."""
        machines = self._machines
        squared_norm = self.rows.squared_norm(machines.coef, self._feature_scores)
        squared_norm += np.sum(machines.code_weights**2)
        if self._distances is None:
            self._distances = prototype_distances(self.signs, self.prototypes)
        parts = {
            "loss": np.sum(self.prior * weights * self._in_sample_losses()),
            "regularization": squared_norm / (2.0 * self.C),
            "correlation": self.coding.beta * np.sum(self.codes * self._distances),
            "penalty": np.sum(self.prior * penalty),
        }
        parts = {name: float(value) for name, value in parts.items()}
        return {"objective": sum(parts.values()), **parts}

    def expansion(self) -> tuple[np.ndarray, np.ndarray]:
        """The whole model, predicted codes included, as coordinates (L, p) and biases (L,).

        At test time a code is itself a function in the space, q̂_j = ⟨c_j, φ⟩ + d_j, so
        f_l(x, q̂) = ⟨coef_l + Σ_j w_lj c_j, φ(x)⟩ + b_l + Σ_j w_lj d_j.
        """
        if self._regression is None:
            self._regression = get_regressor(self.coding.regressor).regress(self.rows, self.codes)
        code_weights = self._machines.code_weights.T
        # Not by BLAS, which rounds a label by how many there are beside it.
        of_codes = np.einsum("lj,jp->lp", code_weights, self._regression.coef)
        coef = self.rows.add(self._machines.coef, of_codes)
        intercept = np.einsum("lj,j->l", code_weights, self._regression.intercept)
        return coef, self._machines.intercept + intercept

    def _see_codes(self) -> None:
        """Let the machines see the present codes, or what is predicted of them."""
        self._joint = self._losses = self._unpaced = None  # its memory is needed for the next one
        self._seen_codes, self._regression = _see(self.rows, self.codes, self.coding, self.folds)
        self._joint = self.rows.join(self._seen_codes)

    def _solve(self, weights, part) -> Machines:
        """Solve all labels, from where the last solution of the same part (a fold, or all rows) left off.

        Smooth machines of all rows are nearer to those of a fold, if both are not paced.
        """
        costs = (self.C * self.prior * weights).T
        start = self._starts.get(part)
        unpaced = self._unpaced_start
        if part == "all" and unpaced is not None and (start is None or np.all(weights == 1.0)):
            start = unpaced
        machines = self._joint.solve(self._label_signs, costs, start)
        self._starts[part] = machines.start
        return machines

    def _solve_folds(self) -> np.ndarray:
        scores = np.empty_like(self.signs)
        for number, (_, test) in enumerate(self.folds):
            held_in = self._weights.copy()
            held_in[test] = 0.0
            scores[test] = self._solve(held_in, number).scores[test]
        return scores

    def _in_sample_losses(self) -> np.ndarray:
        """Loss (n, L) of the training rows under their present codes."""
        if self._losses is None:
            machines = self._machines
            scores = self._feature_scores + self._seen_codes @ machines.code_weights + machines.intercept
            self._losses = self.rows.loss(self.signs, scores)
        return self._losses
