"""Reading the field's files: mlspl, all the way to X and Y, beside liac-arff, which stops at Python lists.

Needs the real data sets: ``MLSPL_DATA=… python benchmarks/bench_readers.py [NAME …]``. Both readers run in
one thread, so their CPU seconds are compared, which a busy machine disturbs least; the best of several runs
counts. The first call of mlspl on a machine also compiles its scanner, once; that is not counted.
"""

import os
import sys
import time
from pathlib import Path

import arff as liac

from mlspl.datasets import list_datasets, load_dataset, read_dataset

RUNS = 9
WANTED = 10


def best_cpu_seconds(read) -> float:
    seconds = []
    for _ in range(RUNS):
        start = time.process_time()
        read()
        seconds.append(time.process_time() - start)
    return min(seconds)


def read_with_liac(path: Path, sparse: bool):
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


if __name__ == "__main__":
    main(sys.argv[1:] or [name for name in list_datasets() if name != "digits-traits"])
