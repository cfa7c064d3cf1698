"""What a model file may hold, and the check that it holds nothing else, made before anything is built.

skops rebuilds objects by the types a file names. Its own list of trusted types is long and has had holes, so
this check comes first and knows less: a few kinds of nodes, each with the types named here.
"""

import io
import json
from collections.abc import Collection, Iterator
from typing import Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from mlspl import model_selection, pacing
from mlspl.correlation import CodeRidge, CodeSVR
from mlspl.errors import UserError
from mlspl.models.bsvm import BSVMClassifier
from mlspl.models.calibrated import LazyCalibration
from mlspl.models.decision import TunedDecisionClassifier
from mlspl.models.mlknn import MLkNNClassifier
from mlspl.models.mlloc import MLLOCClassifier
from mlspl.models.mlspl import MLSPLClassifier
from mlspl.models.mlspl_cv import MLSPLClassifierCV
from mlspl.models.neighbours import StableNeighbours
from mlspl.models.ranksvm import LazySlope, RankSVMClassifier
from mlspl.models.self_paced import SelfPacedClassifier
from mlspl.models.tram import TRAMClassifier
from mlspl.pacing.derived import DerivedScale, DerivedShift

__all__ = ["INFO", "LARGEST_FILE", "LARGEST_SCHEMA", "TRUSTED_TYPES", "check_archive", "full_name"]

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


def full_name(thing: Any) -> str:
    """Module and name of a class or function, as model files spell them.

    Examples
    --------
    >>> import collections
    >>> full_name(collections.OrderedDict)
    'collections.OrderedDict'
    """
    return f"{thing.__module__}.{thing.__name__}"


_OBJECTS = (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    TRAMClassifier,
    TunedDecisionClassifier,
    CodeRidge,
    CodeSVR,
    LazyCalibration,
    LazySlope,
    StableNeighbours,
    model_selection.AnchoredCalibration,
    model_selection.IdentityCalibration,
    model_selection.PlattCalibration,
    model_selection.CountThreshold,
    model_selection.LabelThreshold,
    model_selection.ZeroThreshold,
    *(type(pacing.get(name)) for name in pacing.names()),
    DerivedScale,
    DerivedShift,
    pacing.GeometricPace,
    pacing.QuantilePace,
    pacing.UntilInPlay,
    BernoulliNB,
    ColumnTransformer,
    GaussianNB,
    LabelBinarizer,
    LinearSVC,
    LogisticRegression,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PCA,
    Pipeline,
    RidgeClassifier,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
    TruncatedSVD,
)
_SCALARS = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float32, np.float64)
_TRUSTED: dict[str, tuple] = {
    "ObjectNode": _OBJECTS,
    "DictNode": (dict,),
    "ListNode": (list,),
    "TupleNode": (tuple,),
    "SliceNode": (slice,),
    "JsonNode": (str,),
    "TypeNode": (bool, int, float, str, *_SCALARS),
    "NdArrayNode": (np.ndarray, *_SCALARS),
    "DTypeNode": (np.dtype,),
    "RandomStateNode": (np.random.RandomState,),
    "SparseMatrixNode": (sparse.csr_array, sparse.csr_matrix),
}
_ALLOWED = {loader: frozenset(map(full_name, things)) for loader, things in _TRUSTED.items()}
# The kinds of nodes that a type named by the user may come in; none of them calls what the file names.
_FOR_FURTHER_TYPES = ("ObjectNode", "FunctionNode", "TreeNode")

TRUSTED_TYPES: tuple[str, ...] = tuple(sorted(frozenset().union(*_ALLOWED.values())))
"""Every type a model file may name, in alphabetical order."""


def check_archive(data: bytes, trusted: Collection[str] = ()) -> None:
    """Refuse an archive with anything in it that no model of ours has.

    Parameters
    ----------
    data : bytes
        The whole file.
    trusted : collection of str
        Further types that are let through.

    Raises
    ------
    UserError
        Says what was refused.

    Examples
    --------
    >>> check_archive(b"not an archive")
    Traceback (most recent call last):
    mlspl.errors.UserError: it is no model file, or was cut short.
    """
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            _check_members(archive, len(data))
            schema = json.loads(archive.read(_SCHEMA))
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
    for name in (_SCHEMA, INFO):
        if archive.getinfo(name).file_size > LARGEST_SCHEMA:
            raise UserError(f"its {name} is larger than {LARGEST_SCHEMA // 2**20} MiB.")


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
        unfolded = sum(part.file_size for part in archive.infolist())
        if unfolded > _MOST_UNFOLDED * len(member) + 2**20:
            raise UserError(f"{name} would unfold to more than {_MOST_UNFOLDED} times its size.")
        for part in archive.namelist():
            _check_array(archive.read(part), f"{part} in {name}")
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
        if not further and kind not in _ALLOWED.get(loader, ()):
            yield kind[:80] if loader in _ALLOWED else f"{kind[:80]} ({loader[:40]})"
