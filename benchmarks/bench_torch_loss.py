"""An epoch of a network with `SelfPacedLoss` against one with `BCEWithLogitsLoss`.

The network is that of studies/networks.py: two hidden layers of 256 units with dropout; batches have 256
rows. An epoch includes `end_epoch`. The losses take turns, in one thread, timed in processor seconds. Prints
the best epoch of each, the ratio, and the memory that the loss keeps.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn

from mlspl.solvers import one_library_thread
from mlspl.torch import SelfPacedLoss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--labels", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=6, help="of each loss; the first is not paced yet")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    shape = options.rows, options.labels
    X = torch.randn(options.rows, 384)
    Y = (X @ torch.randn(384, options.labels) + 20 * torch.randn(shape) > 15).float()
    losses = {
        "BCEWithLogitsLoss": nn.BCEWithLogitsLoss(),
        "SelfPacedLoss": SelfPacedLoss(shape, keep_trace=False),
        "with a trace": SelfPacedLoss(shape),
    }
    seconds = {}
    nets = {}
    for name in losses:
        layers = []
        for n_inputs in (384, 256):
            layers += [nn.Linear(n_inputs, 256), nn.ReLU(), nn.Dropout(0.3)]
        layers.append(nn.Linear(256, options.labels))
        nets[name] = nn.Sequential(*layers)
        seconds[name] = []
    for _ in range(options.epochs):
        for name, loss in losses.items():
            seconds[name].append(epoch(nets[name], loss, X, Y))
    plain = min(seconds["BCEWithLogitsLoss"][1:])
    for name, each in seconds.items():
        best = min(each[1:])
        ends = f", of which end_epoch {end_of(losses[name]):.2f} s" if name != "BCEWithLogitsLoss" else ""
        print(f"{name:18} {best:6.2f} s {best / plain:6.3f}x{ends}")
    for name, loss in losses.items():
        if isinstance(loss, SelfPacedLoss):
            parts = [*loss._memory.values(), *(vars(loss._trace).values() if loss._trace else ())]
            size = sum(part.nbytes for part in parts if isinstance(part, torch.Tensor | np.ndarray))
            print(f"{name:18} {size / np.prod(shape):.0f} bytes for each pair")


def epoch(net: nn.Module, loss: nn.Module, X: torch.Tensor, Y: torch.Tensor) -> float:
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    with one_library_thread():
        start = time.process_time()
        for rows in torch.randperm(len(X)).split(256):
            optimizer.zero_grad()
            logits, targets = net(X[rows]), Y[rows]
            (
                loss(logits, targets, rows) if isinstance(loss, SelfPacedLoss) else loss(logits, targets)
            ).backward()
            optimizer.step()
        if isinstance(loss, SelfPacedLoss):
            loss.end_epoch()
        return time.process_time() - start


def end_of(loss: SelfPacedLoss) -> float:
    start = time.process_time()
    loss.end_epoch()
    return time.process_time() - start


if __name__ == "__main__":
    main()
