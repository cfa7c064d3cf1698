"""Every estimator with no parameters beside one-vs-rest logistic regression and LinearSVC, on text.

medical, enron, bibtex and tmc2007-500 (``MLSPL_DATA``) are word counts; OPP-115 (``MLSPL_REAL``) is raw text
through TF-IDF, scored on the settled labels. Samples of the rows and the most frequent labels keep a run
short. No default should rank more than 0.005 below the two peers. ``--page docs/choose.md`` writes the table;
cells that are in the file of ``--results`` are not measured again.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

import mlspl
from mlspl.datasets import load_dataset, load_noisy_labels
from mlspl.metrics import average_precision

BEGIN, END = "<!-- written by benchmarks/bench_text_defaults.py -->", "<!-- end of text defaults -->"
SETS = ("medical", "enron", "bibtex", "tmc2007-500", "opp115")
PEERS = {
    "OneVsRest(LogisticRegression(C=10))": lambda: OneVsRestClassifier(
        LogisticRegression(C=10, max_iter=1000)
    ),
    "OneVsRest(LinearSVC())": lambda: OneVsRestClassifier(LinearSVC()),
}
PACED = "SelfPacedClassifier(LogisticRegression(C=10))"
OURS: dict = {
    name: getattr(mlspl, name)
    for name in (
        "BSVMClassifier",
        "MLLOCClassifier",
        "MLSPLClassifier",
        "SelfPacedForestClassifier",
        "MLkNNClassifier",
        "TRAMClassifier",
        "RankSVMClassifier",
        "MLSPLClassifierCV",
    )
} | {PACED: lambda: mlspl.SelfPacedClassifier(LogisticRegression(C=10, max_iter=1000))}


def load(name, number, n_rows, n_labels):
    """Training and test rows of a split, with the labels that are most frequent in training."""
    if name == "opp115":
        data = load_noisy_labels("opp115")
        texts, Y, truth = np.asarray(data.X, dtype=object).ravel(), data.given, data.truth
    else:
        data = load_dataset(name, data_home=os.environ.get("MLSPL_DATA"))
        X, Y = sparse.csr_matrix(data.X), data.Y.toarray() if sparse.issparse(data.Y) else np.asarray(data.Y)
        truth = Y
    order = np.random.RandomState(number).permutation(len(Y))
    cut = int(0.67 * len(Y))
    train, test = order[:cut][:n_rows], order[cut:][:n_rows]
    labels = np.sort(np.argsort(-np.nansum(Y[train], axis=0), kind="stable")[:n_labels])
    if name == "opp115":
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
        features = vectorizer.fit_transform(texts[train]), vectorizer.transform(texts[test])
    else:
        features = X[train], X[test]
    return *features, Y[train][:, labels], truth[test][:, labels]


def measure(make, X, X_test, Y, Y_test):
    """Average precision on the test rows, and CPU seconds of fit and prediction."""
    rankable = (Y_test == 1).any(axis=1) & (Y_test == 0).any(axis=1)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, Y)
        scores = model.decision_function(X_test)
    return average_precision(Y_test[rankable], scores[rankable]), time.process_time() - start


def write(rows, sets, path, options):
    """The table as Markdown; printed, or written between the marks of a page."""
    lines = [
        f"Average precision, and CPU time as a multiple of logistic regression's, on split {options.split}: "
        f"at most {options.rows:,} training rows and {options.labels} labels. The labels of OPP-115 are "
        "annotator 1's (real noise) in training and the settled ones in the test. **Bold**: more than 0.005 "
        "below the better peer.",
        "",
        "| | " + " | ".join(sets) + " |",
        "|---|" + "---|" * len(sets),
    ]
    peers = list(PEERS)
    for name in [*peers, *OURS]:
        cells = []
        for data in sets:
            if (name, data) not in rows:
                cells.append("not run")
                continue
            value, seconds = rows[name, data]
            best = max(rows[peer, data][0] for peer in peers)
            text = f"**{value:.3f}**" if value < best - 0.005 else f"{value:.3f}"
            cells.append(f"{text} ({seconds / rows[peers[0], data][1]:.1f}x)")
        lines.append(
            f"| {name.removesuffix('Classifier').replace('ClassifierCV', 'CV')} | " + " | ".join(cells) + " |"
        )
    table = "\n".join(lines)
    print(table)
    if path is not None:
        page = path.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        path.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="page to write the table to")
    parser.add_argument("--split", type=int, default=100, help="100 to 119 to develop, 0 to 9 to report")
    parser.add_argument("--rows", type=int, default=2000, help="most training and most test rows")
    parser.add_argument("--labels", type=int, default=40, help="most labels")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--methods", nargs="+", default=OURS, choices=OURS)
    parser.add_argument("--results", type=Path, help="a JSON file of the measured cells, read and written")
    options = parser.parse_args()
    size = (options.split, options.rows, options.labels)
    kept = {}
    if options.results is not None and options.results.exists():
        kept = json.loads(options.results.read_text())
    rows = {}
    for name in [*PEERS, *options.methods]:
        for data in options.sets:
            key = " ".join(map(str, (name, data, *size)))
            if key not in kept:
                kept[key] = measure((PEERS | OURS)[name], *load(data, *size))
                print(key, *(f"{value:.4f}" for value in kept[key]), flush=True)
                if options.results is not None:
                    options.results.write_text(json.dumps(kept, indent=1))
            rows[name, data] = kept[key]
    write(rows, options.sets, options.page, options)


if __name__ == "__main__":
    main()
