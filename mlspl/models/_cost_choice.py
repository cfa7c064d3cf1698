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

from mlspl.models._alternation import Alternation, Coding, code_rows
from mlspl.models._label_blocks import dense_block
from mlspl.spaces import Nystroem

__all__ = ["choose_C"]

_ROWS, _LABELS, _LANDMARKS = 3000, 32, 500
# Multiples of one over the mean squared length of a row: half an order of magnitude apart, from .1 to 100.
_FACTORS = [10.0 ** (half / 2) for half in range(-2, 5)]


def choose_C(
    space: Any,
    X,
    Y,
    label_weight,
    weigh: Callable,
    fold: Callable = lambda Y: None,
    coding: Coding | None = None,
) -> float:
    """Go up while the loss of a third of the sample, by machines of the others, falls.

    The labels are the most frequent ones; `weigh` gives the cost of every pair of labels and their weights.
    Machines that are to see cross-fitted codes see them here too: they say some of what the features say,
    which asks for less C. `fold` gives the folds of labels in which codes are cross-fitted, or None. Codes in
    sample give the labels away, and the loss of rows whose codes are predicted then says little of C.
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
        return Y_rows, weigh(Y_rows, weight)

    (Y_in, costs), (Y_out, costs_out) = take(train), take(test)
    if isinstance(space, Nystroem):
        given = space.n_landmarks
        space = replace(space, n_landmarks=_LANDMARKS if given == "auto" else min(given, _LANDMARKS))
    rows, X_out = space.place(X[train]), X[test]
    if coding is None or (folds := fold(Y[train])) is None:
        fit = _plain(rows, Y_in)
    else:
        coded = code_rows(rows, Y[train], coding, folds)
        fit = _coded(Alternation(rows, Y_in, coding, folds, coded.of(labels)))
    best, least = unit, np.inf
    with warnings.catch_warnings():
        # At the largest C; the fit itself will tell.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for factor in _FACTORS:
            scores = rows.keep(*fit(unit * factor, costs)).scores(X_out)
            loss = float(np.sum(costs_out * rows.loss(np.where(Y_out, 1.0, -1.0), scores)))
            if loss >= least:
                break
            best, least = unit * factor, loss
    return best


def _plain(rows, Y) -> Callable:
    """What fits machines that see the features only, each from where the last ended."""
    signs, start = np.where(Y.T, 1.0, -1.0), None

    def fit(C, costs):
        nonlocal start
        machines = rows.solve(signs, C * costs.T, start)
        start = machines.start
        return machines.coef, machines.intercept

    return fit


def _coded(learner: Alternation) -> Callable:
    """What fits machines that see codes, likewise."""

    def fit(C, costs):
        learner.set_costs(C, costs)
        learner.fit_machines(np.ones(costs.shape))
        return learner.expansion()

    return fit
