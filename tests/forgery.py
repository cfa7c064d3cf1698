"""Forged model files: every type that a file may hold, with every part of it exchanged, dropped or added.

``python -m tests.forgery COUNT [SEED]`` loads and uses that many, one after another, in a process of bounded
memory, watched for files, processes and imports. It prints what became of them as JSON; a forgery that kills
the process is named by the last line on standard error.
"""

import io
import itertools
import json
import os
import resource
import signal
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mlspl
from mlspl import load_model, pacing, save_model
from mlspl.errors import UserError
from mlspl.persistence.trusted import OBJECTS
from tests.watched import nothing_run

MOST_MEMORY = 6 * 2**30
SECONDS = 30
rng = np.random.default_rng(0)
X = np.round(rng.random((24, 5)), 3)
Y = (rng.random((24, 3)) < 0.4) | (np.arange(24)[:, None] % 3 == np.arange(3))
SCORES = rng.standard_normal((24, 3))
TEXTS = np.array(["cat dog", "dog __init__", "cat cat bird"] * 8, dtype=object)
WORDS = np.array([["red"], ["blue"], ["green"]] * 8, dtype=object)
ROWS = [X[:3], sparse.csr_array(X[:3]), sparse.csr_matrix(X[:3]), WORDS[:3], TEXTS[:3], SCORES[:3]]
QUICK = {"n_estimators": 3, "n_codes": 2, "random_state": 0, "k": 3}
SPACES = ({}, {"space": "linear"}, {"space": "nystroem", "n_landmarks": 9, "random_state": 0})
SPECIAL = {
    "MLSPLClassifierCV": lambda cls: cls(C=(1.0,), quantiles=(0.9,), n_codes=2, random_state=0).fit(X, Y),
    "SelfPacedClassifier": lambda cls: cls(LogisticRegression(), random_state=0).fit(X, Y),
    "TunedDecisionClassifier": lambda cls: cls(mlspl.BSVMClassifier()).fit(X, Y),
    "OneHotEncoder": lambda cls: cls(handle_unknown="ignore").fit(WORDS),
    "OrdinalEncoder": lambda cls: cls().fit(WORDS),
    "LabelBinarizer": lambda cls: cls().fit(WORDS[:, 0]),
    "TfidfVectorizer": lambda cls: cls().fit(TEXTS),
    "Pipeline": lambda cls: make_pipeline(StandardScaler(), mlspl.MLkNNClassifier(k=3)).fit(X, Y),
    "ColumnTransformer": lambda cls: cls([("c", OneHotEncoder(), [0])]).fit(WORDS),
    "DateParts": lambda cls: cls().fit(pd.DataFrame({"day": ["2020-01-02", "2021-03-04"] * 12})),
    "DerivedScale": lambda cls: pacing.derive("exp(-t)"),
    "DerivedShift": lambda cls: pacing.derive("1/(1+exp(t))", "shift"),
    "LazyCalibration": lambda cls: mlspl.BSVMClassifier().fit(X, Y)._calibration,
    "StableNeighbours": lambda cls: cls(X),
    "FlatTrees": lambda cls: mlspl.SelfPacedForestClassifier(3, random_state=0).fit(X, Y).forests_.trees,
    "FamilyModel": lambda cls: make(mlspl.MLSPLClassifierCV).families_[0],
    "ChainedForests": lambda cls: (
        mlspl.MLSPLClassifierCV(families=("forest",), n_estimators=8, cv=2, random_state=0)
        .fit(X, Y)
        .families_[0]
        .models[0]
    ),
    "LabelForests": lambda cls: mlspl.SelfPacedForestClassifier(3, random_state=0).fit(X, Y).forests_,
    "Trace": lambda cls: cls((24, 3)),
    "GeometricPace": lambda cls: cls(0.5, 1.3, 2),
    "QuantilePace": lambda cls: cls(0.7, 0.9, 2),
    "UntilInPlay": lambda cls: cls(0.5, 1.5, max_steps=3),
}


def make(cls):
    """An object of the class, fitted if it can be."""
    if cls.__name__ in SPECIAL:
        return SPECIAL[cls.__name__](cls)
    if cls.__module__.startswith("mlspl.spaces"):
        models = (mlspl.BSVMClassifier(**space).fit(X, Y).model_ for space in SPACES)
        return next(model for model in models if type(model) is cls)
    if not hasattr(cls, "fit"):
        return cls()
    one = cls()
    one.set_params(**{name: QUICK[name] for name in QUICK if name in one.get_params()})
    if "labels" in str(vars(cls).get("_contents")) or cls.__module__.startswith("mlspl.model_selection"):
        target = Y
    else:
        target = Y[:, 0].astype(int) if cls.__module__.startswith("sklearn") else Y
    return one.fit(SCORES if "model_selection" in cls.__module__ else X, target)


def archives():
    """For each class the members of a file that holds an object of it in its history."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for cls in OBJECTS:
            carrier = mlspl.SelfPacedClassifier(GaussianNB(), random_state=0).fit(X, Y)
            carrier.history_ = [make(cls)]
            path = save_model(carrier, Path(folder) / "model.skops", proba=True)
            with zipfile.ZipFile(path) as archive:
                found[cls.__name__] = {name: archive.read(name) for name in archive.namelist()}
    return found


def node(loader, module, name, **parts):
    return {"__loader__": loader, "__module__": module, "__class__": name, **parts}


def plain(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def a_list(*nodes, kind="list"):
    return node("ListNode" if kind == "list" else "TupleNode", "builtins", kind, content=list(nodes))


def a_dict(parts, key="str"):
    types = a_list(*[node("TypeNode", "builtins", key)] * len(parts))
    return node("DictNode", "builtins", "dict", content=parts, key_types=types)


def an_array(array, member="forged.npy"):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return node("NdArrayNode", "numpy", "ndarray", type="numpy", file=member), {member: stream.getvalue()}


def a_matrix(matrix, indices=None):
    if indices is not None:
        matrix.indices[:] = indices
    stream = io.BytesIO()
    sparse.save_npz(stream, matrix)
    one = node("SparseMatrixNode", "scipy.sparse._csr", "csr_matrix", type="scipy", file="forged.npz")
    return one, {"forged.npz": stream.getvalue()}


def an_object(cls, parts):
    return node("ObjectNode", cls.__module__, cls.__name__, content=a_dict(parts))


TYPES = ("int8", "uint64", "float32", "float64", "int32", "bool", "U3", ">f8", ">i4", "complex128", "M8[s]")


def arrays_like(old):
    """The array in other shapes, of other types and with other numbers."""
    flat, rows = old.ravel(), np.atleast_1d(old)
    yield "shorter", rows[:-1]
    yield "longer", np.concatenate([rows, rows[:1]])
    yield "empty", rows[:0]
    yield "flat", flat if old.ndim > 1 else old[None]
    yield "deeper", old[..., None]
    yield "turned", old.T if old.ndim > 1 else rows[::-1].copy()
    yield "scalar", np.array(flat[0]) if flat.size else np.array(0)
    for name in (
        "int8",
        "uint64",
        "float32",
        "float64",
        "int32",
        "bool",
        "U3",
        ">f8",
        ">i4",
        "complex128",
        "M8[s]",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield f"as {name}", (np.zeros(old.shape, name) if old.dtype.kind in "UO" else old.astype(name))
    if old.dtype.kind in "iuf":
        for number in (-1, 2**31 - 1, -(2**31), old.size, 10**4):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield f"all {number}", np.full(old.shape, number).astype(old.dtype)
            changed = old.copy()
            changed.flat[-1:] = np.array(number).astype(old.dtype)
            yield f"last {number}", changed
    if old.dtype.kind == "f":
        for number in (np.nan, np.inf, 1e300):
            yield f"all {number}", np.full(old.shape, number, old.dtype)


VALUES = (
    None, True, 0, -1, 10**6, 10**30, 1e308, float("nan"), "", "x" * 99, "__import__('os')", [], [[1]], {},
    {"a": [1]}, "rbf", "precomputed", "pyfunc", "gaussian", [1, 2, 3, 4, 5, 6, 7, 8],
)  # fmt: skip
ARRAYS = (
    np.zeros((2, 3)), np.zeros(0), np.zeros((24, 3), np.float32), np.full(3, 2**40), np.array(3.0),
    np.zeros((1, 1, 1, 1)), np.array(["a", "b"]), np.zeros(2, [("a", "f8")]), np.zeros((0, 10**9)),
)  # fmt: skip


def replacements():
    """Nodes to put in the place of any, each with a name and the members it needs."""
    for value in VALUES:
        yield f"JSON {str(value)[:20]}", plain(value), {}
    yield "type", node("TypeNode", "builtins", "str"), {}
    yield "NumPy's type", node("TypeNode", "numpy", "float64"), {}
    yield "slice", node("SliceNode", "builtins", "slice", content={"start": 0, "stop": 10**9, "step": 1}), {}
    yield "list", a_list(plain(1), a_list()), {}
    yield "tuple", a_list(plain(1), kind="tuple"), {}
    yield "dict", a_dict({"a": plain(1), "training": plain(None)}), {}
    yield "dict of numbers", a_dict({"0": plain(1)}, key="int"), {}
    yield "objects", node("NdArrayNode", "numpy", "ndarray", type="json", content=[plain([1]), plain({})],
                          shape=a_list(plain(2), kind="tuple")), {}  # fmt: skip
    yield "matrix", *a_matrix(sparse.csr_matrix(np.eye(4)))
    yield "matrix of indices out of range", *a_matrix(sparse.csr_matrix(np.eye(4)), 10**6)
    yield "wide matrix", *a_matrix(sparse.csr_matrix((2, 10**9)))
    for array in ARRAYS:
        yield f"array {array.dtype} {array.shape}", *an_array(array)
    for cls in OBJECTS:
        yield f"an empty {cls.__name__}", an_object(cls, {}), {}
        yield f"a {cls.__name__} with a part", an_object(cls, {"source": plain("t"), "fit": plain(1)}), {}


REPLACEMENTS = {label: (new, extra) for label, new, extra in replacements()}
NAMES = [
    "__getstate__", "__setstate__", "__class__", "__dict__", "__reduce__", "__call__", "__len__", "predict",
    "fit", "transform", "get_params", "_scores", "_engine", "_closed", "_functions", "_evaluate",
    "_check_contents", "_contents", "_prepare_file", "weight", "n_jobs", "verbose", "memory", "callbacks",
    "x", "", "a.b", "_sklearn_output_config", "_metadata_request", "_doc_link_module",
    "_HTMLDocumentationLinkMixin__doc_link_template", "feature_names_in_", "n_features_in_",
]  # fmt: skip


def walk(tree, path=()):
    """Yield the place of every node of values in a schema, with the class of the object it is part of."""
    if isinstance(tree, dict):
        if "__loader__" in tree:
            yield path
        for key, part in tree.items():
            if key != "key_types":
                yield from walk(part, (*path, key))
    elif isinstance(tree, list):
        for number, part in enumerate(tree):
            yield from walk(part, (*path, number))


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def forgeries(name, members):
    """Yield what is done, and to which place, for the file of a class."""
    schema = json.loads(members["schema.json"])
    home = ("content", "content", "history_")
    for path in walk(at(schema, home), home):
        old = at(schema, path)
        for label in REPLACEMENTS:
            yield label, path, ("put", label)
        if old["__loader__"] == "NdArrayNode" and old.get("type") == "numpy":
            array = np.load(io.BytesIO(members[old["file"]]))
            for label, _ in arrays_like(array):
                yield f"array {label}", path, ("array", label)
        if old["__loader__"] == "ObjectNode" and isinstance(old.get("content"), dict):
            for key in NAMES:
                for label, value in (("1", plain(1)), ("a type", node("TypeNode", "builtins", "str"))):
                    yield f"key {key} = {label}", path, ("add", key, value)
            for key in old["content"].get("content") or ():
                if old["content"]["__loader__"] == "DictNode":
                    yield "part dropped", path, ("drop", key)
                    yield "part renamed", path, ("rename", key)
            for kind in ("int", "float", "bool"):
                yield f"keys are {kind}", path, ("keys", kind)


def forged(members, path, deed):
    """The file with that done to it."""
    members = dict(members)
    schema = json.loads(members["schema.json"])
    kind, *what = deed
    if kind in ("put", "array"):
        new, extra = REPLACEMENTS.get(what[0], (None, {}))
        if kind == "array":
            old = np.load(io.BytesIO(members[at(schema, path)["file"]]))
            new, extra = an_array(dict(arrays_like(old))[what[0]])
        members |= extra
        at(schema, path[:-1])[path[-1]] = new
    elif kind != "none":
        state = at(schema, path)["content"]
        parts, types = state.get("content"), state.get("key_types", {}).get("content", [])
        if kind == "add" and isinstance(parts, dict):
            parts[what[0]] = what[1]
            types.append(node("TypeNode", "builtins", "str"))
        elif kind == "drop":
            types.pop(list(parts).index(what[0]))
            del parts[what[0]]
        elif kind == "rename":
            parts[f"{what[0]}_"] = parts.pop(what[0])
        elif kind == "keys":
            for one in types:
                one["__class__"] = what[0]
    members["schema.json"] = json.dumps(schema).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def use(thing):
    """Ask everything of a thing that comes out of a file; it may fail in any way, but not harm."""
    calls = [(repr, thing), (str, thing)]
    for name in ("predict", "decision_function", "predict_proba", "transform", "apply", "log_odds", "scores",
                 "_scores", "inverse_transform"):  # fmt: skip
        calls += [(getattr(thing, name, None), rows) for rows in ROWS]
    for name in ("weight", "penalty", "inverse"):
        calls.append((getattr(thing, name, None), np.linspace(0, 1, 5), 0.7))
    for name in ("latex", "formulas", "get_params", "get"):
        calls.append((getattr(thing, name, None),))
    calls.append((getattr(thing, "sum_leaves", None), X.astype(np.float32)))
    calls += [(getattr(thing, "of", None), X[:2], 3), (getattr(thing, "of_each_other", None), 3)]
    calls.append((lambda: (thing.spread, thing.lateness, thing.dual_coef_),))
    calls.append((lambda: list(itertools.islice(iter(thing), 5)),))
    for call, *arguments in calls:
        if callable(call):
            try:
                call(*arguments)
            except MemoryError:
                raise
            except Exception:
                continue


class Late(BaseException):
    """A forgery that takes longer than any honest file."""


def stop(*_):
    raise Late


def examine(content, path):
    """What became of a forgery: refused, or loaded and used."""
    path.write_bytes(content)
    with nothing_run():
        try:
            model = load_model(path)
        except UserError as error:
            sentence = str(error)
        else:
            for thing in (model, *model.history_[:1]) if isinstance(model.history_, list) else (model,):
                use(thing)
            return "loaded"
    assert sentence.startswith(str(path)), sentence
    assert sentence.endswith("."), sentence
    return "refused"


def main(count, seed=0):
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    files = archives()
    rounds = []
    for name, members in files.items():
        groups = {}
        for label, path, deed in forgeries(name, members):
            groups.setdefault(label, []).append((name, label, path, deed))
        for group in groups.values():
            np.random.default_rng([seed, len(rounds)]).shuffle(group)
            rounds.append(group)
    np.random.default_rng(seed).shuffle(rounds)
    everything = [one for turn in itertools.zip_longest(*rounds) for one in turn if one is not None]
    results, kinds = Counter(), set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        os.chdir(folder)
        for members in files.values():  # what is imported late is, now
            path.write_bytes(forged(members, (), ("none",)))
            use(load_model(path))
            use(load_model(path).history_[0])
        for name, label, place, deed in everything[:count]:
            told = json.dumps([name, label, [str(key) for key in place[3:]], str(deed)[:99]])
            print(told, file=sys.stderr, flush=True)
            signal.alarm(SECONDS)
            results[examine(forged(files[name], place, deed), path)] += 1
            signal.alarm(0)
            kinds.add((name, label))
        assert [file.name for file in Path(folder).iterdir()] == ["model.skops"]
    print(json.dumps({**results, "types": len(files), "kinds": len(kinds), "possible": len(everything)}))


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(int, sys.argv[2:]))
