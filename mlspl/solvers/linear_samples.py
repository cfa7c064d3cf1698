"""Samples of rows for labels side by side, each lane drawn for itself.

A row is drawn for a lane if its ticket, a number between 0 and 1, is below its chance in that lane; then it
stands for as many as one over its chance. Lanes share the tickets, so that they draw much the same rows, but
do not know of each other: a label's sample does not depend on the labels beside it.
"""

import numpy as np

from mlspl._numba_cache import njit
from mlspl.solvers.linear_rows import LANES

__all__ = ["draw_rows", "make_tickets"]

# The golden ratio: its multiples, without their whole part, are spread as evenly as can be.
_SPREAD = (np.sqrt(5.0) - 1.0) / 2.0


def make_tickets(n, lanes) -> np.ndarray:
    """Tickets (n, lanes) of rows that have not been drawn before."""
    return np.repeat(np.arange(1, n + 1)[:, None] * _SPREAD % 1.0, lanes, axis=1)


def draw_rows(sizes, n_rows, tickets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw about `n_rows` (lanes,) rows in each lane, with chances proportional to sizes |s|, (n, lanes).

    Returns the rows that any lane has drawn, their chances in every lane, 0 where another drew them, and of
    each lane the share in its sizes of the rows that are sure to be drawn.
    """
    totals = _sum_lanes(sizes)
    factor = np.divide(n_rows, totals, out=np.zeros(len(totals)), where=totals > 0)
    drawn, chances, sure = np.empty(len(sizes), dtype=np.int64), np.empty_like(sizes), np.zeros(len(totals))
    count = _draw(sizes, factor, tickets, drawn, chances, sure)
    return drawn[:count], chances[:count], np.divide(sure, totals, out=sure, where=totals > 0)


_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def _sum_lanes(sizes):  # pragma: no cover - compiled
    total = np.zeros(sizes.shape[1])
    for i in range(sizes.shape[0]):
        for first in range(0, sizes.shape[1], LANES):
            for b in range(first, first + LANES):
                total[b] += abs(sizes[i, b])
    return total


@_compiled
def _draw(sizes, factor, tickets, drawn, chances, sure):  # pragma: no cover - compiled
    count = 0
    for i in range(sizes.shape[0]):
        any_lane = False
        for b in range(sizes.shape[1]):
            size = abs(sizes[i, b])
            chance = min(size * factor[b], 1.0) if size > 0.0 else 0.0
            if chance == 1.0:
                sure[b] += size
            takes = tickets[i, b] < chance
            any_lane |= takes
            chances[count, b] = chance if takes else 0.0
        if any_lane:
            drawn[count] = i
            count += 1
    return count
