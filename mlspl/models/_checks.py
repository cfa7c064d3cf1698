"""Checks of features and parameters, and warnings about data and models."""

import warnings
from collections.abc import Callable
from functools import cache
from inspect import signature
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from mlspl.errors import UserError
from mlspl.pacing import PaceSchedule

__all__ = ["check_parameters", "check_values", "short_indices", "warn_of_data", "warn_of_empty_predictions"]

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
    if np.isnan(size):
        if allow_nan:  # all values are NaN
            return
        raise UserError(
            f"{_first(X, names, np.isnan)}: {owner} needs a number in every cell. Fill the gaps first, for "
            "instance with sklearn.impute.SimpleImputer."
        )
    if size == np.inf:
        raise UserError(f"{_first(X, names, np.isinf)}: {owner} needs finite numbers.")
    if size > LARGEST:
        raise UserError(
            f"{_first(X, names, lambda cells: np.abs(cells) > LARGEST)}, too large for {owner} to square. "
            "Scale the features first, for instance with sklearn.preprocessing.MaxAbsScaler."
        )
    if training and 0 < size < SMALLEST:
        raise UserError(
            f"No value of X is larger than {size:g}, too small for {owner} to square. "
            "Scale the features first, for instance with sklearn.preprocessing.MaxAbsScaler."
        )


def short_indices(X):
    """Return a CSR matrix with 32-bit indices if they suffice.

    scikit-learn's trees, liblinear and LIBSVM refuse 64-bit ones.
    """
    if not sparse.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    if max(X.nnz, *X.shape) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def warn_of_data(X, owner: str, gamma: float | None = None) -> None:
    """Warn if columns differ wildly in scale, or if the RBF kernel of this γ is nearly constant."""
    sample = X[_some_rows(X)]
    if not sparse.issparse(X):
        deviations = sample.std(axis=0)
        deviations = deviations[deviations > 0]
        if len(deviations) and deviations.max() > _SCALE_RATIO * np.median(deviations):
            ratio = deviations.max() / np.median(deviations)
            warnings.warn(
                f"One column of X varies {ratio:,.0f} times as much as the median column, so {owner} learns "
                "from little else. Scale the features, for instance with StandardScaler of scikit-learn.",
                stacklevel=7,
            )
    if gamma is None or sample.shape[0] < 2:
        return
    products = safe_sparse_dot(sample, sample.T, dense_output=True)
    squares = products.diagonal()
    distances = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)[
        np.triu_indices(len(products), 1)
    ]
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


def _first(X, names, wrong) -> str:
    """The first cell for which `wrong` holds, with its value."""
    if sparse.issparse(X):
        X = X.tocoo()
        place = np.flatnonzero(wrong(X.data))[0]
        i, j, value = X.row[place], X.col[place], X.data[place]
    else:
        i, j = np.argwhere(wrong(X))[0]
        value = X[i, j]
    where = f"X[{i}, {j}]" + ("" if names is None else f" (column {names[j]!r})")
    return f"{where} is {'NaN' if np.isnan(value) else format(value, 'g')}"


class _Rule(NamedTuple):
    """What to give, in words, and a test of a value."""

    words: str
    holds: Callable[[Any], bool]


def _number(value: Any) -> bool:
    # Not any `Real`: fractions make arrays of objects.
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and bool(abs(value) < np.inf)


def _whole(least: int) -> _Rule:
    def holds(value: Any) -> bool:
        return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(value >= least)

    return _Rule(f"a whole number, {least} or more", holds)


def _one_of(*names: Any, otherwise: _Rule | None = None) -> _Rule:
    words = ", ".join(map(repr, names[:-1])) + (" or " if len(names) > 1 else "") + repr(names[-1])
    if otherwise is None:
        return _Rule(words, lambda value: isinstance(value, str | None) and value in names)
    return _Rule(
        f"{words}, or {otherwise.words}",
        lambda value: value in names if isinstance(value, str | None) else otherwise.holds(value),
    )


_POSITIVE = _Rule("a positive, finite number", lambda value: _number(value) and value > 0)
_NOT_NEGATIVE = _Rule("a finite number, 0 or more", lambda value: _number(value) and value >= 0)
_SHARE = _Rule("a number from 0 to 1", lambda value: _number(value) and 0 <= value <= 1)
_NOT_ZERO = _Rule("a whole number but 0", lambda value: isinstance(value, Integral) and value != 0)
_FUNCTION = _Rule("a function of two arrays", callable)

_RULES = {
    "budget": _one_of(
        "fast", "default", "thorough", otherwise=_POSITIVE._replace(words="seconds, more than 0")
    ),
    "C": _POSITIVE,
    "batch_size": _one_of("auto", otherwise=_whole(1)),
    "beta": _NOT_NEGATIVE,
    "codes": _one_of("cross-fit", "in-sample"),
    "coef0": _Rule("a finite number", _number),
    "cv": _whole(2),
    "degree": _NOT_NEGATIVE,
    "dropout": _SHARE,
    "estimator": _Rule(
        "an estimator, such as LogisticRegression()",
        lambda value: hasattr(value, "fit") and not isinstance(value, type),
    ),
    "forest": _one_of("extra-trees", "random-forest"),
    "gamma": _one_of("scale", "auto", otherwise=_POSITIVE),
    "k": _whole(1),
    "kernel": _one_of("rbf", "linear", "poly", "precomputed", otherwise=_FUNCTION),
    "learning_rate": _POSITIVE,
    "max_iter": _whole(1),
    "max_steps": _whole(1),
    "n_codes": _whole(1),
    "n_epochs": _whole(1),
    "n_estimators": _whole(1),
    "n_folds": _whole(2),
    "n_jobs": _one_of(None, otherwise=_NOT_ZERO),
    "patience": _whole(1),
    "prior_weight": _one_of("auto", otherwise=_SHARE),
    "s": _POSITIVE,
    "schedule": _Rule(
        "None, or a schedule of mlspl.pacing, such as QuantilePace(0.7, 1.0, 3)",
        lambda value: value is None or isinstance(value, PaceSchedule),
    ),
    "target_weight": _POSITIVE,
    "tol": _POSITIVE,
    "trees": _one_of("auto", "joint", "per-label"),
    "weight_decay": _NOT_NEGATIVE,
    "verbose": _Rule("0 or 1", lambda value: isinstance(value, Integral | np.bool_)),
}
# Estimators that choose by validation take several values of these.
_SEVERAL = {"C": _POSITIVE}


@cache
def _defaults(estimator_type) -> dict[str, Any]:
    """The parameters of an estimator class and their defaults."""
    return {name: parameter.default for name, parameter in signature(estimator_type).parameters.items()}


def check_parameters(estimator) -> None:
    """Refuse the first parameter with a value that it cannot have."""
    for name, default in _defaults(estimator.__class__).items():
        value = getattr(estimator, name)
        if value is default or (isinstance(default, str) and isinstance(value, str) and value == default):
            continue
        if name in _SEVERAL and isinstance(value, list | tuple | np.ndarray):
            rule = _SEVERAL[name]
            if not len(value):
                raise UserError(f"{name} is empty; give at least one value to try.")
            wrong = [each for each in value if not rule.holds(each)]
            if wrong:
                raise UserError(f"{name} has {wrong[0]!r} in it; give {rule.words} each.")
        elif name in _RULES and not _RULES[name].holds(value):
            words = _RULES[name].words
            named = f"{default!r}, or " if isinstance(default, str) and repr(default) not in words else ""
            raise UserError(f"{name} is {value!r}; give {named}{words}.")
