"""Do other machines get the same numbers? Fits on emotions as if on other processors, compared with this one.

``python benchmarks/same_numbers.py docs/reproducibility.md`` writes the table between the marks of the page.
Needs MLSPL_DATA with emotions; some ten minutes on two cores (``--splits 1``: two).
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import mlspl
from mlspl.datasets import load_dataset
from mlspl.metrics import average_precision
from mlspl.model_selection import protocol_split

BEGIN, END = "<!-- measured by benchmarks/same_numbers.py -->", "<!-- end -->"
SIMPLE, PACED, CHOSEN = (
    ("bsvm", "ranksvm", "ml-knn", "tram"),
    ("ml-loc", "mlspl", "mlspl-published", "forest"),
    "mlspl-cv",
)
SIMD = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
PLAIN_NUMPY = {"NPY_DISABLE_CPU_FEATURES": " ".join(SIMD)}
# What is pretended, and the flag of a processor that can pretend it.
MACHINES = {
    "two threads of BLAS, another hash seed": ({"OPENBLAS_NUM_THREADS": "2", "PYTHONHASHSEED": "7"}, ""),
    "NumPy without AVX2 and AVX-512": (PLAIN_NUMPY, ""),
    "OpenBLAS for SkylakeX": ({"OPENBLAS_CORETYPE": "SkylakeX"}, "avx512bw"),
    "OpenBLAS for Haswell": ({"OPENBLAS_CORETYPE": "Haswell"}, "avx2"),
    "OpenBLAS for Zen": ({"OPENBLAS_CORETYPE": "Zen"}, "avx2"),
    "OpenBLAS for Sandybridge": ({"OPENBLAS_CORETYPE": "Sandybridge"}, "avx"),
    "OpenBLAS for Nehalem": ({"OPENBLAS_CORETYPE": "Nehalem"}, "sse4_2"),
    "OpenBLAS for Prescott": ({"OPENBLAS_CORETYPE": "Prescott"}, ""),
    "numba for any processor": ({"NUMBA_CPU_NAME": "generic"}, ""),
    "all of an old processor": (
        {"OPENBLAS_CORETYPE": "Prescott", "NUMBA_CPU_NAME": "generic", **PLAIN_NUMPY}, ""
    ),
}  # fmt: skip


def estimators(split):
    return {
        "bsvm": mlspl.BSVMClassifier(),
        "ranksvm": mlspl.RankSVMClassifier(),
        "ml-knn": mlspl.MLkNNClassifier(),
        "tram": mlspl.TRAMClassifier(),
        "ml-loc": mlspl.MLLOCClassifier(random_state=split),
        "mlspl": mlspl.MLSPLClassifier(random_state=split),
        "mlspl-published": mlspl.MLSPLClassifier.as_published(random_state=split),
        "forest": mlspl.SelfPacedForestClassifier(n_estimators=100, random_state=split),
        CHOSEN: mlspl.MLSPLClassifierCV(random_state=split),
    }


def measure(path, n_splits):
    """Scores, labels, average precision and members of every method and split, written to a file."""
    data, found = load_dataset("emotions"), {}
    for split in range(n_splits):
        train, test = protocol_split(len(data.Y), split)
        X = (data.X - data.X[train].mean(axis=0)) / data.X[train].std(axis=0)
        for name, model in estimators(split).items():
            model.fit(X[train], data.Y[train])
            scores = model.decision_function(X[test])
            found[f"{name} {split} scores"] = scores
            found[f"{name} {split} labels"] = model.predict(X[test])
            found[f"{name} {split} precision"] = average_precision(data.Y[test], scores)
            if name == CHOSEN:
                keys = ("family", "C", "class_weight", "pace_function", "per", "target")
                members = [
                    [*(str(member.get(key)) for key in keys), f"{member.get('gamma', 0.0):.9g}"]
                    for member in model.members_
                ]
                found[f"{name} {split} members"] = np.array(members)
    np.savez(path, **found)


def as_if(environment, n_splits) -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.npz"
        command = [sys.executable, "-W", "ignore", __file__, "--child", str(path), "--splits", str(n_splits)]
        subprocess.run(command, check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment})
        with np.load(path) as found:
            return dict(found)


def largest(ours, theirs, names, what, n_splits) -> float:
    keys = [f"{name} {split} {what}" for name in names for split in range(n_splits)]
    return max(float(np.abs(ours[key] - theirs[key]).max()) for key in keys)


def row(machine, ours, theirs, n_splits) -> str:
    keys = [key for key in ours if key.endswith("labels")]
    pairs = sum(ours[key].size for key in keys)
    changed = sum(int(np.sum(ours[key] != theirs[key])) for key in keys)
    members = [f"{CHOSEN} {split} members" for split in range(n_splits)]
    others = sum(not np.array_equal(ours[key], theirs[key]) for key in members)
    cells = [
        machine,
        f"{largest(ours, theirs, SIMPLE, 'scores', n_splits):.0e}",
        f"{largest(ours, theirs, PACED, 'scores', n_splits):.0e}",
        f"{largest(ours, theirs, [CHOSEN], 'scores', n_splits):.0e}",
        f"{others} of {n_splits}",
        f"{changed} of {pairs:,}",
        f"{largest(ours, theirs, [*SIMPLE, *PACED, CHOSEN], 'precision', n_splits):.0e}",
    ]
    return "| " + " | ".join(cells).replace("0e+00", "0") + " |"


def table(n_splits) -> str:
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    heads = (
        "as if", "BSVM, RankSVM, ML-kNN, TRAM", "ML-LOC, MLSPL, as published, forest", "MLSPL-CV",
        "splits with other members", "labels that differ", "average precision",
    )  # fmt: skip
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    ours = as_if({}, n_splits)
    for machine, (environment, needs) in MACHINES.items():
        if needs and needs not in flags:
            continue
        lines.append(row(machine, ours, as_if(environment, n_splits), n_splits))
        print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--child")
    given = parser.parse_args()
    if given.child:
        measure(given.child, given.splits)
    else:
        measured = table(given.splits)
        if given.page:
            before, _, rest = given.page.read_text().partition(BEGIN)
            given.page.write_text(f"{before}{BEGIN}\n{measured}\n{END}{rest.partition(END)[2]}")
