"""RankSVM: rank relevant labels above irrelevant ones (Elisseeff & Weston 2001)."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from mlspl._docs import share
from mlspl.model_selection import PlattCalibration
from mlspl.models._base import store_parameters
from mlspl.models._calibrated import LazyCalibration
from mlspl.models._space_classifier import SpaceClassifier


@share
class RankSVMClassifier(SpaceClassifier):
    """Rank each row's relevant labels above its irrelevant ones by a margin, then cut the ranking.

    Minimises ½ Σ_l (‖w_l‖² + b_l²) + C Σ_i 1/(#Y_i·#Ȳ_i) Σ_(p,q) [1 − (f_p(x_i) − f_q(x_i))]₊ over the pairs
    of a relevant label p and an irrelevant label q of the same row. b_l² is in units of the kernel's median
    diagonal. The cut of a row's ranking is learned by linear least squares from its scores to the cut with
    the fewest errors; `decision_function` is the score minus that cut. `predict_proba` is one sigmoid for all
    labels, ½ at the cut.

    Rows with no label or with all labels are left out of training. If no row is left, labels are ranked by
    their frequencies. A single label is ranked against a virtual label that is relevant where it is absent
    (calibrated label ranking). A pair's cost is multiplied by both its label weights.

    Memory grows as n² + n·L + the number of pairs Σ #Y_i·#Ȳ_i, and time as n²·L per sweep over the rows.

    Parameters
    ----------
    C : "auto" or float, default="auto"
        Cost of a row whose every pair misses the margin by one. "auto" is 1, or 10 for sparse X.
    {kernel}
    tol : float, default=1e-4
        Duality gap to reach, relative to the objective.
    max_iter : int, default=10000
        Largest number of sweeps over the rows; a ConvergenceWarning is given if the gap is not reached.

    Attributes
    ----------
    dual_coef_, intercept_ : arrays (n_labels, n_support), (n_labels,)
        Coefficients and constants of the decision function, of which the cut is part.
    support_ : array (n_support,)
        The training rows with a coefficient.
    objective_, dual_gap_ : float
        The objective, and an upper bound on its distance to the minimum.
    n_iter_ : int
        Sweeps over the rows.

    References
    ----------
    Elisseeff, Weston: A kernel method for multi-labelled classification. NIPS 14, 2001.

    Examples
    --------
    >>> from mlspl import RankSVMClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = RankSVMClassifier().fit(digits.X[:300], digits.Y[:300])
    >>> bool(model.dual_gap_ <= 1e-4 * model.objective_)
    True
    """

    _contents = {"objective_": "float", "dual_gap_": "float", "n_iter_": "int"}

    def __init__(self, C="auto", kernel="rbf", gamma="scale", tol=1e-4, max_iter=10_000):
        store_parameters(self, locals())

    def fit(self, X, Y, label_weight=None):  # type: ignore[override]
        """Learn the ranking of the labels, as in :meth:`BSVMClassifier.fit` without `sample_weight`.

        Two labels of a row cost the product of their weights, so a row counts w times with the square root of
        w as `label_weight`.
        """
        return super().fit(X, Y, label_weight)

    def _fit(self, X, Y, label_weight):
        self._warn_of_data(X, self._gram())
        signed = np.where(Y, 1.0, -1.0) * (1.0 if label_weight is None else label_weight)
        if Y.shape[1] == 1:
            signed = np.column_stack([signed, -np.sign(signed)])
        n_pairs = np.sum(signed > 0, axis=1) * np.sum(signed < 0, axis=1)
        rows = np.flatnonzero(n_pairs)
        prepared = self._gram().prepare(X, rows if len(rows) else [0])
        if len(rows):
            signed, scale = signed[rows], np.sqrt(1.0 / n_pairs[rows, None])
            C = self.C
            if C == "auto":  # chosen on text (medical, enron, tmc2007-500, OPP-115; development split 100)
                C = 10.0 if sparse.issparse(X) else 1.0
            solution = prepared.rank(np.sqrt(C) * scale * signed, tol=self.tol, max_iter=self.max_iter)
            mixing, constant = _cut(solution.scores, signed, scale) if Y.shape[1] > 1 else _AGAINST_VIRTUAL
            coef = mixing @ solution.coef.T
            intercept = mixing @ solution.bias + constant
            self.objective_, self.dual_gap_, self.n_iter_ = solution[-3:]
            if solution.dual_gap > self.tol * solution.objective:
                warnings.warn(
                    f"RankSVM stopped after max_iter={self.max_iter} sweeps with a relative duality gap of "
                    f"{solution.dual_gap / solution.objective:.3g}; tol={self.tol:g} was asked for. Raise "
                    "max_iter, lower C, or scale the features.",
                    ConvergenceWarning,
                    stacklevel=3,
                )
        else:
            present, absent = np.maximum(signed, 0.0).sum(axis=0), np.maximum(-signed, 0.0).sum(axis=0)
            coef = np.zeros((Y.shape[1], 1))
            intercept = np.log((present + 1.0) / (absent + 1.0))[: Y.shape[1]]
            self.objective_, self.dual_gap_, self.n_iter_ = 0.0, 0.0, 0
        self.model_ = prepared.make_model(coef, intercept)
        # One slope for all labels: the scores already rank the labels of a row.
        calibration = PlattCalibration(shared=True, offset=False)
        self._calibration = LazyCalibration(self, X, Y, label_weight, calibration)


# A single label is scored against the virtual label of its absence.
_AGAINST_VIRTUAL = np.array([[1.0, -1.0]]), 0.0


def _cut(scores, signed, scale):
    """The matrix I − 1aᵀ and the constant −c that subtract a cut a·f + c; rows count by their mean cost."""
    present, absent = np.maximum(signed, 0.0).sum(axis=1), np.maximum(-signed, 0.0).sum(axis=1)
    root_weight = scale[:, 0] * np.sqrt(present * absent)
    design = np.column_stack([scores, np.ones(len(scores))]) * root_weight[:, None]
    slope = np.linalg.lstsq(design, root_weight * _best_cuts(scores, signed), rcond=None)[0]
    return np.eye(scores.shape[1]) - slope[:-1], -slope[-1]


def _best_cuts(scores, signed):
    """For each row, the cut of its ranking with the least weight of labels on the wrong side.

    It is the middle of the widest such gap between two scores, or half a margin off an end.
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    scores = np.take_along_axis(scores, order, axis=1)
    signed = np.take_along_axis(signed, order, axis=1)
    errors = np.zeros((len(scores), scores.shape[1] + 1))
    np.cumsum(-signed, axis=1, out=errors[:, 1:])
    edges = np.column_stack([scores[:, 0] + 1.0, scores, scores[:, -1] - 1.0])
    width = edges[:, :-1] - edges[:, 1:]
    width[:, [0, -1]] = 0.0
    rounding = 1e-12 * np.abs(signed).sum(axis=1, keepdims=True)
    best = errors <= errors.min(axis=1, keepdims=True) + rounding
    chosen = np.argmax(np.where(best, width, -1.0), axis=1)[:, None]
    middle = (edges[:, :-1] + edges[:, 1:]) / 2.0
    return np.take_along_axis(middle, chosen, axis=1)[:, 0]
