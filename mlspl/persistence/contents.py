"""What a model is made of, part by part: made ready for a file, and looked at once more when it comes out."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

from mlspl.errors import UserError
from mlspl.pacing import DerivedFunction
from mlspl.persistence.foreign import FOREIGN_CHECKS
from mlspl.persistence.shapes import check_contents, parameters_of, rows_of
from mlspl.persistence.trusted import OBJECTS, PLAIN, TRUSTED_TYPES, full_name

__all__ = ["check_values", "refuse_functions", "settle_probabilities"]

_MT19937_WORDS = 624
_KINDS = "biufUO"
_LONGEST_TEXT = 2**16  # bytes of a text in an array, which NumPy allocates for each
# How to run is for the user to say: a file could ask for a thousand processes.
_EXECUTION = ("n_jobs", "verbose", "memory")


def refuse_functions(model: Any, trusted: frozenset[str]) -> None:
    """Refuse Python functions and curves that are no text, and say where they are."""
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
    """Have every part prepare its probabilities, so that the file needs no training data."""
    for _, value in list(_parts(model, _written)):
        prepare = getattr(type(value), "_prepare_file", None)
        if prepare is not None:
            # Of too few rows for folds probabilities cannot be had from the model either, in file or not.
            with suppress(ValueError):
                prepare(value)


def check_values(model: Any, trusted: frozenset[str]) -> None:
    """Refuse values that compiled code, SymPy or a later fit would trust: no type alone makes them harmless.

    What says how to run and not what to compute (``n_jobs`` and the like) is set back to its default.
    """
    tables: set[int] = set()
    for where, value in _parts(model):
        cls = type(value)
        if full_name(cls) in trusted:
            continue
        if cls in OBJECTS:
            _check_object(where, value)
            tables.update(map(id, rows_of(value, OBJECTS[cls])))
        elif sparse.issparse(value) and id(value) not in tables:
            # Whoever compared or printed one of a million million empty cells would unfold it.
            raise TypeError(f"{where} is a sparse matrix, where none belongs")
        elif isinstance(value, np.random.RandomState):
            if not 0 <= value.get_state(legacy=False)["state"]["pos"] <= _MT19937_WORDS:
                raise ValueError(f"{where} is outside its range")
        elif isinstance(value, np.dtype):
            if value.kind not in _KINDS or value.itemsize > _LONGEST_TEXT:
                raise TypeError(f"{where} is the type {str(value)[:40]} of arrays")
        elif cls is np.ndarray:
            if value.dtype.kind not in _KINDS:
                raise TypeError(f"{where} is an array of type {str(value.dtype)[:40]}")
        elif cls not in PLAIN and not isinstance(value, type):
            raise TypeError(f"{where} is of type {cls.__name__}")


def _check_object(where: str, value: Any) -> None:
    cls, declared = type(value), OBJECTS[type(value)]
    parameters = parameters_of(cls)
    _check_names(where, value, parameters.keys() | declared.keys())
    vars(value).update({name: parameters[name] for name in _EXECUTION if name in parameters})
    if is_dataclass(value):
        _check_parameters(where, value)
    if isinstance(value, DerivedFunction) and not isinstance(value.source, str):
        raise TypeError(f"{where} has a curve that is no text")
    if declared.keys() & vars(value).keys():
        check_contents(where, value, declared)
        check = getattr(cls, "_check_contents", None)
        if check is not None:
            check(value)
    if cls in FOREIGN_CHECKS:
        FOREIGN_CHECKS[cls](where, value)


def _check_names(where: str, value: Any, known: Collection[str]) -> None:
    """Refuse an attribute that stands in for a method or property of the class, or that ours do not have."""
    is_ours = hasattr(type(value), "_contents")
    strict = is_ours and not is_dataclass(value)
    for name in vars(value):
        method = getattr(type(value), name, None)
        odd = not isinstance(name, str) or "__" in name or hasattr(type(method), "__get__")
        # scikit-learn's own settings are attributes of its classes; fits leave others.
        odd = odd or (not is_ours and name.startswith("_") and hasattr(type(value), name))
        if odd or (strict and name not in known):
            raise ValueError(f"{where} has a part {str(name)[:80]!r}, which no {type(value).__name__} has")


def _check_parameters(where: str, value: Any) -> None:
    """Refuse parameters that the constructor would refuse; a file is built without it."""
    names = {field.name for field in fields(value)}
    given = {name: part for name, part in vars(value).items() if name in names}
    if given.keys() != names or vars(type(value)(**given)) != vars(value):
        raise ValueError(f"{where} is no {type(value).__name__} that can be made")


def _written(value: Any) -> dict[str, Any]:
    """What skops writes of an object."""
    state = type(value).__getstate__(value)  # type: ignore[call-arg]
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
