"""What an object in a model file may consist of, and the checker of it.

A class lists in ``_contents`` what a fit leaves in it, name by name:

- ``"float (labels, rows)"``: an array of that kind, with a name or number for the length of each axis. A name
  stands for one length throughout the object, ``features`` for its ``n_features_in_``, and _ for any length.
  Kinds are float, int, bool, number, text, values (any of these), rows (a float64 array or CSR matrix), and
  NumPy's own such as int32, where compiled code needs it;
- ``"float"``: one of that kind; ``"dtype"``: NumPy's type of numbers; ``"plain"``: texts, numbers, and lists
  and dicts of them; ``"estimator"``, ``"transformer"``, ``"step"`` (either): ours or scikit-learn's;
- a class: an object of it or of a subclass; a tuple: one of several, where None may be missing;
- ``(tuple, part, part)``: a tuple of such parts; ``[part]``: a list of such parts; ``{"name": part}``: a dict
  of them; ``{str: part}``: a dict of any names;
- with ``?`` at the end of a text: it may be missing or None.

Parameters of the constructor are ``"plain"`` unless they are declared. A method ``_check_contents`` checks
what shapes alone cannot say, and raises ValueError.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from inspect import isabstract, signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from mlspl import model_selection, models, pacing, recipes, spaces, torch
from mlspl.persistence.sklearn_contents import SKLEARN_CHECKS, SKLEARN_CONTENTS

_PACKAGES = (pacing, model_selection, spaces, models, torch, recipes)
_KINDS = {"float": "f", "int": "iu", "bool": "b", "number": "biuf", "text": "U", "values": "biufU"}
_NUMBER = (int, float, np.integer, np.floating)
_TYPES: dict[str, Any] = {"text": str, "int": (int, np.integer), "float": _NUMBER, "number": _NUMBER}
_ROLES = {"estimator": ("predict",), "transformer": ("transform",), "step": ("predict", "transform")}
_SCALARS = (type(None), bool, int, float, str, np.generic)
# Objects that are parameters of others, and consist of nothing but their own parameters.
_SETTINGS = (pacing.SelfPacedFunction, pacing.PaceSchedule)
_PLAIN = (*_SCALARS, *_SETTINGS, np.ndarray, np.dtype, type)
# A loaded model has the defaults: a file could ask for a thousand processes, or for a folder to write to.
_EXECUTION = ("n_jobs", "verbose", "memory")
# Texts in parameters are names of options: not paths, not format strings.
_OPTION = re.compile(r"[^{}/\\\x00-\x1f]{0,200}")
_MOST_PARTS = 10**6
# By set_output.
_OUTPUT_CONFIGS: tuple[dict[str, str], ...] = ({}, {"transform": "default"}, {"transform": "pandas"})


def full_name(thing: Any) -> str:
    """Module and name of a class or function, as model files spell them."""
    return f"{getattr(thing, '__module__', None)}.{getattr(thing, '__name__', None)}"


def _declared_types(specification: Any) -> Iterator[type]:
    """Yield the classes that a declaration names."""
    if isinstance(specification, type):
        yield specification
    elif isinstance(specification, Mapping | list | tuple):
        for part in specification.values() if isinstance(specification, Mapping) else specification:
            yield from _declared_types(part)


def _find_objects() -> dict[type, dict[str, Any]]:
    """Return the classes with ``_contents`` in our packages, and those that their declarations name."""
    public = (vars(package).get(name) for package in _PACKAGES for name in package.__all__)
    waiting = [thing for thing in public if isinstance(thing, type)]
    found: dict[type, dict[str, Any]] = {}
    while waiting:
        cls = waiting.pop()
        if cls not in found and hasattr(cls, "_contents") and not isabstract(cls):
            found[cls] = {}
            for base in reversed(cls.__mro__):
                found[cls] |= vars(base).get("_contents", {})
            waiting += _declared_types(found[cls])
    return found


OBJECTS: dict[type, dict[str, Any]] = _find_objects() | SKLEARN_CONTENTS
"""The classes whose objects a model file may hold, and what is declared of their contents."""


def check_names(where: str, cls: type, state: Any) -> None:
    """Refuse a state that is no dict, or an attribute that replaces a method or property of the class."""
    if type(state) is not dict or not all(type(name) is str for name in state):
        raise ValueError(f"{where} has attributes without names")
    for name in state:
        # scikit-learn keeps its settings, such as links to documentation, in private class attributes.
        is_private = cls in SKLEARN_CONTENTS and name.startswith("_") and hasattr(cls, name)
        if "__" in name or hasattr(type(getattr(cls, name, None)), "__get__") or is_private:
            raise ValueError(f"{where} has an attribute {name[:80]!r}, which no {cls.__name__} has")


def check_object(where: str, value: Any) -> None:
    """Refuse an object with attributes other than declared."""
    cls, state = type(value), vars(value)
    if is_dataclass(value):
        _check_dataclass(where, value)
        return
    declared = OBJECTS[cls]
    defaults = {name: parameter.default for name, parameter in signature(cls).parameters.items()}
    is_estimator = isinstance(value, BaseEstimator)
    if is_estimator:
        state.update({name: default for name, default in defaults.items() if name not in state})
    state.update({name: defaults[name] for name in _EXECUTION if name in defaults})
    for name, part in state.items():
        if name in declared or (name == "_sklearn_output_config" and part in _OUTPUT_CONFIGS):
            continue
        if name not in defaults:
            fits = cls in SKLEARN_CONTENTS and isinstance(part, _SCALARS)
        elif name == "estimator":
            fits = has_role(part)
        else:
            fits = (type(part) is str and part == defaults[name]) or _is_plain(part, _OPTION)
        if not fits:
            raise ValueError(f"{where} has an attribute {name[:80]!r} that no {cls.__name__} has")
    is_fitted = not is_estimator or any(name in state for name in declared.keys() - defaults.keys())
    lengths = {"features": state["n_features_in_"]} if "n_features_in_" in state else {}
    for name, specification in declared.items():
        if is_fitted or name in defaults:
            _check_part(f"{where}.{name}", state.get(name), specification, lengths)
    if is_fitted and hasattr(cls, "_check_contents"):
        value._check_contents()
    if cls in SKLEARN_CHECKS:
        SKLEARN_CHECKS[cls](where, value)


def has_role(value: Any, method: str = "predict") -> bool:
    """Whether this is an estimator that may stand in a file, and has a method."""
    cls = type(value)
    is_part = issubclass(cls, model_selection.Calibration | model_selection.Threshold)
    return cls in OBJECTS and issubclass(cls, BaseEstimator) and hasattr(cls, method) and not is_part


def _check_part(where: str, value: Any, specification: Any, lengths: dict[str, int]) -> None:
    if isinstance(specification, list):
        _require(where, value, type(value) is list)
        parts = [(i, part, specification[0]) for i, part in enumerate(value)]
    elif isinstance(specification, Mapping):
        of_all = specification.get(str)
        _require(where, value, type(value) is dict and (of_all or value.keys() == specification.keys()))
        parts = [(name, part, of_all or specification[name]) for name, part in value.items()]
    elif isinstance(specification, tuple) and specification[0] is tuple:
        _require(where, value, type(value) is tuple and len(value) == len(specification) - 1)
        parts = [(i, part, specification[i + 1]) for i, part in enumerate(value)]
    else:
        options = specification if isinstance(specification, tuple) else (specification,)
        _require(where, value, any(_is_one(value, option, lengths) for option in options))
        return
    for name, part, inner in parts:
        _check_part(f"{where}[{name}]", part, inner, lengths)


def _require(where: str, value: Any, fits: object) -> None:
    if not fits:
        raise ValueError(f"{where} ({type(value).__name__}) is not as its class declares it")


def _is_one(value: Any, option: Any, lengths: dict[str, int]) -> bool:
    """Whether a value is of a class, or as a text declares it."""
    if option is None or isinstance(option, type):
        return value is None if option is None else isinstance(value, option)
    if option.endswith("?"):
        return value is None or _is_one(value, option[:-1], lengths)
    kind, _, axes = option.rstrip(")").partition(" (")
    if axes:
        return _is_array(value, kind) and _has_shape(value.shape, axes.split(", "), lengths)
    if kind == "plain":
        return _is_plain(value)
    if kind == "dtype":
        return isinstance(value, np.dtype) and value.kind in "biuf"
    if kind in _ROLES:
        is_word = kind != "estimator" and isinstance(value, str) and value in ("drop", "passthrough")
        return is_word or any(has_role(value, role) for role in _ROLES[kind])
    if isinstance(value, bool | np.bool_):
        return kind == "bool"
    return kind in _TYPES and isinstance(value, _TYPES[kind])


def _has_shape(shape: tuple[int, ...], names: list[str], lengths: dict[str, int]) -> bool:
    """Whether axes have the lengths of their names; new names are added to `lengths`."""
    return len(names) == len(shape) and all(
        name == "_" or length == (int(name) if name.isdecimal() else lengths.setdefault(name, length))
        for name, length in zip(names, shape, strict=True)
    )


def _is_plain(value: Any, text: re.Pattern = re.compile("(?s).*")) -> bool:
    """Whether these are texts, numbers, lists and dicts of them, and objects of settings."""
    waiting, count = [value], 0
    while waiting:
        part = waiting.pop()
        count += part.size if isinstance(part, np.ndarray) else 1
        if isinstance(part, list | tuple | dict):
            waiting += part.values() if isinstance(part, dict) else part
        elif not isinstance(part, _PLAIN) or (isinstance(part, str) and not text.fullmatch(part)):
            return False
    return count <= _MOST_PARTS


def _check_dataclass(where: str, value: Any) -> None:
    """Refuse parameters that the constructor would refuse; objects of a file are built without it."""
    given = {field.name: vars(value).get(field.name) for field in fields(value)}
    if isinstance(value, pacing.DerivedFunction) and not isinstance(given["source"], str):
        raise ValueError(f"{where} has a curve that is not text; give derive a text, such as '1/(1+t**2)'")
    if vars(type(value)(**given)) != vars(value):
        raise ValueError(f"{where} is no {type(value).__name__} that can be made")


def _is_array(value: Any, kind: str) -> bool:
    if kind == "rows":
        return (sparse.issparse(value) or isinstance(value, np.ndarray)) and value.dtype == np.float64
    if not isinstance(value, np.ndarray):
        return False
    if value.dtype == object:
        return kind == "values" or (kind == "text" and all(isinstance(part, str) for part in value))
    return value.dtype.kind in _KINDS[kind] if kind in _KINDS else value.dtype == np.dtype(kind)
