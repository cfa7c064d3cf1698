"""BSVM: one support vector machine per label, all in one space (Boutell et al. 2004)."""

import numpy as np
from scipy import sparse

from mlspl._limits import FLOAT, Cost
from mlspl.models._label_blocks import block_labels, solve_label_blocks
from mlspl.models._machine import SpaceMachine
from mlspl.spaces import Linear

__all__ = ["BSVMClassifier"]


class BSVMClassifier(SpaceMachine):
    """One C-SVM per label; labels do not know of each other.

    On a few thousand rows one kernel matrix is shared by all labels: memory grows as n², time between n²·L
    and n³·L. Beyond, machines are linear in the features or in landmarks, and both grow as the data: see
    ``space``. A label that is constant in training is predicted as that constant.

    Parameters
    ----------
    C : "auto" or float, default="auto"
        Cost of a unit of loss. "auto" is 1 on a kernel matrix; elsewhere that of the least loss of rows held
        out, of a sample.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        The kernel. Features should be scaled: on the scene data set the Hamming loss is .089 with z-scores
        and .155 with features between 0 and 1.
    gamma : {"auto", "scale"} or float, default="auto"
        "auto" is 1/d, LIBSVM's default.
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    criterion : {"P", "T"}, default="P"
        "P" predicts the labels with a positive score; "T" also the top label of a row that has none.
    class_weight : None, "balanced", float or dict, default=None
        A number e weighs a class of share p by (½/p)^e: 0 is no balance, 1 (= "balanced") makes both
        classes of every label weigh the same. A dict gives the weight of each class, for all labels.
    solver : {"auto", "libsvm"}, default="auto"
        "libsvm" is slower and there for the doubtful.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, as in LIBSVM.
    n_jobs : int, optional
        Threads over labels.
    space : {"auto", "gram", "linear", "nystroem"} or Space, default="auto"
        Where the machines are fitted: on a kernel matrix, on the features themselves, or on kernel values
        with landmarks. "auto" is the first up to 8,000 rows, then the second for a sparse X, the third for a
        dense.
    loss : {"auto", "hinge", "squared_hinge", "logistic"}, default="auto"
        "auto" is the hinge on a kernel matrix, which has no other, and logistic elsewhere.
    n_landmarks : "auto" or int, default="auto"
        Landmarks of the space "nystroem"; "auto" is 1,400 less the features, or what memory allows.
    random_state : int, RandomState or None, default=None
        Seeds the choice of landmarks.

    Attributes
    ----------
    space_ : str
        Which space was taken, and why.
    C_ : float
        The cost of a unit of loss.
    coef_ : array (n_labels, n_features)
        The weights, in a linear space.
    dual_coef_ : array (n_labels, n_support)
        Signed dual coefficients of the rows that support any label.
    intercept_ : array (n_labels,)
        The biases.
    support_ : array (n_support,)
        Which training rows those are.

    References
    ----------
    Boutell, Luo, Shen, Brown: Learning multi-label scene classification. Pattern Recognition 37, 2004.

    Examples
    --------
    >>> from mlspl import BSVMClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = BSVMClassifier(gamma="scale").fit(digits.X[:300], digits.Y[:300])
    >>> model.predict(digits.X[300:303]).shape == (3, digits.Y.shape[1])
    True
    """

    _sparse_labels = True

    def __init__(
        self,
        C="auto",
        kernel="rbf",
        gamma="auto",
        degree=3,
        coef0=0.0,
        criterion="P",
        class_weight=None,
        solver="auto",
        tol=1e-3,
        n_jobs=None,
        space="auto",
        loss="auto",
        n_landmarks="auto",
        random_state=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.criterion = criterion
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.space = space
        self.loss = loss
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def _fit(self, X, Y, label_weight):
        if self.criterion not in ("P", "T"):
            raise ValueError(f"criterion is {self.criterion!r}; give 'P' or 'T'.")
        space = self._take_space(X, Y, label_weight)
        rows = space.place(X)
        if isinstance(space, Linear):
            solved = solve_label_blocks(space, X, Y, label_weight, self._weigh)
        else:
            Y = Y.toarray() if sparse.issparse(Y) else Y
            solved = rows.solve(np.where(Y.T, 1.0, -1.0), self._weigh(Y, label_weight).T)[:2]
        self.model_ = rows.keep(*solved)
        self._prepare_calibration(X, Y, label_weight)

    def _weigh(self, Y, label_weight):
        return self.C_ * self._class_costs(Y, label_weight)

    def _cost(self, size):
        """In a linear space, tables for a block of labels at a time."""
        if not isinstance(self._choose_space(size).space, Linear):
            return super()._cost(size)
        block = block_labels(size.rows, size.features, size.labels)
        cost = super()._cost(size._replace(labels=min(block, size.labels)))
        weights = FLOAT * min(size.features * size.labels, 2**28)
        return Cost(cost.bytes + weights + size.rows * size.labels / 8, cost.seconds * size.labels / block)

    def _labels(self, X, scores):
        labels = scores > 0
        if self.criterion == "T" and self._multilabel:
            empty = np.flatnonzero(~labels.any(axis=1))
            labels[empty, scores[empty].argmax(axis=1)] = True
        return labels
