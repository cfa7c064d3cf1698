"""ML-kNN beside scikit-multilearn-ng's: fit and predict on split 0 of the protocol, and the criteria of both.

Run by hand with `MLSPL_DATA` set: `python benchmarks/bench_mlknn.py`. Best of several, side by side, one
thread each, for both use scikit-learn's neighbour search; what differs is the counting. The last lines
are the means of ten splits.
"""

import time

import numpy as np
from sklearn.preprocessing import StandardScaler
from skmultilearn.adapt import MLkNN
from threadpoolctl import threadpool_limits

from mlspl.datasets import load_dataset
from mlspl.metrics import score_all
from mlspl.model_selection import protocol_split
from mlspl.models import MLkNNClassifier


def split_of(data, split):
    train, test = protocol_split(len(data.Y), split)
    scaler = StandardScaler().fit(data.X[train])
    return scaler.transform(data.X[train]), data.Y[train], scaler.transform(data.X[test]), data.Y[test]


def seconds(model, X, Y, X_new):
    start = time.perf_counter()
    model.fit(X, Y).predict(X_new)
    return time.perf_counter() - start


def main():
    for name in ("scene", "yeast"):
        X, Y, X_new, _ = split_of(load_dataset(name), 0)
        Y = Y.astype(np.int64)
        ours, theirs = [], []
        with threadpool_limits(1):
            for _ in range(5):
                ours.append(seconds(MLkNNClassifier(), X, Y, X_new))
                theirs.append(seconds(MLkNN(k=10), X, Y, X_new))
        print(
            f"{name:9} {len(X)} + {len(X_new)} rows: ours {min(ours):.3f} s   "
            f"scikit-multilearn-ng {min(theirs):.3f} s   {min(theirs) / min(ours):.0f}×"
        )
    for name in ("emotions", "scene", "yeast"):
        data = load_dataset(name)
        scores = []
        for split in range(10):
            X, Y, X_new, Y_new = split_of(data, split)
            F = MLkNNClassifier().fit(X, Y).decision_function(X_new)
            scores.append(list(score_all(Y_new, F, F > 0).values()))
        figures = zip(np.mean(scores, axis=0), np.std(scores, axis=0, ddof=1), strict=True)
        print(f"{name:9} " + "  ".join(f"{mean:.4f} ± {spread:.4f}" for mean, spread in figures))


if __name__ == "__main__":
    main()
