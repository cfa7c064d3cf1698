"""Out-of-sample log-odds of every pair, which an audit judges by."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import check_array, check_random_state, get_tags

from mlspl._progress import show_progress
from mlspl._validation import explain
from mlspl.errors import UserError
from mlspl.model_selection import IterativeStratification, PlattCalibration, out_of_fold_scores
from mlspl.models import BSVMClassifier, SelfPacedForestClassifier
from mlspl.pacing import QuantilePace, Trace

# With more pairs a forest per label takes hours, a kernel or linear model minutes.
MOST_FOREST_PAIRS = 500_000
# Weights of two models: tenths, as finer steps differ by less than the noise of the held-out loss.
SHARES = np.linspace(0.0, 1.0, 11)


def _default_models(X, n_labels: int, n_jobs, random_state) -> dict[str, BaseEstimator]:
    """Return a linear model; for dense rows also a kernel SVM and, unless it takes hours, a forest."""
    if sparse.issparse(X):
        linear = BSVMClassifier(1.0, space="linear", n_jobs=n_jobs)
        return {"linear": make_pipeline(Normalizer(), linear)}
    svm = BSVMClassifier(n_jobs=n_jobs, random_state=random_state)
    models: dict[str, BaseEstimator] = {"kernel": make_pipeline(StandardScaler(), svm)}
    if X.shape[0] * n_labels <= MOST_FOREST_PAIRS:
        # A slower pace than the default: pairs that enter late are those an audit looks for.
        slow = QuantilePace(0.7, 0.7, 1, per="class")
        models["forest"] = SelfPacedForestClassifier(
            schedule=slow, max_features="sqrt", n_jobs=n_jobs, random_state=random_state
        )
    linear = BSVMClassifier(0.1, space="linear", n_jobs=n_jobs)
    models["linear"] = make_pipeline(StandardScaler(), linear)
    return models


def predict_pairs(
    X, given, estimator: BaseEstimator | None = None, cv: int = 5, n_jobs=None, random_state=None, verbose=0
) -> tuple[NDArray[np.float64], dict[str, float], Trace | None]:
    """Return log-odds of the labels `given` (int8, -1 unknown) out of sample, model weights, and a trace.

    Without an estimator they are those of default models, with the weights of least held-out log-loss.
    """
    seed = check_random_state(random_state).randint(2**31 - 1)
    if estimator is not None:
        models, folds_at_a_time = {type(estimator).__name__: estimator}, n_jobs
    else:
        try:
            check_array(X, accept_sparse=True, dtype=[np.float64, np.float32], ensure_all_finite=False)
        except (TypeError, ValueError) as error:
            raise explain(error, X, "X", "features") from None
        models, folds_at_a_time = _default_models(X, given.shape[1], n_jobs, seed), None
    odds, weights, trace = np.zeros(given.shape), dict[str, float](), None
    progress = show_progress("folds of the audit", len(models) * cv, hidden=not verbose, lines=True)
    with warnings.catch_warnings(), progress as advance:
        warnings.filterwarnings("ignore", ".* predicts no label")  # scores are used, not predictions
        for name, model in models.items():
            own, own_trace = _predict_out_of_sample(model, X, given, cv, folds_at_a_time, seed, advance)
            share = 1.0
            if weights:
                losses = [_loss(share * own + (1 - share) * odds, given) for share in SHARES]
                share = float(SHARES[int(np.argmin(losses))])
            odds = share * own + (1 - share) * odds
            weights = {name: weight * (1 - share) for name, weight in weights.items()} | {name: share}
            trace = trace or own_trace
    return odds, weights, trace


def _predict_out_of_sample(estimator, X, given, cv, n_jobs, random_state, progress):
    """Return calibrated log-odds, out of bag or out of fold, and the trace of a paced model or None."""
    Y = np.where(given >= 0, given, np.nan) if (given < 0).any() else given.astype(np.int64)
    if isinstance(estimator, SelfPacedForestClassifier):
        probabilities, trace = _predict_out_of_bag(estimator, X, Y)
        progress(steps=cv)
        scores = logit(np.clip(probabilities, 1e-3, 1 - 1e-3))
    else:
        folds = IterativeStratification(cv, random_state=random_state)
        scorer = estimator if hasattr(estimator, "decision_function") else _LogOdds(estimator)
        scores = out_of_fold_scores(scorer, X, Y, cv=folds, n_jobs=n_jobs, progress=progress)
        paced = estimator.get_params(deep=False).get("pace_function")
        trace = None if paced is None else getattr(clone(estimator).fit(X, Y), "trace_", None)
    if scores.shape != given.shape:
        raise UserError(
            f"{type(estimator).__name__} gives scores of shape {scores.shape} for labels of shape "
            f"{given.shape}: give an estimator of all labels, for instance in MultiOutputClassifier."
        )
    odds = PlattCalibration().fit(scores, Y).log_odds(scores)
    return odds, trace if trace is not None and trace.n_steps else None


def _predict_out_of_bag(estimator, X, Y) -> tuple[NDArray[np.float64], Trace | None]:
    """Return out-of-bag probabilities before any pace, and the trace of the paced fit.

    After a paced step they depend on the row's own label, and noise rates come out too low.
    """
    model = clone(estimator).fit(X, Y)
    if model.trace_.n_steps == 0:
        return model.oob_probabilities_, None
    if model.trace_.n_steps > 1:
        unpaced = clone(estimator).set_params(pace_function=None).fit(X, Y)
        return unpaced.oob_probabilities_, model.trace_
    # The only step began with the losses of the unpaced forest; unknown labels count as 0.
    given = np.exp(-model.trace_.last_loss.astype(np.float64))
    return np.where(Y == 1, given, 1.0 - given), model.trace_


class _LogOdds(BaseEstimator):
    """Gives `decision_function` to an estimator that has `predict_proba` only."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, Y):
        self.estimator_ = clone(self.estimator).fit(X, Y)
        return self

    def decision_function(self, X):
        found = self.estimator_.predict_proba(X)
        if isinstance(found, list):
            # P(1) of each label; one that was constant in training has one column.
            pairs = zip(found, self.estimator_.classes_, strict=True)
            found = np.column_stack([p @ (np.asarray(classes) == 1) for p, classes in pairs])
        return logit(np.clip(found, 1e-3, 1 - 1e-3))

    def __sklearn_tags__(self):
        return get_tags(self.estimator)


def _loss(odds, given):
    known = given >= 0
    return float(np.mean(np.logaddexp(0, odds[known]) - given[known] * odds[known]))
