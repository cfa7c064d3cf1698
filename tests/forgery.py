"""A structured fuzzer of model files: valid files with one array, number, text or node changed.

``python -m tests.forgery FOLDER COUNT SEED`` takes the files of `write_files`, changes COUNT times one thing,
loads what comes out and predicts with it, in a process of bounded memory that is watched for files, processes
and imports. It prints the number of refused and loaded files as JSON. Each case is named on standard error
before it is tried, so that the last line names a case that killed the process. `FIRST` as fourth argument
starts with that case.
"""

import io
import json
import resource
import signal
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import mlspl
from mlspl import pacing, save_model
from mlspl.errors import UserError
from mlspl.model_selection import JointCalibration
from mlspl.persistence import read_model
from mlspl.persistence.declarations import OBJECTS
from mlspl.recipes import DateParts
from mlspl.torch import SelfPacedNetClassifier
from tests.model_files import json_text
from tests.watched import nothing_run

MEMORY = 2**30  # bytes more than a process takes that has loaded each of the unchanged files
SECONDS = 20  # of processor time; on a busy machine a case may wait long for its turn
LONGEST_WAIT = 600

_rng = np.random.default_rng(0)
X = np.round(_rng.random((24, 5)), 3)
Y = (_rng.random((24, 3)) < 0.4) | (np.arange(24)[:, None] % 3 == np.arange(3))
FRAME = pd.DataFrame(
    {
        "size": X[:, 0],
        "colour": ["red", "blue", "green"] * 8,
        "words": ["cat dog", "dog __init__", "cat cat bird"] * 8,
        "day": pd.to_datetime(["2020-01-02", "2021-03-04"] * 12),
    }
)
ROWS = {"numbers": X[:3], "frame": FRAME[:3]}


def models():
    """Fitted models that together hold every class a model file may hold, each with the rows it takes."""
    bsvm, self_paced = mlspl.BSVMClassifier, mlspl.SelfPacedClassifier
    tuned = partial(mlspl.TunedDecisionClassifier, bsvm())
    landmarks = {"space": "nystroem", "n_landmarks": 9, "random_state": 0}
    cv = partial(mlspl.MLSPLClassifierCV, budget="fast", C=(1.0,), quantiles=(0.9,), random_state=0)
    numbers = [
        bsvm(class_weight={0: 1.0, 1: 2.0}),
        bsvm(space="linear"),
        bsvm(**landmarks),
        mlspl.MLkNNClassifier(k=3),
        mlspl.TRAMClassifier(k=3),
        mlspl.RankSVMClassifier(),
        mlspl.MLLOCClassifier(max_steps=2, regressor="ridge", random_state=3),
        mlspl.MLSPLClassifier(n_codes=2, regressor="svr", random_state=0),
        cv(families=("kernel",)),
        cv(families=("joint", "forest"), n_estimators=8, cv=2),
        mlspl.SelfPacedForestClassifier(3, random_state=0),
        mlspl.SelfPacedForestClassifier(3, random_state=2),  # takes the mean of joint trees and others
        mlspl.SelfPacedForestClassifier(3, trees="per-label", random_state=0),
        *(
            tuned(calibrations=(name,), thresholds=("zero",))
            for name in ("none", "platt", "pooled", "shrunk")
        ),
        *(tuned(calibrations=("none",), thresholds=(name,)) for name in ("label", "count")),
        *(self_paced(one, random_state=0) for one in (LogisticRegression(), GaussianNB(), LinearSVC())),
        *(
            self_paced(GaussianNB(), pacing.get(name), pacing.GeometricPace(0.5, 1.1, 1), random_state=0)
            for name in pacing.names()
        ),
        *(
            self_paced(GaussianNB(), pacing.derive(*curve), random_state=0)
            for curve in (["exp(-t)"], ["1/(1+exp(t))", "shift"])
        ),
        *(
            self_paced(GaussianNB(), schedule=schedule, random_state=0)
            for schedule in (
                pacing.GeometricPace(0.5, 1.3, 2),
                pacing.QuantilePace(0.7, 0.9, 2),
                pacing.NoisePace([[0.2] * 3, [0.1] * 3]),
            )
        ),
        make_pipeline(
            StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler(), Normalizer(), PCA(3), bsvm()
        ),
        make_pipeline(TfidfTransformer(), TruncatedSVD(3), bsvm()),
    ]
    if find_spec("torch"):
        numbers.append(SelfPacedNetClassifier((4,), n_epochs=2, n_folds=2, random_state=0))
    columns = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), ["size"]),
            ("colours", OneHotEncoder(handle_unknown="ignore"), ["colour"]),
            ("codes", OrdinalEncoder(), ["colour"]),
            ("words", TfidfVectorizer(), "words"),
            ("days", DateParts(), ["day"]),
        ]
    )
    for model in numbers:
        rows = sparse.csr_matrix(X) if getattr(model, "space", "") == "linear" else X
        yield "numbers", model.fit(rows, Y)
    yield "numbers", mlspl.MLkNNClassifier(k=3).fit(sparse.csr_array(X), Y)
    joint = mlspl.MLSPLClassifier(n_codes=2, random_state=0).fit(X, Y)
    joint.calibration_ = JointCalibration().fit(joint.decision_function(X), Y)
    yield "numbers", joint
    yield "frame", make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(FRAME, Y)


def write_files(folder):
    """Write the files of all models, and return the names of the classes in them."""
    found = set()
    for number, (rows, model) in enumerate(models()):
        path = save_model(model, Path(folder) / f"{number}.{rows}", proba=True, label_names=list("abc"))
        schema = json.loads(unpacked(path.read_bytes())["schema.json"])
        found |= {at(schema, place)["__class__"] for place, _ in places(schema)}
    return found


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def places(tree, path=(), cls=None):
    """Yield the place of every node, with the class of the object that it is part of."""
    if isinstance(tree, dict):
        if "__loader__" in tree:
            yield path, cls
        cls = tree["__class__"] if tree.get("__loader__") == "ObjectNode" else cls
        for key, part in tree.items():
            yield from places(part, (*path, key), cls)
    elif isinstance(tree, list):
        for number, part in enumerate(tree):
            yield from places(part, (*path, number), cls)


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def as_npy(array):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def as_npz(matrix):
    stream = io.BytesIO()
    sparse.save_npz(stream, matrix, compressed=False)
    return stream.getvalue()


NUMBERS = [0, -1, 1, 2, 7, 10**4, 10**9, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**64, 10**30]
NUMBERS += [0.5, -0.5, 1e-300, 1e300, float("nan"), float("inf"), -float("inf"), True, False]
TEXTS = ["", "x" * 99, "x" * 9999, "__import__('os').system('true')", "\x1b[2J", "\0", "{:>999999999}"]
TEXTS += [
    "x", "{0.__class__}", "../../etc/passwd", "/etc/passwd.xml", "%s%n", "=1+1", "rbf", "precomputed",
    "pyfunc", "auto", "filename", "callable", "char", "gaussian", "euclidean", "haversine", "NaN",
    "multilabel-indicator", "drop",
]  # fmt: skip
DTYPES = [
    "int8", "uint64", "float16", "float32", "float64", "int32", "int64", "bool", "U3", ">f8",
    "complex128", "M8[s]", "longdouble",
]  # fmt: skip
NAMES = [
    "__getstate__", "__class__", "__dict__", "__reduce__", "__call__", "predict", "transform",
    "get_params", "_scores", "_engine", "_closed", "_functions", "_check_contents", "_contents",
    "_prepare_file", "weight", "n_jobs", "memory", "callbacks", "x", "_sklearn_output_config",
    "_doc_link_module", "n_features_in_", "classes_",
]  # fmt: skip
LOADERS = [
    "ObjectNode", "FunctionNode", "MethodNode", "PartialNode", "TypeNode", "NdArrayNode",
    "RandomStateNode", "DTypeNode", "DictNode", "SparseMatrixNode", "ListNode", "TreeNode", "TupleNode",
    "SetNode", "SliceNode", "JsonNode", "BytesNode", "ConstructorFromReduceNode", "OperatorFuncNode",
    "CachedNode", "LossNode",
]  # fmt: skip
TYPES = [
    "os.system", "builtins.eval", "builtins.getattr", "subprocess.Popen", "functools.partial",
    "numpy.load", "ctypes.CDLL", ".", "antigravity.fly", "sympy.sympify", "builtins.type",
    "nowhere.at_all",
]  # fmt: skip


def any_text(rng):
    return str(rng.choice(TEXTS))


def any_number(rng, old=None):
    near = [old + 1, old - 1, -old, old * 2, old / 3] if isinstance(old, int | float) else []
    return [*NUMBERS, *near][rng.integers(len(NUMBERS) + len(near))]


def any_json(rng, old=None):
    return [any_number(rng, old), any_text(rng), None, [], [[1]], {"a": 1}][
        rng.choice(6, p=[0.5, 0.3, *[0.05] * 4])
    ]


def changed_array(rng, old):
    """The array with another shape, another type, or other values."""
    rows = np.atleast_1d(old)
    shapes = [
        rows[:-1],
        np.concatenate([rows, rows[:1]]),
        rows[:0],
        rows[None],
        rows[..., None],
        rows.T,
        rows[::-1],
        rows.ravel(),
        rows.ravel()[:1].reshape(()) if rows.size else rows,
        np.zeros((0, 10**9)),
        rows[:, :-1] if rows.ndim > 1 else rows,
    ]
    kind = rng.integers(4)
    if kind == 0:
        return shapes[rng.integers(len(shapes))]
    if kind == 1 or old.dtype.kind in "UO" or not old.size:
        dtype = str(rng.choice(DTYPES))
        return np.zeros(old.shape, dtype) if old.dtype.kind in "UO" else old.astype(dtype)
    new = old.copy()
    value = np.array(any_number(rng, old.flat[rng.integers(old.size)].item()), dtype=np.float64)
    chosen = slice(None) if kind == 2 else rng.integers(old.size, size=rng.integers(1, 4))
    new.reshape(-1)[chosen] = value.astype(old.dtype)
    return new


def changed_matrix(rng, old):
    """The sparse matrix with one of its arrays changed, and not checked."""
    new = old.copy()
    part = str(rng.choice(["data", "indices", "indptr", "shape"]))
    if part == "shape":
        shape = [any_number(rng, n) for n in new.shape]
        new._shape = tuple(int(n) if abs(n) < 2**62 else 2**40 for n in np.nan_to_num(shape))
    else:
        setattr(new, part, changed_array(rng, getattr(new, part)))
    return new


def changed_node(rng, old, members, others):
    """A node to put in the place of `old`; it may add a member to the file."""
    kind, cls = old["__loader__"], old["__class__"]
    if kind == "NdArrayNode" and old.get("type") == "numpy" and rng.random() < 0.7:
        array = changed_array(rng, np.load(io.BytesIO(members[old["file"]])))
        members["forged.npy"] = as_npy(array)
        return old | {"file": "forged.npy"}
    if kind == "SparseMatrixNode" and rng.random() < 0.8:
        members["forged.npz"] = as_npz(changed_matrix(rng, sparse.load_npz(io.BytesIO(members[old["file"]]))))
        return old | {"file": "forged.npz"}
    if kind == "JsonNode" and rng.random() < 0.7:
        return old | {"content": json.dumps(any_json(rng, json.loads(old["content"])))}
    if kind == "SliceNode" and rng.random() < 0.7:
        return old | {"content": old["content"] | {str(rng.choice(["start", "stop", "step"])): any_json(rng)}}
    if kind == "ObjectNode" and rng.random() < 0.7:
        return changed_object(rng, old, others)
    if (
        kind in ("ListNode", "TupleNode", "NdArrayNode")
        and isinstance(old.get("content"), list)
        and rng.random() < 0.7
    ):
        items = list(old["content"])
        choice = rng.integers(4)
        place = rng.integers(len(items)) if items else 0
        items = [
            items[:-1],
            items + items[:1],
            items[::-1],
            [*items[:place], json_text(any_json(rng)), *items[place + 1 :]],
        ][choice]
        return old | {"content": items}
    choice = rng.integers(4)
    if choice == 0:
        return others[rng.integers(len(others))]
    if choice == 1:
        module, _, name = str(rng.choice(TYPES)).rpartition(".")
        return old | {"__module__": module, "__class__": name}
    if choice == 2:
        return old | {"__loader__": str(rng.choice(LOADERS))}
    return json_text(any_json(rng, cls))


def changed_object(rng, old, others):
    """The object with an attribute more, less or of another name, or of another class."""
    choice = rng.integers(4)
    if choice == 0:
        cls = list(OBJECTS)[rng.integers(len(OBJECTS))]
        return old | {"__module__": cls.__module__, "__class__": cls.__name__}
    state = old.get("content") or {}
    if state.get("__loader__") != "DictNode" or not state["content"]:
        return old | {"content": json_text(any_json(rng))}
    parts, types = dict(state["content"]), list(state["key_types"]["content"])
    key = list(parts)[rng.integers(len(parts))]
    if choice == 1:
        types.pop(list(parts).index(key))
        del parts[key]
    else:
        new = str(rng.choice(NAMES))
        parts[new] = others[rng.integers(len(others))] if choice == 2 else parts.pop(key)
        types = (
            types + [types[0]] * (len(parts) - len(types)) if len(parts) > len(types) else types[: len(parts)]
        )
    return old | {"content": state | {"content": parts, "key_types": state["key_types"] | {"content": types}}}


def changed_info(rng, members):
    """The names, columns, versions or summary with one value changed."""
    info = json.loads(members["mlspl.json"])
    spots = (
        [(info, key) for key in info]
        + [(info["schema"], key) for key in info["schema"]]
        + [(info, "label_names")]
    )
    holder, key = spots[rng.integers(len(spots))]
    if isinstance(holder[key], list) and holder[key] and rng.random() < 0.5:
        holder[key][0] = any_json(rng)
    else:
        holder[key] = any_json(rng, holder[key])
    members["mlspl.json"] = json.dumps(info).encode()


def changed_bytes(rng, content):
    """The content with some bytes overwritten, cut out or put in."""
    start = int(rng.integers(len(content)))
    length = int(rng.choice([0, 1, 2, 4, 100]))
    pieces = [
        rng.bytes(length + 1),
        bytes(length),
        b"PK\x05\x06",
        b"PK\x01\x02",
        b"\x93NUMPY",
        b"\xff" * 8,
        b"|O",
        b"(10000000,)",
    ]
    return content[:start] + pieces[rng.integers(len(pieces))] + content[start + length :]


class Forger:
    """Makes changed files out of the valid ones of a folder, the same for the same seed."""

    def __init__(self, folder, seed):
        self.seed = seed
        self.files = {path.name: unpacked(path.read_bytes()) for path in sorted(Path(folder).iterdir())}
        self.schemas = {name: json.loads(members["schema.json"]) for name, members in self.files.items()}
        self.by_class = {}
        for name, schema in self.schemas.items():
            for path, cls in places(schema):
                self.by_class.setdefault(cls or "", []).append((name, path))

    def make(self, number):
        """The content of a changed file, the name of the file it was, and what was changed."""
        rng = np.random.default_rng([self.seed, number])
        classes = sorted(self.by_class)
        spots = self.by_class[classes[rng.integers(len(classes))]]
        name, path = spots[rng.integers(len(spots))]
        members, choice = dict(self.files[name]), rng.random()
        if choice < 0.04:
            return changed_bytes(rng, packed(members)), name, "bytes"
        if choice < 0.08:
            member = list(members)[rng.integers(len(members))]
            members[member] = changed_bytes(rng, members[member])
            return packed(members), name, f"bytes of {member}"
        if choice < 0.13:
            changed_info(rng, members)
            return packed(members), name, "information"
        tree = json.loads(members["schema.json"])
        same_file = [spot for one, spot in spots if one == name]
        others = [at(self.schemas[name], same_file[rng.integers(len(same_file))]) for _ in range(5)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            new = changed_node(rng, at(tree, path), members, others)
        if path:
            at(tree, path[:-1])[path[-1]] = new
        else:
            tree = {**new, "protocol": tree["protocol"]}
        members["schema.json"] = json.dumps(tree).encode()
        return packed(members), name, "/".join(map(str, path))


def use(model, rows):
    """Predict with a loaded model; it may fail in any way, but not crash, hang or take memory."""
    calls = [(repr, model)]
    forms = [rows, sparse.csr_matrix(rows)] if isinstance(rows, np.ndarray) else [rows]
    for name in ("decision_function", "predict", "predict_proba"):
        calls += [(getattr(model, name, None), form) for form in forms]
    if isinstance(function := getattr(model, "pace_function", None), pacing.SelfPacedFunction):
        calls.append((function.weight, np.linspace(0, 1, 5), 0.7))
    for call, *arguments in calls:
        try:
            call(*arguments)
        except MemoryError:
            raise
        except Exception:
            continue


class Late(BaseException):
    """A file that takes longer than any valid one."""


def stop(*_):
    raise Late


def examine(content, path, rows):
    """Whether a changed file was refused, or loaded and used."""
    path.write_bytes(content)
    with nothing_run():
        try:
            model, _ = read_model(path)
        except UserError as error:
            sentence = str(error)
        else:
            use(model, rows)
            return "loaded"
    assert "MemoryError" not in sentence, sentence
    assert sentence.startswith(str(path)), sentence
    assert sentence.endswith("."), sentence
    return "refused"


def main(folder, count, seed, first=0):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for limit in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(limit, stop)
    forger = Forger(folder, seed)
    results = Counter()
    with tempfile.TemporaryDirectory() as own:
        path = Path(own) / "model.skops"
        for members in forger.files.values():  # what is imported late is imported now
            path.write_bytes(packed(members))
            for rows in ROWS.values():
                use(read_model(path)[0], rows)
            path.write_bytes(packed(members | {"schema.json": b"{}"}))
            with suppress(UserError):
                read_model(path)
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
        for number in range(first, first + count):
            content, name, place = forger.make(number)
            print(seed, number, name, place, file=sys.stderr, flush=True)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            signal.alarm(LONGEST_WAIT)
            results[examine(content, path, ROWS[name.partition(".")[2]])] += 1
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
        assert [file.name for file in Path(own).iterdir()] == ["model.skops"]
    print(json.dumps({"refused": 0, "loaded": 0} | results))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
