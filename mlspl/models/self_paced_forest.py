"""Forests whose own out-of-bag losses set the pace."""

import numpy as np
from scipy.special import expit, logit
from sklearn.utils import check_random_state

from mlspl import pacing
from mlspl._limits import Cost
from mlspl.model_selection import ShrunkCalibration
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._forest import Bags, TreeRows, as_floats, make_tree, measure_units
from mlspl.models._forest_learner import ForestLearner
from mlspl.models._label_forests import LabelForests
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks

__all__ = ["SelfPacedForestClassifier"]


class SelfPacedForestClassifier(CallbackSupportMixin, MultiLabelClassifier):
    """A forest per label, its training pairs weighed by how ready the forest is to learn them.

    Every tree is grown on rows drawn with replacement. The trees that a row was not drawn for give its
    out-of-bag probability p of the label, so that the loss of a pair, −ln p of the label it is given, is
    always that of a row not seen, and costs no further fit. The schedule turns the losses into a pace, the
    self-paced function into weights, and the forest is grown anew with these as sample weights. Where labels
    are wrong or missing, this keeps them from being learned; see the study of self-pacing.

    Parameters
    ----------
    n_estimators : int, default=300
        Trees a label.
    pace_function : str, SelfPacedFunction or None, default="gaussian"
        The self-paced function; None grows the plain forest.
    schedule : schedule of :mod:`mlspl.pacing`, optional
        How the pace grows. By default one step, to the .9 quantile of the losses of each label and class.
    forest : {"extra-trees", "random-forest"}, default="extra-trees"
        Extremely randomised trees, which cut at random, or trees that look for the best cut.
    min_samples_leaf : int or float, default=2
        Smallest number (or share) of rows in a leaf.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        Features looked at for each cut; "auto": their root, or a tenth of them where that is more.
    n_jobs : int, optional
        Threads over labels and trees. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the draws and the trees. The draws stay the same from step to step.
    verbose : int, default=0
        1 shows a progress bar.
    prior_weight : "auto" or float, default="auto"
        What the frequency of the label weighs in the log-odds, from 0, which leaves what the trees say, to 1.
        "auto" is as much as the rows out of bag ask for.

    Attributes
    ----------
    oob_probabilities_ : array (n_samples, n_labels)
        What the last forests say of the training rows out of bag, before the prior weighs in. Where a row was
        drawn for every tree, the frequency of the label.
    prior_weight_ : float
        The weight that was given or found.
    label_weights_ : array (n_samples, n_labels)
        Weights of the last step.
    forests_ : LabelForests
        The trees of all labels that vary, and the frequency of each label.
    feature_importances_ : array (n_features,)
        How much each feature reduced the impurity, summing to 1; the mean over the labels.
    label_feature_importances_ : array (n_labels, n_features)
        The same of each label; zeros where a label is constant.
    trace_ : Trace
        What the walk remembers of every pair.
    history_ : list of dict
        For every step the pace, the mean loss, the mean weight, and which pairs are in play.
    stop_reason_ : str
        Why there was no further step.

    Notes
    -----
    A fit costs (steps + 1) times the forests. A label's probability is (Σ_t p_t + b)/(T + 1), with p_t the
    shares of the T trees and b the label's frequency, which ranks labels that no tree found a trace of. The
    score is its log-odds, drawn towards those of b by `prior_weight_`: of noisy labels forests say more than
    holds of new rows, and rank labels worse than their frequencies would (see
    :class:`~mlspl.model_selection.ShrunkCalibration`).

    Memory: 17 bytes a node. A tree has at most about .6·n nodes at two rows a leaf, so the forests take up to
    10·n·T·L bytes with n rows and L labels. Rare labels take less, one to five nodes for each row that has
    one: measured on 8,578 rows, 2,800 nodes a tree for a label of 4,817 rows and 360 for one of 144. A larger
    `min_samples_leaf` takes less in proportion. Training also holds the draws, n·T bytes, and some 12 tables
    like Y.

    Examples
    --------
    >>> from mlspl import SelfPacedForestClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = SelfPacedForestClassifier(n_estimators=50, random_state=0).fit(digits.X[:200], digits.Y[:200])
    >>> model.predict_proba(digits.X[200:202]).shape == (2, digits.Y.shape[1])
    True
    >>> model.stop_reason_, len(model.history_), model.trace_.entered.shape == digits.Y[:200].shape
    ('max_steps', 1, True)
    """

    _contents = {
        "oob_probabilities_": "float (rows, labels)",
        "label_weights_": "float (rows, labels)",
        "prior_weight_": "float",
        "forests_": LabelForests,
        "feature_importances_": "float (features)",
        "label_feature_importances_": "float (labels, features)",
        "trace_": pacing.Trace,
        "history_": "any",
        "stop_reason_": "text",
    }

    def __init__(
        self,
        n_estimators=300,
        pace_function="gaussian",
        schedule=None,
        forest="extra-trees",
        min_samples_leaf=2,
        max_features="auto",
        n_jobs=None,
        random_state=None,
        verbose=0,
        prior_weight="auto",
    ):
        self.n_estimators = n_estimators
        self.pace_function = pace_function
        self.schedule = schedule
        self.forest = forest
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.prior_weight = prior_weight

    fit = with_callbacks(MultiLabelClassifier.fit)

    def _fit(self, X, Y, label_weight):
        function = None if self.pace_function is None else pacing.get(self.pace_function)
        schedule = self.schedule or pacing.QuantilePace(0.9, 0.9, 1, per="class")
        targets = () if function is None else schedule
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        units = measure_units(X)
        X = as_floats(X, units)
        bags = Bags.draw(self.n_estimators, len(Y), Y.shape[1], check_random_state(self.random_state))
        tree = make_tree(self.forest, self.min_samples_leaf, self.max_features, X.shape[1])
        learner = ForestLearner(TreeRows(X, tree), Y, prior, bags, self.n_jobs)
        with fit_progress(self, 1 + len(targets), X, Y) as report:
            learner.fit(np.ones(Y.shape))
            walk = pacing.paced(learner, function, targets, Y, prior > 0)
            stopped = report("unpaced")
            for step in () if stopped else walk:
                if report(f"mean weight {step.record['mean_weight']:.3f}"):
                    walk.stop()
        self.label_weights_ = walk.weights
        self.history_, self.trace_ = walk.history, walk.trace
        self.stop_reason_ = "callback" if stopped else walk.stop_reason
        self.oob_probabilities_ = learner.probabilities
        if self.prior_weight == "auto":
            shrunk = ShrunkCalibration().fit(logit(learner.probabilities), Y, prior)
            self.prior_weight_ = 1.0 - shrunk.share_
        else:
            self.prior_weight_ = float(self.prior_weight)
        self.label_feature_importances_ = learner.importances
        total = learner.importances.sum(axis=0)
        self.feature_importances_ = total / max(total.sum(), np.finfo(float).tiny)
        self.forests_ = LabelForests(learner.forests, learner.frequencies, units)

    def _scores(self, X):
        scores = self.forests_.scores(X, self.n_jobs)
        return scores + self.prior_weight_ * (logit(self.forests_.frequencies) - scores)

    def _probabilities(self, X, scores):
        return expit(scores)

    def _check_contents(self) -> None:
        """Refuse forests of other labels or features than the model's; they check themselves."""
        forests = self.forests_
        if len(forests.frequencies) != len(self.label_names_):
            raise ValueError("the forests are of other labels")
        if len(forests.units) != self.n_features_in_:
            raise ValueError("the forests are of other features")

    def _cost(self, size):
        """Nodes of the trees, the draws, and tables like Y.

        Where labels are rare, trees end after a few nodes for each row that carries one.
        """
        carriers = size.pairs / max(size.labels - 1, 1) / size.labels
        nodes = min(0.6 * size.rows, 5.0 * carriers) if size.labels > 1 else 0.6 * size.rows
        trees = self.n_estimators * size.labels
        seconds = 1e-3 * trees * (1.0 + size.rows * np.log2(size.rows + 1) * np.sqrt(size.features) * 1e-5)
        return Cost(super()._cost(size).bytes + 17 * nodes * trees + size.rows * self.n_estimators, seconds)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
