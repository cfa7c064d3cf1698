"""Checks of features and parameters, and warnings about data and models."""

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.extmath import safe_sparse_dot

from mlspl.errors import UserError
from mlspl.pacing import PaceSchedule

# Beyond these, squares overflow or underflow in float64.
LARGEST, SMALLEST = 1e140, 1e-140
# Rows that the warnings look at, and their limits: a column's deviation over the median one, the distance of
# kernel values to 0 or 1, and the share of rows without a predicted label.
_CHECKED_ROWS = 100
_SCALE_RATIO, _FLAT, _MOSTLY_EMPTY = 1000.0, 0.01, 0.95


def check_values(X, owner, names=None, *, allow_nan=False, training=False) -> None:
    """Refuse NaN, infinities, and values too large or small to be squared."""
    values = X.data if sparse.issparse(X) else X
    if not values.size:
        return
    largest, smallest = (np.fmax, np.fmin) if allow_nan else (np.maximum, np.minimum)
    size = float(max(largest.reduce(values, axis=None), -smallest.reduce(values, axis=None)))
    scale = "Scale the features first, for instance with sklearn.preprocessing.MaxAbsScaler."
    if np.isnan(size):
        if allow_nan:  # all values are NaN
            return
        wrong = np.isnan(values)
        advice = f": {owner} needs a number in every cell. Fill the gaps first, as SimpleImputer does."
    elif size == np.inf:
        wrong, advice = np.isinf(values), f": {owner} needs finite numbers."
    elif size > LARGEST:
        wrong, advice = np.abs(values) > LARGEST, f", too large for {owner} to square. {scale}"
    elif training and 0 < size < SMALLEST:
        raise UserError(f"No value of X is larger than {size:g}, too small for {owner} to square. {scale}")
    else:
        return
    place = np.flatnonzero(wrong)[0]
    if sparse.issparse(X):
        i, j = np.searchsorted(X.indptr, place, side="right") - 1, X.indices[place]
    else:
        i, j = np.unravel_index(place, X.shape)
    value = values.ravel()[place]
    where = f"X[{i}, {j}]" + ("" if names is None else f" (column {names[j]!r})")
    raise UserError(f"{where} is {'NaN' if np.isnan(value) else format(value, 'g')}{advice}")


def warn_of_data(X, owner: str, gamma: float | None = None) -> None:
    """Warn if columns differ wildly in scale, or if the RBF kernel of this γ is nearly constant."""
    sample = X[_some_rows(X)]
    if not sparse.issparse(X):
        deviations = sample.std(axis=0)
        deviations = deviations[deviations > 0]
        ratio = deviations.max() / np.median(deviations) if len(deviations) else 0.0
        if ratio > _SCALE_RATIO:
            warnings.warn(
                f"One column of X varies {ratio:,.0f} times as much as the median column, so {owner} learns "
                "from little else. Scale the features, for instance with StandardScaler of scikit-learn.",
                stacklevel=7,
            )
    if gamma is None or sample.shape[0] < 2:
        return
    products = safe_sparse_dot(sample, sample.T, dense_output=True)
    squares = products.diagonal()
    distances = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    distances = distances[np.triu_indices(len(products), 1)]
    low, high = np.exp(-gamma * np.quantile(distances, [0.95, 0.05]))
    if distances.max() > 0 and (low > 1 - _FLAT or high < _FLAT):
        warnings.warn(
            f"The kernel is nearly constant: its values between different rows of X are from {low:.4g} to "
            f"{high:.4g} with gamma={gamma:.3g}. Use gamma='scale' or space='linear', or scale the features.",
            stacklevel=7,
        )


def warn_of_empty_predictions(predict, X, Y, owner: str) -> None:
    """Warn if a fitted model predicts no label for nearly all of some training rows that have labels."""
    rows = _some_rows(X)
    labelled = np.asarray(Y[rows].sum(axis=1)).ravel() > 0
    if labelled.sum() < 50 or labelled.mean() < 0.5:
        return
    empty = float(np.mean(~predict(X[rows]).any(axis=1)))
    if empty > _MOSTLY_EMPTY:
        warnings.warn(
            f"{owner} predicts no label for {empty:.0%} of the training rows, though {labelled.mean():.0%} "
            "have one. Try class_weight='balanced' or a larger C, scale the features, or let "
            "TunedDecisionClassifier choose the thresholds.",
            stacklevel=4,
        )


def _some_rows(X) -> np.ndarray:
    return np.unique(np.linspace(0, X.shape[0] - 1, _CHECKED_ROWS).astype(int))


def _at_least(least: float, kind=Real, *options: Any) -> list[Any]:
    return [Interval(kind, least, None, closed="left"), *options]


POSITIVE = [Interval(Real, 0, None, closed="neither")]
AUTO = StrOptions({"auto"})
_COUNT = _at_least(1, Integral)
_SHARE = Interval(Real, 0, 1, closed="both")

CONSTRAINTS = {
    "budget": [StrOptions({"fast", "default", "thorough"}), *POSITIVE],
    "C": [AUTO, *POSITIVE],
    "batch_size": _at_least(1, Integral, AUTO),
    "beta": _at_least(0),
    "codes": [StrOptions({"cross-fit", "in-sample"})],
    "cv": _at_least(2, Integral),
    "dropout": [_SHARE],
    "estimator": [HasMethods("fit")],
    "feature_weights": [AUTO, None],
    "gamma": [StrOptions({"scale", "auto"}), *POSITIVE],
    "k": [AUTO, *_COUNT],
    "kernel": [StrOptions({"rbf", "linear", "precomputed"}), callable],
    "learning_rate": POSITIVE,
    "max_features": [StrOptions({"auto", "sqrt"}), Interval(RealNotInt, 0, 1, closed="right"), *_COUNT],
    "max_iter": _COUNT,
    "max_steps": _COUNT,
    "min_samples_leaf": _COUNT,
    "n_codes": _COUNT,
    "n_epochs": _COUNT,
    "n_estimators": _COUNT,
    "n_folds": _at_least(2, Integral),
    "n_jobs": _at_least(1, Integral, Interval(Integral, None, -1, closed="right"), None),
    "patience": _COUNT,
    "prior_weight": [AUTO, _SHARE],
    "regressor": [StrOptions({"auto", "ridge", "svr"})],
    "s": POSITIVE,
    "schedule": [PaceSchedule, None],
    "target_weight": POSITIVE,
    "tol": POSITIVE,
    "trees": [StrOptions({"auto", "joint", "per-label"})],
    "weight_decay": _at_least(0),
    "verbose": ["verbose"],
}
"""What scikit-learn's check of parameters allows; an estimator may declare its own."""
