"""Machines of very many labels, a block of labels at a time, here or wherever joblib computes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mlspl._spread import count_workers, spread

__all__ = [
    "block_labels",
    "dense_block",
    "in_columns",
    "label_blocks",
    "one_thread",
    "prune_weights",
    "solve_label_blocks",
    "stack_weights",
]

# Pairs of a block: its tables of signs, costs and scores take 200 MB, with codes and paces five times that.
_PAIRS = 2**23
# Blocks a worker: some labels take longer than others.
_BLOCKS_PER_WORKER = 3
# From so many weights on, those below _NEGLIGIBLE are dropped: that costs nothing measurable (DiSMEC).
_MANY_WEIGHTS, _NEGLIGIBLE = 2**27, 0.01


def block_labels(n_rows, n_features, n_labels, n_workers=1) -> int:
    """How many labels at a time have tables that fit any machine: all, or a multiple of eight."""
    size = _PAIRS // max(n_rows, n_features, 1)
    if n_workers > 1:
        size = min(size, n_labels // (_BLOCKS_PER_WORKER * n_workers))
    return min(max(8, size // 8 * 8), max(n_labels, 1))


def label_blocks(n_rows, n_features, n_labels, n_workers=1) -> list[slice]:
    """Slices of so many labels, the last of those left."""
    size = block_labels(n_rows, n_features, n_labels, n_workers)
    return [slice(first, min(first + size, n_labels)) for first in range(0, n_labels, size)]


def one_thread(space: Any):
    """The same space for a worker among others."""
    return replace(space, n_threads=1)


def in_columns(Y):
    """Labels of which blocks of columns are to be taken."""
    return Y.tocsc() if sparse.issparse(Y) else Y


def dense_block(Y, block):
    """A block of labels, or of whatever is (n, L), as an array; None stays None."""
    if Y is None:
        return None
    part = Y[:, block]
    return part.toarray() if sparse.issparse(part) else part


def prune_weights(coef, n_labels):
    """Weights (B, d) of a block of `n_labels` labels: as they are, or CSR without the negligible."""
    if coef.shape[1] * n_labels < _MANY_WEIGHTS:
        return coef
    return sparse.csr_array(np.where(np.abs(coef) < _NEGLIGIBLE, 0.0, coef))


def stack_weights(parts):
    """The weights of all blocks, one under the other."""
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def solve_label_blocks(space, X, Y, label_weight, weigh: Callable):
    """Coordinates (L, d) and biases (L,) of machines for all labels."""
    n_workers = count_workers()
    blocks = label_blocks(X.shape[0], X.shape[1], Y.shape[1], n_workers)
    space = one_thread(space) if n_workers > 1 else space
    shared = (space, X, in_columns(Y), label_weight, weigh)
    coefs, intercepts = zip(*spread(_solve_block, shared, blocks), strict=True)
    return stack_weights(coefs), np.concatenate(intercepts)


def _solve_block(space, X, Y, label_weight, weigh, block):
    labels = dense_block(Y, block)
    costs = weigh(labels, dense_block(label_weight, block))
    machines = space.place(X).solve(np.where(labels.T, 1.0, -1.0), costs.T)
    return prune_weights(machines.coef, Y.shape[1]), machines.intercept
