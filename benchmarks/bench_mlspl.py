"""Whole fits of MLSPL beside (a) Algorithm 1 written from the paper and (b) an SVM per label.

Prints ratios, how time and memory grow with n, and what the first fit in a fresh process costs.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlspl import MLSPLClassifier, pacing
from mlspl.correlation import initial_codes
from mlspl.datasets import load_dataset
from mlspl.model_selection import protocol_split

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.naive import models as naive

FIRST_FIT = """
import sys, time, tracemalloc
import numpy as np
from mlspl import MLSPLClassifier
rng = np.random.RandomState(0)
n = int(sys.argv[1])
X, Y = rng.normal(size=(n, 20)), rng.rand(n, 6) < 0.3
for _ in range(2):
    start = time.perf_counter()
    MLSPLClassifier.as_published(random_state=0, max_steps=3).fit(X, Y)
    print(time.perf_counter() - start)
tracemalloc.start()
MLSPLClassifier.as_published(random_state=0, max_steps=3).fit(X, Y)
print(tracemalloc.get_traced_memory()[1] / 2**20)
"""


def best_time(work, repeats, clock=time.perf_counter):
    times = []
    for _ in range(repeats):
        start = clock()
        result = work()
        times.append(clock() - start)
    return min(times), result


def beside_peers():
    """scene, protocol split 0, 30 %, z-scored, 20 pace steps."""
    data = load_dataset("scene")
    train, test = protocol_split(len(data.Y), 0)
    scaler = StandardScaler().fit(data.X[train])
    X, Y, X_test = scaler.transform(data.X[train]), data.Y[train], scaler.transform(data.X[test])
    ours = MLSPLClassifier.as_published(random_state=0).fit(X, Y)
    peer = OneVsRestClassifier(SVC(gamma="auto"))
    for jobs in (1, 2):
        fit, _ = best_time(lambda jobs=jobs: ours.set_params(n_jobs=jobs).fit(X, Y), 7)
        peer_fit, _ = best_time(lambda: peer.fit(X, Y), 5)
        print(
            f"fit, {jobs} thread(s): {fit:.3f} s, OneVsRest(SVC) {peer_fit:.3f} s: "
            f"{fit / peer_fit:.2f} of its time"
        )
    predict, _ = best_time(lambda: ours.predict(X_test), 7)
    peer_predict, _ = best_time(lambda: peer.predict(X_test), 3)
    print(
        f"predict {len(test)} rows: ours {predict:.3f} s, OneVsRest(SVC) {peer_predict:.3f} s: "
        f"{peer_predict / predict:.1f} times faster"
    )
    codes, prototypes = initial_codes(np.where(Y, 1.0, -1.0), 15, 0)
    paper = naive.PublishedMLSPL(pacing.get("sigmoid"))
    slow, paper = best_time(lambda: paper.fit(X, Y, codes, prototypes), 1)
    fit, _ = best_time(lambda: ours.set_params(n_jobs=1).fit(X, Y), 7)
    difference = np.abs(ours.decision_function(X_test) - paper.decision_function(X_test)).max()
    print(
        f"Algorithm 1 with SVC and linprog: {slow:.1f} s: ours {slow / fit:.0f} times faster; "
        f"scores differ by at most {difference:.1e}"
    )


def growth(sizes, n_labels):
    """yeast's rows, repeated with noise where there are not enough; processor time, one thread each."""
    data = load_dataset("yeast")
    rng = np.random.RandomState(0)
    print(f"{'n':>6} {'ours':>9} {'OvR(SVC)':>9} {'ratio':>6}")
    for n in sizes:
        rows = rng.randint(len(data.Y), size=n) if n > len(data.Y) else rng.permutation(len(data.Y))[:n]
        X = StandardScaler().fit_transform(data.X[rows] + 0.05 * rng.normal(size=(n, data.X.shape[1])))
        Y = data.Y[rows][:, :n_labels]
        repeats = 3 if n <= 2000 else 1
        model = MLSPLClassifier.as_published(random_state=0, n_jobs=1)
        ours, _ = best_time(lambda X=X, Y=Y, model=model: model.fit(X, Y), repeats, time.process_time)
        peer_model = OneVsRestClassifier(SVC(gamma="auto"))
        peer, _ = best_time(
            lambda X=X, Y=Y, peer_model=peer_model: peer_model.fit(X, Y), repeats, time.process_time
        )
        print(f"{n:>6} {ours:>8.3f}s {peer:>8.3f}s {ours / peer:>6.2f}", flush=True)


def fresh_process():
    """First fit against second, compiled code cached; peak memory in n×n float64 matrices."""
    for n in (200, 3000):
        output = subprocess.run(
            [sys.executable, "-c", FIRST_FIT, str(n)], check=True, capture_output=True, text=True
        ).stdout.split()
        first, second, peak = map(float, output)
        print(
            f"fresh process, n = {n}: first fit {first:.2f} s, second {second:.2f} s; peak {peak:.0f} MiB "
            f"= {peak / (n * n * 8 / 2**20):.2f} n×n matrices"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="180,600,2000,5000", help="comma-separated numbers of rows")
    parser.add_argument("--labels", type=int, help="how many of yeast's labels to take, for many rows")
    parser.add_argument("--growth", action="store_true", help="nothing but the growth with the rows")
    arguments = parser.parse_args()
    if not arguments.growth:
        beside_peers()
        fresh_process()
    growth([int(size) for size in arguments.sizes.split(",")], arguments.labels)
