"""Models to save, and their files changed by hand, for the tests of model files."""

import json
import zipfile

import numpy as np

from mlspl.datasets import load_dataset

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
