"""ML-LOC: local label correlations (Huang & Zhou 2012), the model under MLSPL."""

from mlspl._docs import share
from mlspl.models._base import store_parameters
from mlspl.models._space_classifier import LocalCorrelationClassifier


@share
class MLLOCClassifier(LocalCorrelationClassifier):
    r"""One classifier per label on the features and a code of the instance's cluster of label vectors.

    Minimises objective (1) of the MLSPL paper,

    .. math:: \sum_{i,l} \max(0, 1 - y_{il} f_l(x_i, q_i)) + \alpha \sum_l \|w_l\|^2
              + \beta \sum_{ij} q_{ij} \|y_i - a_j\|^2

    over classifiers, codes q_i in the simplex and prototypes a_j, with α = 1/(2C). The prototypes start as
    k-means centres of the label vectors. The code of a new instance is predicted by regression.

    On a kernel matrix, memory grows as 2n² and time between n²·L and n³·L; in the other spaces both grow
    linearly with the rows.

    Parameters
    ----------
    {codes}
    C : "auto" or float, default="auto"
        1/(2α). "auto" is ½, the paper's, on a kernel matrix; elsewhere it is chosen by the loss on held-out
        rows of a sample, without codes.
    {beta}
    regressor : {"auto", "svr", "ridge"}, default="auto"
        What predicts the codes of new rows. "auto" is "svr", as for the paper's figures, on a kernel matrix,
        and "ridge" elsewhere.
    {kernel}
    class_weight : None, "balanced", float or dict, default=None
    {class_weight}
    max_steps : int, default=20
        Largest number of alternations; the fit ends earlier if no code moves.
    {tol}
    {n_jobs}
    random_state : int, RandomState or None, default=None
        Seeds k-means.
    {verbose}
    {space}

    Attributes
    ----------
    {space_}
    {codes_}
    history_ : list of dict
        Of every step, the objective and its parts, and the seconds it took.
    stop_reason_ : str
        "settled" if nothing moved, or "max_steps".

    References
    ----------
    Huang, Zhou: Multi-label learning by exploiting label correlations locally. AAAI 2012.

    Examples
    --------
    >>> from mlspl import MLLOCClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLLOCClassifier(random_state=0).fit(digits.X[:300], digits.Y[:300])
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
        gamma="scale",
        class_weight=None,
        max_steps=20,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
        n_landmarks="auto",
    ):
        store_parameters(self, locals())

    _gram_C = 0.5

    def _pacing(self, space, X, Y, label_weight):
        return None, range(self.max_steps)
