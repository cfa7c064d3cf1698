"""Files of strangers: nothing in them is run, nothing unfolds, and each ends in a sentence."""

import contextlib
import io
import json
import os
import pickle
import struct
import tracemalloc
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
from mlspl.models._calibrated import without_training_data
from mlspl.persistence import archive, model_file, read_model_info
from mlspl.recipes import Schema
from tests.model_files import X, Y, assert_same_answers, rewritten

MARKER = "mlspl_was_here"


class Attack:
    """Unpickled, it makes a file."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def node(loader, module, name, **parts):
    return {"__loader__": loader, "__module__": module, "__class__": name, **parts}


def json_text(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value))


def texts(kind, *values):
    items = [json_text(value) for value in values]
    return node(kind, "builtins", "tuple" if kind == "TupleNode" else "list", content=items)


def attacks(marker):
    """States that make skops, or an earlier skops, call something."""
    arguments = texts("TupleNode", marker)
    empty = node("DictNode", "builtins", "dict", content={}, key_types=texts("ListNode"))
    mkdir = node("FunctionNode", "os", "mkdir")
    return {
        "constructor": node("ConstructorFromReduceNode", "os", "mkdir", content=arguments),
        "partial": node(
            "PartialNode",
            "functools",
            "partial",
            content={"func": mkdir, "args": arguments, "kwds": empty, "namespace": empty},
        ),
        "function": mkdir,
        "eval": node("FunctionNode", "builtins", "eval"),
        "type": node("TypeNode", "os", "system"),
        "operator": node("OperatorFuncNode", "operator", "methodcaller", attrs=texts("TupleNode", "mkdir")),
        "operator call": node("OperatorFuncNode", "operator", "call", attrs=arguments),
        "method": node("MethodNode", "pathlib", "Path", content={"func": "mkdir", "obj": empty}),
        "loss": node("LossNode", "os", "mkdir", __reduce__={"args": arguments}, content=empty),
        "list": node("ListNode", "os", "mkdir", content=arguments["content"]),
        "set": node("SetNode", "os", "mkdir", content=arguments["content"]),
        "dict": node("DictNode", "os", "abort", content={}, key_types=texts("ListNode")),
        "key type": node(
            "DictNode",
            "builtins",
            "dict",
            content={marker: texts("ListNode")},
            key_types=node("ListNode", "builtins", "list", content=[node("TypeNode", "os", "mkdir")]),
        ),
        "random": node("RandomStateNode", "os", "getpid", content=empty),
        "generator": node(
            "RandomGeneratorNode",
            "numpy.random._generator",
            "Generator",
            content={"bit_generator": empty, "seed_seq": empty},
        ),
        "array": node("NdArrayNode", "os", "mkdir", type="numpy", file="schema.json"),
        "object": node("ObjectNode", "subprocess", "Popen", content=empty),
        "import": node("ObjectNode", "antigravity", "fly"),
        "cached": node("CachedNode", "os", "mkdir", __id__=1),
        "unknown": node("NoSuchNode", "os", "mkdir"),
        "nameless": {"__loader__": ["ObjectNode"], "__module__": 3, "__class__": None},
        "not ours": node("ObjectNode", "mlspl.experiments.store", "Store", content=empty),
    }


@pytest.mark.parametrize("kind", attacks("x"))
@pytest.mark.parametrize("place", ["root", "attribute", "parameter"])
def test_a_hostile_skops_file_is_refused_and_runs_nothing(saved, tmp_path, monkeypatch, kind, place):
    monkeypatch.chdir(tmp_path)
    hostile = attacks(MARKER)[kind]

    def change(tree):
        if place == "root":
            return {**hostile, "protocol": tree["protocol"]}
        tree["content"]["content"]["k" if place == "parameter" else "label_counts_"] = hostile
        return tree

    path = rewritten(saved, tmp_path, change)
    with pytest.raises(UserError, match="was refused: it names what no model file may hold") as caught:
        load_model(path)
    named = "os.mkdir" if kind == "key type" else hostile["__class__"]
    assert named is None or named in str(caught.value)
    assert not (tmp_path / MARKER).exists()


def test_the_same_attack_works_where_nothing_checks(tmp_path, monkeypatch):
    """The marker would notice: unpickled, the attack does leave it."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Attack(MARKER)))
    assert (tmp_path / MARKER).exists()


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_is_refused_and_runs_nothing(saved, tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    hostile = pickle.dumps(Attack(MARKER), protocol)
    files = {
        "plain": hostile,
        "before an archive": hostile + saved.read_bytes(),
        "behind an archive": saved.read_bytes() + hostile,
    }
    for name, content in files.items():
        path = tmp_path / "model.skops"
        path.write_bytes(content)
        if name == "plain" or (protocol > 0 and "before" in name):
            with pytest.raises(UserError, match="was refused"):
                load_model(path)
        else:
            # A ZIP may have other things around it; they are never looked at.
            load_model(path)
        assert not (tmp_path / MARKER).exists()


def test_arrays_of_pickles_are_refused_and_run_nothing(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    buffer = io.BytesIO()
    np.save(buffer, np.array([Attack(MARKER)], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(saved) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".npy"))
    path = tmp_path / "changed.skops"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.namelist():
            new.writestr(member, buffer.getvalue() if member == name else old.read(member))
    with pytest.raises(UserError, match="an array of type object"):
        load_model(path)
    assert not (tmp_path / MARKER).exists()


def test_a_formula_in_a_file_cannot_become_code(tmp_path, monkeypatch):
    """SymPy's lambdify would run a list of strings; only text reaches our own parser."""
    monkeypatch.chdir(tmp_path)
    function = pacing.derive("exp(-t)")
    model = mlspl.SelfPacedClassifier(GaussianNB(), pace_function=function, random_state=0).fit(
        X[:30], Y[:30]
    )
    saved = save_model(model, tmp_path / "model.skops")
    hostile = json.dumps([f"__import__('os').mkdir('{MARKER}')"])

    def change(tree):
        state = tree["content"]["content"]["pace_function"]["content"]["content"]
        state["source"] = node("JsonNode", "builtins", "str", content=hostile)

    def alias(tree):
        attributes = tree["content"]["content"]
        attributes["n_folds"] = node("JsonNode", "builtins", "str", content=hostile, __id__=4242)
        tree["content"]["content"] = {"n_folds": attributes.pop("n_folds"), **attributes}
        attributes["pace_function"]["content"]["content"]["source"]["__id__"] = 4242

    for trick, message in (
        (change, "a curve is a function, a formula"),
        (alias, "different objects under one id"),
    ):
        with pytest.raises(UserError, match=message):
            load_model(rewritten(saved, tmp_path, trick))
    assert not (tmp_path / MARKER).exists()


def test_damaged_files_end_in_a_sentence(saved, tmp_path):
    whole = saved.read_bytes()
    path = tmp_path / "damaged.skops"
    rng = np.random.default_rng(0)
    contents = [b"", b"PK", b"PK\x05\x06" + bytes(18), rng.bytes(5000), b"\x1f\x8b" + rng.bytes(100)]
    contents += [whole[:cut] for cut in range(1, len(whole), len(whole) // 20)]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(UserError, match="was refused"):
            load_model(path)
    with pytest.raises(UserError, match="is not a file"):
        load_model(tmp_path)


def test_flipped_bytes_load_or_end_in_a_sentence(saved, tmp_path):
    whole = bytearray(saved.read_bytes())
    path = tmp_path / "flipped.skops"
    rng = np.random.default_rng(1)
    for place in rng.integers(len(whole), size=150).tolist():
        content = whole.copy()
        content[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(content)
        with contextlib.suppress(UserError):
            load_model(path)


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
        json.dumps({**node("JsonNode", "builtins", "str", content="3"), "protocol": -1}),
        json.dumps({**node("NdArrayNode", "numpy", "ndarray", type="numpy", file="gone.npy"), "protocol": 2}),
    ],
)
def test_a_wild_schema_ends_in_a_sentence(saved, tmp_path, schema):
    with pytest.raises(UserError, match="was refused"):
        load_model(rewritten(saved, tmp_path, schema=schema))


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
    ],
)
def test_wild_information_ends_in_a_sentence(saved, tmp_path, info):
    with pytest.raises(UserError, match="was refused"):
        load_model(rewritten(saved, tmp_path, info=info))


def test_members_that_mlspl_does_not_write_are_refused(saved, tmp_path):
    cases = [
        ({"extra": [("evil.py", "import os")]}, "member 'evil.py'"),
        ({"extra": [("../../evil.npy", "x")]}, "damaged"),
        ({"compression": zipfile.ZIP_DEFLATED}, "compressed"),
    ]
    for options, message in cases:
        with pytest.raises(UserError, match=message):
            load_model(rewritten(saved, tmp_path, **options))
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = rewritten(saved, tmp_path, extra=[("schema.json", "{}")])
    with pytest.raises(UserError, match="two members of one name"):
        load_model(path)
    foreign = tmp_path / "foreign.skops"
    skops.io.dump(StandardScaler().fit(X), foreign)
    with pytest.raises(UserError, match=r"no mlspl\.json"):
        load_model(foreign)


def npy(shape, data=b"", dtype="<f8"):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def test_bombs_need_no_memory(saved, tmp_path):
    """Arrays larger than said, one array read a thousand times, zeros packed tight."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", npy((2**23,), bytes(2**26)))
    megabyte = npy((2**17,), bytes(2**20))

    def read_again(tree):
        bombs = [
            node("NdArrayNode", "numpy", "ndarray", type="numpy", file="bomb.npy", __id__=10**6 + number)
            for number in range(1000)
        ]
        tree["content"]["content"]["k"] = node("ListNode", "builtins", "list", content=bombs)

    cases = [
        ({"extra": [("bomb.npy", npy((10**12,)))]}, "holds another number"),
        ({"extra": [("bomb.npy", npy((10**12, 0, 10**9)))]}, ""),
        ({"extra": [("bomb.npz", packed.getvalue())]}, "unfold"),
        ({"extra": [("bomb.npy", megabyte)], "change": read_again}, "more often"),
    ]
    tracemalloc.start()
    for options, message in cases:
        path = rewritten(saved, tmp_path, **options)
        tracemalloc.reset_peak()
        try:
            load_model(path)
        except UserError as error:
            assert message in str(error)  # noqa: PT017
        else:
            assert not message
        assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


def understated(data, member):
    """An archive with a member that announces a thousand bytes, whatever it unfolds to."""
    data = bytearray(data)
    entry = data.rindex(member.encode()) - 46
    assert data[entry : entry + 4] == b"PK\x01\x02"
    struct.pack_into("<I", data, entry + 24, 1000)
    return bytes(data)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("place", ["information", "sparse matrix"])
def test_members_that_understate_what_they_unfold_to_need_no_memory(saved, tmp_path, compression, place):
    """zipfile unfolds them whole before it cuts them to the size announced."""
    path = tmp_path / "bomb.skops"
    if place == "information":
        with zipfile.ZipFile(path, "w", compression) as new:
            new.writestr("mlspl.json", bytes(2**26))
        path.write_bytes(understated(path.read_bytes(), "mlspl.json"))
    else:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", compression) as new:
            new.writestr("data.npy", npy((109,), bytes(2**26)))
        path = rewritten(saved, tmp_path, extra=[("bomb.npz", understated(packed.getvalue(), "data.npy"))])
    for load in (load_model, read_model_info) if place == "information" else (load_model,):
        tracemalloc.start()
        with pytest.raises(UserError, match="was refused"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 2e7
        tracemalloc.stop()


def test_information_of_any_length_is_not_parsed(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_SCHEMA", 2**20)
    with pytest.raises(UserError, match=r"its mlspl\.json is larger than 1 MiB"):
        read_model_info(rewritten(saved, tmp_path, info={"summary": {"x": [[]] * 2**19}}))


def test_objects_made_of_each_other_do_not_unfold(saved, tmp_path):
    """Each list holds the one before twice, by its id: skops would walk through 2**60 lists."""

    def lists(inner, again):
        for number in range(2, 62):
            inner = node("ListNode", "builtins", "list", __id__=number, content=[inner, again(number - 1)])
        return inner

    def array(shape):
        items = [node("NdArrayNode", "numpy", "ndarray", type="numpy", file="big.npy", __id__=7)] * 1000
        return node("NdArrayNode", "numpy", "ndarray", type="json", content=items, shape=shape)

    text = node("JsonNode", "builtins", "str", content="0", __id__=1)
    cases = [
        (lists(text, lambda number: {"__id__": number}), "different objects under one id"),
        (lists(text, lambda number: {**text, "__id__": number}), "different objects under one id"),
        (lists({**text, "__id__": 1.0}, lambda number: {"__id__": number}), "different objects under one id"),
        (array(texts("TupleNode", 1000, 2**17)), "more axes than one"),
        (array({"__id__": 7}), "different objects under one id"),
        (array(text), "without a shape"),
    ]
    for part, message in cases:
        path = rewritten(
            saved,
            tmp_path,
            lambda tree, part=part: tree["content"]["content"].update(k=part),
            extra=[("big.npy", npy((2**17,), bytes(2**20)))],
        )
        with pytest.raises(UserError, match=message):
            load_model(path)


def test_how_to_run_is_for_the_user_to_say(tmp_path):
    """A file with n_jobs=40 started 40 processes on predict; one with a cache wrote and unpickled there."""
    learner = mlspl.SelfPacedClassifier(LogisticRegression(), random_state=0, verbose=0)
    model = make_pipeline(StandardScaler(), learner).fit(X[:, :5], np.nan_to_num(Y))
    model.set_params(memory=str(tmp_path / "cache"), verbose=True, selfpacedclassifier__n_jobs=40)
    model.set_params(selfpacedclassifier__estimator__n_jobs=40)
    again = load_model(save_model(model, tmp_path / "model.skops"))
    asked = {name: value for name, value in again.get_params().items() if "n_jobs" in name}
    assert set(asked.values()) == {None}
    assert (again.memory, again.verbose, again[-1].verbose) == (None, False, 0)
    neighbours = mlspl.MLkNNClassifier(k=3, n_jobs=40).fit(X, Y)
    again = load_model(save_model(neighbours, tmp_path / "model.skops"))
    assert (again.n_jobs, again._neighbours.n_jobs) == (None, None)
    assert_same_answers(neighbours, again, X)


@pytest.mark.parametrize("rows", [0, 1, 59])
def test_neighbours_that_are_not_there_are_refused(tmp_path, rows):
    """A sparse product would read the labels of rows beyond the table."""
    model = mlspl.MLkNNClassifier(k=3).fit(X, np.nan_to_num(Y))
    model._carried = model._carried[:rows]
    with pytest.raises(UserError, match="was refused"):
        load_model(unchecked(model, tmp_path))


WRONG_PARTS = [
    ("_carried", np.zeros((60, 3)), "labels"),
    ("_carried", np.zeros((60, 4), dtype=np.float32).astype(str), "float"),
    ("neighbour_counts_", np.zeros((2, 4, 9)), "counts do not fit"),
    ("label_counts_", np.zeros(2), "no array"),
    ("label_names_", np.array([1, 2, 3, 4]), "text"),
    ("n_features_in_", "64", "no int"),
    ("_neighbours", [1], "of type list"),
    ("extra", 3, "part 'extra'"),
    ("_target_dtype", np.dtype("U9"), "no dtype"),
]


@pytest.mark.parametrize(("name", "part", "message"), WRONG_PARTS)
def test_parts_that_are_not_as_declared_are_refused(tmp_path, name, part, message):
    model = mlspl.MLkNNClassifier(k=3).fit(X, np.nan_to_num(Y))
    setattr(model, name, part)
    with pytest.raises(UserError, match=message):
        load_model(unchecked(model, tmp_path))


VECTORIZERS = [
    ({"vocabulary_": {"cat": 0, "dog": 10**6}}, "not numbered from 0 on"),
    ({"vocabulary_": {"cat": 0, "dog": 0}}, "not numbered from 0 on"),
    ({"input": "filename"}, "another input"),
    ({"token_pattern": "(a+)+$"}, "another token_pattern"),
    ({"analyzer": "eval"}, "an analyzer"),
]


@pytest.mark.parametrize(("change", "message"), VECTORIZERS)
def test_a_vocabulary_outside_its_columns_is_refused(tmp_path, change, message):
    """Compiled code would write there; and rows that are file names would be opened."""
    words = pd.Series(["cat and dog", "dog", "__init__ cat"] * 20)
    model = make_pipeline(TfidfVectorizer(), mlspl.MLkNNClassifier(k=3)).fit(words, Y)
    assert_same_answers(model, load_model(save_model(model, tmp_path / "model.skops")), words)
    vars(model[0]).update(change)
    with pytest.raises(UserError, match=message):
        load_model(unchecked(model, tmp_path))


def test_a_sparse_matrix_with_wild_indices_is_refused(tmp_path):
    """Compiled code would follow them out of the array."""
    model = mlspl.BSVMClassifier().fit(sparse.csr_array(X), Y)
    model.model_.X.indices[0] = 2**30
    with pytest.raises(UserError, match="damaged"):
        load_model(unchecked(model, tmp_path))


def parts_of(tree, kind):
    """The parts of every object of that class in a schema."""
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    found = [parts for part in inside for parts in parts_of(part, kind)]
    if isinstance(tree, dict) and tree.get("__class__") == kind and tree.get("__loader__") == "ObjectNode":
        found.append(tree["content"])
    return found


def put(state, name, part):
    """Add a part to an object's state."""
    state["content"][name] = part
    state["key_types"]["content"].append(node("TypeNode", "builtins", "str"))


def colours():
    """A model with an encoder, fitted, and its table."""
    frame = pd.DataFrame({"a": np.arange(60.0), "colour": [f"c{i:02}" for i in range(60)]})
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), sparse_threshold=0)
    return make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y), frame


def too_few_columns(tree):
    for encoder in parts_of(tree, "OneHotEncoder"):
        if "_n_features_outs" in encoder["content"]:
            encoder["content"]["_n_features_outs"]["content"] = [json_text(1)]


def test_an_encoder_lays_out_its_columns_anew(tmp_path):
    """Its columns are laid out by one attribute and filled by another; compiled code checks neither."""
    model, frame = colours()
    saved = save_model(model, tmp_path / "model.skops")
    assert_same_answers(model, load_model(rewritten(saved, tmp_path, too_few_columns)), frame)


@pytest.mark.parametrize("name", ["__getstate__", "__class__", "get_params", "fit"])
@pytest.mark.parametrize("kind", ["ColumnTransformer", "OneHotEncoder", "Pipeline", "MLkNNClassifier"])
def test_no_part_takes_the_place_of_a_method(tmp_path, kind, name):
    """A shadowed __getstate__ hid everything below it from the check: mlspl predict died in compiled code."""
    model, _ = colours()

    def shadow(tree):
        too_few_columns(tree)
        put(parts_of(tree, kind)[0], name, node("TypeNode", "builtins", "str"))

    saved = save_model(model, tmp_path / "model.skops")
    with pytest.raises(UserError, match=f"part '{name}'"):
        load_model(rewritten(saved, tmp_path, shadow))


@pytest.mark.parametrize("kind", ["JsonNode", "ListNode"])
def test_the_parts_of_an_object_are_a_dict(saved, tmp_path, kind):
    """dict.update takes pairs and JSON as well."""
    pair = texts("ListNode", "__getstate__", "x")
    state = texts("ListNode") | {"content": [pair]}
    if kind == "JsonNode":
        state = node("JsonNode", "builtins", "str", content='{"__getstate__": 1}')
    with pytest.raises(UserError, match="parts have no names"):
        load_model(rewritten(saved, tmp_path, lambda tree: tree.update(content=state)))


def test_numeric_categories_out_of_order_are_refused(tmp_path):
    """A search by halves in them ends outside them."""
    frame = pd.DataFrame({"size": np.arange(60.0) % 4})
    columns = make_column_transformer((OneHotEncoder(), ["size"]), sparse_threshold=0)
    model = make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y)
    assert_same_answers(model, load_model(save_model(model, tmp_path / "model.skops")), frame)
    encoder = model[0].named_transformers_["onehotencoder"]
    for wrong in ([3.0, 1.0, 2.0, 0.0], [0.0, 1.0, 1.0, 2.0], []):
        encoder.categories_ = [np.array(wrong)]
        with pytest.raises(UserError, match="categories out of order"):
            load_model(unchecked(model, tmp_path))


@pytest.mark.parametrize("part", ["_closed", "_functions", "_evaluate", "_numeric", "name"])
@pytest.mark.parametrize("family", ["scale", "shift"])
def test_a_derived_function_takes_nothing_but_its_parameters(tmp_path, monkeypatch, part, family):
    """A forged closed form reached SymPy's lambdify, which runs text as code, on the next fit."""
    monkeypatch.chdir(tmp_path)
    function = pacing.derive("exp(-t)" if family == "scale" else "1/(1+exp(t))", family=family)
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X[:30], Y[:30])
    hostile = json_text([f"__import__('os').mkdir('{MARKER}') or v"])
    inner = node(
        "DictNode",
        "builtins",
        "dict",
        content={"inverse": hostile, "penalty": hostile},
        key_types=node("ListNode", "builtins", "list", content=[node("TypeNode", "builtins", "str")] * 2),
    )
    forged = node("ObjectNode", "mlspl.correlation.regressors", "CodeRidge", content=inner)
    saved = save_model(model, tmp_path / "model.skops")

    def change(tree):
        put(tree["content"]["content"]["pace_function"]["content"], part, forged)

    with pytest.raises(UserError, match="no such parts"):
        load_model(rewritten(saved, tmp_path, change)).fit(X, Y)
    assert not (tmp_path / MARKER).exists()


@pytest.mark.parametrize("exponent", ["__import__('os').mkdir('x')", -1.0, True, None, [2.0], float("nan")])
def test_the_exponent_of_a_derived_function_is_a_number(tmp_path, exponent):
    """Text reached SymPy's nsimplify on latex()."""
    model = mlspl.SelfPacedClassifier(GaussianNB(), pacing.derive("exp(-t)"), random_state=0)
    saved = save_model(model.fit(X[:30], Y[:30]), tmp_path / "model.skops")

    def change(tree):
        tree["content"]["content"]["pace_function"]["content"]["content"]["exponent"] = json_text(exponent)

    with pytest.raises(UserError, match="exponent of the pace"):
        load_model(rewritten(saved, tmp_path, change))


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (pacing.Polynomial(3.0), "degree", "3"),
        (pacing.Diversity(1.0), "gamma", -1.0),
        (pacing.Mixture(), "gamma", None),
    ],
)
def test_parameters_that_the_constructor_refuses_are_refused(tmp_path, function, name, value):
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X[:30], Y[:30])
    object.__setattr__(function, name, value)
    with pytest.raises(UserError, match="was refused"):
        load_model(unchecked(model, tmp_path))


def test_an_encoder_that_drops_categories_needs_trust(tmp_path):
    _, frame = colours()
    columns = make_column_transformer((OneHotEncoder(drop="first"), ["colour"]))
    with pytest.raises(UserError, match="drops or groups categories"):
        save_model(
            make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y), tmp_path / "dropped.skops"
        )
    trusted = ["sklearn.preprocessing._encoders.OneHotEncoder"]
    model = make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y)
    path = save_model(model, tmp_path / "dropped.skops", trusted=trusted)
    assert_same_answers(model, load_model(path, trusted=trusted), frame)


def test_a_random_state_outside_its_range_is_refused(tmp_path):
    model = mlspl.MLLOCClassifier(max_steps=1, random_state=np.random.RandomState(0)).fit(X, Y)
    saved = save_model(model, tmp_path / "model.skops")

    def change(tree):
        state = tree["content"]["content"]["random_state"]["content"]["content"]["state"]
        state["content"]["pos"]["content"] = "100000"

    with pytest.raises(UserError, match="outside its range"):
        load_model(rewritten(saved, tmp_path, change))


def unchecked(model, folder):
    """A file as a forger writes it, without the checks of save_model."""
    path = folder / "forged.skops"
    with without_training_data():
        skops.io.dump(model, path)
    schema = Schema(None, 1, layout="any").to_json()
    info = {"format": 2, "versions": {}, "label_names": ["a"], "schema": schema, "summary": {}}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("mlspl.json", json.dumps(info))
    return path


def test_a_file_too_large_is_not_even_read(saved, monkeypatch):
    monkeypatch.setattr(model_file, "LARGEST_FILE", saved.stat().st_size - 1)
    with pytest.raises(UserError, match="larger than"):
        load_model(saved)
