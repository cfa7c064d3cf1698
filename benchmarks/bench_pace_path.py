"""A whole pace path in units of one unpaced fit, and cross-fitted codes in units of in-sample ones.

The path has twenty points: Gaussian, per class, quantiles 0.5 to 1.
"""

import os
import time
from itertools import product

import numpy as np
from sklearn.preprocessing import StandardScaler

from mlspl import MLSPLClassifier
from mlspl.datasets import load_dataset
from mlspl.model_selection import protocol_split
from mlspl.models._families import list_points
from mlspl.models._family_learners import _visit_paths
from mlspl.models.local_correlation import Coding
from mlspl.spaces import Gram

REPEATS = 7
PATH = list_points(np.linspace(0.5, 1.0, 20)[:-1])
HEADS = ("unpaced", "path", "ratio", "in-sample", "cross-fit", "ratio")


def best_of(function, *arguments, **named):
    """Least CPU time of several runs; the machine may be busy with other things."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        function(*arguments, **named)
        times.append(time.process_time() - start)
    return min(times)


def fit_path(X, Y, C, points):
    rows = Gram(gamma=0.5 / X.shape[1]).prepare(X)
    steps = _visit_paths(rows, Y, None, Coding(regressor="ridge", random_state=0), {C: points})
    assert sum(1 for _ in steps) == len(points)


def fit(X, Y, C, function=None, codes="cross-fit"):
    named = {"gamma": 0.5 / X.shape[1], "class_weight": 0.5, "regressor": "ridge", "random_state": 0}
    MLSPLClassifier(function, codes=codes, C=C, **named).fit(X, Y)


def main():
    print(" " * 18, *(f"{head:>9}" for head in HEADS))
    for name, C in product(("emotions", "scene", "yeast"), (0.5, 2.0)):
        data = load_dataset(name)
        train, _ = protocol_split(len(data.Y), 0)
        X, Y = StandardScaler().fit_transform(data.X[train]), np.asarray(data.Y[train], dtype=bool)
        unpaced = best_of(fit, X, Y, C)
        path = best_of(fit_path, X, Y, C, PATH)
        inside, across = (best_of(fit, X, Y, C, "gaussian", codes) for codes in ("in-sample", "cross-fit"))
        cells = [f"{unpaced:8.3f}s", f"{path:8.3f}s", f"{path / unpaced:8.1f}x"]
        cells += [f"{inside:8.3f}s", f"{across:8.3f}s", f"{across / inside:8.1f}x"]
        print(f"{name + f', C = {C:g}':18}", *cells)


if __name__ == "__main__":
    if "MLSPL_DATA" not in os.environ:
        raise SystemExit("Set MLSPL_DATA to the folder of the Mulan files.")
    main()
