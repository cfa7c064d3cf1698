"""MLSPL: multi-label self-paced learning (Li et al.), as published and with cross-fitted codes."""

from mlspl import pacing
from mlspl._docs import share
from mlspl.model_selection import IterativeStratification
from mlspl.models._base import store_parameters
from mlspl.models._pace_choice import UNPACED, choose_schedule
from mlspl.models._space_classifier import LocalCorrelationClassifier

_SCHEDULES = pacing.QuantilePace(0.9, 0.9, 1), pacing.QuantilePace(0.7, 0.95, 3)


@share
class MLSPLClassifier(LocalCorrelationClassifier):
    r"""Learn all labels together, easy (instance, label) pairs first.

    Minimises objective (2) of the paper,

    .. math:: \sum_{i,l} v_{il} \max(0, 1 - y_{il} f_l(x_i, q_i)) + \frac{1}{2C} \sum_l \|w_l\|^2
              + \beta \sum_{ij} q_{ij} \|y_i - a_j\|^2 + \sum_{i,l} f(v_{il}, \lambda)

    alternately over the weights v (closed form of the self-paced function), the classifiers w (one weighted
    SVM per label), the codes q (small linear programs) and the prototypes a (means), while the pace λ grows.
    The steps are in ``mlspl/models/local_correlation.py``. On a kernel matrix, memory grows as 2n² and time
    between n²·L and n³·L per step; in the other spaces both grow linearly with the rows.

    As published, codes are made from the labels that they help to predict, so that no pair looks hard and
    pacing has no effect. ``codes="cross-fit"`` trains the classifiers on out-of-fold predictions of the
    codes, with out-of-fold losses; ``codes="in-sample"`` is the paper.

    Parameters
    ----------
    pace_function : str, SelfPacedFunction or None, default="sigmoid"
        The self-paced function. None weights every pair 1, which makes this ML-LOC.
    schedule : schedule of :mod:`mlspl.pacing`, optional
        How the pace grows. By default it is one step at infinity, the unpaced model. On a kernel matrix and
        with at least 100 rows, two paces are compared with it on held-out rows: the 0.9 quantile of the
        losses of each label and class, and its 0.7, 0.825 and 0.95 quantile in turn. A pace is taken if it
        lowers the log loss by half a standard error.
    {codes}
    codes : {"cross-fit", "in-sample"}, default="cross-fit"
        The codes that the classifiers are trained on. An unknown label counts as absent in them.
    n_folds : int, default=3
        Folds of the cross-fitting.
    C : "auto" or float, default="auto"
        1/(2α) of the paper. "auto" is 1 on a kernel matrix; elsewhere it is chosen by the loss on held-out
        rows of a sample, without codes.
    {beta}
    regressor : {"ridge", "svr"}, default="ridge"
        What predicts the codes of new rows. "svr" needs a kernel matrix.
    {kernel}
    class_weight : None, "balanced", float or dict, default=0.5
    {class_weight}
    target_weight : float, default=1.0
        Stop as soon as every pair has at least this weight.
    {tol}
    {n_jobs}
    random_state : int, RandomState or None, default=None
        Seeds k-means and the folds.
    {verbose}
    {space}

    Attributes
    ----------
    {space_}
    calibration_ : Calibration or None
        Puts the scores of all labels on one scale; chosen by average precision on out-of-fold scores. None
        with in-sample codes, whose scores are margins.
    pace_choice_ : list of dict
        Of the compared paces, how far each lowers the log loss: gain and standard_error.
    label_weights_ : array (n_samples, n_labels) or None
        Weights of the pairs at the last step. Like the trace, None for more than 67 million pairs.
    {codes_}
    {paced_}

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

    _contents = {"pace_choice_": "plain"}

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
        class_weight=0.5,
        target_weight=1.0,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
        n_landmarks="auto",
    ):
        store_parameters(self, locals())

    @classmethod
    def as_published(
        cls, pace_function="sigmoid", pace=1e-2, growth=1.3, max_steps=20, random_state=None, **parameters
    ):
        """The paper's algorithm with its errata corrected.

        In-sample codes, geometric pace, C = ½ (α = 1), β = 100, 15 prototypes, RBF kernel with γ = 1/d and
        ε-SVR code regressors. Features should be z-scored on the training rows.

        Parameters
        ----------
        pace : float, default=1e-2
            λ of the first step; the paper searches 1e-5 … 1e-2.
        growth : float, default=1.3
            μ, by which λ is multiplied at every step; the paper searches 1.1 … 1.5.
        max_steps : int, default=20
            Number of steps; the paper gives no stopping rule.
        pace_function, random_state, **parameters
            Parameters of the estimator.
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

    def _pacing(self, space, X, Y, label_weight):
        function = None if self.pace_function is None else pacing.get(self.pace_function)
        schedule, self.pace_choice_ = self.schedule or UNPACED, []
        if self.schedule is None and function is not None and not space.many_rows:
            schedule, self.pace_choice_ = choose_schedule(self, _SCHEDULES, X, Y, label_weight)
        return function, schedule

    def _folds(self, Y):
        if self.codes == "in-sample" or Y.shape[0] < 2:
            return None
        splitter = IterativeStratification(min(self.n_folds, Y.shape[0]), random_state=self.random_state)
        return list(splitter.split(Y, Y))
