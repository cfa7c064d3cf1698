"""Out-of-fold scores."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metaestimators import _safe_split

from mlspl.errors import UserError
from mlspl.model_selection.splits import IterativeStratification


def out_of_fold_scores(
    estimator,
    X,
    Y,
    label_weight: ArrayLike | None = None,
    cv=3,
    n_jobs: int | None = None,
    progress: Callable[[], object] | None = None,
) -> NDArray[np.float64]:
    """Return the `decision_function` of every row by a clone that was fitted on the other folds.

    Unlike scikit-learn's `cross_val_predict`, this accepts unknown labels and labels that all rows have.

    Parameters
    ----------
    estimator : estimator
        With `fit(X, Y)`, or `fit(X, Y, label_weight=…)` if weights are given, and `decision_function(X)` of
        shape (n, L). If it is pairwise (a precomputed kernel), rows and columns of X are selected.
    X, Y, label_weight : arrays, sparse matrices or DataFrames of n rows
        Instances, labels and, optionally, weights, in any form the estimator takes.
    cv : int or splitter, default=3
        Number of stratified folds (seeded with 0), or a splitter that tests every row once.
    n_jobs : int, default=None
        Number of folds fitted in parallel, as in joblib.
    progress : callable, optional
        Called without arguments after each fold.
    """
    X, Y, weight = indexable(X, Y, label_weight)
    splitter = IterativeStratification(int(cv), random_state=0) if isinstance(cv, Integral) else cv
    n = Y.shape[0] if hasattr(Y, "shape") else len(Y)
    folds = list(splitter.split(np.empty(n), Y))
    if not np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n)):
        raise UserError(
            "cv does not test every row exactly once. Give a number of folds, or such a splitter."
        )
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_score_fold)(clone(estimator), X, Y, weight, train, test) for train, test in folds
    )
    scores: Any = None
    for (_, test), part in zip(folds, parts, strict=True):
        scores = np.empty((n, part.shape[1])) if scores is None else scores
        scores[test] = part
        if progress is not None:
            progress()
    return scores


def _score_fold(estimator, X, Y, weight, train, test) -> NDArray[np.float64]:
    # Of a precomputed kernel, columns are selected too.
    X_train, Y_train = _safe_split(estimator, X, Y, train)
    X_test, _ = _safe_split(estimator, X, Y, test, train)
    weights = {} if weight is None else {"label_weight": _safe_indexing(weight, train)}
    return estimator.fit(X_train, Y_train, **weights).decision_function(X_test)
