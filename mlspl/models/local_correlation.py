"""Algorithm 1 of the MLSPL paper (Li et al.): the V, W, Q and A step, for all labels or a block of them.

Objective (11), with V the weights of the (instance, label) pairs, W the classifiers, Q the codes and A the
prototypes of the label vectors:

    min Σ_il v_il L(w_l, q_i; x_i, y_il) + α Σ_l ‖w_l‖² + β Σ_ij q_ij ‖y_i − a_j‖² + Σ_il f(v_il, λ)

| step | equation | code |
|---|---|---|
| start: Q and A by k-means on Y | line 1 | `code_rows` |
| V: closed form of the self-paced function | (12), (3) to (9) | `mlspl.pacing.paced`, in `fit_block` |
| W: one weighted SVM per label | (13) | `LocalCorrelationLearner.fit_classifiers` |
| Q: one linear program per instance | (14) | `LocalCorrelationLearner.update_codes` |
| A: weighted means | (15), (16) | `LocalCorrelationLearner.update_prototypes` |
| λ ← μλ | line 7 | the schedule of `fit_block` |

ML-LOC, objective (1), is the same without V. Errata of the paper are corrected: (16) lacks its denominator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from mlspl.correlation import initial_codes, prototype_distances, prototype_means
from mlspl.models._label_blocks import dense_block
from mlspl.pacing import paced
from mlspl.solvers import solve_codes
from mlspl.spaces import Regression, Rows, Solutions


@dataclass(frozen=True)
class Coding:
    """How codes are made: their number m, the weight β of their distances to prototypes, their regressor."""

    n_codes: int = 15
    beta: float = 100.0
    regressor: str = "svr"
    random_state: Any = None


class CodingResult(NamedTuple):
    """Codes (n, m), prototypes (m, L), the codes that classifiers are trained on, and their regression."""

    codes: np.ndarray
    prototypes: np.ndarray
    training_codes: np.ndarray
    regression: Regression | None


def code_rows(rows: Rows, Y, coding: Coding, folds=None) -> CodingResult:
    """Cluster the label sets of Y (n, L), dense or CSR, and code every row by its cluster (line 1)."""
    codes, prototypes = initial_codes(Y, coding.n_codes, coding.random_state)
    return CodingResult(codes, prototypes, *_training_codes(rows, codes, coding, folds))


def _training_codes(rows, codes, coding, folds) -> tuple[np.ndarray, Regression | None]:
    """The codes that classifiers are trained on: with folds, out-of-fold predictions."""
    if folds is None:
        return codes, None
    regression = rows.regress(codes, coding.regressor, folds)
    assert regression.out_of_fold is not None
    return regression.out_of_fold, regression


class LocalCorrelationLearner:
    """The learner that Algorithm 1 paces: one classifier per label on features and codes.

    In the paper, classifiers are trained on the codes, which were made from the labels, so that nothing is
    left to pace. Given folds, they are trained on out-of-fold predictions of the codes, and the losses are
    out-of-fold too. Y may be a block of the labels, if the coding of all labels is given.
    """

    def __init__(self, rows: Rows, Y, coding: Coding, folds=None, coded: CodingResult | None = None):
        self.rows = rows
        self.coding = coding
        self.folds = folds
        self.signs = np.where(Y, 1.0, -1.0)
        self._signs_by_label = np.ascontiguousarray(self.signs.T)
        self._warm_starts: dict = {}
        self._solved: Any = None
        self._held_out: np.ndarray | None = None
        self._losses: np.ndarray | None = None
        self.set_costs(1.0, np.ones(Y.shape))
        coded = code_rows(rows, Y, coding, folds) if coded is None else coded
        self.codes, self.prototypes, self._shown_codes, self._regression = coded
        self._distances = prototype_distances(self.signs, self.prototypes)
        self._joined: Any = rows.join(self._shown_codes)

    def set_costs(self, C: float, prior) -> None:
        """Continue at other costs: C = 1/(2α) of objective (11), times the prior weight of every pair."""
        self.C = C
        self.prior = prior
        self._weights = np.ones(self.signs.shape)

    def fit(self, weights) -> int:
        """W, Q and A step with weights V (n, L); returns how many rows changed their code.

        Under the smooth losses of many rows the codes stay, as they do under the hinge with β = 100.
        """
        self.fit_classifiers(weights)
        n_moved = 0 if self.rows.space.many_rows else self.update_codes(weights)
        if n_moved:
            self.update_prototypes()
        return n_moved

    def fit_classifiers(self, weights) -> None:
        """W step (13): one weighted classifier per label on features and codes."""
        self._weights = weights
        self._losses = None
        self._solved = self._solve(weights, "all")
        without_bias = self._solved.scores - self._solved.intercept
        self._feature_scores = without_bias - self._shown_codes @ self._solved.code_weights

    def update_codes(self, weights) -> int:
        """Q step (14): the code of each instance by a linear program; returns how many codes changed."""
        codes = solve_codes(
            self._feature_scores + self._solved.intercept,
            self.signs,
            self._solved.code_weights.T,
            self._distances,
            weights * self.prior,
            self.coding.beta,
        )
        n_moved = int(np.any(np.abs(codes - self.codes) > 1e-6, axis=1).sum())
        if n_moved:
            self.codes = codes
            self._joined = self._losses = None  # frees the memory that the next join needs
            self._shown_codes, self._regression = _training_codes(self.rows, codes, self.coding, self.folds)
            self._joined = self.rows.join(self._shown_codes)
        return n_moved

    def update_prototypes(self) -> None:
        """A step (15), (16): a_j = Σ_i q_ij y_i / Σ_i q_ij."""
        self.prototypes = prototype_means(self.signs, self.codes, self.prototypes)
        self._distances = prototype_distances(self.signs, self.prototypes)

    def losses(self) -> np.ndarray:
        """Losses (n, L) for the V step: in-sample, or out-of-fold if there are folds."""
        if self.folds is not None:
            self._held_out = self._solve_folds()
            return self.rows.loss(self.signs, self._held_out)
        if self._solved is None:
            self.fit_classifiers(self._weights)
        return self._in_sample_losses()

    def out_of_fold_scores(self) -> np.ndarray:
        """Out-of-fold scores (n, L), those of the last losses."""
        return self._solve_folds() if self._held_out is None else self._held_out

    def objective(self, weights, penalty) -> dict[str, float]:
        """Objective (11) and its parts, given the penalty f(V, λ) of every pair."""
        solved = self._solved
        squared_norm = self.rows.squared_norm(solved.coef, self._feature_scores)
        squared_norm += np.sum(solved.code_weights**2)
        parts = {
            "loss": np.sum(self.prior * weights * self._in_sample_losses()),
            "regularization": squared_norm / (2.0 * self.C),
            "correlation": self.coding.beta * np.sum(self.codes * self._distances),
            "penalty": np.sum(self.prior * penalty),
        }
        parts = {name: float(value) for name, value in parts.items()}
        return {"objective": sum(parts.values()), **parts}

    def expansion(self) -> tuple[np.ndarray, np.ndarray]:
        """The model of new rows, with predicted codes, as coordinates (L, p) and biases (L,).

        The predicted code is a function in the space, q̂_j(x) = ⟨c_j, φ(x)⟩ + d_j. Hence
        f_l(x, q̂) = ⟨coef_l + Σ_j w_lj c_j, φ(x)⟩ + b_l + Σ_j w_lj d_j.
        """
        if self._regression is None:
            self._regression = self.rows.regress(self.codes, self.coding.regressor)
        code_weights = self._solved.code_weights.T
        # Not by BLAS, whose rounding of a label depends on the number of labels.
        of_codes = np.einsum("lj,jp->lp", code_weights, self._regression.coef)
        intercept = np.einsum("lj,j->l", code_weights, self._regression.intercept)
        return self._solved.coef + of_codes, self._solved.intercept + intercept

    def _solve(self, weights, part) -> Solutions:
        """Solve all labels, starting from the last solution of the same part (a fold, or all rows)."""
        costs = (self.C * self.prior * weights).T
        start = self._warm_starts.get(part)
        if start is None and part == "all" and self.rows.space.many_rows:
            start = self._warm_starts.get(0)
        solved = self._joined.solve(self._signs_by_label, costs, start)
        self._warm_starts[part] = solved.warm_start
        return solved

    def _solve_folds(self) -> np.ndarray:
        scores = np.empty_like(self.signs)
        for number, (_, test) in enumerate(self.folds):
            weights = self._weights.copy()
            weights[test] = 0.0
            scores[test] = self._solve(weights, number).scores[test]
        return scores

    def _in_sample_losses(self) -> np.ndarray:
        """Losses (n, L) of the training rows under their present codes."""
        if self._losses is None:
            of_codes = self._shown_codes @ self._solved.code_weights
            scores = self._feature_scores + of_codes + self._solved.intercept
            self._losses = self.rows.loss(self.signs, scores)
        return self._losses


def fit_block(
    rows: Rows,
    coded: CodingResult,
    Y,
    label_weight,
    weigh: Callable,
    C: float,
    coding: Coding,
    folds,
    pace: dict[str, Any],
    evaluated,
    block: slice,
    report: Callable[[str], bool] = lambda note: False,
) -> SimpleNamespace:
    """Run Algorithm 1 on a block of labels; out-of-fold scores are returned of the rows `evaluated`.

    `weigh` gives the cost of every pair in units of C, `pace` the arguments of :func:`mlspl.pacing.paced`.
    `report` is called after every step, and returns True to stop.
    """
    Y, label_weight = dense_block(Y, block), dense_block(label_weight, block)
    coded = coded._replace(prototypes=coded.prototypes[:, block])
    learner = LocalCorrelationLearner(rows, Y, coding, folds, coded)
    learner.set_costs(C, weigh(Y, label_weight))
    # Each step is the V step, then `learner.fit`: the W, Q and A step.
    steps = paced(learner, Y=Y, known=learner.prior > 0, **pace)
    for step in steps:
        step.record |= learner.objective(step.weights, _penalty(pace["function"], step))
        step.record["codes_moved"] = step.moved
        if report(f"mean weight {step.record['mean_weight']:.3f}"):
            steps.stop()
    coef, intercept = learner.expansion()
    return SimpleNamespace(
        coef=coef,
        intercept=intercept,
        history=steps.history,
        stop_reason=steps.stop_reason,
        codes=learner.codes,
        prototypes=learner.prototypes,
        weights=steps.weights,
        trace=steps.trace,
        held_out=None if folds is None else learner.out_of_fold_scores()[evaluated],
    )


def _penalty(function, step) -> np.ndarray:
    """f(V, λ) of every pair; 0 at an infinite pace, where some functions have no finite limit."""
    if function is None:
        return np.zeros(step.weights.shape)
    return np.where(np.isposinf(step.pace), 0.0, function.penalty(step.weights, step.pace))
