"""The Q step: our code program beside HiGHS, one call per instance and one call for all of them.

Run by hand: `python benchmarks/bench_code_program.py` (real data through $MLSPL_DATA or the network). One
thread; side by side, best of several; ratios, not seconds, are what carries over.
"""

import time
from functools import partial

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mlspl.correlation import initial_codes, prototype_distances
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.solvers import solve_codes


def best(*functions, repeat=3):
    """Least seconds and last result of each, taken in turns so that a busy machine is unfair to none."""
    least, results = [np.inf] * len(functions), [None] * len(functions)
    for _ in range(repeat):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            results[k] = function()
            least[k] = min(least[k], time.perf_counter() - start)
    return list(zip(least, results, strict=True))


def synthetic(n_labels, m, n, beta):
    rng = np.random.default_rng(0)
    return {
        "scores": rng.normal(size=(n, n_labels)),
        "targets": rng.choice([-1.0, 1.0], size=(n, n_labels)),
        "code_weights": rng.normal(size=(n_labels, m)),
        "distances": 2 * rng.random((n, m)),
        "label_weights": rng.random((n, n_labels)),
        "beta": beta,
    }


def first_q_step(name):
    """ML-LOC's first Q step on the 30 % training rows of split 0."""
    data = load_dataset(name)
    rows = np.random.RandomState(0).permutation(len(data.Y))[: int(0.3 * len(data.Y))]
    X, signs = (
        StandardScaler().fit_transform(data.X[rows]),
        np.where(np.asarray(data.Y)[rows] == 1, 1.0, -1.0),
    )
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    codes, prototypes = initial_codes(signs, 15, random_state=0)
    scores, code_weights = np.empty_like(signs), np.empty((signs.shape[1], codes.shape[1]))
    for label, y in enumerate(signs.T):
        svm = SVC(C=0.5, kernel="precomputed").fit(K + codes @ codes.T, y)
        code_weights[label] = svm.dual_coef_[0] @ codes[svm.support_]
        scores[:, label] = svm.dual_coef_[0] @ K[svm.support_] + svm.intercept_
    return {
        "scores": scores,
        "targets": signs,
        "code_weights": code_weights,
        "distances": prototype_distances(signs, prototypes),
        "label_weights": np.ones_like(signs),
    }


def per_instance(program, rows):
    """`linprog` once for each of the rows; returns their objectives."""
    n_labels, m = program["code_weights"].shape
    values = []
    for i in rows:
        y = program["targets"][i]
        result = linprog(
            np.concatenate([program["beta"] * program["distances"][i], program["label_weights"][i]]),
            A_ub=np.hstack([-y[:, None] * program["code_weights"], -np.eye(n_labels)]),
            b_ub=y * program["scores"][i] - 1.0,
            A_eq=np.concatenate([np.ones(m), np.zeros(n_labels)])[None, :],
            b_eq=[1.0],
            method="highs",
        )
        values.append(result.fun)
    return np.array(values)


def block_diagonal(program, rows):
    """All of the rows as one sparse linear program; returns the sum of their objectives."""
    n_labels, m = program["code_weights"].shape
    y = program["targets"][rows]
    blocks = [
        sparse.csr_array(np.hstack([-t[:, None] * program["code_weights"], -np.eye(n_labels)])) for t in y
    ]
    simplex = np.concatenate([np.ones(m), np.zeros(n_labels)])[None, :]
    return linprog(
        np.hstack([program["beta"] * program["distances"][rows], program["label_weights"][rows]]).ravel(),
        A_ub=sparse.block_diag(blocks, format="csr"),
        b_ub=(y * program["scores"][rows] - 1.0).ravel(),
        A_eq=sparse.block_diag([simplex] * len(rows), format="csr"),
        b_eq=np.ones(len(rows)),
        method="highs",
    ).fun


def compare(title, program, n_highs):
    n = len(program["scores"])
    rows = np.random.default_rng(0).choice(n, size=min(n, n_highs), replace=False)
    solution = solve_codes(**program)
    (ours, _), (single, values), (block, total) = best(
        partial(solve_codes, **program),
        partial(per_instance, program, rows),
        partial(block_diagonal, program, rows),
    )
    error = np.abs(solution.objective[rows] - values).max()
    assert np.isclose(total, values.sum())
    ours, single, block = 1e6 * ours / n, 1e6 * single / len(rows), 1e6 * block / len(rows)
    print(
        f"{title:<34}{ours:>9.1f}{single:>10.0f}{block:>10.0f}{single / ours:>10.0f}×{block / ours:>9.0f}×"
        f"{solution.iterations.mean():>8.1f}{error:>8.0e}"
    )


def main():
    print("microseconds per instance, and how many times longer HiGHS takes")
    print(f"{'ours':>43}{'linprog':>10}{'one LP':>10}{'linprog':>11}{'one LP':>10}{'pivots':>8}{'error':>8}")
    for n_labels, m, beta in [
        (6, 15, 1.0),
        (14, 15, 1.0),
        (14, 50, 0.3),
        (53, 15, 3.0),
        (174, 15, 5.0),
        (400, 15, 5.0),
        (983, 15, 20.0),
        (983, 50, 20.0),
    ]:
        program = synthetic(n_labels, m, 200, beta)
        compare(f"random, L={n_labels}, m={m}", program, 50 if n_labels < 100 else 10)
    for name in ("scene", "yeast"):
        try:
            program = first_q_step(name)
        except UserError as error:
            print(f"{name} skipped: {error}")
            continue
        for beta in (0.01, 1.0, 100.0):
            compare(f"{name} 30 %, first Q step, β={beta:g}", program | {"beta": beta}, 100)


if __name__ == "__main__":
    main()
