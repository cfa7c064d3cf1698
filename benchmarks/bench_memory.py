"""Estimated against measured memory and time of a fit: the ratio should lie between 1/1.5 and 1.5.

Every fit runs in a process of its own (Linux only: it asks the kernel for its largest size). The first run
may compile, which takes memory too: run it twice.
"""

import os
import subprocess
import sys
import time

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from mlspl import (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    MLSPLClassifierCV,
    RankSVMClassifier,
    SelfPacedClassifier,
    TunedDecisionClassifier,
)
from mlspl._limits import FitSize

FEW = {"C": (1.0,), "gamma_factors": (1.0,), "class_weights": (0.0,), "quantiles": (0.7,), "per": ("label",)}
ESTIMATORS = {
    "bsvm": BSVMClassifier(gamma="scale"),
    "ml-knn": MLkNNClassifier(),
    "ranksvm": RankSVMClassifier(gamma="scale"),
    "ml-loc": MLLOCClassifier(gamma="scale", random_state=0),
    "mlspl": MLSPLClassifier(random_state=0),
    "mlspl-ridge": MLSPLClassifier(regressor="ridge", random_state=0),
    "mlspl-cv": MLSPLClassifierCV(**FEW, pace_functions=("gaussian",), random_state=0),
    "mlspl-cv-2": MLSPLClassifierCV(**FEW, pace_functions=("gaussian",), cv=2, random_state=0),
    "self-paced": SelfPacedClassifier(LogisticRegression(max_iter=1000), random_state=0),
    "tuned": TunedDecisionClassifier(BSVMClassifier(gamma="scale")),
}
SIZES = [
    (2000, 20, 6, "dense"),
    (3000, 100, 12, "dense"),
    (2500, 300, 6, "sparse"),
    (2000, 1000, 40, "dense"),
]


def make(n, d, n_labels, layout):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, n_labels)) + 2 * random.normal(size=(n, n_labels)) > 1).astype(int)
    return (sparse.csr_matrix(np.where(X > 1.3, X, 0.0)) if layout == "sparse" else X), Y


def memory(key):
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith(key))


def measure(name, n, d, n_labels, layout):
    """Print estimated bytes, measured bytes, estimated seconds, measured seconds."""
    estimator = ESTIMATORS[name]
    clone(estimator).fit(*make(60, d, n_labels, layout))
    X, Y = make(n, d, n_labels, layout)
    with open("/proc/self/clear_refs", "w") as marks:
        marks.write("5")  # forget the largest size so far
    before, start = memory("VmRSS"), time.perf_counter()
    model = clone(estimator).fit(X, Y)
    seconds, peak = time.perf_counter() - start, memory("VmHWM") - before
    cost = model._cost(FitSize.of(X, Y))
    print(cost.bytes, peak, cost.seconds or np.nan, seconds)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5])
        sys.exit()
    print(f"{'':12}{'n':>6}{'d':>6}{'L':>4}           estimate   measured  ratio      time ratio")
    for size in SIZES:
        for name in ESTIMATORS:
            command = [sys.executable, "-W", "ignore", __file__, name, *map(str, size)]
            environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
            out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
            estimate, peak, seconds, measured = map(float, out.split())
            n, d, n_labels, layout = size
            print(
                f"{name:12}{n:6}{d:6}{n_labels:4} {layout:>6} {estimate / 1e6:8.1f} MB {peak / 1e6:7.1f} MB "
                f"{estimate / max(peak, 1):6.2f} {seconds / measured:11.2f}",
                flush=True,
            )
