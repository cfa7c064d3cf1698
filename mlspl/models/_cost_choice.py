"""The C of "auto" beside a kernel matrix: that of the least loss of rows held out, on a sample.

C is the variance that weights are expected to have, so that of a sample of the rows is that of all of them.
One over the mean squared length of a row is near it; rare labels of wide rows ask for ten times as much.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mlspl.models._label_blocks import dense_block
from mlspl.spaces import Nystroem

__all__ = ["choose_C"]

_ROWS, _LABELS, _LANDMARKS = 3000, 32, 500
# Multiples of one over the mean squared length of a row: half an order of magnitude apart, from .1 to 100.
_FACTORS = [10.0 ** (half / 2) for half in range(-2, 5)]


def choose_C(space: Any, X, Y, label_weight, weigh: Callable) -> float:
    """Go up while the loss of a third of the sample, by machines of the others, falls.

    The labels are the most frequent ones; `weigh` gives the cost of every pair of labels and their weights.
    """
    unit, n_rows = space.unit_cost(X), Y.shape[0]
    order = np.random.RandomState(0).permutation(n_rows)[:_ROWS]
    train, test = np.sort(order[len(order) // 3 :]), np.sort(order[: len(order) // 3])
    if not len(test):
        return unit
    counts = np.asarray(Y[train].sum(axis=0)).ravel()
    labels = np.sort(np.argsort(-counts, kind="stable")[:_LABELS])

    def take(rows) -> tuple[np.ndarray, np.ndarray]:
        weight = None if label_weight is None else dense_block(label_weight[rows], labels)
        Y_rows = dense_block(Y[rows], labels)
        return np.where(Y_rows, 1.0, -1.0), weigh(Y_rows, weight)

    (signs, costs), (signs_out, costs_out) = take(train), take(test)
    if isinstance(space, Nystroem):
        given = space.n_landmarks
        space = replace(space, n_landmarks=_LANDMARKS if given == "auto" else min(given, _LANDMARKS))
    rows, X_out = space.place(X[train]), X[test]
    best, least, start = unit, np.inf, None
    with warnings.catch_warnings():
        # At the largest C; the fit itself will tell.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for factor in _FACTORS:
            machines = rows.solve(signs.T, unit * factor * costs.T, start)
            scores = rows.keep(machines.coef, machines.intercept).scores(X_out)
            loss = float(np.sum(costs_out * rows.loss(signs_out, scores)))
            if loss >= least:
                break
            best, least, start = unit * factor, loss, machines.start
    return best
