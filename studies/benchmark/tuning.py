"""The same tuning for everybody: a few settings, and a decision, by the same held-out scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from mlspl import TunedDecisionClassifier
from mlspl.errors import UserError
from mlspl.metrics import get_criterion
from mlspl.model_selection import IterativeStratification, out_of_fold_scores
from mlspl.recipes import Method, list_settings

__all__ = ["CRITERION", "FOLDS", "N_SETTINGS", "TunedClassifier", "tune_method"]

CRITERION = "average_precision"
"""What decides between settings; Hamming loss then decides between threshold rules."""

N_SETTINGS = 3
"""How many settings of each method are tried."""

FOLDS = 2
"""Of the inner cross-validation."""


class TunedClassifier(TunedDecisionClassifier):
    """Choose among settings of a method, then calibration and threshold rule, with no fit more.

    The scores of held-out rows by which the settings are compared are those on which the decision is chosen
    and fitted. The rows of the outer test have no part in any of it.

    Parameters
    ----------
    method : Method
        What is tuned.
    settings : sequence of dict
        Its parameters to try; of equally good ones the first is taken.
    criterion : str
        What decides.
    cv : int
        Number of folds.
    random_state : int
        Seeds the folds and the method.
    """

    def __init__(self, method, settings, criterion=CRITERION, cv=FOLDS, random_state=0):
        super().__init__(None, criterion, cv=cv, random_state=random_state)
        self.method = method
        self.settings = settings

    def _fit(self, X, Y, label_weight):
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        splitter = IterativeStratification(self.cv, random_state=seed)
        folds = list(splitter.split(X, Y))
        labels = Y.astype(np.int8)
        criterion = get_criterion(self.criterion)
        self.cv_results_, tried = [], []
        for setting in self.settings:
            estimator = self.method.make(setting, seed)
            tried.append(out_of_fold_scores(estimator, X, labels, cv=splitter))
            values = [criterion(Y[test], tried[-1][test], tried[-1][test] > 0) for _, test in folds]
            self.cv_results_.append({**setting, "mean": float(np.mean(values))})
        means = [row["mean"] for row in self.cv_results_]
        best = int(np.nanargmax(means) if criterion.greater_is_better else np.nanargmin(means))
        self._decide(tried[best], Y, None, folds, criterion)
        decision = {name: self.decisions_[0][name] for name in ("calibration", "threshold")}
        self.best_params_ = dict(self.settings[best]) | decision
        self.estimator_ = self.method.make(self.settings[best], seed).fit(X, labels)

    def __sklearn_tags__(self):
        # Those of the base: there is no one estimator to ask.
        return super(TunedDecisionClassifier, self).__sklearn_tags__()


def tune_method(method: Method) -> Method:
    """Return the method with its settings tuned, and its decision; one that tunes itself is left as it is.

    Parameters
    ----------
    method : Method
        Whose grid has `N_SETTINGS` combinations, or none.
    """
    if not method.grid:
        return method
    settings = [{**method.defaults, **setting} for setting in list_settings(method.grid)]
    if len(settings) != N_SETTINGS:
        raise UserError(
            f"{method.name} has {len(settings)} settings to try, and every method has {N_SETTINGS}. Change "
            "its grid."
        )
    defaults = {"settings": settings, "criterion": CRITERION, "cv": FOLDS}
    return replace(method, build=partial(_build, method), defaults=defaults, grid={})


def _build(method: Method, settings: Sequence[Mapping[str, Any]], criterion: str, cv: int) -> TunedClassifier:
    return TunedClassifier(method, settings, criterion, cv)
