"""Evidence on a suspected label: features of its row that count for and against it, and the nearest rows."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

Evidence: TypeAlias = dict[str, list[tuple[float, ...]]]
"""Of one pair: `for` and `against`, features as (position, value, mean with, mean without the label); `with`
and `without`, rows as (position, distance)."""

_MOST_FEATURES = 4
_MOST_WORDS = 12  # of sparse rows, which are text as a rule: the page marks them in it
_MOST_ROWS = 3
# A word counts as if so many more rows had it at random: that it stands in two rows says little.
_RANDOM_ROWS = 5.0
# Rows are compared in blocks of about this many cells.
_BLOCK_CELLS = 4_000_000


def find_evidence(
    X: NDArray[np.float64] | sparse.csr_array, Y: NDArray, rows: NDArray[np.intp], labels: NDArray[np.intp]
) -> list[Evidence]:
    """Return the evidence on each pair (rows[i], labels[i]).

    A feature counts by its share of the log-odds under Gaussians of equal variance for rows with and without
    the label; the means leave the row itself out. Dense rows are compared by the Euclidean distance of
    standardised features, sparse rows by the cosine. Of a sparse row, only features whose means differ by two
    standard errors count, and less if few other rows have them.
    """
    found: list[Evidence] = [{} for _ in rows]
    # Standard deviations of the known values of the features; 0 of what is constant.
    spread = np.sqrt(np.nan_to_num(StandardScaler(with_mean=False).fit(X).var_))
    for label in np.unique(labels):
        for pairs in _blocks(np.flatnonzero(labels == label), X.shape[1]):
            features = _counting_features(X, Y[:, label], rows[pairs], spread)
            for i, counting in zip(pairs, features, strict=True):
                found[i] |= counting
    if sparse.issparse(X):
        # Words count as they are weighed; numbers in large units must not drown them.
        coordinates, metric = X @ sparse.diags_array(1 / np.maximum(spread, 1.0)), "cosine"
    else:
        known = X[:, spread > 0]
        coordinates = np.nan_to_num((known - np.nanmean(known, axis=0)) / spread[spread > 0])
        metric = "euclidean"
    for pairs in _blocks(np.argsort(rows, kind="stable"), X.shape[0]):
        distances = pairwise_distances(coordinates[rows[pairs]], coordinates, metric=metric)
        for i, distance in zip(pairs, distances, strict=True):
            distance[rows[i]] = np.inf
            given = Y[:, labels[i]]
            found[i] |= {"with": _nearest(distance, given == 1), "without": _nearest(distance, given == 0)}
    return found


def _blocks(pairs: NDArray[np.intp], width: int) -> Iterator[NDArray[np.intp]]:
    step = max(1, _BLOCK_CELLS // max(width, 1))
    for start in range(0, len(pairs), step):
        yield pairs[start : start + step]


def _counting_features(X, given, rows, spread) -> Iterator[Evidence]:
    """Yield for each row the features that count most for and against the label, with both means."""
    is_sparse = sparse.issparse(X)
    values = X[rows].toarray() if is_sparse else X[rows]
    known = ~np.isnan(values)
    means: list[NDArray] = []
    variance_of_means = 0.0
    for side in (1, 0):
        chosen = X[np.flatnonzero(given == side)]
        total = np.asarray(chosen.sum(axis=0)).ravel() if is_sparse else np.nansum(chosen, axis=0)
        count = chosen.shape[0] if is_sparse else (~np.isnan(chosen)).sum(axis=0)
        own = (given[rows] == side)[:, None] & known  # the row itself is left out
        rest = count - own
        total = total - np.where(own, values, 0.0)
        variance_of_means = variance_of_means + spread**2 / np.maximum(rest, 1)
        means.append(np.where(rest > 0, total / np.maximum(rest, 1), np.nan))
    having, lacking = means
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = (having - lacking) * (values - (having + lacking) / 2) / spread**2
        if is_sparse:
            counts *= np.maximum(0.0, 1.0 - 4.0 * variance_of_means / (having - lacking) ** 2)
            others = X.count_nonzero(axis=0) - (values != 0)
            counts *= others / (others + _RANDOM_ROWS)
    counts = np.where(np.isfinite(counts), counts, 0.0)
    order = np.argsort(counts, axis=1, kind="stable")
    most = _MOST_WORDS if is_sparse else _MOST_FEATURES
    for i in range(len(rows)):
        low, high = order[i, :most], order[i, ::-1][:most]
        sides = {"for": high[counts[i, high] > 0], "against": low[counts[i, low] < 0]}
        yield {
            side: [(int(j), *(float(part[i, j]) for part in (values, having, lacking))) for j in features]
            for side, features in sides.items()
        }


def _nearest(distance, mask) -> list[tuple[float, ...]]:
    at = np.flatnonzero(mask & np.isfinite(distance))
    if len(at) > _MOST_ROWS:
        # Of equally distant rows the first, on every machine.
        limit = np.partition(distance[at], _MOST_ROWS - 1)[_MOST_ROWS - 1]
        at = at[distance[at] <= limit]
    at = at[np.argsort(distance[at], kind="stable")][:_MOST_ROWS]
    return [(int(row), float(distance[row])) for row in at]
