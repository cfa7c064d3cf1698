"""ML-LOC: label correlations exploited locally (Huang & Zhou 2012), the model under MLSPL."""

from mlspl.models._local_correlation import LocalCorrelationClassifier

__all__ = ["MLLOCClassifier"]


class MLLOCClassifier(LocalCorrelationClassifier):
    r"""Classifiers that see, beside the features, a code of the instance's group of label vectors.

    Minimises

    .. math:: \sum_{i,l} \max(0, 1 - y_{il} f_l(x_i, q_i)) + \alpha \sum_l \|w_l\|^2
              + \beta \sum_{ij} q_{ij} \|y_i - a_j\|^2

    over classifiers, codes q_i in the simplex and prototypes a_j, with α = 1/(2C): objective (1) of the MLSPL
    paper. The prototypes start as k-means centres of the label vectors. For a new instance the code is
    predicted.

    On a kernel matrix memory grows as 2n² and time between n²·L and n³·L; in the other spaces both grow as
    the data.

    Parameters
    ----------
    n_codes : int, default=15
        Number of prototypes; never more than there are distinct label sets.
    C : "auto" or float, default="auto"
        1/(2α). "auto" is ½, the paper's, on a kernel matrix; elsewhere that of the least loss of rows held
        out, of a sample, by machines without codes.
    beta : float, default=100.0
        Weight of the distance between label vectors and prototypes.
    regressor : {"auto", "svr", "ridge"} or CodeRegressor, default="auto"
        What predicts the code of an instance. "auto" is "svr", as for the paper's figures, on a kernel
        matrix, and "ridge", which is far faster there, elsewhere.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        The kernel of the features, which should be scaled.
    gamma : {"auto", "scale"} or float, default="auto"
        "auto" is 1/d.
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    class_weight : None, "balanced", float or dict, default=None
        A number e weighs a class of share p by (½/p)^e: 0 is no balance, 1 (= "balanced") makes both
        classes of every label weigh the same. A dict gives the weight of each class, for all labels.
    max_steps : int, default=20
        Largest number of alternations; it ends earlier when no code moves.
    solver : {"auto", "libsvm"}, default="auto"
        "libsvm" is slower and there for the doubtful.
    tol : float, default=1e-3
        Largest violation of the SVMs' optimality conditions.
    n_jobs : int, optional
        Threads over labels.
    random_state : int, RandomState or None, default=None
        Seeds k-means.
    verbose : int, default=0
        1 shows a progress bar.
    space : {"auto", "gram", "linear", "nystroem"} or Space, default="auto"
        Where the machines are fitted: on a kernel matrix, on the features themselves, or on kernel values
        with landmarks. "auto" is the first up to 8,000 rows, then the second for a sparse X, the third for a
        dense.
    loss : {"auto", "hinge", "squared_hinge", "logistic"}, default="auto"
        What the machines minimise and what paces. "auto" is the hinge, the paper's, on a kernel matrix, which
        has no other, and logistic elsewhere.
    n_landmarks : "auto" or int, default="auto"
        Landmarks of the space "nystroem"; "auto" is 1,400 less the features, or what memory allows.

    Attributes
    ----------
    space_ : str
        Which space was taken, and why.
    C_ : float
        The C that was used.
    codes_ : array (n_samples, n_codes)
        The training codes.
    prototypes_ : array (n_codes, n_labels)
        The prototypes, in the ±1 label space.
    history_ : list of dict
        For every step the objective and its parts, and the seconds it took.
    stop_reason_ : str
        "settled" when nothing moved any more, or "max_steps".

    References
    ----------
    Huang, Zhou: Multi-label learning by exploiting label correlations locally. AAAI 2012.

    Examples
    --------
    >>> from mlspl import MLLOCClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLLOCClassifier(gamma="scale", random_state=0).fit(digits.X[:300], digits.Y[:300])
    >>> model.stop_reason_
    'settled'
    """

    def __init__(
        self,
        n_codes=15,
        C="auto",
        beta=100.0,
        regressor="auto",
        kernel="rbf",
        gamma="auto",
        degree=3,
        coef0=0.0,
        class_weight=None,
        max_steps=20,
        solver="auto",
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
        loss="auto",
        n_landmarks="auto",
    ):
        self.n_codes = n_codes
        self.C = C
        self.beta = beta
        self.regressor = regressor
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.max_steps = max_steps
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.space = space
        self.loss = loss
        self.n_landmarks = n_landmarks

    _gram_C = 0.5

    def _pacing(self, space):
        return None, range(self.max_steps)
