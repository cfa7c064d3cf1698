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
    skew,
    truth_tables,
)
from mlspl.curriculum._pooling import pool
from mlspl.curriculum._relations import Relations, relate
from mlspl.errors import UserError

__all__ = ["Judgement", "judge", "label_codes", "log_odds"]

# Skews of the models' log-odds that are tried, and how far from 0 they are expected: a ratio of slopes of
# e^.6.
SKEWS = (-0.6, -0.3, 0.0, 0.3, 0.6)
SKEW_SPREAD = 0.3
# The curve is only nearly logistic, and what very many rows say beyond that is about its form more than
# about the rates. So the likelihood of n rows counts as that of some √(200 n): a power posterior, as for any
# model known to be wrong (Miller & Dunson 2019).
TRUSTED_ROWS = 200
# What is left to gain where a fit of a curve stops, in a log-likelihood that counts.
TOLERANCE = 1e-3


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
        wrong = self.truth.copy()
        np.subtract(1, wrong, out=wrong, where=self.given == 1)
        np.copyto(wrong, np.nan, where=self.given < 0)
        return wrong


def judge(Y, probabilities, relations: bool = True, n_jobs=None) -> Judgement:
    """Count, fit, pool and look up."""
    labels = check_labels_beside(Y, probabilities, "probabilities")
    given = label_codes(labels)
    z = log_odds(probabilities, given.shape)
    names = labels.names or [str(c) for c in getattr(probabilities, "columns", ())] or None
    related = relate(given, z, n_jobs) if relations else None
    if related is not None:
        z = related.odds
    low = z.min(axis=0).astype(np.float64)
    step = np.maximum((z.max(axis=0) - low) / N_BINS, 1e-9)
    counts, sums = np.zeros((z.shape[1], N_BINS, 2)), np.zeros((z.shape[1], N_BINS))
    count_pairs(given, z, low, step, counts, sums)
    n = counts.sum(axis=2)
    middle = low[:, None] + step[:, None] * (np.arange(N_BINS) + 0.5)
    mean = np.where(n > 0, sums / np.maximum(n, 1), middle)
    edges = low[:, None] + step[:, None] * np.arange(N_BINS + 1)
    posterior, tables = explain_counts(n, counts[:, :, 1], mean, edges, n_jobs)
    truth = np.empty_like(z)
    lookup_truth(given, z, low, step, tables, truth)
    # A quotient of probabilities may end a rounding above 1.
    np.clip(truth, 0.0, 1.0, out=truth)
    return Judgement(given, truth, posterior, related, names)


def explain_counts(n, k, mean, nodes, n_jobs=None):
    """Return the posterior of the rates (L, G), and tables of P(true = 1) at the nodes (L, 3, nodes).

    n, k and mean (L, bins) are the pairs of a bin, those given 1, and the mean of their log-odds. The fits of
    every skew are averaged by how well they explain all labels together.
    """
    fits = [_fit_skewed(n, k, skew(mean, by), skew(nodes, by), n_jobs) for by in SKEWS]
    evidence = np.array([fit[2] for fit in fits]) - (np.array(SKEWS) / SKEW_SPREAD) ** 2 / 2
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    posterior = sum(weight * fit[0] for weight, fit in zip(weights, fits, strict=True))
    # P(true) is a mean over the posterior of skew and rates; of a label, every skew weighs the same.
    tables = sum(weight * fit[1] for weight, fit in zip(weights, fits, strict=True))
    return posterior, tables


def _fit_skewed(n, k, z, nodes, n_jobs):
    """Return posterior, tables and log-evidence of one skew."""
    total = np.maximum(n.sum(axis=1, keepdims=True), 1)
    centre = (n * z).sum(axis=1, keepdims=True) / total
    z, nodes = z - centre, nodes - centre
    trust = 1 / np.sqrt(1 + n.sum(axis=1, keepdims=True) / TRUSTED_ROWS)
    curves = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(fit_curves)(z[label], n[label], k[label], FALSE, LOST, TOLERANCE / trust[label, 0])
        for label in range(len(n))
    )
    explained, shares = (np.array([curve[i] for curve in curves]) for i in (0, 1))
    # Jeffreys' prior of the share that is truly 1: a label without any pattern, given as often as the others
    # are falsely given, is all noise.
    posterior, evidence = pool(trust * explained - np.log(shares * (1 - shares)) / 2)
    tables = [
        truth_tables(posterior[label], slopes, offsets, nodes[label])
        for label, (_, _, slopes, offsets) in enumerate(curves)
    ]
    return posterior, np.stack(tables), evidence


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
