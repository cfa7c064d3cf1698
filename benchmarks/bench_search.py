"""What MLSPLClassifierCV takes beside a grid search: ``python benchmarks/bench_search.py [emotions scene]``.

The yardstick is ``GridSearchCV(OneVsRestClassifier(SVC()), 20 settings, cv=5, n_jobs=2)`` on the same rows,
in the same run. Processor time is given beside the clock's, which on a busy machine says little.
"""

import resource
import sys
import time
from functools import partial

from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlspl import MLSPLClassifierCV
from mlspl.datasets import load_dataset
from mlspl.model_selection import protocol_split

ROWS = {"emotions": 0.3, "scene": 0.3, "yeast": 1.0}
LIMITS = {"emotions": 3, "scene": 5, "yeast": 8}
GRID = {"estimator__C": [0.1, 1.0, 10.0, 100.0], "estimator__gamma": [0.001, 0.003, 0.01, 0.03, 0.1]}


def measure(fit):
    """Seconds by the clock and of the processors, those of finished worker processes included."""

    def used():
        whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(sum(resource.getrusage(who)[:2]) for who in whose)

    clock, processor = time.perf_counter(), used()
    fit()
    return time.perf_counter() - clock, used() - processor


def main(names):
    """Print a line a data set."""
    for name in names:
        data = load_dataset(name)
        rows, _ = protocol_split(len(data.Y), 0, ROWS[name]) if ROWS[name] < 1 else (slice(None), None)
        X, Y = StandardScaler().fit_transform(data.X[rows]), data.Y[rows]
        MLSPLClassifierCV(budget="fast", random_state=0).fit(X[:60], Y[:60])  # compiles
        search = GridSearchCV(OneVsRestClassifier(SVC()), GRID, cv=5, n_jobs=2)
        ours, theirs = (
            measure(partial(model.fit, X, Y))
            for model in (MLSPLClassifierCV(n_jobs=2, random_state=0), search)
        )
        print(
            f"{name}, {len(Y)} rows: {ours[0]:.1f} s ({ours[1]:.1f} s of processors), grid search "
            f"{theirs[0]:.1f} s, {ours[0] / theirs[0]:.2f} times as long ({LIMITS[name]} at most)",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or list(ROWS))
