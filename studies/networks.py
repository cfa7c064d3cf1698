"""Networks on clean labels, planted noise and real noise: plain, paced, and the presets.

``python -m studies.networks docs/networks.md`` trains them and writes the tables between the page's markers.
Sets with real noise are read as `load_noisy_labels` finds them, and left out where they are missing.
"""

import argparse
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from mlspl import datasets
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from mlspl.pacing import QuantilePace
from mlspl.torch import FallingPace, SelfPacedLoss

TRAIN, FLIPS, EPOCHS = 0.3, 0.3, 100
DESCRIPTION = (
    "Average precision on correct test labels. Training rows: 30 % of emotions and scene, half of the "
    'others. "Stopped early" is the epoch with the best average precision on the given labels of '
    "a fifth of the rows."
)
PLANTED = {
    f"{name}, {noise}": (name, flips)
    for name in ("emotions", "scene")
    for noise, flips in (("clean", 0.0), ("planted flips 0.3", FLIPS))
}
REAL = {
    "OPP-115 annotator 1, real noise": ("opp115", "1"),
    "CheXpert labeler, real noise": ("chexpert", "labeler"),
}
LOSSES: dict[str, Callable[[tuple[int, int]], SelfPacedLoss]] = {
    "plain": lambda shape: SelfPacedLoss(shape, pace_function=None, keep_trace=False),
    "paced (default)": lambda shape: SelfPacedLoss(shape, keep_trace=False),
    "paced up": lambda shape: SelfPacedLoss(shape, schedule=QuantilePace(0.5, 0.9, 20), keep_trace=False),
    "paced down": lambda shape: SelfPacedLoss(shape, schedule=FallingPace(FLIPS, 20), keep_trace=False),
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


def main() -> None:
    """Train all, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", nargs="?", type=Path)
    parser.add_argument("--splits", type=int, default=10, help="splits 0, 1, ...")
    parser.add_argument("--minutes", type=float, default=30.0, help="CPU time, after which no split begins")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    n_splits = 0
    while n_splits < options.splits and time.process_time() < 60 * options.minutes:
        for title in [*PLANTED, *REAL]:
            try:
                X, Y, X_test, Y_test = load(title, n_splits)
            except (UserError, OSError) as error:
                print(f"{title}: left out ({error})")
                continue
            for name, make in LOSSES.items():
                last, stopped = train(make(Y.shape), X, Y, X_test, Y_test, n_splits)
                found.append({"set": title, "loss": name, "last epoch": last, "stopped early": stopped})
                print(n_splits, found[-1], flush=True)
        n_splits += 1
    means = pd.DataFrame(found).groupby(["set", "loss"], sort=False).mean()
    headings = (f"Trained to the {EPOCHS}th epoch:", "Stopped early:")
    text = "\n\n".join(
        f"{heading}\n\n{_table(means[column].unstack('set', sort=False))}"
        for heading, column in zip(headings, means.columns, strict=True)
    )
    text = f"{DESCRIPTION} Mean of {n_splits} splits, from 0 on.\n\n{text}"
    if options.page is None:
        print(text)
        return
    page = options.page.read_text(encoding="utf-8")
    marked = r"(?s)(<!-- networks -->\n).*(\n<!-- end -->)"
    options.page.write_text(re.sub(marked, lambda match: match[1] + text + match[2], page), encoding="utf-8")


def _table(frame: pd.DataFrame) -> str:
    lines = ["| loss | " + " | ".join(frame.columns) + " |", "|---" * (len(frame.columns) + 1) + "|"]
    lines += [
        f"| {name} | " + " | ".join(f"{value:.3f}" for value in row) + " |"
        for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
