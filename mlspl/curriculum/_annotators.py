"""What several annotators say about the labels that an audit judges."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mlspl.curriculum.consensus import Consensus, consensus
from mlspl.errors import UserError, listed
from mlspl.noise import NoiseEstimate

# Pairs on which the others agree that count as reviewed, at most.
MOST_AGREED = 20_000


class Opinions:
    """Judgements of annotators, with labels in the order of an audit.

    `judged`, `ones` and `same` (n, L) are the numbers of judgements, of those that are 1, and of those that
    are as given; `truth` is P(true = 1) by annotators and model. `several` marks the pairs that these settle:
    at least two judged them, or one who differs from the given label.
    """

    def __init__(self, annotations: Any, X, given: NDArray[np.int8], probabilities, names: list[str]):
        if not isinstance(annotations, Consensus):
            probabilities = pd.DataFrame(probabilities, columns=names)
            annotations = consensus(X, annotations, probabilities=probabilities)
        found, (n_rows, n_labels) = annotations.agreement.index.map(str), annotations.labels.shape
        if not isinstance(annotations.labels, pd.DataFrame) and n_labels == len(names):
            found = pd.Index(names)
        if differing := sorted(set(found) - set(names)):
            raise UserError(f"annotations has labels that Y does not have: {listed(differing)}.")
        if n_rows != len(given):
            raise UserError(
                f"annotations has {n_rows} rows and Y {len(given)}. Give consensus() the X of the audit, so "
                "that both have the same rows."
            )
        # Labels that no annotator gave count as not judged.
        self.consensus, self.order = annotations, found.get_indexer(names)
        self.judged, self.ones = (self._arrange(counts, 0) for counts in annotations._votes.count())
        self.truth = self._arrange(annotations._estimate.probability, 0)
        self.same = np.where(given == 1, self.ones, self.judged - self.ones)
        self.several = (given >= 0) & ((self.judged >= 2) | (self.judged > self.same))

    def _arrange(self, table, absent) -> NDArray:
        """Return the columns of `table` in the order of the audit, `absent` where annotators lack a label."""
        return np.where(self.order >= 0, table[:, self.order], absent)

    def agreed(self, given) -> NDArray[np.float64]:
        """Return the labels on which at least two others agree; NaN elsewhere; at most MOST_AGREED.

        One judgement that is as given counts as that of whoever gave the label.
        """
        against, others = self.judged - self.same, np.maximum(self.same - 1, 0)
        right, wrong = (others >= 2) & (against == 0), (against >= 2) & (others == 0)
        settled = np.flatnonzero((right | wrong) & (given >= 0))
        settled = np.random.RandomState(0).permutation(settled)[:MOST_AGREED]
        labels = np.full(given.shape, np.nan)
        labels.flat[settled] = np.where(wrong, 1 - given, given).flat[settled]
        return labels

    def settle(self, noise: NoiseEstimate, trusted: bool) -> NoiseEstimate:
        """Return the estimate with what annotators and model say of the pairs that several judged."""
        pairs = self.several if noise.reviewed is None else self.several & ~noise.reviewed
        if trusted:
            pairs = pairs & (noise.given == 0)
        truth = np.where(pairs, self.truth, noise.truth)
        wrong = np.where(noise.given == 1, 1 - self.truth, self.truth)
        suspicion = np.where(pairs, wrong, noise.suspicion)
        share = np.nansum(noise.suspicion[~pairs]) / max(np.nansum(noise.suspicion), 1e-9)
        low, high = (float(wrong[pairs].sum() + share * end) for end in noise.error_range)
        return replace(
            noise,
            suspicion=suspicion,
            truth=truth,
            error_range=(low, high),
            information=np.where(pairs, 0.0, noise.information),
        )

    def disagreement(self) -> NDArray[np.float64]:
        """Return the mean over labels of the share of pairs of annotators who differ, (n,)."""
        n, k = self.judged, self.ones
        shared = n >= 2
        differ = np.where(shared, 2 * k * (n - k) / np.maximum(n * (n - 1), 1), 0.0)
        return np.where(shared.any(axis=1), differ.sum(axis=1) / np.maximum(shared.sum(axis=1), 1), np.nan)

    def votes(self):
        """Return row, annotator and codes (L,) of every judgement of a row."""
        votes = self.consensus._votes
        return zip(votes.rows, votes.who, self._arrange(votes.said, -1), strict=True)
