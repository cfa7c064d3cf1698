"""This checkout beside another one: CPU seconds of the same work, and their ratio.

``MLSPL_DATA=… python benchmarks/bench_versions.py OTHER_CHECKOUT [PATTERN]`` prints a Markdown table; of all
cases, or of those whose name matches the pattern. Each case runs in processes of its own, the two versions in
turn, and the least CPU time counts. Parameters whose default differs between versions are given, so that both
do the same. ``--against-svc`` instead compares `MLSPLClassifier.as_published` with an SVC per label, and
``--startup`` compares `mlspl --help` with the help of a bare Typer program.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent
RUNS = 3
# After this many CPU seconds, a case is not run again.
LONG = 60

ESTIMATORS = {
    "BSVMClassifier": {"gamma": "scale"},
    "BSVMClassifier(space='linear')": {"space": "linear"},
    "MLkNNClassifier": {"k": 10},
    "TRAMClassifier": {"k": 10},
    "RankSVMClassifier": {"C": 1.0, "gamma": "scale"},
    "MLLOCClassifier": {"gamma": "scale", "random_state": 0},
    "MLSPLClassifier": {"random_state": 0},
    "MLSPLClassifier(space='linear')": {"space": "linear", "random_state": 0},
    "MLSPLClassifier.as_published": {"random_state": 0},
    "SelfPacedForestClassifier": {"random_state": 0},
    "SelfPacedClassifier": {"random_state": 0},
    "TunedDecisionClassifier": {},
    "MLSPLClassifierCV": {"families": ("kernel", "forest"), "random_state": 0},
}
ROWS = {"scene": "scene, 30 %", "made": "5,000 made rows"}
# The first read in a process.
FILES = {"read scene.arff": "scene/scene.arff", "read Imdb.arff": "imdb/Imdb.arff", "read CSV": "large.csv"}
COMMANDS = {
    "import mlspl": [],
    "mlspl --help": ["--help"],
    "mlspl fit imdb": ["fit", "imdb", "--proba"],
    "mlspl audit emotions": ["audit", "emotions"],
    "mlspl audit yeast": ["audit", "yeast"],
}


def list_cases() -> list[str]:
    """Return the names of all cases."""
    return [f"{name}, {rows}" for rows in ROWS.values() for name in ESTIMATORS] + [*FILES, *COMMANDS]


def load_rows(rows: str):
    """Return X and Y for training, and X for prediction."""
    if rows == "made":
        rng = np.random.RandomState(0)
        X, W = rng.normal(size=(10_000, 30)), rng.normal(size=(30, 8))
        Y = (X @ W + 3 * rng.normal(size=(10_000, 8)) > 4).astype(int)
        return X[:5000], Y[:5000], X[5000:]
    from sklearn.preprocessing import StandardScaler

    from mlspl.datasets import load_dataset
    from mlspl.model_selection import protocol_split

    data = load_dataset(rows)
    train, test = protocol_split(len(data.Y), 0)
    scaler = StandardScaler().fit(data.X[train])
    return scaler.transform(data.X[train]), data.Y[train], scaler.transform(data.X[test])


def make_estimator(name: str):
    """Return an estimator of the version that is imported."""
    import mlspl

    plain, _, constructor = name.partition("(")[0].partition(".")
    build = getattr(mlspl, plain)
    build = getattr(build, constructor) if constructor else build
    if plain in ("SelfPacedClassifier", "TunedDecisionClassifier"):
        from sklearn.linear_model import LogisticRegression

        bsvm = mlspl.BSVMClassifier(C=1.0, gamma="scale")
        return build(LogisticRegression() if plain == "SelfPacedClassifier" else bsvm, **ESTIMATORS[name])
    return build(**ESTIMATORS[name])


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def least(work) -> float:
    """Return the least CPU time of up to nine runs, which take about a second in all."""
    times: list[float] = []
    while len(times) < 9 and sum(times) < 1:
        start = cpu_seconds()
        work()
        times.append(cpu_seconds() - start)
    return min(times)


def run_case(case: str, folder: str) -> dict[str, float]:
    """Return the CPU seconds of a case in this process, with compiled code loaded."""
    if case in FILES:
        from mlspl.datasets import read_dataset

        path = Path(folder if case == "read CSV" else os.environ["MLSPL_DATA"]) / FILES[case]
        labels = -5 if case == "read CSV" else None
        start = cpu_seconds()
        read_dataset(path, labels)
        return {"": cpu_seconds() - start}
    name, _, rows = case.partition(", ")
    X, Y, X_test = load_rows("made" if rows == ROWS["made"] else "scene")
    make_estimator(name).fit(X[:200], Y[:200]).predict(X[:50])
    model = make_estimator(name)
    return {"fit": fit_seconds(model, X, Y), "predict": least(lambda: model.predict(X_test))}


def run_child(checkout: Path, case: str, folder: str) -> dict[str, float]:
    """Return the CPU seconds of a case with the version of a checkout."""
    env = os.environ | {"PYTHONPATH": str(checkout), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--case", case, folder]
    if case in COMMANDS:
        command = [sys.executable, "-m", "mlspl", *COMMANDS[case]]
        if case == "import mlspl":
            command = [sys.executable, "-c", "import mlspl; mlspl.MLSPLClassifier"]
        elif case != "mlspl --help":
            out = Path(tempfile.mkdtemp(dir=folder)) / "out.skops"
            command += ["--out", str(out)]
    start = cpu_seconds()
    answer = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True, cwd=folder)
    return {"": cpu_seconds() - start} if case in COMMANDS else json.loads(answer.stdout.splitlines()[-1])


def compare(other: Path, pattern: str) -> None:
    """Print a row of the table for each case and step."""
    print("| work | before, CPU s | now, CPU s | now / before |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in list_cases():
            if not fnmatch(case, pattern):
                continue
            if case == "read CSV":
                write_csv(Path(folder) / FILES[case])
            seconds: dict[Path, list[dict[str, float]]] = {other: [], HERE: []}
            if case in FILES:  # compiled code is stored, and the file in memory
                for checkout in seconds:
                    run_child(checkout, case, folder)
            start = cpu_seconds()
            while len(seconds[HERE]) < RUNS and cpu_seconds() - start < LONG:
                for checkout, times in seconds.items():
                    times.append(run_child(checkout, case, folder))
            for step in seconds[HERE][0]:
                before, now = (min(times[step] for times in runs) for runs in seconds.values())
                print(f"| {case} {step} | {before:.3f} | {now:.3f} | {now / before:.2f} |", flush=True)


def write_csv(path: Path) -> None:
    """Write a table of about 100 MB: 250,000 rows of 45 numbers and 5 labels."""
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(size=(250_000, 45)), rng.random((250_000, 5)) < 0.2])
    header = ",".join([f"x{j}" for j in range(45)] + [f"label{j}" for j in range(5)])
    np.savetxt(path, table, ["%.6f"] * 45 + ["%d"] * 5, ",", header=header, comments="")


def fit_seconds(model, X, Y) -> float:
    """Return the least CPU time of a fit."""
    return least(lambda: model.fit(X, Y))


def compare_with_svc(sizes: list[int]) -> None:
    """Print the fit of Algorithm 1 as published beside `OneVsRestClassifier(SVC())`, on made rows."""
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import SVC

    from mlspl import MLSPLClassifier

    print("| rows | OneVsRestClassifier(SVC()), CPU s | as_published, CPU s | ratio |\n|---|---|---|---|")
    rng = np.random.RandomState(0)
    W = rng.normal(size=(30, 8))
    for n in sizes:
        X = rng.normal(size=(n, 30))
        Y = (X @ W + 3 * rng.normal(size=(n, 8)) > 4).astype(int)
        ours, theirs = MLSPLClassifier.as_published(random_state=0), OneVsRestClassifier(SVC())
        ours.fit(X[:180], Y[:180])
        times: list[tuple[float, float]] = []
        start = time.process_time()
        while len(times) < RUNS and time.process_time() - start < LONG:
            times.append((fit_seconds(ours, X, Y), fit_seconds(theirs, X, Y)))
        our_time, their_time = map(min, zip(*times, strict=True))
        print(f"| {n:,} | {their_time:.3f} | {our_time:.3f} | {our_time / their_time:.2f} |", flush=True)


def compare_startup() -> None:
    """Print the CPU seconds of `mlspl --help` beside those of a Typer program with one command."""
    bare = "import typer; app = typer.Typer(); app.command()(lambda: None); app(['--help'])"
    commands = {"mlspl": ["-m", "mlspl", "--help"], "typer": ["-c", bare]}
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(3 * RUNS):
        for name, command in commands.items():
            start = cpu_seconds()
            subprocess.run([sys.executable, *command], check=True, capture_output=True, cwd=HERE)
            seconds[name].append(cpu_seconds() - start)
    ours, theirs = min(seconds["mlspl"]), min(seconds["typer"])
    print(f"mlspl --help {ours:.3f} CPU s, a bare Typer program {theirs:.3f}: ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--case", name, folder]:
            print(json.dumps(run_case(name, folder)))
        case ["--against-svc", *sizes]:
            compare_with_svc([int(size) for size in sizes] or [180, 600, 2000, 5000])
        case ["--startup"]:
            compare_startup()
        case [other, *pattern]:
            compare(Path(other).resolve(), (pattern or ["*"])[0])
        case _:  # `make bench` has no other version
            print(__doc__)
