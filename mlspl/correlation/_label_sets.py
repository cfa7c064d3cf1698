"""k-means of label sets, exact: the same groups on every machine, and with any number of threads.

Label sets are 0/1 and count in whole numbers, so that many distances tie, and a k-means that rounds lets
the processor decide. Here sums, products and squared distances are whole numbers below 2⁵³, which floats hold
exactly in whatever order they are added; a centre is a sum over a count, and what is compared is one
quotient, correctly rounded: what ties, ties everywhere, and the label set that comes first wins.

Sets are CSR: a step takes as long as there are labels on the rows, however many labels there are to choose
from.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

__all__ = ["cluster_label_sets", "distinct_label_sets"]

_MAX_STEPS = 300


def distinct_label_sets(Y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First row of each distinct label set of a CSR array, set of each row, and how often each set occurs.

    Sets come in the order of their rows as numbers written in binary.
    """
    # A label further left is a higher digit; a set that goes on where another ends is larger than it.
    digits = (Y.shape[1] - Y.indices).astype(">u4").tobytes()
    ends = (4 * Y.indptr.astype(np.int64)).tolist()
    rows: dict[bytes, list[int]] = {}
    for i in range(Y.shape[0]):
        rows.setdefault(digits[ends[i] : ends[i + 1]], []).append(i)
    members = [rows[key] for key in sorted(rows)]
    member = np.empty(Y.shape[0], dtype=np.intp)
    for number, of_set in enumerate(members):
        member[of_set] = number
    return np.array([of_set[0] for of_set in members]), member, np.array([len(of_set) for of_set in members])


def cluster_label_sets(label_sets, count, n_groups, random_state=None) -> tuple[np.ndarray, np.ndarray]:
    """Group distinct label sets (D, L), CSR, with their counts (D,): their groups (D,) and the means (k, L).

    The means are those of label vectors of ±1. Starts are drawn as in k-means++, several at a time; then
    Lloyd's steps until no label set moves.
    """
    label_sets = sparse.csr_array(label_sets, dtype=np.float64)
    centres = _draw_centres(label_sets, count, n_groups, check_random_state(random_state))
    sums, sizes = label_sets[centres].toarray(), np.ones(n_groups)
    group = np.full(len(count), -1)
    for _ in range(_MAX_STEPS):
        distance = _distances(label_sets, sums, sizes)
        nearest = distance.argmin(axis=1)
        _fill_empty_groups(nearest, distance, count, n_groups)
        if np.array_equal(nearest, group):
            break
        group = nearest
        places = (group, np.arange(len(group)))
        members = sparse.csr_array((count.astype(np.float64), places), shape=(n_groups, len(group)))
        sums, sizes = (members @ label_sets).toarray(), members.sum(axis=1)
    return group, (2.0 * sums - sizes[:, None]) / sizes[:, None]


def _draw_centres(label_sets, count, n_groups, random) -> list[int]:
    """k-means++: each centre drawn in proportion to count times squared distance, the best of a few draws."""
    n_draws = 2 + int(np.log(n_groups))
    n_present = np.diff(label_sets.indptr)
    chosen: list[int] = []
    nearest = np.full(len(count), 1, dtype=np.int64)  # at first all are as far
    for _ in range(n_groups):
        upto = np.cumsum(count * nearest)
        tickets = random.randint(upto[-1], size=n_draws if chosen else 1, dtype=np.int64)
        drawn = np.searchsorted(upto, tickets, side="right")
        # Labels that differ: the squared distance.
        shared = (label_sets @ label_sets[drawn].T).toarray().astype(np.int64)
        differ = n_present[:, None] + n_present[drawn] - 2 * shared
        left = np.minimum(nearest[:, None], differ) if chosen else differ
        cost = count @ left
        best = min(range(len(drawn)), key=lambda draw: (cost[draw], drawn[draw]))
        chosen.append(int(drawn[best]))
        nearest = left[:, best]
    return chosen


def _distances(label_sets, sums, sizes) -> np.ndarray:
    """Squared distances (D, k) to the centres, the means `sums / sizes`."""
    squares = np.diff(label_sets.indptr)[:, None] * sizes**2 + np.sum(sums**2, axis=1)
    return (squares - 2.0 * sizes * (label_sets @ sums.T)) / sizes**2


def _fill_empty_groups(group, distance, count, n_groups) -> None:
    """Give a group that lost all its members the one that costs most where it is, in place."""
    for empty in np.flatnonzero(np.bincount(group, minlength=n_groups) == 0):
        # A label vector alone in its group is at distance 0 of its centre once that moves there.
        shared = np.bincount(group, minlength=n_groups)[group] > 1
        cost = np.where(shared, count * distance[np.arange(len(group)), group], -np.inf)
        group[cost.argmax()] = empty
