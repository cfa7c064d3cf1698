"""The steps of Algorithm 1 on arrays: classifiers, losses, codes and prototypes around one kernel matrix."""

import numpy as np

from mlspl.correlation import (
    cross_fit_codes,
    get_regressor,
    initial_codes,
    prototype_distances,
    prototype_means,
    update_codes,
)
from mlspl.solvers import get_svm_solver

__all__ = ["Alternation"]


class Alternation:
    """State of the alternation and the steps that change it.

    The classifiers see, beside the features, a code of every training row. In the paper these are the
    codes themselves, which were made from the labels: the training fit is then near perfect and there
    is nothing left to pace. Given folds, they are out-of-fold predictions of the codes by the regressor that
    also serves at test time, and the losses come from classifiers that did not see the row; the prototypes,
    means over all rows, did.

    Parameters
    ----------
    K : array (n, n)
        The kernel of the features.
    Y : bool array (n, L)
        The labels.
    prior : array (n, L)
        Cost of every pair before pacing, in units of C.
    C : float
        1/(2α) of the paper's objective (3).
    beta : float
        Weight of the codes' distance to the prototypes.
    n_codes : int
        Largest number of prototypes.
    regressor : str or CodeRegressor
        Predicts codes from the kernel.
    folds : list of (train, test), optional
        None for the paper's in-sample codes.
    solver : str
        Name of the SVM solver.
    tol : float
        Tolerance of the SVM solver.
    n_threads : int
        Threads over labels.
    random_state : int, RandomState or None
        Seeds k-means.
    """

    def __init__(
        self, K, Y, prior, *, C, beta, n_codes, regressor, folds, solver, tol, n_threads, random_state
    ):
        self.K = K
        self.signs = np.where(Y, 1.0, -1.0)
        self.prior = prior
        self.C = C
        self.beta = beta
        self.regressor = regressor
        self.folds = folds
        self.tol = tol
        self.n_threads = n_threads
        self._solve = get_svm_solver(solver)
        self._label_signs = np.ascontiguousarray(self.signs.T)
        self._warm_starts: dict = {}
        self._joint = np.empty_like(K)
        self.codes, self.prototypes = initial_codes(self.signs, n_codes, random_state)
        self._see_codes()

    def fit_classifiers(self, label_weights) -> None:
        """W step: one weighted SVM per label on the kernel of features and codes."""
        solution = self._svms(label_weights, "all")
        self.bias = solution.bias
        self.dual_coef = solution.alpha * self._label_signs
        self.code_weights = self.seen_codes.T @ self.dual_coef.T
        self._feature_scores = solution.decision.T - self.bias - self.seen_codes @ self.code_weights

    def losses(self, label_weights) -> np.ndarray:
        """Hinge loss of every pair: in sample, or of classifiers fitted without the row's fold."""
        if self.folds is None:
            scores = self.scores()
        else:
            scores = np.empty_like(self.signs)
            for number, (_, test) in enumerate(self.folds):
                held_in = label_weights.copy()
                held_in[test] = 0.0
                scores[test] = self._svms(held_in, number).decision[:, test].T
        return np.maximum(0.0, 1.0 - self.signs * scores)

    def update_codes(self, label_weights) -> int:
        """Q and A steps; returns how many rows changed their code."""
        codes = update_codes(
            self._feature_scores + self.bias,
            self.signs,
            self.code_weights.T,
            self.prototypes,
            label_weights * self.prior,
            self.beta,
            n_threads=self.n_threads,
        )
        moved = int(np.any(np.abs(codes - self.codes) > 1e-9, axis=1).sum())
        if moved:
            self.codes = codes
            self._see_codes()
        self.prototypes = prototype_means(self.signs, self.codes, self.prototypes)
        return moved

    def objective(self, label_weights, penalty) -> dict[str, float]:
        """Every part of objective (3), the penalty f(V, λ) per pair being given."""
        loss = np.maximum(0.0, 1.0 - self.signs * self.scores())
        squared_norm = np.sum(self.dual_coef.T * self._feature_scores) + np.sum(self.code_weights**2)
        parts = {
            "loss": np.sum(self.prior * label_weights * loss),
            "regularization": squared_norm / (2.0 * self.C),
            "correlation": self.beta * np.sum(self.codes * prototype_distances(self.signs, self.prototypes)),
            "penalty": np.sum(self.prior * penalty),
        }
        parts = {name: float(value) for name, value in parts.items()}
        return {"objective": sum(parts.values()), **parts}

    def scores(self) -> np.ndarray:
        """Scores (n, L) of the training rows under their present codes."""
        return self._feature_scores + self.seen_codes @ self.code_weights + self.bias

    def expansion(self) -> tuple[np.ndarray, np.ndarray]:
        """The whole model as one kernel expansion, (L, n) and (L,).

        At test time a code is itself a kernel expansion, q̂_j(x) = ⟨c_j, k(x)⟩ + d_j, so
        f_l(x, q̂) = ⟨coef_l + Σ_j w_lj c_j, k(x)⟩ + b_l + Σ_j w_lj d_j.
        """
        regressor = self._fitted_regressor
        if regressor is None:
            regressor = get_regressor(self.regressor).fit(self.K, self.codes, self.n_threads)
        coef = self.dual_coef + self.code_weights.T @ regressor.dual_coef_
        return coef, self.bias + self.code_weights.T @ regressor.intercept_

    def _see_codes(self) -> None:
        """Let the classifiers see the present codes: the joint kernel K + QQᵀ."""
        if self.folds is None:
            self.seen_codes, self._fitted_regressor = self.codes, None
        else:
            self.seen_codes, self._fitted_regressor = cross_fit_codes(
                self.regressor, self.K, self.codes, self.folds, n_threads=self.n_threads
            )
        np.dot(self.seen_codes, self.seen_codes.T, out=self._joint)
        self._joint += self.K

    def _svms(self, label_weights, part):
        """Solve all labels, from where the last solution of the same part (a fold, or all rows) left off."""
        solution = self._solve(
            self._joint,
            self._label_signs,
            (self.C * self.prior * label_weights).T,
            alpha=self._warm_starts.get(part),
            tol=self.tol,
            n_threads=self.n_threads,
        )
        self._warm_starts[part] = solution.warm_start
        return solution
