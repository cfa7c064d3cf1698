"""Crafted model files: each is refused with a sentence, before it runs, crashes or fills anything."""

import contextlib
import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mlspl
from mlspl import load_model, pacing, save_model
from mlspl.errors import UserError
from mlspl.persistence import model_file, read_model, read_model_info, reader
from mlspl.spaces import LinearModel
from tests.model_files import (
    X,
    Y,
    assert_same_answers,
    json_text,
    node,
    parts_of,
    put,
    rewritten,
    texts,
    unchecked,
)
from tests.watched import little_memory

MARKER = "mlspl_was_here"
KNOWN = np.nan_to_num(Y)


def refused(path, match="was refused"):
    with pytest.raises(UserError, match=match):
        load_model(path)


# Code


class Attack:
    """Unpickled, it makes a folder."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def attacks(marker):
    """Nodes that make skops, or an earlier skops, call something."""
    arguments = texts("TupleNode", marker)
    empty = node("DictNode", "builtins", "dict", content={}, key_types=texts("ListNode"))
    mkdir = node("FunctionNode", "os", "mkdir")
    key_types = node("ListNode", "builtins", "list", content=[node("TypeNode", "os", "mkdir")])
    partial = {"func": mkdir, "args": arguments, "kwds": empty, "namespace": empty}
    return {
        "constructor": node("ConstructorFromReduceNode", "os", "mkdir", content=arguments),
        "partial": node("PartialNode", "functools", "partial", content=partial),
        "function": mkdir,
        "eval": node("FunctionNode", "builtins", "eval"),
        "type": node("TypeNode", "os", "system"),
        "operator": node("OperatorFuncNode", "operator", "methodcaller", attrs=texts("TupleNode", "mkdir")),
        "operator call": node("OperatorFuncNode", "operator", "call", attrs=arguments),
        "method": node("MethodNode", "pathlib", "Path", content={"func": "mkdir", "obj": empty}),
        "loss": node("LossNode", "os", "mkdir", __reduce__={"args": arguments}, content=empty),
        "tree": node("TreeNode", "os", "mkdir", __reduce__={"args": arguments}, content=empty),
        "list": node("ListNode", "os", "mkdir", content=arguments["content"]),
        "set": node("SetNode", "os", "mkdir", content=arguments["content"]),
        "dict": node("DictNode", "os", "abort", content={}, key_types=texts("ListNode")),
        "key type": node("DictNode", "builtins", "dict", content={marker: empty}, key_types=key_types),
        "random": node("RandomStateNode", "os", "getpid", content=empty),
        "array": node("NdArrayNode", "os", "mkdir", type="numpy", file="schema.json"),
        "object": node("ObjectNode", "subprocess", "Popen", content=empty),
        "import": node("ObjectNode", "antigravity", "fly"),
        "cached": node("CachedNode", "os", "mkdir", __id__=1),
        "unknown": node("NoSuchNode", "os", "mkdir"),
        "nameless": {"__loader__": ["ObjectNode"], "__module__": 3, "__class__": None},
        "not a model": node("ObjectNode", "mlspl.experiments.store", "Store", content=empty),
        "no dict": 3,
    }


@pytest.mark.parametrize("kind", attacks("x"))
@pytest.mark.parametrize("place", ["root", "label_counts_", "k"])
def test_nodes_that_call_something(saved, tmp_path, monkeypatch, kind, place):
    monkeypatch.chdir(tmp_path)
    hostile = attacks(MARKER)[kind]

    def change(tree):
        if place == "root":
            return {**(hostile if isinstance(hostile, dict) else {}), "protocol": tree["protocol"]}
        tree["content"]["content"][place] = hostile
        return tree

    refused(rewritten(saved, tmp_path, change))
    assert not (tmp_path / MARKER).exists()


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_pickles(saved, tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    hostile = pickle.dumps(Attack(MARKER), protocol)
    path = tmp_path / "model.skops"
    path.write_bytes(hostile)
    refused(path)
    # A ZIP archive may have other bytes around it, which are never read.
    for content in (hostile + saved.read_bytes(), saved.read_bytes() + hostile):
        path.write_bytes(content)
        with contextlib.suppress(UserError):
            load_model(path)
    assert not (tmp_path / MARKER).exists()
    pickle.loads(hostile)  # the attack does leave its marker where nothing checks
    assert (tmp_path / MARKER).exists()


def test_arrays_of_pickles(saved, tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.array([Attack(MARKER)], dtype=object), allow_pickle=True)
    refused(with_array(saved, tmp_path, stream.getvalue()), "type object")


def test_formulas_are_text_for_our_own_parser(tmp_path, monkeypatch):
    """SymPy's lambdify would run a list of texts, and a forged closed form, as code."""
    monkeypatch.chdir(tmp_path)
    hostile = json_text([f"__import__('os').mkdir('{MARKER}') or v"])
    for function in (pacing.derive("exp(-t)"), pacing.derive("1/(1+exp(t))", family="shift")):
        model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X[:30], KNOWN[:30])
        saved = save_model(model, tmp_path / "model.skops")
        for name in ("source", "exponent", "_closed", "_functions", "_evaluate", "_numeric", "name"):
            for part in (hostile, json_text(MARKER), json_text(-1.0), json_text(None)):

                def change(tree, name=name, part=part):
                    put(tree["content"]["content"]["pace_function"]["content"], name, part)

                refused(rewritten(saved, tmp_path, change))
    assert not (tmp_path / MARKER).exists()


def test_execution_parameters_are_reset(tmp_path):
    """A file with n_jobs=40 started 40 processes in predict; one with a memory folder unpickled from it."""
    learner = mlspl.SelfPacedClassifier(LogisticRegression(), random_state=0, verbose=0)
    model = make_pipeline(StandardScaler(), learner).fit(X[:, :5], KNOWN)
    model.set_params(memory=str(tmp_path / "cache"), verbose=True, selfpacedclassifier__n_jobs=40)
    again = load_model(save_model(model, tmp_path / "model.skops"))
    assert {value for name, value in again.get_params().items() if "n_jobs" in name} == {None}
    assert (again.memory, again.verbose, again[-1].verbose) == (None, False, 0)
    assert_same_answers(model, again, X[:, :5])


# Damaged archives


def test_damaged_files(saved, tmp_path):
    whole = saved.read_bytes()
    path = tmp_path / "damaged.skops"
    rng = np.random.default_rng(0)
    contents = [b"", b"PK", b"PK\x05\x06" + bytes(18), rng.bytes(5000), b"\x1f\x8b" + rng.bytes(100)]
    contents += [whole[:cut] for cut in range(1, len(whole), len(whole) // 20)]
    for content in contents:
        path.write_bytes(content)
        refused(path)
    with pytest.raises(UserError, match="is not a file"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "null",
        "[]",
        "{}",
        "3",
        '{"protocol": 1e9}',
        "[" * 100_000,
        '{"a":' * 50_000,
        '{"protocol": ' + "9" * 5000 + "}",
        json.dumps({**node("ListNode", "builtins", "list", content=7), "protocol": 2}),
        json.dumps({**node("JsonNode", "builtins", "str", content="3"), "protocol": 2}),
        json.dumps({**node("NdArrayNode", "numpy", "ndarray", type="numpy", file="gone.npy"), "protocol": 2}),
    ],
)
def test_schemas_of_no_model(saved, tmp_path, schema):
    refused(rewritten(saved, tmp_path, schema=schema))


@pytest.mark.parametrize("protocol", [0, 1, True, "2", None])
def test_protocols_that_mlspl_never_wrote(saved, tmp_path, protocol):
    refused(rewritten(saved, tmp_path, lambda tree: tree.update(protocol=protocol)))


@pytest.mark.parametrize(
    "info",
    [
        {"format": None},
        {"format": True},
        {"format": -1},
        {"format": "1"},
        {"versions": None},
        {"versions": {"mlspl": 3}},
        {"label_names": None},
        {"label_names": []},
        {"label_names": ["a", "a"]},
        {"label_names": [1]},
        {"schema": None},
        {"schema": {"names": "abc"}},
        {"summary": []},
        {"summary": {"reading": {"label_joint": '=HYPERLINK("x")&'}}},
        {"summary": {"reading": {"label_sep": 3}}},
    ],
)
def test_wrong_information(saved, tmp_path, info):
    path = rewritten(saved, tmp_path, info=info)
    refused(path)
    with pytest.raises(UserError, match="was refused"):
        read_model_info(path)


def test_more_columns_than_the_model_takes(saved, tmp_path):
    """Sparse rows would have been widened to as many."""
    schema = read_model_info(saved).schema.to_json()
    refused(rewritten(saved, tmp_path, info={"schema": {**schema, "names": None, "n_features": 10**12}}))


def test_members_that_mlspl_does_not_write(saved, tmp_path):
    refused(rewritten(saved, tmp_path, extra=[("evil.py", "import os")]), "evil.py")
    refused(rewritten(saved, tmp_path, compression=zipfile.ZIP_DEFLATED), "compressed")
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = rewritten(saved, tmp_path, extra=[("schema.json", "{}")])
    refused(path, "same name")
    foreign = tmp_path / "foreign.skops"
    skops.io.dump(StandardScaler().fit(X), foreign)
    refused(foreign, r"mlspl\.json")


# Memory and time


def npy(shape, data=b"", dtype="<f8"):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def npz(compression=zipfile.ZIP_DEFLATED, **arrays):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def array_node(file, **parts):
    return node("NdArrayNode", "numpy", "ndarray", type="numpy", file=file, **parts)


def matrix_node(file, **parts):
    return node("SparseMatrixNode", "scipy.sparse._csr", "csr_matrix", type="scipy", file=file, **parts)


def with_array(saved, folder, content, part=None, file="forged.npy"):
    """The saved file with another array, or another node, as label_counts_."""
    part = array_node(file) if part is None else part
    return rewritten(
        saved,
        folder,
        lambda tree: tree["content"]["content"].update(label_counts_=part),
        extra=[(file, content)],
    )


@pytest.mark.parametrize("shape", [(10**12,), (10**12, 0, 10**9), (-2, -3), (2**62, 4)])
def test_arrays_larger_than_their_bytes(saved, tmp_path, shape):
    with little_memory(2e7):
        refused(with_array(saved, tmp_path, npy(shape)))


@pytest.mark.parametrize("dtype", ["|O", ">f8", "<c16", "<M8[s]", "|V8", "<U9999999", "|S8"])
def test_arrays_of_other_types(saved, tmp_path, dtype):
    refused(with_array(saved, tmp_path, npy((0,), b"", dtype)))


def test_one_array_that_is_used_very_often(saved, tmp_path):
    many = node(
        "ListNode", "builtins", "list", content=[array_node("forged.npy", __id__=i) for i in range(1000)]
    )
    with little_memory(2e7):
        refused(with_array(saved, tmp_path, npy((2**17,), bytes(2**20)), many), "more often")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("understated", [False, True])
def test_compressed_matrices_that_expand_without_bound(saved, tmp_path, compression, understated):
    content = npz(compression, data=npy((2**23,), bytes(2**26)))
    if understated:  # zipfile would expand a member whole before it cuts it to the size announced
        content = bytearray(content)
        struct.pack_into("<I", content, content.rindex(b"PK\x01\x02") + 24, 1000)
    part = matrix_node("forged.npz")
    with little_memory(5e7):
        refused(with_array(saved, tmp_path, bytes(content), part, "forged.npz"))


def test_many_matrices_share_one_budget(saved, tmp_path):
    """Each of them is small; together they took 600 times the file's size."""
    rows = 2**17
    content = npz(
        data=npy((0,)),
        indices=npy((0,), dtype="<i4"),
        indptr=npy((rows + 1,), bytes(4 * rows + 4), "<i4"),
        shape=npy((2,), struct.pack("<qq", rows, 1), "<i8"),
    )
    files = [f"forged{i}.npz" for i in range(300)]
    many = node("ListNode", "builtins", "list", content=[matrix_node(file) for file in files])
    path = rewritten(
        saved,
        tmp_path,
        lambda tree: tree["content"]["content"].update(k=many),
        extra=[(file, content) for file in files],
    )
    with little_memory(6e7):
        refused(path, "expand")


@pytest.mark.parametrize("name", ["schema.json", "mlspl.json"])
def test_json_of_very_many_lists(saved, tmp_path, name):
    """Two bytes of JSON are 64 bytes of memory."""
    members = {}
    with zipfile.ZipFile(saved) as archive:
        for member in archive.namelist():
            members[member] = archive.read(member)
    members[name] = members[name].rstrip()[:-1] + b',"x":[' + b"[]," * 10**6 + b"[]]}"
    path = tmp_path / "bomb.skops"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    with little_memory(2e7):
        refused(path, "lists and objects")


def test_json_of_any_length_is_not_parsed(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "_LARGEST_JSON", 2**20)
    with pytest.raises(UserError, match="larger than 1 MiB"):
        read_model_info(rewritten(saved, tmp_path, info={"summary": {"x": "x" * 2**20}}))


def test_members_of_contradictory_sizes(saved, tmp_path):
    """zipfile copies as many bytes as the compressed size says, for each of thousands of members."""
    content = bytearray(saved.read_bytes())
    entry = content.rindex(b"PK\x01\x02")
    struct.pack_into("<I", content, entry + 20, len(content) // 2)
    path = tmp_path / "sizes.skops"
    path.write_bytes(content)
    refused(path, "sizes")


def test_nodes_under_one_id_are_read_one_by_one(saved, tmp_path):
    """Each list holds the one before twice by its id: skops would build 2**60 lists."""
    inner = node("JsonNode", "builtins", "str", content="0", __id__=1)
    for number in range(2, 62):
        inner = node("ListNode", "builtins", "list", __id__=number, content=[inner, {"__id__": number - 1}])
    refused(rewritten(saved, tmp_path, lambda tree: tree["content"]["content"].update(k=inner)))


def test_a_file_too_large_is_not_read(saved, monkeypatch):
    monkeypatch.setattr(model_file, "LARGEST_FILE", saved.stat().st_size - 1)
    refused(saved, "larger than")


def test_wide_sparse_coefficients(tmp_path):
    """A product with 10**9 empty columns allocates 8 bytes for each."""
    model = mlspl.BSVMClassifier(space="linear").fit(sparse.csr_matrix(X), KNOWN)
    width = model.n_features_in_ = 10**9
    model.model_ = LinearModel(sparse.csr_matrix((np.ones(1), [0], [0, 1]), shape=(1, width)), np.zeros(1))
    refused(unchecked(model, tmp_path), "sparse matrix")


def test_long_class_names(tmp_path):
    """Predicted classes are texts as long as the longest, for each row."""
    model = mlspl.BSVMClassifier().fit(X, np.array(["a", "b"])[KNOWN[:, 0].astype(int)])
    model.classes_ = np.array(["a" * 10**6, "b"])
    refused(unchecked(model, tmp_path), "U1000000")


# Compiled code


def test_trees_that_lead_out_of_their_arrays(tmp_path):
    model = mlspl.SelfPacedForestClassifier(3, random_state=0).fit(X, KNOWN)
    trees = model.forests_[0].trees
    last = len(trees.feature)
    for name, part in [
        ("starts", np.array([0, 2**63 - 1, -(2**63), -1, last])),
        ("starts", trees.starts + 1),
        ("starts", trees.starts.astype(np.int32)),
        ("feature", np.full(last, 64, dtype=np.int32)),
        ("feature", np.full(last, -2, dtype=np.int32)),
        ("left", np.full(last, last, dtype=np.int32)),
        ("right", np.zeros(last, dtype=np.int32)),
        ("value", np.zeros(last - 1, dtype=np.float32)),
        ("n_features", 10**9),
    ]:
        kept = getattr(trees, name)
        setattr(trees, name, part)
        refused(unchecked(model, tmp_path))
        setattr(trees, name, kept)
    load_model(unchecked(model, tmp_path))


def test_objects_in_places_of_others(tmp_path):
    """Forests of other features, as the model of a support vector machine, read outside of the rows."""
    forest = mlspl.SelfPacedForestClassifier(3, random_state=0).fit(X, KNOWN)
    model = mlspl.BSVMClassifier(space="linear").fit(sparse.csr_matrix(X[:, :2]), KNOWN)
    coefficients = model.model_
    for wrong in (forest.forests_[0], forest, coefficients.coef, GaussianNB(), None):
        model.model_ = wrong
        refused(unchecked(model, tmp_path))
    model.model_ = coefficients
    for name, wrong in [("C", forest), ("gamma", StandardScaler()), ("random_state", coefficients)]:
        kept = getattr(model, name)
        setattr(model, name, wrong)
        refused(unchecked(model, tmp_path), name)
        setattr(model, name, kept)
    with pytest.raises(ValueError, match="features"):
        forest.forests_[0].trees.find_leaves(np.zeros((2, 3), dtype=np.float32))


NEIGHBOUR_PARTS = [
    ("_positive", np.zeros((60, 3))),
    ("_positive", np.zeros((59, 4))),
    ("_positive", np.zeros((60, 4)).astype(str)),
    ("neighbour_counts_", np.zeros((2, 4, 9))),
    ("label_counts_", np.zeros(2)),
    ("label_names_", np.array([1, 2, 3, 4])),
    ("n_features_in_", "64"),
    ("_rows", [1]),
    ("_rows", np.zeros((59, 64))),
    ("k", 0),
    ("k_", 60),
    ("extra", 3),
    ("_target_dtype", np.dtype("U9")),
]


@pytest.mark.parametrize(("name", "part"), NEIGHBOUR_PARTS)
def test_attributes_other_than_declared(tmp_path, name, part):
    model = mlspl.MLkNNClassifier(k=3).fit(X, KNOWN)
    setattr(model, name, part)
    refused(unchecked(model, tmp_path))


def test_sparse_matrices_with_indices_out_of_range(tmp_path):
    model = mlspl.BSVMClassifier().fit(sparse.csr_array(X), Y)
    matrix = model.model_.X
    for part, value in [
        (matrix.indices, 2**30),
        (matrix.indptr, np.append(matrix.indptr[:-1], 0)),  # SciPy skips its checks if the last is 0
        (matrix.indptr, [0, 2**31 - 1, -(2**31), -1]),  # differences of these wrap around
    ]:
        kept = part.copy()
        part[: np.size(value)] = value
        refused(unchecked(model, tmp_path), "sparse matrix")
        part[:] = kept


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (pacing.Polynomial(3.0), "degree", "3"),
        (pacing.Diversity(1.0), "gamma", -1.0),
        (pacing.Mixture(), "gamma", None),
    ],
)
def test_parameters_that_the_constructor_refuses(tmp_path, function, name, value):
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X[:30], Y[:30])
    object.__setattr__(function, name, value)
    refused(unchecked(model, tmp_path))


# Attributes and options of scikit-learn


@pytest.mark.parametrize(
    "change",
    [
        {"vocabulary_": {"cat": 0, "dog": 10**6}},
        {"vocabulary_": {"cat": 0, "dog": 0}},
        {"vocabulary": {"cat": 0}},
        {"input": "filename"},
        {"token_pattern": "(a+)+$"},
        {"analyzer": "eval"},
        {"ngram_range": (1, 10**9)},
        {"analyzer": "char", "ngram_range": (1, 8)},
        {"ngram_range": (9, 9)},
    ],
)
def test_vectorizers(tmp_path, change):
    """Word numbers are written to by compiled code; long n-grams of long texts take gigabytes."""
    words = pd.Series(["cat and dog", "dog", "__init__ cat"] * 20)
    model = make_pipeline(TfidfVectorizer(), mlspl.MLkNNClassifier(k=3)).fit(words, Y)
    assert_same_answers(model, load_model(save_model(model, tmp_path / "model.skops")), words)
    vars(model[0]).update(change)
    refused(unchecked(model, tmp_path))


def colours():
    """A fitted model with an encoder, and its table."""
    frame = pd.DataFrame({"a": np.arange(60.0), "colour": [f"c{i:02}" for i in range(60)]})
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), sparse_threshold=0)
    return make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y), frame


def too_few_columns(tree):
    for encoder in parts_of(tree, "OneHotEncoder"):
        if "_n_features_outs" in encoder["content"]:
            encoder["content"]["_n_features_outs"]["content"] = [json_text(1)]


def test_columns_of_encoders_are_computed_again(tmp_path):
    """One attribute gives their number, another fills them; compiled code checks neither."""
    model, frame = colours()
    saved = save_model(model, tmp_path / "model.skops")
    assert_same_answers(model, load_model(rewritten(saved, tmp_path, too_few_columns)), frame)


@pytest.mark.parametrize(
    "name",
    ["__getstate__", "__class__", "get_params", "fit", "_doc_link_module", "_HTMLDocumentationLinkMixin__x"],
)
@pytest.mark.parametrize("kind", ["ColumnTransformer", "OneHotEncoder", "Pipeline", "MLkNNClassifier"])
def test_attributes_that_replace_methods(tmp_path, kind, name):
    model, _ = colours()

    def shadow(tree):
        too_few_columns(tree)
        put(parts_of(tree, kind)[0], name, node("TypeNode", "builtins", "str"))

    refused(rewritten(save_model(model, tmp_path / "model.skops"), tmp_path, shadow), "attribute")


@pytest.mark.parametrize(
    "state", [texts("ListNode", "__getstate__", "x"), json_text({"__getstate__": 1}), json_text(3)]
)
def test_the_state_of_an_object_is_a_dict(saved, tmp_path, state):
    refused(rewritten(saved, tmp_path, lambda tree: tree.update(content=state)))


def test_categories_out_of_order(tmp_path):
    """A binary search in them ends outside of them."""
    frame = pd.DataFrame({"size": np.arange(60.0) % 4})
    columns = make_column_transformer((OneHotEncoder(), ["size"]), sparse_threshold=0)
    model = make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y)
    assert_same_answers(model, load_model(save_model(model, tmp_path / "model.skops")), frame)
    encoder = model[0].named_transformers_["onehotencoder"]
    for wrong in ([3.0, 1.0, 2.0, 0.0], [0.0, 1.0, 1.0, 2.0], []):
        encoder.categories_ = [np.array(wrong)]
        refused(unchecked(model, tmp_path), "out of order")


def test_encoders_that_drop_categories_are_refused(tmp_path):
    _, frame = colours()
    columns = make_column_transformer((OneHotEncoder(drop="first"), ["colour"]))
    model = make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y)
    with pytest.raises(UserError, match="drop"):
        save_model(model, tmp_path / "dropped.skops")


def test_format_strings_and_output_settings(tmp_path):
    """A column name of half a gigabyte came from '{feature_name:>500000000}'."""
    model, _ = colours()
    columns = model[0]
    vars(columns)["_sklearn_output_config"] = {"transform": "pandas"}
    load_model(save_model(model, tmp_path / "model.skops"))
    columns._sklearn_output_config = {"transform": "polars"}
    refused(unchecked(model, tmp_path), "_sklearn_output_config")
    columns._sklearn_output_config = {"transform": "default"}
    columns.verbose_feature_names_out = "{feature_name:>500000000}"
    refused(unchecked(model, tmp_path), "verbose_feature_names_out")


@pytest.mark.parametrize("text", ["{0}", "/etc/passwd", "..\\x", "x" * 1000, "a\nb"])
def test_texts_that_are_no_options(tmp_path, text):
    model = make_pipeline(StandardScaler(), mlspl.SelfPacedClassifier(LogisticRegression())).fit(X, KNOWN)
    model[-1].estimator.solver = text
    refused(unchecked(model, tmp_path), "option")


def test_versions_are_versions(tmp_path):
    """scikit-learn prints the version in a warning."""
    model = make_pipeline(StandardScaler(), mlspl.MLkNNClassifier(k=3)).fit(X, Y)

    def change(tree):
        parts_of(tree, "StandardScaler")[0]["content"]["_sklearn_version"] = json_text("\x1b[2J")

    refused(rewritten(save_model(model, tmp_path / "model.skops"), tmp_path, change), "version")


def test_an_older_file_gets_the_defaults_of_new_parameters(saved, tmp_path):
    def change(tree):
        parts, types = tree["content"]["content"], tree["content"]["key_types"]["content"]
        types.pop(list(parts).index("prior_weight"))
        del parts["prior_weight"]

    model, _ = read_model(rewritten(saved, tmp_path, change))
    assert model.prior_weight == "auto"
