"""Reading files: mlspl, all the way to X and Y, beside the readers that others would take.

ARFF beside liac-arff, which stops at Python lists, on the real data sets: ``MLSPL_DATA=… python
benchmarks/bench_readers.py [NAME …]``. CSV, svmlight and Parquet beside ``pandas.read_csv``,
``load_svmlight_file`` and ``pandas.read_parquet``, on made rows: ``… bench_readers.py --made [ROWS]``. CPU
seconds are compared, which a busy machine disturbs least; the best of several runs counts. The first call of
mlspl on a machine also compiles its scanner, once; that is not counted.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from mlspl.datasets import list_datasets, load_dataset, read_dataset

RUNS = 9
WANTED = 10


def best_cpu_seconds(read, runs=RUNS) -> float:
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        read()
        seconds.append(time.process_time() - start)
    return min(seconds)


def read_with_liac(path: Path, sparse: bool):
    import arff as liac

    with path.open(encoding="utf-8") as stream:
        return liac.load(stream, return_type=liac.COO if sparse else liac.DENSE)


def main(names: list[str]) -> None:
    home = os.environ.get("MLSPL_DATA")
    if not home:
        print("MLSPL_DATA does not name the folder with the data sets; nothing to measure.")
        return
    load_dataset("emotions", home)
    print(f"{'data set':<14}{'MB':>6}{'liac-arff':>12}{'mlspl':>10}{'ratio':>8}   wanted: {WANTED} or more")
    for name in names:
        path = Path(home) / name / f"{name}.arff"
        sparse = "{" in path.read_text().partition("@data")[2]
        ours = best_cpu_seconds(lambda path=path: read_dataset(path))
        theirs = best_cpu_seconds(lambda path=path, sparse=sparse: read_with_liac(path, sparse))
        size = path.stat().st_size / 1e6
        print(f"{name:<14}{size:6.1f}{theirs:10.3f} s{ours:8.3f} s{theirs / ours:7.1f}×")


def compare_made(n_rows: int) -> None:
    """Tables of 45 numbers and 5 labels, and sparse rows of 20 of 5,000 numbers with 5 of 1,000 labels."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n_rows, 45)).round(6), columns=[f"x{j}" for j in range(45)])
    for j in range(5):
        table[f"label{j}"] = (rng.random(n_rows) < 0.2).astype(np.int8)
    X = sparse.random(n_rows, 5000, 20 / 5000, format="csr", random_state=0)
    labels = [tuple(sorted(row)) for row in rng.integers(0, 1000, size=(n_rows, 5))]
    columns = [f"label{j}" for j in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        csv, svm, parquet = (Path(folder) / f"made.{ending}" for ending in ("csv", "svm", "parquet"))
        table.to_csv(csv, index=False)
        table.to_parquet(parquet)
        dump_svmlight_file(X, labels, str(svm), multilabel=True, zero_based=False)
        readers = {
            csv: (lambda: read_dataset(csv, columns), lambda: pd.read_csv(csv)),
            svm: (lambda: read_dataset(svm), lambda: load_svmlight_file(str(svm), multilabel=True)),
            parquet: (lambda: read_dataset(parquet, columns), lambda: pd.read_parquet(parquet)),
        }
        print(f"{n_rows:,} rows{'':<6}{'MB':>6}{'theirs':>10}{'mlspl':>10}{'ratio':>8}")
        for path, (ours, theirs) in readers.items():
            ours()
            our_time, their_time = best_cpu_seconds(ours, 3), best_cpu_seconds(theirs, 3)
            size = path.stat().st_size / 1e6
            ratio = our_time / their_time
            print(f"{path.suffix:<14}{size:8.1f}{their_time:8.3f} s{our_time:8.3f} s{ratio:7.2f}×")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--made"]:
        compare_made(int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
        sys.exit()
    main(sys.argv[1:] or [name for name in list_datasets() if name != "digits-traits"])
