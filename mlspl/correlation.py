"""Prototypes A of the label vectors and codes Q of the instances: their start, distances, and the A step.

k-means of the label sets is exact, so that every machine finds the same clusters: sums, products and squared
distances are whole numbers below 2⁵³, and a distance is one correctly rounded quotient. Ties, which 0/1
vectors often have, go to the label set that comes first.
"""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot

from mlspl._validation import row_blocks

__all__ = ["initial_codes", "prototype_distances", "prototype_means"]

_MAX_STEPS = 300


def initial_codes(signs, n_codes, random_state=None) -> tuple[np.ndarray, np.ndarray]:
    """Cluster the label vectors by k-means and code every instance by its cluster.

    The signs (n, L), an array or CSR array, are positive where a label is present. If there are at most
    `n_codes` distinct label vectors, each is a prototype. Returns codes (n, m), with a 1 in the column of the
    instance's cluster, and prototypes (m, L), the mean label vectors of the clusters.
    """
    present = sparse.csr_array((signs if sparse.issparse(signs) else np.asarray(signs)) > 0)
    first, member, count = distinct_label_sets(present)
    if n_codes >= len(first):
        return np.eye(len(first))[member], np.where(present[first].toarray(), 1.0, -1.0)
    # Frequent label vectors come first, so that they win ties.
    order = np.argsort(-count, kind="stable")
    group, prototypes = cluster_label_sets(present[first[order]], count[order], n_codes, random_state)
    return np.eye(n_codes)[group[np.argsort(order)[member]]], prototypes


def prototype_distances(signs, prototypes) -> np.ndarray:
    """Squared distances ‖y_i − a_j‖² of labels (n, L) to prototypes (m, L), of shape (n, m)."""
    signs, prototypes = np.asarray(signs, dtype=np.float64), np.asarray(prototypes, dtype=np.float64)
    squares = np.sum(signs**2, axis=1)[:, None] + np.sum(prototypes**2, axis=1)
    # Rounded, so that equal distances stay equal.
    return np.round(np.maximum(squares - 2.0 * (signs @ prototypes.T), 0.0), 9)


def prototype_means(signs, codes, prototypes) -> np.ndarray:
    """A step (16): a_j = Σ_i q_ij y_i / Σ_i q_ij, for ±1 labels y (n, L), codes q (n, m), prototypes (m, L).

    The paper lacks the denominator. A prototype without instances stays as it was.
    """
    sums, mass = np.asarray(codes).T @ signs, np.sum(codes, axis=0)[:, None]
    return np.divide(sums, mass, out=np.array(prototypes, dtype=np.float64), where=mass > 0)


def distinct_label_sets(Y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """First row of each distinct label set of a CSR array, the set of each row, and the sets' frequencies."""
    packed = np.concatenate([np.packbits(block, axis=1) for _, block in row_blocks(Y)])
    keys = packed.view(f"V{packed.shape[1]}").ravel()
    return np.unique(keys, return_index=True, return_inverse=True, return_counts=True)[1:]


def cluster_label_sets(label_sets, count, n_groups, random_state=None) -> tuple[np.ndarray, np.ndarray]:
    """Cluster distinct label sets (D, L) with counts (D,); returns clusters (D,) and ±1 means (k, L).

    k-means++ with several candidates per centre, then Lloyd's steps until no label set moves.
    """
    label_sets = sparse.csr_array(label_sets, dtype=np.float64)
    n_present = np.diff(label_sets.indptr)
    # Of few label sets an array: sparse products take long to start.
    table = label_sets.toarray() if np.prod(label_sets.shape) < 2**18 else label_sets
    centres = _draw_centres(table, n_present, count, n_groups, check_random_state(random_state))
    sums, sizes = label_sets[centres].toarray(), np.ones(n_groups)
    group = np.full(len(count), -1)
    for _ in range(_MAX_STEPS):
        # Squared distances (D, k) to the centres, the means `sums / sizes`.
        squares = n_present[:, None] * sizes**2 + np.sum(sums**2, axis=1)
        distance = (squares - 2.0 * sizes * (table @ sums.T)) / sizes**2
        nearest = distance.argmin(axis=1)
        _fill_empty_groups(nearest, distance, count, n_groups)
        if np.array_equal(nearest, group):
            break
        group = nearest
        members = (group == np.arange(n_groups)[:, None]) * count.astype(np.float64)
        sums, sizes = members @ table, members.sum(axis=1)
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
        shared = safe_sparse_dot(label_sets, label_sets[drawn].T, dense_output=True).astype(np.int64)
        differ = n_present[:, None] + n_present[drawn] - 2 * shared
        left = np.minimum(nearest[:, None], differ) if chosen else differ
        cost = count @ left
        best = min(range(len(drawn)), key=lambda draw: (cost[draw], drawn[draw]))
        chosen.append(int(drawn[best]))
        nearest = left[:, best]
    return chosen


def _fill_empty_groups(group, distance, count, n_groups) -> None:
    """Move the label set of largest cost into each empty cluster, in place."""
    for empty in np.flatnonzero(np.bincount(group, minlength=n_groups) == 0):
        # A label set alone in its cluster has no cost after the next step.
        shared = np.bincount(group, minlength=n_groups)[group] > 1
        cost = np.where(shared, count * distance[np.arange(len(group)), group], -np.inf)
        group[cost.argmax()] = empty
