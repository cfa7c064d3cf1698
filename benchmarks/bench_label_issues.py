"""`curriculum.label_issues` on made-up labels, alone and by the other labels, beside cleanlab's ranking.

Seconds by the clock and of processor time, and the largest memory of the process so far. A number of rows may
be given: ``python benchmarks/bench_label_issues.py 1000000``.
"""

import resource
import sys
import time

import numpy as np
from cleanlab.rank import get_label_quality_scores

from mlspl.curriculum import label_issues


def rank_by_cleanlab(Y, P):
    return [get_label_quality_scores(y, np.column_stack([1 - p, p])) for y, p in zip(Y.T, P.T, strict=True)]


METHODS = {
    "labels alone": lambda Y, P: label_issues(Y, P, other_labels=False, n_jobs=-1),
    "label_issues": lambda Y, P: label_issues(Y, P, n_jobs=-1),
    "cleanlab": rank_by_cleanlab,
}

if __name__ == "__main__":
    n, L = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000, 100
    rng = np.random.default_rng(0)
    P = rng.beta(0.3, 0.6, (n, L)).astype(np.float32)
    Y = (rng.random((n, L), dtype=np.float32) < P).astype(np.int8)
    Y ^= rng.random((n, L), dtype=np.float32) < 0.05
    label_issues(Y[:500], P[:500])  # compiles
    for name, method in METHODS.items():
        start, clock = time.process_time(), time.perf_counter()
        method(Y, P)
        seconds, clock = time.process_time() - start, time.perf_counter() - clock
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{n:,} × {L}: {name:12s} {clock:6.1f} s, {seconds:6.1f} s of processors, {memory:5.1f} GB")
