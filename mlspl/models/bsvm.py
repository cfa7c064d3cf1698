"""BSVM: one support vector machine per label (Boutell et al. 2004)."""

import numpy as np
from scipy import sparse

from mlspl._docs import share
from mlspl._parallel import count_workers
from mlspl._progress import show_progress
from mlspl.models._base import store_parameters
from mlspl.models._calibrated import LazyCalibration
from mlspl.models._label_blocks import (
    dense_block,
    label_blocks,
    map_blocks,
    one_thread,
    prune_weights,
    stack_weights,
)
from mlspl.models._space_classifier import SpaceClassifier


@share
class BSVMClassifier(SpaceClassifier):
    """One support vector machine per label, independent of the other labels.

    On a kernel matrix, memory grows as n² and time between n²·L and n³·L; in the other spaces both grow
    linearly with the rows. A label that is constant in training is predicted as that constant.

    Parameters
    ----------
    C : "auto" or float, default="auto"
        Cost of a unit of loss. "auto" is 1 on a kernel matrix; elsewhere it is chosen by the loss on held-out
        rows of a sample.
    {kernel}
    class_weight : None, "balanced", float or dict, default=None
    {class_weight}
    {tol}
    {n_jobs}
    {space}
    random_state : int, RandomState or None, default=None
        Seeds the choice of landmarks.
    {verbose}

    Attributes
    ----------
    {space_}
    coef_, intercept_ : arrays (n_labels, n_features), (n_labels,)
        The weights, in a linear space, and the biases.
    dual_coef_, support_ : arrays (n_labels, n_support), (n_support,)
        Signed dual coefficients and indices of the support vectors of any label.

    References
    ----------
    Boutell, Luo, Shen, Brown: Learning multi-label scene classification. Pattern Recognition 37, 2004.

    Examples
    --------
    >>> from mlspl import BSVMClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = BSVMClassifier().fit(digits.X[:300], digits.Y[:300])
    >>> model.predict(digits.X[300:303]).shape == (3, digits.Y.shape[1])
    True
    """

    _contents = {"space_": "text", "C_": "float"}
    _sparse_labels = True
    _float_types = [np.float64, np.float32]

    def __init__(
        self,
        C="auto",
        kernel="rbf",
        gamma="scale",
        class_weight=None,
        tol=1e-3,
        n_jobs=None,
        space="auto",
        n_landmarks="auto",
        random_state=None,
        verbose=0,
    ):
        store_parameters(self, locals())

    def _fit(self, X, Y, label_weight):
        n_workers, blocks = count_workers(), [slice(0, Y.shape[1])]
        with show_progress("labels", Y.shape[1], hidden=not self.verbose, lines=True) as advance:
            space = self._choose_cost(self._choose_space(X), X, Y, label_weight)
            if space.on_features:
                blocks = label_blocks(X.shape[0], X.shape[1], Y.shape[1], n_workers)
                space = one_thread(space) if n_workers > 1 else space
            rows = space.prepare(X)
            shared = (rows, Y.tocsc() if sparse.issparse(Y) else Y, label_weight, self._weigh)
            coefs, intercepts = [], []
            for coef, intercept in map_blocks(_solve_block, shared, blocks):
                coefs.append(prune_weights(coef, Y.shape[1]) if space.on_features else coef)
                intercepts.append(intercept)
                advance("", len(intercept))
        self.model_ = rows.make_model(stack_weights(coefs), np.concatenate(intercepts))
        self._calibration = LazyCalibration(self, X, Y, label_weight)

    def _weigh(self, Y, label_weight):
        return self.C_ * self._class_costs(Y, label_weight)


def _solve_block(rows, Y, label_weight, weigh, block) -> tuple[np.ndarray, np.ndarray]:
    labels = dense_block(Y, block)
    costs = weigh(labels, dense_block(label_weight, block))
    solved = rows.solve(np.where(labels.T, 1.0, -1.0), costs.T)
    return solved.coef, solved.intercept
