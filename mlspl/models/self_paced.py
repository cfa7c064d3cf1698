"""Self-pacing around any scikit-learn classifier that takes sample weights."""

import numpy as np
from joblib import Parallel, delayed
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from mlspl import pacing
from mlspl.model_selection import IterativeStratification
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks

__all__ = ["SelfPacedClassifier"]

# Log-odds of a forest whose trees agree are infinite; beyond this no ranking and no loss gains anything.
_CERTAIN = 1e-6


class SelfPacedClassifier(CallbackSupportMixin, MultiLabelClassifier):
    """One copy of a classifier per label, its training pairs weighed by how ready it is to learn them.

    At every step the logistic loss of each (instance, label) pair is taken from copies that did not see the
    instance, the schedule turns the losses into a pace and the self-paced function into weights. At the end
    one copy per label is fitted on all rows with the last weights. A fit costs (steps·folds + 1)·L fits of
    the classifier.

    Parameters
    ----------
    estimator : classifier
        With ``fit(X, y, sample_weight)`` and ``predict_proba`` or ``decision_function``.
    pace_function : str, SelfPacedFunction or None, default="gaussian"
        The self-paced function; None weighs every pair 1.
    schedule : schedule of :mod:`mlspl.pacing`, optional
        How the pace grows; by default one step, to the .9 quantile of the losses of each label and class.
    n_folds : int, default=3
        Folds of the losses.
    n_jobs : int, optional
        Labels fitted at a time.
    random_state : int, RandomState or None, default=None
        Seeds the folds, and copies of the estimator that have no seed of their own.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    estimators_ : list
        The fitted copy of each label, or its constant log-odds where one class alone had weight.
    label_weights_ : array (n_samples, n_labels)
        Weights of the last step.
    history_ : list of dict
        For every step the pace, the mean loss and the mean weight.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from mlspl import SelfPacedClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = SelfPacedClassifier(LogisticRegression(C=0.01), random_state=0)
    >>> model.fit(digits.X[:200], digits.Y[:200]).predict(digits.X[200:202]).shape == (2, digits.Y.shape[1])
    True
    """

    def __init__(
        self,
        estimator,
        pace_function="gaussian",
        schedule=None,
        n_folds=3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.pace_function = pace_function
        self.schedule = schedule
        self.n_folds = n_folds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit = with_callbacks(MultiLabelClassifier.fit)

    def _fit(self, X, Y, label_weight):
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError(
                f"{self.estimator!r} takes a matrix of all pairs of rows, which folds cannot cut. Let it "
                "take the features, for instance with kernel='rbf'."
            )
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{self.estimator!r} cannot be paced, for its fit takes no sample_weight. Put preprocessing "
                "before the pacing: make_pipeline(StandardScaler(), SelfPacedClassifier(…))."
            )
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=Y.shape[1])
        prior = np.ones(Y.shape) if label_weight is None else label_weight
        known = prior > 0
        weights = np.ones(Y.shape)
        schedule = self.schedule or pacing.QuantilePace(0.9, 0.9, 1, per="class")
        self.history_: list[dict] = []
        if self.pace_function is not None and len(Y) > 1:
            function = pacing.get(self.pace_function)
            folds = list(
                IterativeStratification(min(self.n_folds, len(Y)), random_state=self.random_state).split(X, Y)
            )
            with fit_progress(self, len(schedule), X, Y) as report:
                for target in schedule:
                    losses = self._losses(X, Y, prior * weights, folds, seeds)
                    weights = function.weight(losses, schedule.pace(target, losses, Y, known))
                    self.history_.append(
                        {
                            "step": len(self.history_) + 1,
                            "pace": float(target),
                            "mean_loss": float(losses.mean(where=known)),
                            "mean_weight": float(weights.mean(where=known)),
                        }
                    )
                    if report(f"mean weight {self.history_[-1]['mean_weight']:.3f}"):
                        break
        self.label_weights_ = weights
        self.estimators_ = self._fit_labels(X, Y, prior * weights, seeds)

    def _losses(self, X, Y, weights, folds, seeds) -> np.ndarray:
        """Logistic loss of every pair under copies fitted without its row."""
        losses = np.empty(Y.shape)
        for train, test in folds:
            models = self._fit_labels(X[train], Y[train], weights[train], seeds)
            margins = np.where(Y[test], 1, -1) * _log_odds(models, X[test])
            losses[test] = np.logaddexp(0.0, -margins)
        return losses

    def _fit_labels(self, X, Y, weights, seeds) -> list:
        return Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(_seeded(self.estimator, seed), X, y, w)
            for seed, y, w in zip(seeds.tolist(), Y.T, weights.T, strict=True)
        )

    def _scores(self, X):
        return _log_odds(self.estimators_, X)

    def _probabilities(self, X, scores):
        return expit(scores)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


def _seeded(estimator, seed):
    """A copy of the estimator; what is random in it and has no seed of its own gets this one."""
    estimator = clone(estimator)
    parameters = estimator.get_params()
    unset = [name for name in parameters if name.endswith("random_state") and parameters[name] is None]
    return estimator.set_params(**dict.fromkeys(unset, seed))


def _fit_label(estimator, X, y, weight):
    """Fit on the pairs that weigh anything; a constant where they are all of one class."""
    rows = np.flatnonzero(weight > 0)
    classes = np.unique(y[rows])
    if len(classes) < 2:
        return 0.0 if not len(classes) else float(np.copysign(logit(1 - _CERTAIN), classes[0] - 0.5))
    return estimator.fit(X[rows], y[rows].astype(int), sample_weight=np.ascontiguousarray(weight[rows]))


def _log_odds(models, X) -> np.ndarray:
    """Scores (n, L): log-odds of the probabilities, or decision values where there are none."""
    columns = []
    for model in models:
        if isinstance(model, float):
            columns.append(np.full(X.shape[0], model))
        elif hasattr(model, "predict_proba"):
            columns.append(logit(np.clip(model.predict_proba(X)[:, 1], _CERTAIN, 1 - _CERTAIN)))
        else:
            columns.append(model.decision_function(X))
    return np.column_stack(columns)
