"""The space of the features themselves: functions are weight vectors, and nothing is of size n×n."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from mlspl._limits import check_memory
from mlspl.errors import UserError
from mlspl.solvers import solve_linear, solve_ridge
from mlspl.spaces.base import Model, Regression, Rows, Solutions, Space

_BLOCK_ROWS = 8192
# Up to so many dense features, ridge regressions are solved in closed form.
_FEW_FEATURES = 2048


@dataclass(frozen=True)
class Linear(Space):
    """The features themselves, sparse or dense: memory grows as the data, time as their values times L.

    The bias is regularised with the weights, as in LIBLINEAR. The loss is logistic and not the paper's hinge,
    whose margins on many rows with rare labels rank worse than label frequencies.

    Parameters
    ----------
    tol : float, default=1e-3
        Relative distance of the objective to its minimum.
    n_threads : int, default=1
        Groups of labels solved at a time.
    """

    tol: float = 1e-3
    n_threads: int = 1

    many_rows = True
    on_features = True

    def prepare(self, X) -> "LinearRows":
        """The rows X, used as they are."""
        return LinearRows(self, X)

    def unit_cost(self, X) -> float:
        """One over the mean squared length of a row."""
        total = float(np.square(X.data if sparse.issparse(X) else X, dtype=np.float64).sum())
        return X.shape[0] / total if total > 0 else 1.0


class LinearRows(Rows):
    """Rows of features, and the codes that were joined to them."""

    def __init__(self, space, X, codes=None):
        self.space = space
        self._X = X
        self._codes = codes

    def split(self, train, test):
        """Copies of the rows."""
        X = self._X[test]
        return LinearRows(self.space, self._X[train]), lambda *function: LinearModel(*function).scores(X)

    def join(self, codes):
        """The same X, not copied, with the codes as further columns."""
        return LinearRows(self.space, self._X, codes)

    def loss(self, signs, scores) -> np.ndarray:
        """The logistic loss of every pair."""
        return np.logaddexp(0.0, -signs * scores)

    def solve(self, signs, costs, warm_start=None) -> Solutions:
        """One weighted linear function per label, with LIBLINEAR's optimum."""
        n_labels, n_rows = signs.shape
        check_memory(
            8.0 * n_labels * (self._X.shape[1] + 3 * n_rows),
            f"Weights and scores of {n_rows:,} rows and {n_labels:,} labels",
            "Use fewer labels, features or rows.",
        )
        options = {"codes": self._codes, "tol": self.space.tol, "n_threads": self.space.n_threads}
        solution = solve_linear(self._X, signs, costs, start=warm_start, **options)
        loose = int(np.sum(solution.gap > 10 * self.space.tol * solution.objective))
        if loose:
            warnings.warn(
                f"{loose} of {len(signs)} labels did not converge. Scale X or lower C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        start = solution._replace(scores=np.empty((len(signs), 0)))
        return Solutions(solution.coef, solution.bias, solution.code_coef.T, solution.scores.T, start)

    def regress(self, targets, regressor, folds=None) -> Regression:
        """Ridge regressions min ‖t − f‖² + ‖w‖², in closed form for few dense features."""
        if regressor != "ridge":
            raise UserError(f"regressor={regressor!r} needs space='gram'; here, give 'ridge'.")
        if not sparse.issparse(self._X) and self._X.shape[1] <= min(len(targets), _FEW_FEATURES):
            return Regression(*solve_ridge(self._X, targets, 1.0, folds))
        options = {"loss": "squared", "tol": 1e-6, "n_threads": self.space.n_threads}
        whole = solve_linear(self._X, targets.T, 0.5, **options)
        if folds is None:
            return Regression(whole.coef, whole.bias, None)
        predicted = np.empty_like(targets)
        for train, test in folds:
            costs = np.zeros(len(targets))
            costs[train] = 0.5
            fold = solve_linear(self._X, targets.T, costs, start=whole, **options)
            predicted[test] = fold.scores[:, test].T
        return Regression(whole.coef, whole.bias, predicted)

    def squared_norm(self, coef, scores) -> float:
        """Σ_l ‖w_l‖²."""
        return float(np.sum(coef**2))

    def make_model(self, coef, intercept) -> Model:
        """The weights."""
        return LinearModel(coef, intercept)


class LinearModel(Model):
    """f_l(x) = ⟨coef_l, x⟩ + b_l, with weights `coef` (L, d), an array or CSR matrix, and biases (L,)."""

    _contents = {"coef": "rows (labels, columns)", "intercept": "float (labels)"}

    def __init__(self, coef, intercept):
        self.coef = coef
        self.intercept = intercept

    def scores(self, X) -> np.ndarray:
        """Scores (n, L), a block of rows at a time."""
        scores = np.empty((X.shape[0], len(self.intercept)))
        for block in gen_batches(X.shape[0], _BLOCK_ROWS):
            product = X[block] @ self.coef.T
            scores[block] = product.toarray() if sparse.issparse(product) else product
        scores += self.intercept
        # The last digits depend on the order of summation: ties stay ties.
        return np.round(scores, 12, out=scores)
