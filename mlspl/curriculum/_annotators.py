"""What several annotators say about the labels that an audit judges."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mlspl.curriculum.consensus import Consensus, _read, consensus
from mlspl.errors import UserError, listed
from mlspl.noise import NoiseEstimate

# Pairs on which the others agree that count as reviewed, at most.
MOST_AGREED = 20_000


class Opinions:
    """Judgements of annotators, with labels in the order of an audit.

    `judged` and `ones` (n, L) are the numbers of judgements and of those that are 1, `truth` is P(true = 1)
    by annotators and model, `consensus` the annotators' quality. `several` marks the pairs that these settle:
    at least two judged them, or one who differs from the given label.
    """

    def __init__(self, annotations: Any, X, given: NDArray[np.int8], probabilities, names: list[str]):
        self.consensus = annotations
        if not isinstance(annotations, Consensus):
            _, _, found, _, named = _read(annotations, X)
            order = _positions(found, names, named)
            self.consensus = consensus(X, annotations, probabilities=probabilities[:, order])
        found = list(self.consensus.agreement.index)
        named = isinstance(self.consensus.labels, pd.DataFrame)
        self.order = np.argsort(_positions(found, names, named))
        if self.consensus.labels.shape[0] != len(given):
            raise UserError(
                f"annotations has {self.consensus.labels.shape[0]} rows and Y {len(given)}. Give "
                "consensus() the X of the audit, so that both have the same rows."
            )
        self.judged, self.ones = (counts[:, self.order] for counts in self.consensus._votes.count())
        self.truth = self.consensus._estimate.probability[:, self.order]
        self.same = np.where(given == 1, self.ones, self.judged - self.ones)
        self.several = (given >= 0) & ((self.judged >= 2) | (self.judged > self.same))

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
        suspicion, truth = noise.suspicion.copy(), noise.truth.copy()
        truth[pairs] = self.truth[pairs]
        suspicion[pairs] = np.where(noise.given == 1, 1 - self.truth, self.truth)[pairs]
        known, rest = suspicion[pairs].sum(), np.nansum(noise.suspicion[~pairs])
        share = rest / max(np.nansum(noise.suspicion), 1e-9)
        low, high = (float(known + share * end) for end in noise.error_range)
        information = np.where(pairs, 0.0, noise.information)
        return replace(
            noise, suspicion=suspicion, truth=truth, error_range=(low, high), information=information
        )

    def disagreement(self) -> NDArray[np.float64]:
        """Return the mean over labels of the share of pairs of annotators who differ, (n,)."""
        n, k = self.judged, self.ones
        shared = n >= 2
        differ = np.where(shared, 2 * k * (n - k) / np.maximum(n * (n - 1), 1), 0.0)
        return np.where(shared.any(axis=1), differ.sum(axis=1) / np.maximum(shared.sum(axis=1), 1), np.nan)

    def votes(self) -> Iterator[tuple[int, int, NDArray[np.int8]]]:
        """Return row, annotator and codes (L,) of every judgement of a row."""
        votes = self.consensus._votes
        return zip(votes.rows, votes.who, votes.said[:, self.order], strict=True)


def _positions(found, names: list[str], named: bool) -> NDArray[np.intp]:
    """Return the positions in `names` of the annotators' labels."""
    found = list(map(str, found))
    if not named and len(found) == len(names):
        return np.arange(len(names))
    if set(found) != set(names):
        differing = sorted(set(found) ^ set(names))
        raise UserError(
            f"annotations and Y differ in the labels {listed(differing)}. Give both the same ones."
        )
    return np.array([names.index(name) for name in found])
