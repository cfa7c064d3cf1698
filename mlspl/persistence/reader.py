"""Reads the ZIP archive of a model file: arrays, and a JSON description of the objects made of them.

The format is that of skops, which rebuilds any type a file names. This reader knows a dozen kinds of nodes
and the classes of `OBJECTS`. It checks each array and each object when it is read, before anything uses it.
"""

import io
import json
import re
from math import prod
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from mlspl._validation import check_sparse
from mlspl.errors import UserError
from mlspl.persistence.declarations import OBJECTS, check_names, check_object, full_name, has_role

INFO = "mlspl.json"  # the member with label names, columns, versions and the training summary
LARGEST_FILE = 2**32  # bytes, read or written
_SCHEMA = "schema.json"
_PROTOCOL = 2  # of skops; older ones name types in other places
_LARGEST_JSON = 2**26  # bytes
# A list or object takes about 200 bytes when parsed. skops writes over 100 bytes of JSON for each.
_BYTES_PER_NODE = 24
# Only sparse matrices are compressed, to about a tenth. This limit holds for all of them together.
_LARGEST_EXPANSION = 32
# Bytes of arrays that objects may use, as a multiple of the file: it limits the time of the checks.
_MOST_USES = 64
# Empty columns of a sparse matrix take no bytes, but a product with it allocates some for each.
_MOST_COLUMNS = 2**25
_LONGEST_TEXT = 4000  # characters; NumPy allocates the longest one for each text of an array
_VERSION = re.compile(r"[\w.+-]{1,40}")

_SCALARS = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32, np.float64)
_TYPES: dict[str, dict[str, Any]] = {
    loader: {full_name(cls): cls for cls in classes}
    for loader, classes in {
        "ObjectNode": OBJECTS,
        "DictNode": (dict,),
        "ListNode": (list,),
        "TupleNode": (tuple,),
        "SliceNode": (slice,),
        "JsonNode": (str,),
        "TypeNode": (bool, int, float, str, *_SCALARS),
        "NdArrayNode": (np.ndarray, *_SCALARS),
        "DTypeNode": (np.dtype,),
        "SparseMatrixNode": (sparse.csr_array, sparse.csr_matrix),
    }.items()
}

TRUSTED_TYPES: tuple[str, ...] = tuple(sorted({name for types in _TYPES.values() for name in types}))
"""Every type a model file may name, in alphabetical order."""


class ModelReader:
    """An open model file."""

    def __init__(self, stream: IO[bytes]) -> None:
        size = stream.seek(0, io.SEEK_END)
        self._expansion = _LARGEST_EXPANSION * size + 2**20
        self._uses = _MOST_USES * size + 2**20
        self._arrays: dict[str, Any] = {}
        try:
            self._archive = ZipFile(stream)
        except Exception:  # zipfile raises a dozen types of errors
            raise UserError("it is not a model file, or it was cut short.") from None
        members = self._archive.infolist()
        self._members = {member.filename: member for member in members}
        if INFO not in self._members or _SCHEMA not in self._members:
            raise UserError(f"it has no {INFO} or no {_SCHEMA}, so mlspl did not write it.")
        for name, member in self._members.items():
            if name not in (_SCHEMA, INFO) and name[-4:] not in (".npy", ".npz"):
                raise UserError(f"it has a member {name[:80]!r}, so mlspl did not write it.")
            if member.compress_type != ZIP_STORED or member.flag_bits & 1:
                raise UserError("it is compressed or encrypted, so mlspl did not write it.")
        # Members that overlap, or that zipfile copies as often as they are named.
        sizes = [max(member.compress_size, member.file_size) for member in members]
        if len(self._members) < len(members) or sum(sizes) > size:
            raise UserError(
                "its members have the same name or contradictory sizes, so mlspl did not write it."
            )

    def read_model(self) -> Any:
        """Return the model; the error of a damaged file is of any type."""
        schema = self.read_json(_SCHEMA)
        if type(schema["protocol"]) is not int or schema["protocol"] < _PROTOCOL:
            raise UserError("it is of a version of skops that mlspl never wrote with.")
        model = self._build(schema, str(schema["__class__"])[:40])
        if not has_role(model):
            raise TypeError(f"it holds a {type(model).__name__}, not a model")
        return model

    def read_json(self, name: str = INFO) -> Any:
        """Return the parsed JSON of a member, by default that with names and versions."""
        member = self._members[name]
        if member.file_size > _LARGEST_JSON:
            raise UserError(f"its {name} is larger than {_LARGEST_JSON // 2**20} MiB.")
        text = self._archive.read(member)
        if text.count(b"[") + text.count(b"{") > len(text) / _BYTES_PER_NODE + 1000:
            raise UserError(f"its {name} has more lists and objects than mlspl writes.")
        return json.loads(text)

    def _build(self, node: Any, where: str) -> Any:
        """Return what a node describes; `where` is its place in the model."""
        loader, kind = str(node["__loader__"]), f"{node['__module__']}.{node['__class__']}"
        content = node.get("content")
        cls: Any = _TYPES.get(loader, {}).get(kind)
        match loader if cls else None:
            case "ObjectNode":
                return self._build_object(cls, content, where)
            case "DictNode":
                names = (f"{kind['__module__']}.{kind['__class__']}" for kind in node["key_types"]["content"])
                keys = [_TYPES["TypeNode"][name](key) for name, key in zip(names, content, strict=True)]
                parts = [self._build(part, f"{where}.{key[:40]}") for key, part in content.items()]
                return dict(zip(keys, parts, strict=True))
            case "ListNode" | "TupleNode":
                return cls([self._build(part, f"{where}[{i}]") for i, part in enumerate(content)])
            case "SliceNode":
                limits = [content[key] for key in ("start", "stop", "step")]
                if all(limit is None or type(limit) is int for limit in limits):
                    return slice(*limits)
            case "JsonNode":
                return _parse_scalar(content, where)
            case "TypeNode":
                return cls
            case "DTypeNode":
                return self._build(content, where).dtype
            case "NdArrayNode" if node["type"] == "numpy":
                array = self._read_array(node["file"])
                if cls is not np.ndarray and (array.shape or array.dtype != cls):
                    raise ValueError(f"{where} is not one number of type {cls.__name__}")
                return array if cls is np.ndarray else array[()]
            case "NdArrayNode":
                return self._build_object_array(node, where)
            case "SparseMatrixNode":
                return self._read_matrix(node["file"], cls)
        raise UserError(f"{where} is {kind[:80]} ({loader[:40]}), which no model file may hold.")

    def _build_object(self, cls: Any, content: Any, where: str) -> Any:
        instance = cls.__new__(cls)
        state = None if content is None else self._build(content, cls.__name__)
        state = {} if state is None else state
        check_names(where, cls, state)
        # scikit-learn prints it in a warning.
        if not _VERSION.fullmatch(state.get("_sklearn_version", "1")):
            raise ValueError(f"{where} has a version of scikit-learn that is not a version")
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            vars(instance).update(state)
        check_object(where, instance)
        return instance

    def _build_object_array(self, node: Any, where: str) -> np.ndarray:
        """Return an array of Python objects: names and categories."""
        array = np.empty(len(node["content"]), dtype=object)
        array[:] = [self._build(part, where) for part in node["content"]]
        is_plain = all(isinstance(part, str | bool | int | float | np.generic | None) for part in array)
        if len(node["shape"]["content"]) != 1 or not is_plain:
            raise ValueError(f"{where} is an array of objects that are not texts or numbers")
        return array

    def _read_array(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            self._arrays[name] = self._parse(self._archive.read(self._members[name]), name)
        return self._used(self._arrays[name])

    def _read_matrix(self, name: str, cls: Any) -> Any:
        """Return a sparse matrix; its arrays are the members of a ZIP archive within the archive."""
        if name not in self._arrays:
            with ZipFile(io.BytesIO(self._archive.read(self._members[name]))) as archive:
                self._arrays[name] = [
                    self._parse(self._expand(archive, archive.getinfo(f"{part}.npy")), name)
                    for part in ("data", "indices", "indptr", "shape")
                ]
        *arrays, shape = map(self._used, self._arrays[name])
        is_shape = shape.shape == (2,) and shape.dtype.kind == "i"
        if not is_shape or not 0 <= shape.min() <= shape.max() <= _MOST_COLUMNS:
            raise ValueError(f"{name[:40]} is a sparse matrix of shape {str(shape)[:80]}")
        matrix = cls(tuple(arrays), shape=tuple(shape.tolist()))
        check_sparse(matrix, name[:40])
        return matrix

    def _expand(self, archive: ZipFile, member: ZipInfo) -> bytes:
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise UserError("it has a sparse matrix that is compressed as mlspl never does.")
        with archive.open(member) as stream:
            # Given a size, zipfile expands no more than that, whatever the member claims.
            content = stream.read(self._expansion + 1)
        self._expansion -= len(content)
        if self._expansion < 0:
            raise UserError(f"its sparse matrices expand to over {_LARGEST_EXPANSION} times the file's size.")
        return content

    def _used(self, array: np.ndarray) -> np.ndarray:
        self._uses -= array.nbytes
        if self._uses < 0:
            raise UserError("it uses its arrays more often than mlspl does.")
        return array

    def _parse(self, content: bytes, name: str) -> np.ndarray:
        """Return the array of an .npy file that holds exactly the values it announces."""
        stream = io.BytesIO(content)
        version = npy.read_magic(stream)
        read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[version]
        shape, _, dtype = read_header(stream)
        is_number = dtype.kind in "biuf" and dtype.itemsize <= 8
        is_text = dtype.kind == "U" and dtype.itemsize <= 4 * _LONGEST_TEXT
        if not (is_number or is_text) or dtype.hasobject or not dtype.isnative:
            raise UserError(f"its {name[:40]} is an array of type {str(dtype)[:40]}, which no model holds.")
        fits = prod(shape) * dtype.itemsize == len(content) - stream.tell()
        if not fits or not all(0 <= length <= max(len(content), _MOST_COLUMNS) for length in shape):
            raise UserError(f"its {name[:40]} announces an array of another size than it holds.")
        stream.seek(0)
        return npy.read_array(stream, allow_pickle=False)


def _parse_scalar(text: str, where: str) -> Any:
    if text.lstrip()[:1] in ("[", "{"):
        raise ValueError(f"{where} is JSON of more than one value")
    value = json.loads(text)
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise ValueError(f"{where} is a text of more than {_LONGEST_TEXT} characters")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{where} is an integer of more than 64 bits")
    return value
