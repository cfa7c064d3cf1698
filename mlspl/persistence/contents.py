"""What a model is made of, part by part: made ready for a file, and looked at once more when it comes out."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from mlspl.errors import UserError
from mlspl.models._calibrated import LazyCalibration
from mlspl.models.ranksvm import LazySlope
from mlspl.pacing.derived import DerivedFunction
from mlspl.persistence.encoders import settle_encoder
from mlspl.persistence.trusted import OBJECTS, TRUSTED_TYPES, full_name

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
    for where, value in _parts(model, _written):
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
    for _, value in list(_parts(model, _written)):
        if not isinstance(value, LazyCalibration | LazySlope):
            continue
        try:
            value.get()
        except ValueError:
            # Too few rows for folds: probabilities cannot be had from the model either, in file or not.
            continue


def check_values(model: Any, trusted: frozenset[str]) -> None:
    """Refuse values that compiled code, SymPy or a later fit would trust: no type alone makes them harmless.

    What scikit-learn derives from its public attributes is derived anew, not believed.

    Examples
    --------
    >>> from mlspl import MLkNNClassifier
    >>> model = MLkNNClassifier()
    >>> model.predict = str
    >>> check_values(model, frozenset())
    Traceback (most recent call last):
    ValueError: MLkNNClassifier has a part 'predict', which no MLkNNClassifier has
    """
    for where, value in _parts(model):
        if full_name(type(value)) in trusted:
            continue
        if full_name(type(value)) in OBJECTS:
            _check_names(where, value)
        if isinstance(value, DerivedFunction) and not isinstance(value.source, str):
            raise TypeError(f"{where} has a curve that is no text")
        if is_dataclass(value) and not isinstance(value, type):
            _check_parameters(where, value)
        elif isinstance(value, np.random.RandomState):
            if not 0 <= value.get_state(legacy=False)["state"]["pos"] <= _MT19937_WORDS:
                raise ValueError(f"{where} is outside its range")
        elif isinstance(value, Pipeline) and vars(value).get("memory") is not None:
            raise ValueError(f"{where} keeps a cache on disk: set memory=None")
        elif isinstance(value, OneHotEncoder):
            settle_encoder(where, value)


def _check_names(where: str, value: Any) -> None:
    """Refuse an attribute that would stand in for a method or a property of the class."""
    for name in vars(value):
        method = getattr(type(value), name, None)
        if not isinstance(name, str) or name.startswith("__") or hasattr(type(method), "__get__"):
            raise ValueError(f"{where} has a part {str(name)[:80]!r}, which no {type(value).__name__} has")


def _check_parameters(where: str, value: Any) -> None:
    """Refuse parameters that the constructor would refuse; a file is built without it."""
    names = {field.name for field in fields(value)}
    given = {name: part for name, part in vars(value).items() if name in names}
    if given.keys() != names or vars(type(value)(**given)) != vars(value):
        raise ValueError(f"{where} is no {type(value).__name__} that can be made")


def _written(value: Any) -> dict[str, Any]:
    """What skops writes of an object."""
    state = type(value).__getstate__(value)
    return state if isinstance(state, dict) else {}


def _parts(model: Any, state: Callable[[Any], Mapping[str, Any]] = vars) -> Iterator[tuple[str, Any]]:
    """Yield where and value of everything a model is made of.

    What comes from a file is walked by what is in it, never by its methods, whose place a file can take.
    """
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
            waiting += [(f"{type(value).__name__}.{key}", part) for key, part in state(value).items()]


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type) and not hasattr(type(value), "get_params")
