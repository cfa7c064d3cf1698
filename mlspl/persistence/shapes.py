"""The parts of an object against what its class declares of them.

A class lists in ``_contents`` what a fit leaves in it, name by name:

- ``"float (labels, rows)"``: an array of that kind, with a name or number for the length of each axis; a name
  stands for one length throughout the object, ``features`` for its ``n_features_in_``, and _ for any length.
  Kinds are float, int, bool, number, text, values (any of these), rows (a float64 array or CSR matrix), and
  NumPy's own such as int32, where compiled code goes by it;
- ``"float"``: one of that kind; ``"dtype"``: NumPy's type of numbers; ``"any"``: whatever a file may hold;
- a class, or a tuple of classes: an object of one of them or made from it;
- ``[part]``: a list of such parts; ``{"name": part}``: a dict of them; ``{str: part}``: one of any names;
- with ``?`` at the end, or None in the tuple: it may be missing or None.

The parameters of its constructor need no declaration. What shapes alone cannot say is checked by a method
``_check_contents``, which raises ValueError.
"""

import re
from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["check_contents", "declared_contents", "declared_types", "parameters_of", "rows_of"]

_KINDS = {"float": "f", "int": "iu", "bool": "b", "number": "biuf", "text": "U", "values": "biufU"}
_SPECIFICATION = re.compile(r"(\w+)(?: \(([\w, ]+)\))?(\??)")


def declared_contents(cls: type) -> dict[str, Any]:
    """What a class and those it is made from declare of their fitted parts."""
    return {
        name: part for base in reversed(cls.__mro__) for name, part in vars(base).get("_contents", {}).items()
    }


def declared_types(specification: Any) -> Iterator[type]:
    """Yield the classes that a declaration names."""
    if isinstance(specification, type):
        if specification is not str:
            yield specification
    elif isinstance(specification, Mapping):
        for part in specification.values():
            yield from declared_types(part)
    elif isinstance(specification, list | tuple):
        for part in specification:
            yield from declared_types(part)


def parameters_of(cls: type) -> dict[str, Any]:
    """The names of a constructor's parameters, and their defaults."""
    return {
        name: parameter.default
        for name, parameter in signature(cls).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def check_contents(where: str, value: Any, declared: Mapping[str, Any]) -> None:
    """Refuse an object with a part that does not look as declared."""
    state = vars(value)
    lengths: dict[str, int] = {}
    if isinstance(features := state.get("n_features_in_"), int):
        lengths["features"] = features
    for name, specification in declared.items():
        _check(f"{where}.{name}", state.get(name), specification, lengths)


def rows_of(value: Any, declared: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the parts of an object that are declared to be rows, dense or sparse."""
    for name, specification in declared.items():
        several = isinstance(specification, list)
        kind = specification[0] if several else specification
        if isinstance(kind, str) and kind.startswith("rows "):
            yield from vars(value).get(name) or () if several else [vars(value).get(name)]


def _check(where: str, value: Any, specification: Any, lengths: dict[str, int]) -> None:
    if isinstance(specification, str):
        _check_kind(where, value, specification, lengths)
    elif isinstance(specification, list):
        if type(value) is not list:
            raise ValueError(f"{where} is no list")
        for number, part in enumerate(value):
            _check(f"{where}[{number}]", part, specification[0], lengths)
    elif isinstance(specification, Mapping):
        names = value.keys() if type(value) is dict else ()
        anything = specification.keys() == {str}
        if type(value) is not dict or not (anything or names == specification.keys()):
            raise ValueError(f"{where} is no dict of {', '.join(map(str, specification))}")
        for name, part in value.items():
            _check(f"{where}[{name!r}]", part, specification[str if anything else name], lengths)
    else:
        classes = specification if isinstance(specification, tuple) else (specification,)
        if not (value is None and None in classes) and not isinstance(
            value, tuple(part for part in classes if part is not None)
        ):
            raise ValueError(f"{where} is of type {type(value).__name__}")


def _check_kind(where: str, value: Any, specification: str, lengths: dict[str, int]) -> None:
    kind, axes, optional = _SPECIFICATION.fullmatch(specification).groups()  # type: ignore[union-attr]
    if kind == "any" or (value is None and optional):
        return
    if axes is None:
        if not _is_scalar(value, kind):
            raise ValueError(f"{where} is no {kind}")
        return
    if kind == "rows":
        fits = sparse.issparse(value) or isinstance(value, np.ndarray)
        fits = fits and value.dtype == np.float64
    else:
        fits = isinstance(value, np.ndarray) and _is_of(value, kind)
    names = axes.split(", ")
    if not fits or value.ndim != len(names):
        raise ValueError(f"{where} is no array of {specification}")
    for name, length in zip(names, value.shape, strict=True):
        if name == "_":
            continue
        expected = int(name) if name.isdecimal() else lengths.setdefault(name, length)
        if length != expected:
            raise ValueError(f"{where} has {length} {name}, and elsewhere there are {expected}")


def _is_of(array: np.ndarray, kind: str) -> bool:
    if array.dtype == object and kind in ("text", "values"):
        return kind == "values" or all(isinstance(part, str) for part in array.ravel())
    if not array.dtype.isnative:
        return False
    return array.dtype.kind in _KINDS[kind] if kind in _KINDS else array.dtype == np.dtype(kind)


def _is_scalar(value: Any, kind: str) -> bool:
    if isinstance(value, bool | np.bool_):
        return kind in ("bool", "values")
    if kind == "dtype":
        return isinstance(value, np.dtype) and value.kind in _KINDS["number"]
    if kind == "text":
        return isinstance(value, str)
    if kind == "int":
        return isinstance(value, int | np.integer)
    return kind in ("float", "number", "values") and isinstance(value, int | float | np.number)
