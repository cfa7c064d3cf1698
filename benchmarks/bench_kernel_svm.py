"""Weighted SVMs on one shared kernel: ours on one and two threads beside `SVC(kernel="precomputed")`.

Run by hand: `python benchmarks/bench_kernel_svm.py` (real data through $MLSPL_DATA or the network). Side by
side, taken in turns, best of several; ratios, not seconds, are what carries over. LIBSVM fits on one thread,
label after label; same tolerance, same kernel matrix.
"""

import time

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.solvers import solve_svms

TOL = 1e-3
ROUNDS = 10


def best(*functions, repeat):
    """Least seconds of each, taken in turns so that a busy machine is fair, and the last results."""
    taken = np.empty((repeat, len(functions)))
    results = [None] * len(functions)
    for row in taken:
        for k, function in enumerate(functions):
            start = time.perf_counter()
            results[k] = function()
            row[k] = time.perf_counter() - start
    return taken.min(axis=0), results


def kernel_and_labels(name, share):
    data = load_dataset(name)
    rows = np.arange(len(data.Y))
    if share < 1:
        rows = np.random.RandomState(0).permutation(len(rows))[: int(share * len(rows))]
    X = StandardScaler().fit_transform(data.X[rows])
    Y = np.where(np.asarray(data.Y)[rows].T == 1, 1.0, -1.0)
    return rbf_kernel(X, gamma=1 / X.shape[1]), np.ascontiguousarray(Y)


def libsvm(K, Y, costs):
    """Signed dual coefficients and support vectors of every label."""
    fits = [
        SVC(kernel="precomputed", C=1.0, tol=TOL).fit(K, y, sample_weight=cost)
        for y, cost in zip(Y, costs, strict=True)
    ]
    return [(fit.dual_coef_[0], fit.support_) for fit in fits]


def dual_objective(K, coef, rows):
    return np.abs(coef).sum() - coef @ K[rows][:, rows] @ coef / 2


def cold(K, Y, repeat):
    print(f"{'C':>7} {'LIBSVM':>10} {'1 thread':>10} {'2 threads':>10}   times faster   worst dual objective")
    for C in (0.1, 1.0, 10.0, 100.0):
        costs = np.full(Y.shape, C)
        seconds, (theirs, ours, _) = best(
            lambda costs=costs: libsvm(K, Y, costs),
            lambda costs=costs: solve_svms(K, Y, costs, tol=TOL, n_threads=1),
            lambda costs=costs: solve_svms(K, Y, costs, tol=TOL, n_threads=2),
            repeat=repeat,
        )
        expected = np.array([dual_objective(K, *fit) for fit in theirs])
        found = np.array([dual_objective(K, coef, slice(None)) for coef in ours.coef])
        worse = ((expected - found) / expected).max()
        print(f"{C:7g} {report(seconds)}   {worse:+.1e} below LIBSVM's")


def self_paced(K, Y, repeat):
    """Ten rounds of the sigmoid pace; ours starts each round where the last one ended."""
    print(f"{'C':>7} {'LIBSVM':>10} {'1 thread':>10} {'2 threads':>10}   times faster, {ROUNDS} rounds")
    for C in (0.5, 10.0):
        rounds = [np.full(Y.shape, C)]
        first = last = solve_svms(K, Y, rounds[0], tol=TOL)
        for pace in 0.1 * 1.3 ** np.arange(ROUNDS):
            loss = np.maximum(0.0, 1.0 - Y * last.scores)
            rounds.append(C * 2 / (1 + np.exp(np.minimum(loss / pace, 500))))
            last = solve_svms(K, Y, rounds[-1], start=last.coef, tol=TOL)

        def warm(n_threads, rounds=rounds, first=first):
            solution = first
            for costs in rounds[1:]:
                solution = solve_svms(K, Y, costs, start=solution.coef, tol=TOL, n_threads=n_threads)

        seconds, _ = best(
            lambda rounds=rounds: [libsvm(K, Y, costs) for costs in rounds[1:]],
            lambda: warm(1),
            lambda: warm(2),
            repeat=repeat,
        )
        print(f"{C:7g} {report(seconds)}")


def report(seconds):
    times = " ".join(f"{1e3 * s:7.1f} ms" for s in seconds)
    return f"{times}   {seconds[0] / seconds[1]:5.1f} {seconds[0] / seconds[2]:5.1f}  "


def main():
    solve_svms(np.eye(2), np.array([[1.0, -1.0]]))
    for name, share, repeat in [("scene", 0.3, 9), ("scene", 1.0, 5), ("yeast", 1.0, 3)]:
        try:
            K, Y = kernel_and_labels(name, share)
        except UserError as error:
            print(f"{name}: {error}")
            continue
        print(f"\n{name} {share:.0%}: n={len(K)}, {len(Y)} labels, RBF with 1/d, tol {TOL:g}; cold")
        cold(K, Y, repeat)
        self_paced(K, Y, max(1, repeat // 3))


if __name__ == "__main__":
    main()
