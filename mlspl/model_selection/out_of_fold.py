"""Out-of-fold scores."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags

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
    X, Y = _indexable(X), _indexable(Y)
    weight = None if label_weight is None else _indexable(label_weight)
    splitter = IterativeStratification(int(cv), random_state=0) if isinstance(cv, Integral) else cv
    n = Y.shape[0]
    folds = list(splitter.split(np.empty(n), Y))
    if not np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n)):
        raise UserError(
            "cv does not test every row exactly once. Give a number of folds, or such a splitter."
        )
    pairwise = get_tags(estimator).input_tags.pairwise
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_score_fold)(clone(estimator), X, Y, weight, train, test, pairwise) for train, test in folds
    )
    scores: Any = None
    for (_, test), part in zip(folds, parts, strict=True):
        scores = np.empty((n, part.shape[1])) if scores is None else scores
        scores[test] = part
        if progress is not None:
            progress()
    return scores


def _score_fold(estimator, X, Y, weight, train, test, pairwise) -> NDArray[np.float64]:
    X_train, X_test = _take(X, train), _take(X, test)
    if pairwise:
        X_train, X_test = X_train[:, train], X_test[:, train]
    weights = {} if weight is None else {"label_weight": _take(weight, train)}
    return estimator.fit(X_train, _take(Y, train), **weights).decision_function(X_test)


def _indexable(values: Any) -> Any:
    """Return a container whose rows can be selected: CSR for sparse, an array for lists."""
    if sparse.issparse(values):
        return values.tocsr()
    return values if hasattr(values, "shape") else np.asarray(values)


def _take(values: Any, rows: NDArray[np.intp]) -> Any:
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]
