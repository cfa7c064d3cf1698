"""The four ranking criteria of a million rows, and scikit-learn's three beside ours on fewer.

Run by hand: `python benchmarks/bench_metrics.py`. Best of three; ratios, not seconds, are what carries over.
"""

import time
import tracemalloc

import numpy as np
from sklearn.metrics import coverage_error, label_ranking_average_precision_score, label_ranking_loss

from mlspl.metrics import average_precision, coverage, ranking_loss, score_all


def best(function, *arguments, repeat=3):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        function(*arguments)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def data(n, L, relevant, dtype):
    rng = np.random.default_rng(0)
    Y = np.zeros((n, L), dtype=dtype)
    F = np.empty((n, L))
    for rows in np.array_split(np.arange(n), max(1, n // 50_000)):
        block = rng.standard_normal((len(rows), L))
        Y[rows] = block < np.quantile(block[:100], relevant / L)
        F[rows] = rng.standard_normal((len(rows), L)) + Y[rows]
    return Y, F


def megabytes(function, *arguments):
    tracemalloc.start()
    function(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main():
    pairs = [
        ("ranking loss", ranking_loss, label_ranking_loss),
        ("coverage", coverage, coverage_error),
        ("average precision", average_precision, label_ranking_average_precision_score),
    ]
    score_all(*data(10, 5, 2, np.int8), data(10, 5, 2, np.int8)[0])
    for n, L, relevant in [(2407, 6, 1.1), (20_000, 100, 3), (16_105, 983, 19)]:
        Y, F = data(n, L, relevant, np.int64)
        print(f"{n:,} × {L}, {relevant} labels a row")
        for name, ours, theirs in pairs:
            mine, other = best(ours, Y, F), best(theirs, Y, F)
            print(f"  {name:18} ours {mine:7.4f} s   scikit-learn {other:8.4f} s   {other / mine:6.1f}×")
    for relevant in (3, 30):
        Y, F = data(1_000_000, 100, relevant, np.int8)
        P = F > 0
        seconds, extra = best(score_all, Y, F, P), megabytes(score_all, Y, F, P)
        print(
            f"1,000,000 × 100, {relevant} labels a row: score_all {seconds:.2f} s, "
            f"{extra:.0f} MB beside {F.nbytes / 2**20:.0f} MB of scores"
        )


if __name__ == "__main__":
    main()
