"""Iterative stratification beside iterative-stratification and scikit-multilearn-ng: time, balance, sizes.

Run by hand: `python benchmarks/bench_stratification.py`. Balance is the mean absolute difference between a
label's frequency in a fold and in all rows, relative to the latter; smaller is better. Real label tables are
used too where `$MLSPL_DATA` says where they are.
"""

import os
import time
import warnings

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold
from skmultilearn.model_selection import IterativeStratification as ScikitMultilearn

from mlspl.datasets import load_dataset
from mlspl.model_selection import IterativeStratification

FOLDS = 10


def labels(n, L, density, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, 3)) @ rng.standard_normal((3, L)) + rng.standard_normal((n, L))
    return (scores > np.quantile(scores, 1 - density, axis=0)).astype(int)


def folds_of(splitter, Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [test for _, test in splitter.split(np.zeros((len(Y), 1)), Y)]


def measure(make, Y, repeat):
    seconds, balance, spread = [], [], []
    for seed in range(repeat):
        splitter = make(seed)
        start = time.perf_counter()
        folds = folds_of(splitter, Y)
        seconds.append(time.perf_counter() - start)
        overall = Y.mean(axis=0)
        balance.append(np.mean([np.abs(Y[fold].mean(axis=0) - overall) / overall for fold in folds]))
        spread.append(np.ptp([len(fold) for fold in folds]))
    return min(seconds), np.mean(balance), max(spread)


def main():
    methods = {
        "ours": lambda seed: IterativeStratification(FOLDS, random_state=seed),
        "iterstrat": lambda seed: MultilabelStratifiedKFold(FOLDS, shuffle=True, random_state=seed),
        # Unseeded: with a seed, version 0.0.8 shuffles the rows and does not map its folds back to them.
        "skmultilearn-ng": lambda seed: ScikitMultilearn(FOLDS, order=1),
    }
    tables = {
        "synthetic 10,000 × 20": labels(10_000, 20, 0.1),
        "synthetic 2,000 × 50": labels(2_000, 50, 0.1),
    }
    if os.environ.get("MLSPL_DATA"):
        for name in ("yeast", "enron", "bibtex"):
            Y = load_dataset(name).Y
            tables[name] = np.asarray(Y.todense() if hasattr(Y, "todense") else Y).astype(int)
    folds_of(methods["ours"](0), tables["synthetic 2,000 × 50"])
    for title, Y in tables.items():
        Y = Y[:, Y.any(axis=0)]
        print(f"{title}, {FOLDS} folds")
        reference = None
        for name, make in methods.items():
            seconds, balance, spread = measure(make, Y, repeat=5)
            reference = reference or seconds
            print(
                f"  {name:16} {seconds:8.4f} s {seconds / reference:8.1f}×   balance {balance:.4f}   "
                f"fold sizes differ by {spread}"
            )


if __name__ == "__main__":
    main()
