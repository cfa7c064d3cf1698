"""RankSVM's exact solver beside Frank–Wolfe with a HiGHS linear program a step, the literature's way.

Needs the real data sets: ``MLSPL_DATA=… python benchmarks/bench_ranksvm.py [NAME …]`` (scene unless named).
Split 0 of the protocol, 30 % of the rows, z-scores, RBF kernel of γ = 1/d, C = 1; both get the same kernel
matrix. Ours is the best of five runs, theirs of two. Then, on ten splits, what the five criteria say.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mlspl.datasets import load_dataset
from mlspl.metrics import score_all
from mlspl.model_selection import protocol_split
from mlspl.models import RankSVMClassifier
from mlspl.solvers import solve_rank_svm
from mlspl.spaces._kernels import kernel_matrix
from tests.naive import solvers as naive


def scaled_split(dataset, split):
    train, test = protocol_split(len(dataset.Y), split)
    scaler = StandardScaler().fit(dataset.X[train])
    return (
        scaler.transform(dataset.X[train]),
        dataset.Y[train],
        scaler.transform(dataset.X[test]),
        dataset.Y[test],
    )


def program(X, Y):
    mixed = Y.any(axis=1) & ~Y.all(axis=1)
    X, relevant = X[mixed], Y[mixed] == 1
    K = kernel_matrix(X, X, "rbf", gamma=1 / X.shape[1])
    size = relevant.sum(axis=1) * (~relevant).sum(axis=1)
    return K, np.where(relevant, 1.0, -1.0) / np.sqrt(size)[:, None]


def best(repeat, function, *arguments, **options):
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        answer = function(*arguments, **options)
        seconds.append(time.perf_counter() - start)
    return min(seconds), answer


def main(names):
    solve_rank_svm(np.eye(2), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    for name in names:
        dataset = load_dataset(name)
        X, Y, _, _ = scaled_split(dataset, 0)
        K, signed_weight = program(X, Y)
        slow, (alpha, gap) = best(2, naive.rank_svm_frank_wolfe, K, signed_weight)
        dual = naive.rank_svm_dual(K, signed_weight, alpha)
        print(f"{name}: {len(K)} rows, {signed_weight.shape[1]} labels, {len(alpha)} pairs")
        print(f"  Frank–Wolfe, 50 linear programs  {slow:8.3f} s   dual {dual:.4f}   gap {gap:.2e}")
        for tol in (1e-2, 1e-4, 1e-8):
            seconds, ours = best(5, solve_rank_svm, K, signed_weight, tol=tol)
            dual, speed = ours.objective - ours.dual_gap, slow / seconds
            print(
                f"  mlspl, tol {tol:<8g}              {seconds:8.3f} s   dual {dual:.4f}   "
                f"gap {ours.dual_gap:.2e}   {ours.n_iter} sweeps   {speed:.0f}×"
            )
        table = []
        for split in range(10):
            X, Y, X_test, Y_test = scaled_split(dataset, split)
            model = RankSVMClassifier().fit(X, Y)
            table.append(score_all(Y_test, model.decision_function(X_test), model.predict(X_test)))
        for criterion in table[0]:
            values = [row[criterion] for row in table]
            print(f"  {criterion:18} {np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["scene"])
