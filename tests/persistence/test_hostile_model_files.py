"""Files of strangers: nothing in them is run, nothing unfolds, and each ends in a sentence."""

import contextlib
import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.preprocessing import StandardScaler

from mlspl import load_model
from mlspl.errors import UserError
from mlspl.persistence import archive, model_file, read_model_info
from tests.model_files import (
    X,
    node,
    rewritten,
    texts,
)
from tests.watched import little_memory

MARKER = "mlspl_was_here"


class Attack:
    """Unpickled, it makes a file."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (self.marker,)


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
    for options, message in cases:
        path = rewritten(saved, tmp_path, **options)
        with (
            little_memory(2e7),
            pytest.raises(UserError, match=message) if message else contextlib.nullcontext(),
        ):
            load_model(path)


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
        with little_memory(2e7), pytest.raises(UserError, match="was refused"):
            load(path)


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


def test_a_file_too_large_is_not_even_read(saved, monkeypatch):
    monkeypatch.setattr(model_file, "LARGEST_FILE", saved.stat().st_size - 1)
    with pytest.raises(UserError, match="larger than"):
        load_model(saved)
