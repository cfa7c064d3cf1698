"""Pairs of a relevant and an irrelevant label of a row, and their flow among the labels."""

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from mlspl._numba_cache import njit

__all__ = ["LabelPairs", "component_shift", "flow_components", "label_pairs"]


class LabelPairs(NamedTuple):
    """The (row, relevant label, irrelevant label) triples of a data set and their costs, rows ascending."""

    row: np.ndarray
    relevant: np.ndarray
    irrelevant: np.ndarray
    cost: np.ndarray

    def only(self, chosen):
        """The chosen pairs alone."""
        return LabelPairs(*(values[chosen] for values in self))


def label_pairs(signed_weight) -> LabelPairs:
    """Every (row, relevant label, irrelevant label) with its cost, the product of the two weights.

    Parameters
    ----------
    signed_weight : array (n, L)
        Positive where a label is relevant, negative where it is not, 0 where it is left out.

    Returns
    -------
    LabelPairs
        Rows ascending, within a row the relevant labels ascending, then the irrelevant ones. Costs that
        underflow to 0 are no costs.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = label_pairs(np.array([[1.0, -0.5, 0.0, -1.0], [1.0, 1.0, 1.0, 1.0]]))
    >>> pairs.row, pairs.relevant, pairs.irrelevant, pairs.cost
    (array([0, 0]), array([0, 0]), array([1, 3]), array([0.5, 1. ]))
    """
    count = np.vdot(np.sum(signed_weight > 0, axis=1), np.sum(signed_weight < 0, axis=1))
    row, relevant, irrelevant = np.empty((3, count), dtype=np.intp)
    cost = np.empty(count)
    _fill_pairs(np.asarray(signed_weight, dtype=np.float64), row, relevant, irrelevant, cost)
    pairs = LabelPairs(row, relevant, irrelevant, cost)
    return pairs if cost.all() else pairs.only(cost > 0)


def flow_components(pairs, n_labels):
    """Strongly connected components of the labels, and the pairs inside one."""
    flow = np.zeros((n_labels, n_labels), dtype=bool)
    flow[pairs.irrelevant, pairs.relevant] = True
    component = connected_components(flow, directed=True, connection="strong")[1]
    return component, component[pairs.relevant] == component[pairs.irrelevant]


def component_shift(scores, component, pairs):
    """The least shift ≥ 0 of each component's biases that satisfies the pairs between components.

    The components are partly ordered, so the longest paths of Bellman's recursion end.
    """
    n_components = component.max() + 1
    needed = np.full((n_components, n_components), -np.inf)
    margin = 1.0 - scores[pairs.relevant, pairs.row] + scores[pairs.irrelevant, pairs.row]
    margin += 1e-9 * (1.0 + np.abs(margin))  # so that rounding leaves no loss behind
    np.maximum.at(needed, (component[pairs.relevant], component[pairs.irrelevant]), margin)
    shift = np.zeros(n_components)
    for _ in range(n_components):
        shift = np.maximum(shift, np.max(needed + shift, axis=1))
    return shift[component]


@njit(cache=True, nogil=True)
def _fill_pairs(signed_weight, row, relevant, irrelevant, cost):
    n, n_labels = signed_weight.shape
    a = 0
    for i in range(n):
        for p in range(n_labels):
            if signed_weight[i, p] > 0.0:
                for q in range(n_labels):
                    if signed_weight[i, q] < 0.0:
                        row[a], relevant[a], irrelevant[a] = i, p, q
                        cost[a] = -signed_weight[i, p] * signed_weight[i, q]
                        a += 1
