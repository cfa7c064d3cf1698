"""Models to save, and their files changed by hand, for the tests of model files."""

import json
import zipfile

import numpy as np
import skops.io

from mlspl.datasets import load_dataset
from mlspl.models._calibrated import without_training_data
from mlspl.recipes import Schema

DIGITS = load_dataset("digits-traits")
X, Y = DIGITS.X[:60] / 16, DIGITS.Y[:60, :4].astype(float)
Y[::7, 0] = np.nan
NEW = DIGITS.X[60:90] / 16
ANSWERS = ("decision_function", "predict", "predict_proba")


def assert_same_answers(model, again, rows):
    for name in ANSWERS:
        if hasattr(model, name):
            ours, theirs = getattr(model, name)(rows), getattr(again, name)(rows)
            assert ours.dtype == theirs.dtype
            np.testing.assert_array_equal(ours, theirs, err_msg=name)


def rewritten(saved, folder, change=None, schema=None, info=None, extra=(), compression=zipfile.ZIP_STORED):
    """The saved file with another schema, other information or further members."""
    path = folder / "changed.skops"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w", compression) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "schema.json" and (change or schema is not None):
                tree = json.loads(data)
                data = json.dumps(change(tree) or tree) if change else schema
            if name == "mlspl.json" and info is not None:
                data = json.dumps({**json.loads(data), **info})
            new.writestr(name, data)
        for name, data in extra:
            new.writestr(name, data)
    return path


def node(loader, module, name, **parts):
    return {"__loader__": loader, "__module__": module, "__class__": name, **parts}


def json_text(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value))


def texts(kind, *values):
    items = [json_text(value) for value in values]
    return node(kind, "builtins", "tuple" if kind == "TupleNode" else "list", content=items)


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


def unchecked(model, folder):
    """A file as a forger writes it, without the checks of save_model."""
    path = folder / "forged.skops"
    with without_training_data():
        skops.io.dump(model, path)
    schema = Schema(None, 0, layout="any").to_json()
    info = {"format": 2, "versions": {}, "label_names": ["a"], "schema": schema, "summary": {}}
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("mlspl.json", json.dumps(info))
    return path
