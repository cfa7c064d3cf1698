"""What a parameter may be, by its name: a name means one thing in all estimators."""

from collections.abc import Callable
from functools import cache
from inspect import signature
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mlspl.errors import UserError
from mlspl.pacing import PaceSchedule

__all__ = ["check_parameters"]


class _Rule(NamedTuple):
    """What to give, in words, and whether a value is that."""

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
    "budget": _one_of("fast", "default", "thorough"),
    "C": _POSITIVE,
    "beta": _NOT_NEGATIVE,
    "codes": _one_of("cross-fit", "in-sample"),
    "coef0": _Rule("a finite number", _number),
    "cv": _whole(2),
    "degree": _NOT_NEGATIVE,
    "estimator": _Rule(
        "an estimator, such as LogisticRegression()",
        lambda value: hasattr(value, "fit") and not isinstance(value, type),
    ),
    "forest": _one_of("extra-trees", "random-forest"),
    "gamma": _one_of("scale", "auto", otherwise=_POSITIVE),
    "k": _whole(1),
    "kernel": _one_of("rbf", "linear", "poly", "precomputed", otherwise=_FUNCTION),
    "max_iter": _whole(1),
    "max_steps": _whole(1),
    "n_codes": _whole(1),
    "n_estimators": _whole(1),
    "n_folds": _whole(2),
    "n_jobs": _one_of(None, otherwise=_NOT_ZERO),
    "n_points": _one_of(None, otherwise=_whole(1)),
    "n_settings": _whole(1),
    "prior_weight": _one_of("auto", otherwise=_SHARE),
    "s": _POSITIVE,
    "schedule": _Rule(
        "None, or a schedule of mlspl.pacing, such as QuantilePace(0.7, 1.0, 3)",
        lambda value: value is None or isinstance(value, PaceSchedule),
    ),
    "solver": _one_of("auto", "libsvm"),
    "target_weight": _POSITIVE,
    "tol": _POSITIVE,
    "verbose": _Rule("0 or 1", lambda value: isinstance(value, Integral | np.bool_)),
}
# Of these, estimators that choose take several values to try.
_SEVERAL = {"C": _POSITIVE, "gamma_factors": _POSITIVE, "class_weights": _NOT_NEGATIVE}


@cache
def _defaults(estimator_type) -> dict[str, Any]:
    """The parameters of a type of estimators, and what they are if nobody says."""
    return {name: parameter.default for name, parameter in signature(estimator_type).parameters.items()}


def check_parameters(estimator) -> None:
    """Refuse the first parameter that is none, by name, with what to give instead."""
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
