"""What a model is made of, part by part: made ready for a file, and looked at once more when it comes out."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from mlspl.errors import UserError
from mlspl.models._calibrated import LazyCalibration
from mlspl.models.ranksvm import LazySlope
from mlspl.pacing.derived import DerivedFunction
from mlspl.persistence.trusted import TRUSTED_TYPES, full_name

__all__ = ["check_values", "refuse_functions", "settle_probabilities"]

_MT19937_WORDS = 624


def refuse_functions(model: Any, trusted: frozenset[str]) -> None:
    """Refuse Python functions and curves that are no text, and say where they are.

    Examples
    --------
    >>> from mlspl import BSVMClassifier
    >>> refuse_functions(BSVMClassifier(kernel=max), frozenset())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mlspl.errors.UserError: BSVMClassifier.kernel is the Python function max: a model file holds no code....
    """
    for where, value in _parts(model):
        if isinstance(value, DerivedFunction) and not isinstance(value.source, str):
            raise UserError(
                f"{where} is {value!r}: a model file holds no curve but one written as text. Give derive a "
                "string, such as '1/(1+t**2)'."
            )
        if not _is_function(value):
            continue
        name = getattr(value, "__name__", type(value).__name__)
        if f"{getattr(value, '__module__', None)}.{name}" not in trusted.union(TRUSTED_TYPES):
            raise UserError(
                f"{where} is the Python function {name}: a model file holds no code. Use what mlspl knows by "
                "name instead."
            )


def settle_probabilities(model: Any) -> None:
    """Have every part prepare its probabilities, so that the file needs no training data.

    Examples
    --------
    >>> from mlspl import BSVMClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = BSVMClassifier().fit(digits.X[:50], digits.Y[:50])
    >>> settle_probabilities(model)
    >>> model._calibration.training is None
    True
    """
    for _, value in list(_parts(model)):
        if not isinstance(value, LazyCalibration | LazySlope):
            continue
        try:
            value.get()
        except ValueError:
            # Too few rows for folds: probabilities cannot be had from the model either, in file or not.
            continue


def check_values(model: Any, trusted: frozenset[str]) -> None:
    """Refuse values that compiled code, SymPy or a later fit would trust: no type alone makes them harmless.

    Examples
    --------
    >>> from mlspl import SelfPacedClassifier, pacing
    >>> from sklearn.naive_bayes import GaussianNB
    >>> check_values(SelfPacedClassifier(GaussianNB(), pacing.derive(lambda t: 2.0**-t)), frozenset())
    Traceback (most recent call last):
    TypeError: SelfPacedClassifier.pace_function has a curve that is no text
    """
    for where, value in _parts(model):
        if full_name(type(value)) in trusted:
            continue
        if isinstance(value, DerivedFunction) and not isinstance(value.source, str):
            raise TypeError(f"{where} has a curve that is no text")
        if isinstance(value, np.random.RandomState):
            if not 0 <= value.get_state(legacy=False)["state"]["pos"] <= _MT19937_WORDS:
                raise ValueError(f"{where} is outside its range")
        elif isinstance(value, Pipeline) and vars(value).get("memory") is not None:
            raise ValueError(f"{where} keeps a cache on disk: set memory=None")
        elif isinstance(value, OneHotEncoder) and not _is_consistent(value):
            raise ValueError(f"{where} is a OneHotEncoder that drops or groups categories, or was changed")


def _parts(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield where and value of everything a model is made of, as skops will go through it."""
    waiting: list[tuple[str, Any]] = [(type(model).__name__, model)]
    seen: dict[int, Any] = {}
    while waiting:
        where, value = waiting.pop()
        if id(value) in seen:
            continue
        # Kept, for the id of something that is gone may be given again.
        seen[id(value)] = value
        yield where, value
        if isinstance(value, np.ndarray):
            inside = enumerate(value.ravel().tolist()) if value.dtype == object else ()
            waiting += [(f"{where}[{key}]", part) for key, part in inside]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += [(f"{where}[{key}]", part) for key, part in enumerate(value)]
        elif isinstance(value, Mapping):
            waiting += [(f"{where}[{key!r}]", part) for key, part in value.items()]
        elif hasattr(value, "__dict__") and not isinstance(value, type) and not _is_function(value):
            state = value.__getstate__()
            if isinstance(state, dict):
                waiting += [(f"{type(value).__name__}.{key}", part) for key, part in state.items()]


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type) and not hasattr(value, "get_params")


def _is_consistent(encoder: OneHotEncoder) -> bool:
    """Whether the encoder has a column for each category and no other: it writes to columns unchecked."""
    state = vars(encoder)
    if "categories_" not in state:
        return True
    merged = state["drop_idx_"] is not None or state["_drop_idx_after_grouping"] is not None
    if merged or state["_infrequent_enabled"]:
        return False
    return list(state["_n_features_outs"]) == [len(values) for values in state["categories_"]]
