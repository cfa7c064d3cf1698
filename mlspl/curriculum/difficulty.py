"""`difficulty`: the order in which a paced fit took the pairs in, easy ones first."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from mlspl.errors import UserError
from mlspl.pacing import Trace


@dataclass(frozen=True)
class Difficulty:
    """How hard pairs, labels and rows were, from 0 (easiest) to 1 (hardest).

    Attributes
    ----------
    pairs : ndarray of shape (n, L)
        The rank of a pair among all pairs, by the step at which it entered and, within a step, by its mean
        loss.
    labels : ndarray of shape (L,)
        The means over rows.
    rows : ndarray of shape (n,)
        The means over labels.
    """

    pairs: NDArray[np.float64]

    @property
    def labels(self) -> NDArray[np.float64]:
        """Of each label, (L,)."""
        return pd.DataFrame(self.pairs).mean(axis=0).to_numpy()

    @property
    def rows(self) -> NDArray[np.float64]:
        """Of each row, (n,)."""
        return pd.DataFrame(self.pairs).mean(axis=1).to_numpy()


def difficulty(trace: Trace) -> Difficulty:
    """Return how hard each pair was for a paced fit, from the `trace_` of the estimator.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import difficulty
    >>> from mlspl.pacing import Trace
    >>> trace = Trace((1, 3))
    >>> trace.add(np.array([[0.5, 2.0, 0.7]]), np.array([[0.9, 0.1, 0.8]]))
    >>> difficulty(trace).pairs
    array([[0. , 1. , 0.5]])
    """
    if trace.n_steps == 0:
        raise UserError("The trace has no steps: it is of a fit without a self-paced function.")
    return Difficulty(rank_pairs(trace.lateness, trace.mean_loss))


def rank_pairs(*keys: NDArray) -> NDArray[np.float64]:
    """Ranks from 0 to 1 by the first key and, among equals, by the next; NaN where any key is."""
    known = ~np.any([np.isnan(key) for key in keys], axis=0)
    ranks = np.full(keys[0].shape, np.nan)
    values, order = np.unique(np.column_stack([key[known] for key in keys]), axis=0, return_inverse=True)
    if len(values):
        ranks[known] = (rankdata(order.ravel()) - 1) / max(order.size - 1, 1)
    return ranks
