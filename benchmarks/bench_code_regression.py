"""The code regressors: our ε-SVRs on one kernel beside scikit-learn's, and cross-fitting.

Run by hand: `python benchmarks/bench_code_regression.py` (real data through $MLSPL_DATA or the network). Side
by side, best of several; ratios, not seconds, are what carries over.
"""

import time
from functools import partial

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from mlspl.correlation import initial_codes
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.solvers import solve_svrs
from mlspl.spaces import Gram


def best(*functions, repeat=5):
    """Least seconds of each, taken in turns so that a busy machine is unfair to none."""
    taken = np.empty((repeat, len(functions)))
    for row in taken:
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            row[k] = time.perf_counter() - start
    return taken.min(axis=0)


def codes_of(name, share):
    data = load_dataset(name)
    rows = np.random.RandomState(0).permutation(len(data.Y))[: int(share * len(data.Y))]
    X = StandardScaler().fit_transform(data.X[rows])
    signs = np.where(np.asarray(data.Y)[rows] == 1, 1.0, -1.0)
    codes, _ = initial_codes(signs, 15, random_state=0)
    (kmeans,) = best(partial(initial_codes, signs, 15, random_state=0))
    print(f"\n{name} {share:.0%}: n={len(X)}, m={codes.shape[1]}, k-means {1e3 * kmeans:.1f} ms")
    return rbf_kernel(X, gamma=1 / X.shape[1]), codes


def scikit_learn(K, codes, tol):
    for target in codes.T:
        SVR(kernel="precomputed", C=1.0, epsilon=0.1, tol=tol).fit(K, target)


def main():
    solve_svrs(np.eye(2), np.eye(2))
    for name, share in [("scene", 0.3), ("yeast", 0.3), ("scene", 1.0), ("yeast", 1.0)]:
        try:
            K, codes = codes_of(name, share)
        except UserError as error:
            print(f"{name} skipped: {error}")
            continue
        ours = partial(solve_svrs, K, np.ascontiguousarray(codes.T))
        for tol in (1e-3, 1e-6):
            one, two, peer = best(
                partial(ours, tol=tol),
                partial(ours, tol=tol, n_threads=2),
                partial(scikit_learn, K, codes, tol),
            )
            print(
                f"  all ε-SVRs, tol {tol:g}: ours {1e3 * one:.1f} ms ({1e3 * two:.1f} on two threads), "
                f"sklearn.svm.SVR {1e3 * peer:.1f} ms: {peer / one:.1f}× ({peer / two:.1f}×)"
            )
        folds = list(KFold(5, shuffle=True, random_state=0).split(codes))
        rows = Gram("precomputed").prepare(K)
        for regressor in ("svr", "ridge"):
            whole, crossed = best(
                partial(rows.regress, codes, regressor), partial(rows.regress, codes, regressor, folds)
            )
            print(f"  {regressor}: {1e3 * whole:.1f} ms, with 5 folds {1e3 * crossed:.1f} ms")


if __name__ == "__main__":
    main()
