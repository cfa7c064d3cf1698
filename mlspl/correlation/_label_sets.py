"""k-means of label sets in exact arithmetic: the same clusters on every machine.

Label sets are 0/1 vectors, so many distances tie, and rounding would decide between them. Sums, products and
squared distances here are whole numbers below 2⁵³, which floats represent exactly in any order of summation.
A distance is one correctly rounded quotient, so ties stay ties, and the label set that comes first wins.
Label sets are CSR: time grows with the labels that are present.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

__all__ = ["cluster_label_sets", "distinct_label_sets"]

_MAX_STEPS = 300
# Up to so many cells, dense products are faster than those of CSR.
_DENSE_CELLS = 2**20


def distinct_label_sets(Y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First row of each distinct label set of a CSR array, the set of each row, and the sets' frequencies.

    Sets are sorted as binary numbers.
    """
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
    """Cluster distinct label sets (D, L) with counts (D,); returns clusters (D,) and ±1 means (k, L).

    k-means++ with several candidates per centre, then Lloyd's steps until no label set moves.
    """
    label_sets = sparse.csr_array(label_sets, dtype=np.float64)
    n_present = np.diff(label_sets.indptr)
    if np.prod(label_sets.shape) <= _DENSE_CELLS:
        label_sets = label_sets.toarray()
    centres = _draw_centres(label_sets, n_present, count, n_groups, check_random_state(random_state))
    sums, sizes = _dense(label_sets[centres]), np.ones(n_groups)
    group = np.full(len(count), -1)
    for _ in range(_MAX_STEPS):
        # Squared distances (D, k) to the centres, the means `sums / sizes`.
        squares = n_present[:, None] * sizes**2 + np.sum(sums**2, axis=1)
        distance = (squares - 2.0 * sizes * (label_sets @ sums.T)) / sizes**2
        nearest = distance.argmin(axis=1)
        _fill_empty_groups(nearest, distance, count, n_groups)
        if np.array_equal(nearest, group):
            break
        group = nearest
        members = (group == np.arange(n_groups)[:, None]) * count.astype(np.float64)
        sums, sizes = members @ label_sets, members.sum(axis=1)
    return group, (2.0 * sums - sizes[:, None]) / sizes[:, None]


def _draw_centres(label_sets, n_present, count, n_groups, random) -> list[int]:
    """k-means++: each centre drawn in proportion to count times squared distance, the best of a few draws."""
    n_draws = 2 + int(np.log(n_groups))
    chosen: list[int] = []
    nearest = np.full(len(count), 1, dtype=np.int64)  # at first all are as far
    for _ in range(n_groups):
        upto = np.cumsum(count * nearest)
        tickets = random.randint(upto[-1], size=n_draws if chosen else 1, dtype=np.int64)
        drawn = np.searchsorted(upto, tickets, side="right")
        # Labels that differ: the squared distance.
        shared = _dense(label_sets @ label_sets[drawn].T).astype(np.int64)
        differ = n_present[:, None] + n_present[drawn] - 2 * shared
        left = np.minimum(nearest[:, None], differ) if chosen else differ
        cost = count @ left
        best = min(range(len(drawn)), key=lambda draw: (cost[draw], drawn[draw]))
        chosen.append(int(drawn[best]))
        nearest = left[:, best]
    return chosen


def _dense(table) -> np.ndarray:
    return table.toarray() if sparse.issparse(table) else table


def _fill_empty_groups(group, distance, count, n_groups) -> None:
    """Move the label set of largest cost into each empty cluster, in place."""
    for empty in np.flatnonzero(np.bincount(group, minlength=n_groups) == 0):
        # A label set alone in its cluster has no cost after the next step.
        shared = np.bincount(group, minlength=n_groups)[group] > 1
        cost = np.where(shared, count * distance[np.arange(len(group)), group], -np.inf)
        group[cost.argmax()] = empty
