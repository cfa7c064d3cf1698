"""Machines of very many labels, a block of labels at a time, here or wherever joblib's backend computes."""

from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse

__all__ = ["label_blocks", "solve_label_blocks"]

# Pairs of a block: its tables of signs, costs and scores take some 200 MB.
_PAIRS = 2**23
# From so many weights on, those below _NEGLIGIBLE are dropped: that costs nothing measurable (DiSMEC).
_MANY_WEIGHTS, _NEGLIGIBLE = 2**27, 0.01


def label_blocks(n_rows, n_labels) -> list[slice]:
    """Slices of the labels whose tables fit into the memory of any machine; multiples of eight."""
    size = max(8, _PAIRS // max(n_rows, 1) // 8 * 8)
    return [slice(first, min(first + size, n_labels)) for first in range(0, n_labels, size)]


def solve_label_blocks(space, X, Y, label_weight, weigh: Callable):
    """Coordinates (L, d) and biases (L,) of machines for all labels, blocks through joblib."""
    columns = Y.tocsc() if sparse.issparse(Y) else Y
    prune = X.shape[1] * Y.shape[1] >= _MANY_WEIGHTS
    solved = Parallel()(
        delayed(_solve_block)(
            space,
            X,
            columns[:, block],
            None if label_weight is None else label_weight[:, block],
            weigh,
            prune,
        )
        for block in label_blocks(*Y.shape)
    )
    coefs, intercepts = zip(*solved, strict=True)
    coef = sparse.vstack(coefs, format="csr") if prune else np.concatenate(coefs)
    return coef, np.concatenate(intercepts)


def _solve_block(space, X, Y, label_weight, weigh, prune):
    Y = Y.toarray() if sparse.issparse(Y) else Y
    machines = space.place(X).solve(np.where(Y.T, 1.0, -1.0), weigh(Y, label_weight).T)
    if not prune:
        return machines.coef, machines.intercept
    machines.coef[np.abs(machines.coef) < _NEGLIGIBLE] = 0.0
    return sparse.csr_array(machines.coef), machines.intercept
