"""Costs of the pairs, and very many labels fitted in blocks."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from mlspl._parallel import parallel_map

# Pairs of a block: signs, costs and scores take 200 MB, with codes and paces five times that.
_PAIRS = 2**23
# Some labels take longer than others, so each worker gets several blocks.
_BLOCKS_PER_WORKER = 3
# From so many weights on, those below _NEGLIGIBLE are dropped, as in DiSMEC.
_MANY_WEIGHTS, _NEGLIGIBLE = 2**27, 0.01


def class_costs(Y, class_weight, label_weight=None, classes=(0, 1)):
    """Cost of every (instance, label) pair: its class's weight times its prior weight."""
    costs = np.ones(Y.shape) if label_weight is None else np.array(label_weight, dtype=np.float64)
    if class_weight is None:
        return costs
    if isinstance(class_weight, dict):
        unknown = set(class_weight) - set(classes)
        if unknown:
            raise ValueError(f"class_weight names {sorted(unknown)}; the classes are {list(classes)}.")
        absent, present = (class_weight.get(name, 1.0) for name in (classes[0], classes[-1]))
        return costs * np.where(Y, present, absent)
    exponent = 1.0 if class_weight == "balanced" else class_weight
    if isinstance(exponent, str) or not np.isfinite(exponent) or exponent < 0:
        raise ValueError(
            f"class_weight is {class_weight!r}; give None, 'balanced', an exponent of 0 or more, or a dict."
        )
    total = costs.sum(axis=0)
    share = np.divide((costs * Y).sum(axis=0), total, out=np.full(Y.shape[1], 0.5), where=total > 0)
    # A class that never occurs has no pair, so any finite number serves.
    present = (0.5 / np.where(share > 0, share, 0.5)) ** exponent
    absent = (0.5 / np.where(share < 1, 1 - share, 0.5)) ** exponent
    return costs * np.where(Y, present, absent)


def label_blocks(n_rows, n_features, n_labels, n_workers=1) -> list[slice]:
    """Slices of the labels, all in one or a multiple of eight each, whose tables fit in memory."""
    size = _PAIRS // max(n_rows, n_features, 1)
    if n_workers > 1:
        size = min(size, n_labels // (_BLOCKS_PER_WORKER * n_workers))
    size = max(8, size // 8 * 8)
    return [slice(first, min(first + size, n_labels)) for first in range(0, n_labels, size)]


def one_thread(space: Any):
    """The same space for one of several workers."""
    return replace(space, n_threads=1)


def dense_block(Y, block):
    """The columns `block` of a table (n, L) as an array; None stays None."""
    if Y is None:
        return None
    part = Y[:, block]
    return part.toarray() if sparse.issparse(part) else part


def prune_weights(coef, n_labels):
    """Weights (B, d) of a block; if all labels have very many, as CSR without the negligible."""
    if coef.shape[1] * n_labels < _MANY_WEIGHTS:
        return coef
    return sparse.csr_array(np.where(np.abs(coef) < _NEGLIGIBLE, 0.0, coef))


def stack_weights(parts):
    """The weights of all blocks."""
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def map_blocks(work: Callable, shared: tuple, blocks: list[slice]) -> Iterable[Any]:
    """Work on every block, in parallel if there are several."""
    return [work(*shared, blocks[0])] if len(blocks) == 1 else parallel_map(work, shared, blocks)
