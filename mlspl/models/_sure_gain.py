"""Whether one ranking of labels beats another by more than the luck of the rows."""

import numpy as np

__all__ = ["is_sure_gain", "mixed_rows", "row_precisions"]

# Machines disagree on what comes after these.
_DECIMALS = 10


def mixed_rows(Y, known=None) -> np.ndarray:
    """Which rows have both present and absent labels; the others have nothing to be ranked."""
    absent = ~Y if known is None else ~Y & known
    return Y.any(axis=1) & absent.any(axis=1)


def row_precisions(Y, scores, known=None) -> np.ndarray:
    """Average precision of every row of mixed ones; labels that are not known are ranked last."""
    scores = scores if known is None else np.where(known, scores, -np.inf)
    ranked = np.take_along_axis(Y, np.argsort(-scores, axis=1, kind="stable"), axis=1)
    precision = np.cumsum(ranked, axis=1) / np.arange(1, Y.shape[1] + 1)
    return np.round((precision * ranked).sum(axis=1) / ranked.sum(axis=1), _DECIMALS)


def is_sure_gain(gain) -> bool:
    """Whether the mean of the rows' gains is above two of its standard errors."""
    return len(gain) > 1 and bool(gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain)))
