"""From labels and probabilities to rates of noise and to what is probably true."""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from mlspl._validation import check_labels_beside, check_scores, row_blocks
from mlspl.curriculum._noise_curve import (
    FALSE,
    LOST,
    N_BINS,
    count_pairs,
    fit_curves,
    lookup_truth,
    truth_tables,
)
from mlspl.curriculum._pooling import pool
from mlspl.curriculum._relations import Relations, relate
from mlspl.errors import UserError

__all__ = ["Judgement", "judge", "label_codes", "log_odds"]


@dataclass(frozen=True)
class Judgement:
    """What the labels and the probabilities say together.

    given : int8 (n, L), -1 where unknown; truth : P(true = 1) (n, L); posterior : of the grid's rates (L,
    G); names : of the labels, if they have any.
    """

    given: NDArray[np.int8]
    truth: NDArray
    posterior: NDArray[np.float64]
    relations: Relations | None
    names: list[str] | None

    @property
    def suspicion(self) -> NDArray:
        """P(the given label is wrong) (n, L); NaN where none is given."""
        wrong = np.where(self.given == 1, 1 - self.truth, self.truth)
        wrong[self.given < 0] = np.nan
        return wrong


def judge(Y, probabilities, relations: bool = True) -> Judgement:
    """Count, fit, pool and look up."""
    labels = check_labels_beside(Y, probabilities, "probabilities")
    given = label_codes(labels)
    z = log_odds(probabilities, given.shape)
    names = labels.names or [str(c) for c in getattr(probabilities, "columns", ())] or None
    related = relate(given, z) if relations else None
    if related is not None:
        z = related.odds.astype(z.dtype, copy=False)
    low = z.min(axis=0).astype(np.float64)
    step = np.maximum((z.max(axis=0) - low) / N_BINS, 1e-9)
    counts, sums = np.zeros((z.shape[1], N_BINS, 2)), np.zeros((z.shape[1], N_BINS))
    count_pairs(given, z, low, step, counts, sums)
    n = counts.sum(axis=2)
    nodes = low[:, None] + step[:, None] * (np.arange(N_BINS) + 0.5)
    mean = np.where(n > 0, sums / np.maximum(n, 1), nodes)
    total = np.maximum(n.sum(axis=1), 1)
    centre = (n * mean).sum(axis=1) / total
    spread = np.sqrt((n * (mean - centre[:, None]) ** 2).sum(axis=1) / total)
    spread = np.where(spread > 1e-9, spread, 1.0)
    standard = (mean - centre[:, None]) / spread[:, None]
    fits = Parallel(n_jobs=-1, prefer="threads")(
        delayed(fit_curves)(standard[label], n[label], counts[label, :, 1], FALSE, LOST)
        for label in range(len(n))
    )
    posterior = pool(np.array([fit[0] for fit in fits]))
    edges = low[:, None] + step[:, None] * np.arange(N_BINS + 1)
    tables = np.stack(
        [
            truth_tables(posterior[label], slopes, offsets, (edges[label] - centre[label]) / spread[label])
            for label, (_, slopes, offsets) in enumerate(fits)
        ]
    )
    truth = np.empty_like(z)
    lookup_truth(given, z, low, step, tables, truth)
    return Judgement(given, truth, posterior, related, names)


def label_codes(labels) -> NDArray[np.int8]:
    """Return 1, 0 or -1 (unknown) of every pair, (n, L)."""
    given = np.empty(labels.shape, dtype=np.int8)
    for rows, codes in labels.blocks():
        given[rows] = codes
    return given


def log_odds(probabilities, shape) -> NDArray:
    """Return log-odds (n, L), float32 of float32, no surer than n rows can make anyone."""
    table = check_scores(probabilities, shape, "probabilities")
    odds = np.empty(shape, dtype=np.float32 if table.dtype == np.float32 else np.float64)
    least = 1.0 / (shape[0] + 2)
    for rows, block in row_blocks(table):
        outside = ~((block >= 0) & (block <= 1))
        if outside.any():
            i, j = np.argwhere(outside)[0]
            raise UserError(
                f"probabilities[{i + rows.start}, {j}] is {block[i, j]:g}: probabilities lie from 0 to 1. "
                "Calibrate scores first, for instance with model_selection.PlattCalibration."
            )
        p = np.clip(block, least, 1 - least)
        odds[rows] = np.log(p / (1 - p))
    return odds
