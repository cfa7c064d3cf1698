"""TRAM: the criteria on ten splits, our solve beside sparse LU, and fifty thousand rows in time and memory.

Run by hand with `MLSPL_DATA` set: `python benchmarks/bench_tram.py`.
"""

import resource
import time

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from sklearn.preprocessing import StandardScaler

from mlspl.datasets import load_dataset
from mlspl.metrics import score_all
from mlspl.model_selection import protocol_split
from mlspl.models import TRAMClassifier
from mlspl.models.tram import _neighbour_graph, _propagate


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return result, time.perf_counter() - start


def split_of(data, split):
    train, test = protocol_split(len(data.Y), split)
    scaler = StandardScaler().fit(data.X[train])
    return scaler.transform(data.X[train]), data.Y[train], scaler.transform(data.X[test]), data.Y[test]


def direct(W, known):
    n = len(known)
    system = sparse.diags_array(W.sum(axis=1)[n:]) - W[n:, n:]
    options = {"SymmetricMode": True}
    factors = splu(system.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0, options=options)
    return factors.solve(W[n:, :n] @ known)


def main():
    for name in ("emotions", "scene", "yeast"):
        data = load_dataset(name)
        scores, seconds = [], []
        for split in range(10):
            X, Y, X_new, Y_new = split_of(data, split)
            F, elapsed = timed(TRAMClassifier().fit(X, Y).decision_function, X_new)
            scores.append(list(score_all(Y_new, F, F > 0).values()))
            seconds.append(elapsed)
        figures = zip(np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1), strict=True)
        print(f"{name:9} " + "  ".join(f"{mean:.4f} ± {spread:.4f}" for mean, spread in figures))
        X, Y, X_new, _ = split_of(data, 0)
        W = _neighbour_graph(np.concatenate([X, X_new]), 10, None)
        known = np.column_stack([Y / Y.sum(axis=1, keepdims=True), Y.sum(axis=1)])
        ours = min(timed(_propagate, W, known)[1] for _ in range(5))
        theirs = min(timed(direct, W, known)[1] for _ in range(5))
        apart = np.abs(_propagate(W, known) - direct(W, known)).max()
        print(
            f"{'':9} {len(X_new)} unknowns: all of it {min(seconds):.3f} s; the solve alone {ours:.4f} s, "
            f"SuperLU {theirs:.4f} s, {theirs / ours:.0f}× (largest difference {apart:.0e})"
        )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 50))
    Y = X[:15_000] @ rng.normal(size=(50, 20)) > 5
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    W, graph = timed(_neighbour_graph, X, 10, None)
    _, solve = timed(_propagate, W, Y.astype(float))
    _, whole = timed(TRAMClassifier().fit(X[:15_000], Y).predict, X[15_000:])
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"50,000 × 50, 20 labels: {whole:.1f} s in all, the neighbours {graph:.1f} s, the solve "
        f"{solve:.2f} s; at most {extra:.0f} MB more (an n×n matrix takes 19,073 MB)"
    )


if __name__ == "__main__":
    main()
