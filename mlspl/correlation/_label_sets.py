"""k-means of label vectors, exact: the same groups on every machine, and with any number of threads.

Label vectors are ±1 and count in whole numbers, so that many distances tie, and a k-means that rounds lets
the processor decide. Here sums, products and squared distances are whole numbers below 2⁵³, which floats hold
exactly in whatever order they are added; a centre is a sum over a count, and what is compared is one
quotient, correctly rounded: what ties, ties everywhere, and the label vector that comes first wins.
"""

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["cluster_label_sets"]

_MAX_STEPS = 300


def cluster_label_sets(label_sets, count, n_groups, random_state=None) -> tuple[np.ndarray, np.ndarray]:
    """Group distinct label vectors (D, L) with their counts (D,): their groups (D,) and the means (k, L).

    Starts are drawn as in k-means++, several at a time; then Lloyd's steps until no label vector moves.
    """
    centres = _draw_centres(label_sets, count, n_groups, check_random_state(random_state))
    sums, sizes = label_sets[centres], np.ones(n_groups)
    group = np.full(len(count), -1)
    for _ in range(_MAX_STEPS):
        distance = _distances(label_sets, sums, sizes)
        nearest = distance.argmin(axis=1)
        _fill_empty_groups(nearest, distance, count, n_groups)
        if np.array_equal(nearest, group):
            break
        group = nearest
        members = (group == np.arange(n_groups)[:, None]) * count
        sums, sizes = members @ label_sets, members.sum(axis=1)
    return group, sums / sizes[:, None]


def _draw_centres(label_sets, count, n_groups, random) -> list[int]:
    """k-means++: each centre drawn in proportion to count times squared distance, the best of a few draws."""
    n_labels, n_draws = label_sets.shape[1], 2 + int(np.log(n_groups))
    chosen: list[int] = []
    nearest = np.full(len(count), 1, dtype=np.int64)  # at first all are as far
    for _ in range(n_groups):
        upto = np.cumsum(count * nearest)
        tickets = random.randint(upto[-1], size=n_draws if chosen else 1, dtype=np.int64)
        drawn = np.searchsorted(upto, tickets, side="right")
        # Labels that differ, a quarter of the squared distance.
        differ = np.rint((n_labels - label_sets @ label_sets[drawn].T) / 2.0).astype(np.int64)
        left = np.minimum(nearest[:, None], differ) if chosen else differ
        cost = count @ left
        best = min(range(len(drawn)), key=lambda draw: (cost[draw], drawn[draw]))
        chosen.append(int(drawn[best]))
        nearest = left[:, best]
    return chosen


def _distances(label_sets, sums, sizes) -> np.ndarray:
    """Squared distances (D, k) to the centres, the means `sums / sizes`."""
    squares = label_sets.shape[1] * sizes**2 + np.sum(sums**2, axis=1)
    return (squares - 2.0 * sizes * (label_sets @ sums.T)) / sizes**2


def _fill_empty_groups(group, distance, count, n_groups) -> None:
    """Give a group that lost all its members the one that costs most where it is, in place."""
    for empty in np.flatnonzero(np.bincount(group, minlength=n_groups) == 0):
        # A label vector alone in its group is at distance 0 of its centre once that moves there.
        shared = np.bincount(group, minlength=n_groups)[group] > 1
        cost = np.where(shared, count * distance[np.arange(len(group)), group], -np.inf)
        group[cost.argmax()] = empty
