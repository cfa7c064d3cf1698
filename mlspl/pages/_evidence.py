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
# Rows are compared in blocks of about this many cells.
_BLOCK_CELLS = 4_000_000


def find_evidence(
    X: NDArray[np.float64] | sparse.csr_array,
    Y: NDArray,
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
) -> list[Evidence]:
    """Return the evidence on each pair (rows[i], labels[i]).

    X may hold NaN for missing values; Y holds NaN where a label is unknown. A feature counts by its share of
    the log-odds under Gaussians of equal variance for rows with and without the label (diagonal discriminant
    analysis); the means leave the row itself out. Dense rows are compared by the Euclidean distance of
    standardised features, sparse rows by the cosine, after features with a standard deviation above 1 are
    divided by it.
    """
    found: list[Evidence] = [{} for _ in rows]
    spread = _spread(X)
    for label in np.unique(labels):
        of_label = np.flatnonzero(labels == label)
        for pairs in _blocks(of_label, X.shape[1]):
            for i, (counts_for, counts_against) in zip(
                pairs, _counting_features(X, Y[:, label], rows[pairs], spread), strict=True
            ):
                found[i] |= {"for": counts_for, "against": counts_against}
    coordinates = _coordinates(X, spread)
    metric = "cosine" if sparse.issparse(X) else "euclidean"
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


def _spread(X) -> NDArray[np.float64]:
    """Standard deviations of the known values of the features; 0 of what is constant."""
    return np.sqrt(np.nan_to_num(StandardScaler(with_mean=False).fit(X).var_))


def _sums(X, mask) -> tuple[NDArray, NDArray]:
    """Sums of the known values of the chosen rows, and how many they are, per feature."""
    chosen = X[np.flatnonzero(mask)]
    if sparse.issparse(chosen):
        return np.asarray(chosen.sum(axis=0)).ravel(), np.full(X.shape[1], chosen.shape[0])
    return np.nansum(chosen, axis=0), (~np.isnan(chosen)).sum(axis=0)


def _counting_features(X, given, rows, spread) -> Iterator[tuple[list, list]]:
    """Yield for each row the features that count most for and against the label, with both means."""
    values = X[rows].toarray() if sparse.issparse(X) else X[rows]
    known = ~np.isnan(values)
    plain = np.where(known, values, 0.0)
    means = []
    for side in (1, 0):
        total, count = _sums(X, given == side)
        own = (given[rows] == side)[:, None] & known
        rest = count - own
        means.append(np.where(rest > 0, (total - own * plain) / np.maximum(rest, 1), np.nan))
    having, lacking = means
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = (having - lacking) * (values - (having + lacking) / 2) / spread**2
    counts = np.where(np.isfinite(counts), counts, 0.0)
    order = np.argsort(counts, axis=1, kind="stable")
    most = _MOST_WORDS if sparse.issparse(X) else _MOST_FEATURES
    for i in range(len(rows)):
        low = order[i, :most]
        high = order[i, ::-1][:most]
        yield tuple(  # type: ignore[misc]
            [(int(j), float(values[i, j]), float(having[i, j]), float(lacking[i, j])) for j in chosen]
            for chosen in (high[counts[i, high] > 0], low[counts[i, low] < 0])
        )


def _coordinates(X, spread):
    """Rows as they are compared: standardised, or for sparse rows, scaled where the unit is large."""
    if sparse.issparse(X):
        # Words count as they are weighed; numbers in large units must not drown them.
        return X @ sparse.diags_array(1 / np.maximum(spread, 1.0))
    varies = spread > 0
    return np.nan_to_num((X[:, varies] - np.nanmean(X[:, varies], axis=0)) / spread[varies])


def _nearest(distance, mask) -> list[tuple[float, ...]]:
    at = np.flatnonzero(mask & np.isfinite(distance))
    if len(at) > _MOST_ROWS:
        # Of equally distant rows the first, on every machine.
        limit = np.partition(distance[at], _MOST_ROWS - 1)[_MOST_ROWS - 1]
        at = at[distance[at] <= limit]
    at = at[np.argsort(distance[at], kind="stable")][:_MOST_ROWS]
    return [(int(row), float(distance[row])) for row in at]
