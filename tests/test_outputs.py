"""Functions that write files: inputs and foreign files stay, and a disk that takes nothing is a sentence.

`tests/cli/test_cli_outputs.py` has the same for commands.
"""

import importlib
import os
import pkgutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mlspl
from mlspl import BSVMClassifier, curriculum, experiments, pacing, pages, persistence, save_model
from mlspl._files import OutputFolder
from mlspl.datasets import read_dataset, relabel_file, write_dataset
from mlspl.errors import UserError
from tests.disks import cannot_be_written, files_limited_to


@pytest.fixture(scope="module")
def made():
    """Rows, a model of them, their audit, and a comparison of two methods."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X[:, :2] > 0).astype(int)
    model = BSVMClassifier(space="linear").fit(X, Y)
    audit = curriculum.audit(X, pd.DataFrame(Y, columns=["a", "b"]), BSVMClassifier(space="linear"))
    rows = [
        ("songs", method, split, score) for method, score in (("a", 0.1), ("b", 0.2)) for split in range(6)
    ]
    scores = pd.DataFrame(rows, columns=["block", "variant", "split", "one_error"])
    return X, model, audit, experiments.compare(scores, "one_error", greater_is_better=False)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("songs.csv").write_text("tempo,happy,calm\n" + "120,1,0\n64,0,1\n90,1,1\n" * 3)
    with experiments.Store("results.db") as store:
        for split in range(2):
            for method in ("ml-knn", "bsvm"):
                trial = experiments.Trial("songs", "f", method, {}, split)
                store.record(trial, experiments.Outcome(scores={"hamming_loss": 0.1 * (split + 1)}))
    Path("out").mkdir()
    return read_dataset("songs.csv", ["happy", "calm"])


def write_results(made, data, **options):
    with experiments.Store("results.db", create=False) as store:
        trials = [experiments.Trial("songs", "f", m, {}, s) for m in ("ml-knn", "bsvm") for s in range(2)]
        return experiments.write_results(store, trials, Path("out"), **options)


def write_comparisons(made, data, **options):
    return experiments.write_comparisons([made[3]], OutputFolder("out", **options))


def write_label_studio(made, data, **options):
    X, _, audit, _ = made
    names = ["x", "y", "z"]
    outputs = OutputFolder("out", **options)
    return pages.write_label_studio(outputs, audit, X, fingerprint="f", feature_names=names)


def write_audit_folder(made, data, **options):
    return pages.write_audit_folder("out", made[2], made[0], **options)


def save_onnx(made, data, **options):
    pytest.importorskip("onnx")
    return persistence.save_onnx(made[1], "out/a.onnx", **options)


# Each function, called with `force` or without; one of the files that it writes; whether it knows its own.
WRITERS = {
    "write_dataset": (lambda made, data, **o: write_dataset(data, "out/a.csv", **o), "a.csv", False),
    "relabel_file": (
        lambda made, data, **o: relabel_file("songs.csv", "out/a.csv", data, [(0, 1, 1.0)], **o),
        "a.csv",
        False,
    ),
    "save_plot": (lambda made, data, **o: pacing.save_plot("hard", "out/a.png", **o), "a.png", False),
    "save_onnx": (save_onnx, "a.onnx", False),
    "save_model": (lambda made, data, **o: save_model(made[1], "out/a.skops", **o), "a.skops", True),
    "write_audit": (
        lambda made, data, **o: pages.write_audit("out/audit.html", made[2], made[0], **o),
        "audit.html",
        False,
    ),
    "to_html": (lambda made, data, **o: made[2].to_html("out/a.html", made[0], **o), "a.html", False),
    "write_audit_folder": (write_audit_folder, "labels.csv", True),
    "write_label_studio": (write_label_studio, "label-studio.json", True),
    "write_results": (write_results, "means.csv", True),
    "write_comparisons": (write_comparisons, "pairs.csv", True),
}


def test_every_public_function_that_writes_is_tried():
    public = set()
    for module in pkgutil.iter_modules(mlspl.__path__):
        if module.ispkg and module.name != "cli":
            public |= set(getattr(importlib.import_module(f"mlspl.{module.name}"), "__all__", ()))
    assert {name for name in public if name.startswith(("write_", "save_", "relabel_"))} <= set(WRITERS)


@pytest.mark.parametrize("name", WRITERS)
def test_foreign_files_stay_and_a_full_or_read_only_disk_is_an_error_message(made, data, name):
    write, file, knows_its_own = WRITERS[name]
    target = Path("out", file)
    target.write_text("mine")
    with pytest.raises(UserError, match="force"):
        write(made, data)
    assert [path.name for path in Path("out").iterdir()] == [file]
    assert target.read_text() == "mine"
    write(made, data, force=True)
    first = target.read_bytes()
    assert first != b"mine"
    if knows_its_own:
        write(made, data)
    else:
        with pytest.raises(UserError, match="force"):
            write(made, data)
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    with files_limited_to(20), pytest.raises(UserError, match="written"):
        write(made, data, force=True)
    with cannot_be_written(Path("out")), pytest.raises(UserError, match="written"):
        write(made, data, force=True)
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before


# Functions that read files, one of those, and the file that they would write.
INPUTS = {
    "relabel_file": ("songs.csv", "a.csv"),
    "write_results": ("results.db", "means.csv"),
    "write_audit": ("picture.png", "audit.html"),
    "write_audit_folder": ("picture.png", "rows.csv"),
}


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", INPUTS)
def test_an_input_is_never_replaced(made, data, name, link):
    source, target = INPUTS[name]
    Path("picture.png").write_text("precious")
    link(Path(source).absolute(), Path("out", target))
    before = Path(source).read_bytes()
    pictures = {"images": [Path("picture.png").absolute()] * len(made[0])} if "audit" in name else {}
    with pytest.raises(UserError, match="input"):
        WRITERS[name][0](made, data, force=True, **pictures)
    assert Path(source).read_bytes() == before
    assert Path("out", target).samefile(source)


def test_a_copy_does_not_replace_its_source_under_another_spelling(data):
    with pytest.raises(UserError, match="input"):
        relabel_file("songs.csv", "./songs.csv", data, [(0, 1, 1.0)], force=True)
