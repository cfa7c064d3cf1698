"""Model files with something changed: a model or a sentence, nothing run, no great hunger.

``MLSPL_FUZZ_EXAMPLES=20000 pytest tests/persistence/test_fuzz_model_files.py`` searches longer.
"""

import io
import json
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlspl import BSVMClassifier, MLkNNClassifier, MLSPLClassifier, load_model, pacing, save_model
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.persistence import TRUSTED_TYPES
from tests.watched import Patience, fuzzing, little_memory, nothing_run

DIGITS = load_dataset("digits-traits")
X, Y = DIGITS.X[:30, 20:28] / 16, DIGITS.Y[:30, :3]
MODELS = {
    "pipeline": make_pipeline(
        StandardScaler(),
        MLSPLClassifier(
            pacing.derive("1/(1+t)"), pacing.QuantilePace(0.8, 0.8, 1), random_state=np.random.RandomState(1)
        ),
    ).fit(X, Y),
    "sparse neighbours": MLkNNClassifier(k=3).fit(sparse.csr_matrix(X), Y),
    "machine": BSVMClassifier(gamma="scale", class_weight={0: 1.0, 1: 2.0}).fit(X, Y),
}
NAMES = [
    *TRUSTED_TYPES,
    "os.system", "builtins.eval", "builtins.exec", "builtins.getattr", "subprocess.Popen",
    "functools.partial", "operator.methodcaller", "pickle.loads", "numpy.load",
    "numpy.core.multiarray._reconstruct", "os.remove",
    "sklearn.preprocessing._function_transformer.FunctionTransformer", "ctypes.CDLL", "antigravity.fly",
    "this.s", "mlspl.cli.main.main", "mlspl.datasets.loading.fetch_dataset", "sympy.sympify",
    "builtins.type", "builtins.object", "nowhere.at_all", ".", "a", "", "..a.b", "os.path.join",
    "pathlib.Path", "io.BytesIO",
]  # fmt: skip
LOADERS = [
    "ObjectNode", "FunctionNode", "MethodNode", "PartialNode", "TypeNode", "NdArrayNode",
    "MaskedArrayNode", "RandomStateNode", "RandomGeneratorNode", "DTypeNode", "SparseMatrixNode",
    "DictNode", "ListNode", "TreeNode", "TupleNode", "SetNode", "SliceNode", "JsonNode", "BytesNode",
    "ReduceNode", "OperatorFuncNode", "CachedNode", "DatetimeNode", "DefaultDictNode",
    "QuantileForestNode", "", "Node", "__import__",
]  # fmt: skip
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=5),
        st.sampled_from(["9" * 30, "NaN", "-1", "[]", "null", "t", "__import__('os').system('true')"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


class File(bytes):
    """Bytes that do not fill the screen."""

    def __repr__(self):
        return f"<file of {len(self)} bytes>"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The models' files; everything that is imported late has been."""
    folder = tmp_path_factory.mktemp("models")
    paths = {name: save_model(model, folder / f"{name}.skops") for name, model in MODELS.items()}
    for path in paths.values():
        load_model(path).predict(X)
        spoiled = path.with_name("spoiled.skops")
        for content in (path.read_bytes()[:-50], b"\x80\x04.", b"PK\x03\x04"):
            spoiled.write_bytes(content)
            with pytest.raises(UserError):
                load_model(spoiled)
    return {name: File(path.read_bytes()) for name, path in paths.items()}


@pytest.fixture
def loaded_or_refused(tmp_path):
    path = tmp_path / "model.skops"

    def check(content):
        path.write_bytes(content)
        model = refusal = None
        try:
            with little_memory(200e6), nothing_run(), Patience(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = load_model(path)
                predict(model)
        except UserError as error:
            refusal = str(error)
        assert model is not None or (refusal.startswith(str(tmp_path)) and refusal.endswith("."))

    return check


def predict(model):
    """What was changed into nonsense may fail in any way but run nothing."""
    for rows in (X[:2], sparse.csr_matrix(X[:2])):
        try:
            model.predict(rows)
        except MemoryError:
            raise
        except Exception:
            continue


@st.composite
def mutated_bytes(draw, content):
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.sampled_from([0, 1, 2, 4, 100, 10_000])))
        piece = draw(st.one_of(
            st.binary(max_size=8), st.just(b"\0" * (stop - start)), st.just(content[start:stop] * 2),
            st.sampled_from([b"PK\x05\x06", b"PK\x01\x02", b"\x93NUMPY", b"\xff" * 8, b"|O", b"(10000000,)"]),
        ))  # fmt: skip
        content = content[:start] + piece + content[stop:]
    return File(content)


@st.composite
def mutated_members(draw, content):
    """The archive with members exchanged, spoiled, renamed or left out."""
    members = unpacked(content)
    names = list(members)
    for _ in range(draw(st.integers(1, 3))):
        name, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        deed = draw(st.sampled_from(["swap", "copy", "spoil", "drop", "rename"]))
        if name not in members or other not in members:
            continue
        if deed == "swap":
            members[name], members[other] = members[other], members[name]
        elif deed == "copy":
            members[name] = members[other]
        elif deed == "spoil":
            members[name] = draw(mutated_bytes(members[name]))
        elif deed == "drop":
            del members[name]
        else:
            members[draw(st.sampled_from(["x.npy", "../x.npy", "/x.npz", "x.py", "schema.json"]))] = (
                members.pop(name)
            )
    return packed(members)


@st.composite
def mutated_schemas(draw, content):
    """The archive with nodes of its description altered, types and loaders from anywhere among them."""
    members = unpacked(content)
    schema = json.loads(members["schema.json"])
    nodes = [schema]
    for node in nodes:
        nodes.extend(value for value in (node.values() if isinstance(node, dict) else node)
                     if isinstance(value, dict | list))  # fmt: skip
    for _ in range(draw(st.integers(1, 4))):
        node = draw(st.sampled_from([node for node in nodes if node]))
        if isinstance(node, list):
            node[draw(st.integers(0, len(node) - 1))] = draw(st.one_of(JSON, st.sampled_from(nodes)))
            continue
        key = draw(st.sampled_from(sorted(node)))
        kind = draw(st.sampled_from(["type", "loader", "value", "node", "key"]))
        if kind == "type":
            module, _, name = draw(st.sampled_from(NAMES)).rpartition(".")
            node.update({"__module__": module, "__class__": name})
        elif kind == "loader":
            node["__loader__"] = draw(st.sampled_from(LOADERS))
        elif kind == "value":
            node[key] = draw(JSON)
        elif kind == "node":
            node[key] = draw(st.sampled_from(nodes))
        else:
            node[
                draw(
                    st.sampled_from(["file", "content", "__id__", "__class__", "type", "attrs", "__reduce__"])
                )
            ] = node.pop(key)
    try:
        members["schema.json"] = json.dumps(schema).encode()
    except (ValueError, RecursionError):  # a node within itself
        members["schema.json"] = b'{"__class__": {"__class__": ' * 1000
    return packed(members)


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return File(stream.getvalue())


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("mutation", [mutated_bytes, mutated_members, mutated_schemas])
def test_changed_files(files, loaded_or_refused, name, mutation):
    @fuzzing(0.25)
    @given(mutation(files[name]))
    def search(content):
        loaded_or_refused(content)

    loaded_or_refused(files[name])
    search()
