"""The types a model file may name: a few kinds of nodes, each with what it may build.

Our own classes declare themselves: each says in ``_contents`` what its file may hold (see `shapes`).
"""

from collections.abc import Iterable
from inspect import isabstract
from typing import Any

import numpy as np
from scipy import sparse

from mlspl import correlation, model_selection, models, pacing, recipes, spaces
from mlspl.persistence.foreign import FOREIGN_CONTENTS
from mlspl.persistence.shapes import declared_contents, declared_types

__all__ = ["ALLOWED", "OBJECTS", "PLAIN", "TRUSTED_TYPES", "full_name"]

_ROOMS = (pacing, model_selection, spaces, correlation, models, recipes)
_SCALARS = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32, np.float64)
_MATRICES = (sparse.csr_array, sparse.csr_matrix)


def full_name(thing: Any) -> str:
    """Module and name of a class or function, as model files spell them."""
    return f"{thing.__module__}.{thing.__name__}"


def _collect(rooms: Iterable) -> dict[type, dict[str, Any]]:
    """The classes behind the doors of the rooms, and in one another, that say what files hold of them."""
    waiting = [thing for room in rooms for thing in vars(room).values() if isinstance(thing, type)]
    found: dict[type, dict[str, Any]] = {}
    while waiting:
        cls = waiting.pop()
        if cls not in found and hasattr(cls, "_contents") and not isabstract(cls):
            found[cls] = declared_contents(cls)
            waiting += declared_types(found[cls])
    return found


OBJECTS: dict[type, dict[str, Any]] = _collect(_ROOMS) | FOREIGN_CONTENTS
"""The types that are built part by part, and what is declared of their parts."""

PLAIN = (type(None), bool, int, float, str, list, tuple, dict, slice, np.ndarray, *_SCALARS, *_MATRICES)
"""The types of data."""

_TRUSTED: dict[str, Iterable[type]] = {
    "ObjectNode": OBJECTS,
    "DictNode": (dict,),
    "ListNode": (list,),
    "TupleNode": (tuple,),
    "SliceNode": (slice,),
    "JsonNode": (str,),
    "TypeNode": (bool, int, float, str, *_SCALARS),
    "NdArrayNode": (np.ndarray, *_SCALARS),
    "DTypeNode": (np.dtype,),
    "RandomStateNode": (np.random.RandomState,),
    "SparseMatrixNode": _MATRICES,
}
ALLOWED = {loader: frozenset(map(full_name, things)) for loader, things in _TRUSTED.items()}
"""The types that each kind of node may be of."""

TRUSTED_TYPES: tuple[str, ...] = tuple(sorted(frozenset().union(*ALLOWED.values())))
"""Every type a model file may name, in alphabetical order."""
