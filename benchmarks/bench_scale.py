"""Time, peak memory and growth on large data, side by side with scikit-learn's LIBLINEAR and Nystroem.

Every fit runs in a process of its own, so that its peak memory is its own, and but for the embeddings on one
thread, so that seconds of processor time can be compared where the machine is shared. Data: ``MLSPL_DATA``.
Cases may be run one by one: ``--page docs/large_data.md`` puts the tables of those that are run in the place
of that page's with the same headings.
"""

import argparse
import multiprocessing
import os
import resource
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mlspl import BSVMClassifier, MLSPLClassifier, pacing
from mlspl.datasets import load_dataset, read_dataset
from mlspl.metrics import average_precision, precision_at_k
from mlspl.model_selection import IterativeStratification
from mlspl.models.local_correlation import Coding, LocalCorrelationLearner
from mlspl.spaces import Linear

SPLIT = 100  # a development split; 0 to 9 are for reports
LANDMARK_SPLITS = range(100, 106)
BEGIN, END = "<!-- written by benchmarks/bench_scale.py -->", "<!-- end -->"
FOUND = {}  # by heading: rows of title, seconds of processor time, GB, criterion, as texts


def imdb(n=90_000):
    """The training rows and the others of a development split."""
    data = read_dataset(Path(os.environ["MLSPL_DATA"]) / "imdb" / "Imdb.arff")
    order = np.random.RandomState(SPLIT).permutation(data.X.shape[0])
    return split(data, order[:n], order[90_000:])


def named(name, number=SPLIT, share=0.67):
    data = load_dataset(name, data_home=os.environ["MLSPL_DATA"])
    order = np.random.RandomState(number).permutation(data.X.shape[0])
    cut = int(share * len(order))
    return split(data, order[:cut], order[cut:])


def split(data, train, test):
    Y = data.Y.toarray() if sparse.issparse(data.Y) else np.asarray(data.Y)
    return data.X[train], Y[train], data.X[test], Y[test]


def scale(data):
    """z-scores, by the training rows."""
    X, Y, X_test, Y_test = data
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), Y, scaler.transform(X_test), Y_test


def documents(n_labels, n=102_000, n_words=5_000, n_topics=10_000):
    """The first labels of 10,000, five on a row, of a long tail, and 12 words a row that follow from them."""
    rng = np.random.default_rng(0)
    label_share, word_share = (rng.permutation(1.0 / (np.arange(k) + 20.0)) for k in (n_topics, n_words))
    word_share /= word_share.sum()
    own = rng.choice(n_words, size=(n_topics, 8), p=word_share)
    labels = rng.choice(n_topics, size=(n, 5), p=label_share / label_share.sum())
    words = rng.choice(n_words, size=(n, 12), p=word_share)
    words[:, :10] = own[np.repeat(labels, 2, axis=1), rng.integers(8, size=(n, 10))]
    X, Y = (
        sparse.csr_array((np.ones(columns.size, np.float32), (np.arange(n).repeat(per_row), columns.ravel())))
        for columns, per_row in ((words, 12), (labels, 5))
    )
    Y = (Y[:, :n_labels] > 0).astype(np.int8).tocsr()
    return X[:100_000], Y[:100_000], X[100_000:], Y[100_000:]


def embeddings(n=55_556, d=384, n_labels=50):
    """Dense float32 rows, made, with labels that are not linear in them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32) / np.sqrt(d, dtype=np.float32)
    hidden = np.tanh(4.0 * X @ rng.normal(size=(d, 64)).astype(np.float32))
    scores = hidden @ rng.normal(size=(64, n_labels)) + rng.normal(size=(n, n_labels))
    Y = (scores > np.quantile(scores, 0.9, axis=0)).astype(np.int8)
    cut = 9 * n // 10
    return X[:cut], Y[:cut], X[cut:], Y[cut:]


def one_vs_rest(machine):
    return OneVsRestClassifier(machine)


def pace_path(X, Y, C=0.1, points=10, repeats=5):
    """Processor time of the machines of one unpaced fit and of a path of ten paces after it, best of some."""
    rows = Linear(n_threads=1).prepare(X)
    folds = list(IterativeStratification(3, random_state=0).split(Y, Y))
    function, schedule = pacing.get("huber"), pacing.QuantilePace(0.5, 0.95, points, per="class")
    weights, known = np.ones(Y.shape), np.ones(Y.shape, dtype=bool)
    times = []
    for _ in range(repeats):
        learner = LocalCorrelationLearner(rows, Y == 1, Coding(15, 100.0, "ridge", 0), folds)
        learner.set_costs(C, weights)
        start = time.process_time()
        learner.fit(weights)
        once = time.process_time() - start
        losses = learner.losses()
        start = time.process_time()
        for target in schedule:
            learner.fit_classifiers(function.weight(losses, schedule.pace(target, losses, Y, known)))
        times.append((once, time.process_time() - start))
    once, path = np.min(times, axis=0)
    print(f"  {points} paces after an unpaced fit: {path / once:.1f} of its time")


def head(text):
    """Begin a case, to which `run` adds."""
    print(text)
    FOUND[text] = []


def run(title, estimator, *splits, measure=average_precision):
    """Fit and judge every split in a process of its own; keep time in all, peak memory and mean criterion."""
    context = multiprocessing.get_context("fork")
    measured = []
    for data in splits:
        receive, send = context.Pipe(duplex=False)
        child = context.Process(target=_fit, args=(estimator, data, measure, send))
        child.start()
        measured.append(receive.recv())
        child.join()
    clocks, processors, peaks, values = zip(*measured, strict=True)
    value = " ".join(f"{each:.4f}" for each in np.atleast_1d(np.mean(values, axis=0)))
    clock, processor, peak = sum(clocks), sum(processors), max(peaks)
    print(f"  {title:<46} {clock:8.1f} s {processor:8.1f} s cpu {peak:6.2f} GB   {value}", flush=True)
    list(FOUND.values())[-1].append([title, f"{processor:.1f}", f"{peak:.2f}", value])
    return clock, processor


def _fit(estimator, data, measure, send):
    warnings.simplefilter("ignore")
    X, Y, X_test, Y_test = data
    start = time.perf_counter()
    estimator.fit(X, Y)
    clock = time.perf_counter() - start
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(use.ru_utime + use.ru_stime for use in usage)
    peak = sum(use.ru_maxrss for use in usage) / 2**20
    method = getattr(estimator, "decision_function", None) or estimator.predict_proba
    scores = method(X_test)
    send.send((clock, processor, peak, measure(Y_test, scores)))


def bench_imdb():
    head("imdb, 90,000 rows, 1,001 sparse features, 28 labels (AP)")
    data = imdb()
    run(
        "OneVsRest(LogisticRegression(C=.1, liblinear))",
        one_vs_rest(LogisticRegression(C=0.1, solver="liblinear")),
        data,
    )
    run("BSVM, logistic, C=.1", BSVMClassifier(C=0.1, space="linear", n_jobs=1), data)
    run("OneVsRest(LinearSVC(hinge, C=.1))", one_vs_rest(LinearSVC(C=0.1, loss="hinge")), data)
    gentle = {"C": 0.03, "class_weight": None, "pace_function": "huber"}
    run("MLSPL, C=1", MLSPLClassifier(C=1.0, random_state=0, n_jobs=1), data)
    run("MLSPL, C=.03, huber, no class weight", MLSPLClassifier(random_state=0, n_jobs=1, **gentle), data)
    pace_path(*data[:2])


def bench_defaults():
    head('imdb, the same rows, C="auto" (AP)')
    data = imdb()
    run(
        "OneVsRest(LogisticRegression(C=.1, liblinear))",
        one_vs_rest(LogisticRegression(C=0.1, solver="liblinear")),
        data,
    )
    run("BSVM, defaults", BSVMClassifier(n_jobs=1), data)
    run("MLSPL, defaults", MLSPLClassifier(random_state=0, n_jobs=1), data)


def bench_growth():
    head("growth of the time with the rows of imdb: MLSPL, C=.03, huber")
    sizes, times = (7_500, 22_500, 90_000), []
    for n in sizes:
        model = MLSPLClassifier(C=0.03, pace_function="huber", random_state=0, n_jobs=1, space="linear")
        times.append(run(f"{n:,} rows", model, imdb(n))[1])
    print(f"  exponent {np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0]):.2f}")


def bench_tmc():
    head("tmc2007-500, 19,159 rows, 500 sparse features, 22 labels (AP)")
    data = named("tmc2007-500")
    run("OneVsRest(LinearSVC)", one_vs_rest(LinearSVC(C=0.1)), data)
    peer = make_pipeline(
        Nystroem(gamma=0.02, n_components=1000, random_state=0), one_vs_rest(LinearSVC(C=1.0))
    )
    run("scikit-learn's Nystroem (1,000) + LinearSVC", peer, data)
    for space in ("linear", "nystroem"):
        model = MLSPLClassifier(
            space=space, n_landmarks=1000, pace_function="huber", random_state=0, n_jobs=1
        )
        run(f"MLSPL, {space}", model, data)


def bench_landmarks():
    """The whole kernel matrix, and landmarks of a quarter of the rows."""
    for name, share in product(("scene", "yeast"), (0.67, 0.3)):
        head(
            f"{name}, {share:.0%} of the rows, z-scored, {len(LANDMARK_SPLITS)} development splits (mean AP)"
        )
        splits = [scale(named(name, number, share)) for number in LANDMARK_SPLITS]
        n_landmarks = splits[0][0].shape[0] // 4
        run("MLSPL, gram", MLSPLClassifier(space="gram", random_state=0, n_jobs=1), *splits)
        model = MLSPLClassifier(space="nystroem", n_landmarks=n_landmarks, random_state=0, n_jobs=1)
        run(f"MLSPL, nystroem, {n_landmarks} landmarks", model, *splits)


def bench_embeddings():
    head("made embeddings, 50,000 × 384 float32, 50 labels, two threads (AP)")
    data = embeddings()
    for title, model in (
        ("BSVM, defaults", BSVMClassifier(gamma="scale", random_state=0, n_jobs=2)),
        ("MLSPL, defaults", MLSPLClassifier(random_state=0, n_jobs=2)),
        ("MLSPL, linear", MLSPLClassifier(space="linear", random_state=0, n_jobs=2)),
    ):
        clock, _ = run(title, model, data)
        list(FOUND.values())[-1][-1][-1] += f" in {clock:.0f} s of clock"


def bench_delicious():
    head("delicious, 10,790 rows, 500 sparse features, 983 labels (P@1, P@3, P@5)")
    data = named("delicious")

    def precisions(Y, scores):
        return [precision_at_k(Y, scores, k=k) for k in (1, 3, 5)]

    for title, model in (
        ("OneVsRest(LogisticRegression(C=1))", one_vs_rest(LogisticRegression(solver="liblinear"))),
        ("BSVM, defaults", BSVMClassifier(space="linear", n_jobs=1)),
        ("MLSPL, huber", MLSPLClassifier(pace_function="huber", random_state=0, n_jobs=1)),
    ):
        run(title, model, data, measure=precisions)


def bench_made(n_labels=400):
    head(f"made documents, 100,000 rows, 5,000 words, {n_labels:,} of 10,000 labels (seconds a label)")
    data = documents(n_labels)
    for title, model in (
        ("BSVM", BSVMClassifier(n_jobs=1)),
        ("MLSPL", MLSPLClassifier(random_state=0, n_jobs=1)),
    ):
        _, seconds = run(f"{title}, defaults", model, data, measure=lambda Y, scores: 0.0)
        list(FOUND.values())[-1][-1][-1] = f"{seconds / n_labels:.3f}"


def read_page(page: Path) -> dict:
    """The tables between the two marks of a page, by their headings."""
    found: dict = {}
    for line in page.read_text().partition(BEGIN)[2].partition(END)[0].splitlines():
        if line.endswith(":"):
            found[line.removesuffix(":")] = []
        elif line.startswith("| ") and not line.startswith("| |"):
            list(found.values())[-1].append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def write_page(page: Path, tables: dict) -> None:
    """Put tables between the two marks of a page."""
    lines = []
    for heading, rows in tables.items():
        lines += [f"{heading}:", "", "| | seconds | GB | |", "|---|---|---|---|"]
        lines += [*(f"| {' | '.join(row)} |" for row in rows), ""]
    before, _, rest = page.read_text().partition(BEGIN)
    page.write_text("\n".join([before + BEGIN, "", *lines, END + rest.partition(END)[2]]))


if __name__ == "__main__":
    cases = {
        name.removeprefix("bench_"): case
        for name, case in dict(globals()).items()
        if name.startswith("bench_")
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*cases, []], help="by default all")
    parser.add_argument("--labels", type=int, default=400, help="of the made documents, up to 10,000")
    parser.add_argument("--page", type=Path, help="a page whose tables are replaced by what is found")
    arguments = parser.parse_args()
    for name in arguments.cases or cases:
        cases[name](*([arguments.labels] if name == "made" else []))
        if arguments.page:
            write_page(arguments.page, read_page(arguments.page) | FOUND)
