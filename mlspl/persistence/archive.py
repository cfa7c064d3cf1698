"""The check that a model file holds nothing but a model, made before anything is built.

skops rebuilds objects by the types a file names. Its own list of trusted types is long and has had holes, and
it follows a file wherever that leads, so this check comes first and knows less.
"""

import hashlib
import io
import json
import re
from collections.abc import Collection, Iterator
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from scipy import sparse

from mlspl.errors import UserError
from mlspl.persistence.trusted import ALLOWED

__all__ = ["INFO", "LARGEST_FILE", "LARGEST_SCHEMA", "check_archive", "read_member"]

INFO = "mlspl.json"
"""The member with names, versions and the training summary."""
_SCHEMA = "schema.json"

LARGEST_FILE = 2**32
"""Bytes of the largest model file that is read or written."""
LARGEST_SCHEMA = 2**26
"""Bytes of the longest description of a model's structure."""
# Sparse matrices alone are compressed. Their real ones shrink to a tenth; nothing may unfold without bound.
_MOST_UNFOLDED = 64
# Numbers, text and records of them.
_PLAIN_KINDS = "biufcSUV"
_FLEETING = ("__id__", "file")
_OLDEST_PROTOCOL = 2
_VERSION = re.compile(r'"[\w.+-]{1,40}"')
# The kinds of nodes that a type named by the user may come in; none of them calls what the file names.
_FOR_FURTHER_TYPES = ("ObjectNode", "FunctionNode", "TreeNode")


def check_archive(data: bytes, trusted: Collection[str] = ()) -> None:
    """Refuse an archive with anything in it that no model of ours has."""
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive, len(data))
            schema = json.loads(read_member(archive, _SCHEMA))
            _check_repeats(schema)
            _check_states(schema)
            _check_object_arrays(schema)
            _check_reads(schema, archive, len(data))
            for name in archive.namelist():
                if name.endswith(".npy"):
                    _check_array(archive.read(name), name)
                elif name.endswith(".npz"):
                    _check_sparse(archive.read(name), name)
    except BadZipFile:
        raise UserError("it is no model file, or was cut short.") from None
    except UserError:
        raise
    except Exception as error:
        # A damaged archive can make zipfile, json and numpy trip anywhere; nothing has been built yet.
        raise UserError(f"it is damaged ({type(error).__name__}: {error}).") from None
    refused = sorted(set(_refused(schema, frozenset(trusted))))
    if refused:
        more = f" and {len(refused) - 5} more" if len(refused) > 5 else ""
        raise UserError(f"it names what no model file may hold: {', '.join(refused[:5])}{more}.")


def _check_members(archive: ZipFile, size: int) -> None:
    members = archive.infolist()
    names = [member.filename for member in members]
    if missing := {_SCHEMA, INFO} - set(names):
        raise UserError(f"it has no {min(missing)}, so mlspl did not write it.")
    if len(set(names)) < len(names):
        raise UserError("it has two members of one name, so mlspl did not write it.")
    if odd := [name for name in names if name not in (_SCHEMA, INFO) and name[-4:] not in (".npy", ".npz")]:
        raise UserError(f"it has a member {odd[0][:80]!r}, so mlspl did not write it.")
    if any(member.compress_type != ZIP_STORED or member.flag_bits & 1 for member in members):
        raise UserError("it is compressed or encrypted, so mlspl did not write it.")
    # Of members that overlap a small file can have very many.
    if sum(member.file_size for member in members) > size:
        raise UserError("it announces more than it holds.")


def read_member(archive: ZipFile, name: str) -> bytes:
    """A member of text, of bounded size."""
    member = archive.getinfo(name)
    # zipfile unfolds a member before it looks at the size announced.
    if member.compress_type != ZIP_STORED:
        raise UserError(f"its {name} is compressed, so mlspl did not write it.")
    if member.file_size > LARGEST_SCHEMA:
        raise UserError(f"its {name} is larger than {LARGEST_SCHEMA // 2**20} MiB.")
    return archive.read(member)


def _check_repeats(schema: Any) -> None:
    """Refuse an id that stands for different objects.

    skops puts the first object of an id in the place of the others. Were they others, a few lists of each
    other would unfold to any length.
    """
    known: dict[int, str] = {}

    def signature(value: Any) -> str:
        if isinstance(value, list):
            return _digest([signature(part) for part in value])
        if not isinstance(value, dict):
            return _digest(value)
        # Parts made for the file alone have another id, and another file, each time they are written.
        told = _digest({key: signature(part) for key, part in value.items() if key not in _FLEETING})
        if "__id__" in value:
            number = value["__id__"]
            if type(number) is not int or known.setdefault(number, told) != told:
                raise UserError("it has different objects under one id, so mlspl did not write it.")
        return told

    signature(schema)


def _digest(value: Any) -> str:
    """A short text that nobody can make the same for different values, as they could Python's hash."""
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


def _check_states(schema: Any) -> None:
    """Refuse objects whose parts are no dict by names, or take the place of what Python itself looks up."""
    if type(schema.get("protocol")) is not int or schema["protocol"] < _OLDEST_PROTOCOL:
        raise UserError("it is of a version of skops that mlspl never wrote with.")
    for node in _nodes(schema):
        if node.get("__loader__") != "ObjectNode" or (state := node.get("content")) is None:
            continue
        if state.get("__loader__") == "JsonNode" and state.get("content") == "null":
            continue  # an object without parts
        if state.get("__loader__") != "DictNode" or not isinstance(parts := state.get("content"), dict):
            raise UserError("it has an object whose parts have no names, so mlspl did not write it.")
        if any(kind.get("__class__") != "str" for kind in state["key_types"]["content"]):
            raise UserError("it has an object whose parts have no names, so mlspl did not write it.")
        if odd := [name for name in parts if name.startswith("__")]:
            raise UserError(f"it has an object with a part {odd[0][:80]!r}, which no model has.")
        # scikit-learn warns with it, in the file's own words.
        if not _VERSION.fullmatch(str(parts.get("_sklearn_version", {}).get("content", '"1"'))):
            raise UserError("its version of scikit-learn is no version.")


def _check_object_arrays(schema: Any) -> None:
    """Refuse arrays of objects with several axes: NumPy would unfold the objects in them."""
    for node in _nodes(schema):
        if node.get("__loader__") == "NdArrayNode" and node.get("type") != "numpy":
            shape = node.get("shape")
            if not isinstance(shape, dict) or shape.get("__loader__") != "TupleNode":
                raise UserError("it has an array of objects without a shape, so mlspl did not write it.")
            if len(shape["content"]) != 1:
                raise UserError("it has an array of objects with more axes than one, which no model holds.")


def _check_reads(schema: Any, archive: ZipFile, size: int) -> None:
    """Refuse a schema that has one member read again and again; real ones name an object once by its id."""
    sizes = {member.filename: member.file_size for member in archive.infolist()}
    read: dict[Any, int] = {}
    for position, node in enumerate(_nodes(schema)):
        if isinstance(file := node.get("file"), str):
            known = node.get("__id__")
            key = known if type(known) is int and known else ("once more", position)
            read[key] = max(read.get(key, 0), sizes.get(file, 0))
    if sum(read.values()) > size:
        raise UserError("it has its arrays read more often than they are there.")


def _check_array(member: bytes, name: str) -> None:
    """Refuse objects, and more values than there are bytes: NumPy would allocate them before it looks."""
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise UserError(f"{name} is an array of an unknown version.")
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(stream)
    if dtype.kind not in _PLAIN_KINDS or dtype.hasobject:
        raise UserError(f"{name} is an array of type {dtype}, which no model holds.")
    count = 1
    for length in shape:
        count *= int(length)
    if count * dtype.itemsize != len(member) - stream.tell():
        raise UserError(f"{name} announces {count} values and holds another number.")


def _check_sparse(member: bytes, name: str) -> None:
    with ZipFile(io.BytesIO(member)) as archive:
        parts = archive.infolist()
        if any(part.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for part in parts):
            raise UserError(f"{name} is compressed as no model is.")
        if sum(part.file_size for part in parts) > _MOST_UNFOLDED * len(member) + 2**20:
            raise UserError(f"{name} would unfold to more than {_MOST_UNFOLDED} times its size.")
        for part in parts:
            with archive.open(part) as stream:
                # Without a size, zipfile would unfold all there is, whatever the part announces.
                _check_array(stream.read(part.file_size), f"{part.filename} in {name}")
    # Compiled code trusts the indices of a sparse matrix.
    sparse.load_npz(io.BytesIO(member)).check_format(full_check=True)


def _nodes(schema: Any) -> Iterator[dict]:
    """Yield every object of a JSON tree, however deep."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            yield value


def _refused(schema: Any, trusted: frozenset[str]) -> Iterator[str]:
    """Yield each kind of node, with its type, that is not allowed."""
    for node in _nodes(schema):
        if not node.keys() & {"__loader__", "__class__", "__module__"}:
            continue
        loader, module, name = (node.get(f"__{key}__") for key in ("loader", "module", "class"))
        if not (isinstance(loader, str) and isinstance(module, str) and isinstance(name, str)):
            yield "a nameless type"
            continue
        kind = f"{module}.{name}"
        further = kind in trusted and loader in _FOR_FURTHER_TYPES
        if not further and kind not in ALLOWED.get(loader, ()):
            yield kind[:80] if loader in ALLOWED else f"{kind[:80]} ({loader[:40]})"
