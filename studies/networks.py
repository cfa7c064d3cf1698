"""Networks with flipped labels: cross-entropy against `SelfPacedLoss`, to the last epoch and stopped early.

``python -m studies.networks`` prints a table of average precision on clean test labels, for docs/networks.md.
"""

import numpy as np
import torch

from mlspl import datasets
from mlspl.metrics import average_precision
from mlspl.torch import FallingPace, SelfPacedLoss

SPLITS = (100, 101, 102)  # for development
FLIPS, TRAIN, EPOCHS = 0.3, 0.3, 100


def train(loss: SelfPacedLoss, X, Y, X_test, Y_test, seed: int) -> tuple[float, float]:
    """Average precision at the last epoch, and at the best epoch on the noisy labels of held-out rows."""
    torch.manual_seed(seed)
    layers: list[torch.nn.Module] = []
    for n_inputs in (X.shape[1], 256):
        layers += [torch.nn.Linear(n_inputs, 256), torch.nn.ReLU(), torch.nn.Dropout(0.3)]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(256, Y.shape[1]))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    n_held_out = len(Y) // 5
    best, stopped, last = 0.0, 0.0, 0.0
    for _ in range(EPOCHS):
        net.train()
        for rows in (n_held_out + torch.randperm(len(Y) - n_held_out)).split(32):
            optimizer.zero_grad()
            loss(net(X[rows]), Y[rows], rows).backward()
            optimizer.step()
        loss.end_epoch()
        net.eval()
        with torch.no_grad():
            value = average_precision(Y[:n_held_out].numpy(), net(X[:n_held_out]).numpy())
            last = average_precision(Y_test, net(X_test).numpy())
        if value > best:
            best, stopped = value, last
    return last, stopped


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print("| set | loss | last epoch | stopped early |\n|---|---|---|---|")
    for name in ("emotions", "scene"):
        data = datasets.load_dataset(name)
        found: dict[str, list[tuple[float, float]]] = {}
        for split in SPLITS:
            order = np.random.RandomState(split).permutation(len(data.Y))
            rows, test = np.split(order, [int(TRAIN * len(order))])
            raw = np.asarray(data.X, dtype=np.float64)
            scaled = (raw - raw[rows].mean(axis=0)) / (raw[rows].std(axis=0) + 1e-9)
            X = torch.tensor(scaled, dtype=torch.float32)
            flipped = np.random.RandomState(split).rand(len(rows), data.Y.shape[1]) < FLIPS
            Y = torch.tensor(np.where(flipped, 1 - data.Y[rows], data.Y[rows]), dtype=torch.float32)
            shape = (len(rows), Y.shape[1])
            losses = {
                "cross-entropy": SelfPacedLoss(shape, pace_function=None),
                "SelfPacedLoss": SelfPacedLoss(shape),
                "SelfPacedLoss, FallingPace(0.3)": SelfPacedLoss(shape, schedule=FallingPace(FLIPS)),
            }
            for title, loss in losses.items():
                result = train(loss, X[rows], Y, X[test], data.Y[test], split)
                found.setdefault(title, []).append(result)
        for title, values in found.items():
            last, stopped = np.mean(values, axis=0)
            print(f"| {name} | {title} | {last:.3f} | {stopped:.3f} |", flush=True)


if __name__ == "__main__":
    main()
