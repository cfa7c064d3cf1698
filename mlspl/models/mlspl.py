"""MLSPL: multi-label self-paced learning (Li et al.), as printed and as it has to be to matter."""

from mlspl import pacing
from mlspl.model_selection import IterativeStratification
from mlspl.models._local_correlation import LocalCorrelationClassifier
from mlspl.spaces import Linear, Nystroem

__all__ = ["MLSPLClassifier"]


class MLSPLClassifier(LocalCorrelationClassifier):
    r"""Learn all labels together, easy (instance, label) pairs first.

    Minimises objective (2) of the paper,

    .. math:: \sum_{i,l} v_{il} \max(0, 1 - y_{il} f_l(x_i, q_i)) + \frac{1}{2C} \sum_l \|w_l\|^2
              + \beta \sum_{ij} q_{ij} \|y_i - a_j\|^2 + \sum_{i,l} f(v_{il}, \lambda)

    by turns over the weights v (closed form of the self-paced function), the classifiers w (one weighted SVM
    per label), the codes q (small linear programs) and the prototypes a (means), while the pace λ grows.

    Printed, the codes are made from the very labels they help to predict, so that nothing looks hard and
    pacing does nothing. ``codes="cross-fit"`` shows the classifiers codes predicted out of fold and
    takes the losses out of fold too; ``codes="in-sample"`` is the paper.

    On a kernel matrix memory grows as 2n² for n training rows and time between n²·L and n³·L a step, less
    with warm starts; in the other spaces both grow as the data.

    Parameters
    ----------
    pace_function : str, SelfPacedFunction or None, default="sigmoid"
        The self-paced function; None weighs every pair 1, which makes this ML-LOC.
    schedule : schedule of :mod:`mlspl.pacing`, optional
        How the pace grows. By default to the .7, .825 and .95 quantile of the losses of each label and
        class. Beside a kernel matrix it goes to .7, .85 and infinity, which ends at the unpaced model: many
        rows outvote wrong labels, and to leave the hardest out costs up to .015 of average precision.
        :class:`MLSPLClassifierCV` chooses it.
    n_codes : int, default=15
        Number of prototypes; never more than there are distinct label sets.
    codes : {"cross-fit", "in-sample"}, default="cross-fit"
        What the classifiers see of the codes in training.
    n_folds : int, default=3
        Folds of the cross-fitting.
    C : "auto" or float, default="auto"
        1/(2α) of the paper. "auto" is 1 on a kernel matrix; elsewhere that of the least loss of rows held
        out, of a sample, by machines that see codes if these are cross-fitted.
    beta : float, default=100.0
        Weight of the distance between label vectors and prototypes.
    regressor : {"ridge", "svr"} or CodeRegressor, default="ridge"
        What predicts the code of an instance.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        The kernel of the features, which should be scaled.
    gamma : {"scale", "auto"} or float, default="scale"
        "auto" is 1/d, "scale" is 1/(d·variance).
    degree, coef0 : float, default=3, 0.0
        Of the polynomial kernel.
    class_weight : None, "balanced", float or dict, default=0.5
        A number e weighs a class of share p by (½/p)^e: 0 is no balance, 1 (= "balanced") makes both
        classes of every label weigh the same. A dict gives the weight of each class, for all labels.
    target_weight : float, default=1.0
        Stop as soon as every pair weighs at least this much.
    solver : {"auto", "libsvm"}, default="auto"
        "libsvm" is slower and there for the doubtful.
    tol : float, default=1e-3
        Largest violation of the SVMs' optimality conditions. In a step whose λ the schedule gives, at most
        λ/100, as an error of a loss moves its weight by up to the λ-th part of it.
    n_jobs : int, optional
        Threads over labels.
    random_state : int, RandomState or None, default=None
        Seeds k-means and the folds.
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
    calibration_ : Calibration or None
        What puts the scores of all labels on one scale, fitted to the out-of-fold scores that cross-fitted
        codes come with: log-odds by Platt's sigmoids, or nothing, if these rank the labels of held-out rows
        no better. Beside a kernel matrix, with at most 64 labels, also log-odds of each label from the scores
        of all labels, if these rank better. None with in-sample codes, whose scores are margins.
    label_weights_ : array (n_samples, n_labels) or None
        How ready the model was to learn each pair at the last step: 1 at an infinite pace, after which
        ``trace_`` says what was hard. None of more than 67 million pairs.
    codes_ : array (n_samples, n_codes)
        The training codes.
    prototypes_ : array (n_codes, n_labels)
        The prototypes, in the ±1 label space.
    history_ : list of dict
        For every step: the schedule's target (λ, or a quantile), the mean loss and the mean weight of the
        known pairs, the share of those of each label with a weight of at least one half, the objective and
        its parts, and the seconds it took.
    trace_ : Trace or None
        Of every pair the step at which it entered, and its losses on the way. None of more than 67 million.
    stop_reason_ : str
        "max_steps", "infinite_pace", "target_weight", "settled" or "callback".

    Notes
    -----
    A pair without weight (an unknown label) has no say in classifiers, losses and pace. In prototypes and
    codes, which are made of whole label vectors, it counts as absent.

    Very many labels are fitted in blocks wherever they are independent once there are codes: in a linear or
    Nyström space, unless the loss is the hinge or the pace one of all labels together. The walk of a block
    ends by its own losses.

    References
    ----------
    Li, Wei, Yan, Dong, Liu, Zhang, Zha: A self-paced regularization framework for multi-label learning.

    Examples
    --------
    >>> from mlspl import MLSPLClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifier(random_state=0).fit(digits.X[:300], digits.Y[:300])
    >>> model.label_weights_.shape == (300, digits.Y.shape[1])
    True
    """

    def __init__(
        self,
        pace_function="sigmoid",
        schedule=None,
        n_codes=15,
        codes="cross-fit",
        n_folds=3,
        C="auto",
        beta=100.0,
        regressor="ridge",
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        class_weight=0.5,
        target_weight=1.0,
        solver="auto",
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
        loss="auto",
        n_landmarks="auto",
    ):
        self.pace_function = pace_function
        self.schedule = schedule
        self.n_codes = n_codes
        self.codes = codes
        self.n_folds = n_folds
        self.C = C
        self.beta = beta
        self.regressor = regressor
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.target_weight = target_weight
        self.solver = solver
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.space = space
        self.loss = loss
        self.n_landmarks = n_landmarks

    @classmethod
    def as_published(
        cls, pace_function="sigmoid", pace=1e-2, growth=1.3, max_steps=20, random_state=None, **parameters
    ):
        """The paper's algorithm, its errata corrected.

        In-sample codes, geometric pace, C = ½ (α = 1), β = 100, 15 prototypes, RBF kernel with γ = 1/d and
        ε-SVR code regressors. Features should be z-scored on the training rows.

        Parameters
        ----------
        pace_function : str, SelfPacedFunction or None, default="sigmoid"
            The self-paced function.
        pace : float, default=1e-2
            λ of the first step; the paper searches 1e-5 … 1e-2.
        growth : float, default=1.3
            μ, by which λ is multiplied at every step; the paper searches 1.1 … 1.5.
        max_steps : int, default=20
            Number of steps; the paper gives no stopping rule.
        random_state : int, RandomState or None, default=None
            Seeds k-means.
        **parameters
            Further parameters of the estimator, such as ``n_jobs``.

        Examples
        --------
        >>> MLSPLClassifier.as_published(growth=1.5).schedule
        GeometricPace(start=0.01, growth=1.5, steps=20)
        """
        published = {
            "schedule": pacing.GeometricPace(pace, growth, max_steps),
            "codes": "in-sample",
            "C": 0.5,
            "regressor": "svr",
            "gamma": "auto",
            "class_weight": None,
            "space": "gram",
        }
        return cls(pace_function, random_state=random_state, **(published | parameters))

    def _pacing(self, space):
        function = None if self.pace_function is None else pacing.get(self.pace_function)
        stop = 1.0 if isinstance(space, Linear | Nystroem) else 0.95
        return function, self.schedule or pacing.QuantilePace(0.7, stop, 3, per="class")

    def _folds(self, Y):
        if self.codes == "in-sample":
            return None
        n_rows = Y.shape[0]
        if n_rows < 2:
            return None
        splitter = IterativeStratification(min(self.n_folds, n_rows), random_state=self.random_state)
        return list(splitter.split(Y, Y))
