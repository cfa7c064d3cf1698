"""What families of learners have in common: candidates on paths of paces, judged out of fold; their mean."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from mlspl.model_selection import Calibration, get_calibration
from mlspl.models._label_forests import ChainedForests
from mlspl.models._pace_path import PathPoint
from mlspl.models.tuned_decision import judge
from mlspl.spaces import Model

__all__ = [
    "Candidate",
    "Family",
    "FamilyModel",
    "Learned",
    "Visit",
    "blend",
    "drop_families",
    "judge_candidates",
    "log_losses",
]


class Candidate(NamedTuple):
    """A setting and a point of its path, and scores (n, L) of every row by a model that did not see it."""

    setting: dict[str, Any]
    point: PathPoint
    held_out: np.ndarray

    def describe(self) -> dict[str, Any]:
        """Setting and point, name by name."""
        return {**self.setting, **self.point._asdict()}


class Visit(NamedTuple):
    """A member as it was fitted on all rows: losses and weights (n, L) of the pairs."""

    candidate: Candidate
    losses: np.ndarray
    label_weights: np.ndarray


class Learned(NamedTuple):
    """The members of a family fitted on all rows: models whose scores add up to their mean."""

    models: list[Model]
    visits: list[Visit]


class Family(Protocol):
    """A kind of learner with settings and paces to try."""

    name: str
    cut: float
    """The score above which a label is predicted."""
    calibration: str
    """What puts its scores on the scale of log-odds."""
    n_reports: int
    """How often a search reports."""

    def search(self, X, Y, label_weight, folds, report: Callable[[str], Any]) -> Iterator[list[Candidate]]:
        """Yield candidates, settings that are finished together at a time."""

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """Which candidates to average, the best first; what judged them is at hand, less being better."""

    def weigh(self, members: list[Candidate]) -> np.ndarray:
        """The weights of the members in their mean."""

    def scores(self, held_out) -> np.ndarray:
        """What the learned models would say, from the mean of what was held out."""

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> Learned:
        """Fit the members on all rows."""


class FamilyModel:
    """The mean of a family's members, and what puts it on the scale of probabilities."""

    _contents = {"family": "text", "models": [(Model, ChainedForests)], "calibration": Calibration}

    def __init__(self, family: str, models: list[Model], calibration: Calibration) -> None:
        self.family = family
        self.models = models
        self.calibration = calibration

    def log_odds(self, X) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return self.calibration.log_odds(sum(model.scores(X) for model in self.models))


def judge_folds(criterion, truth, scores, labels, folds) -> list[float]:
    """The criterion fold by fold, NaN where there is nothing to rank."""
    return [float(judge(criterion, truth[test], scores[test], labels[test])) for _, test in folds]


def judge_candidates(candidates, cut, truth, folds, criterion) -> list[dict[str, Any]]:
    """The criterion of each candidate, fold by fold (NaN where there is nothing to rank) and in the mean."""
    rows = []
    for candidate in candidates:
        scores = candidate.held_out
        values = judge_folds(criterion, truth, scores, scores > cut, folds)
        rows.append({**candidate.describe(), "mean": float(np.nanmean(values)), "folds": values})
    return rows


def drop_families(odds: list[np.ndarray], criterion, truth, folds, sign) -> list[int]:
    """Which families to average: all, or one that alone is better than the mean by over two standard errors.

    The error is that of the mean difference over the folds; the sign makes less better.
    """
    if len(odds) == 1:
        return [0]
    judged = [judge_folds(criterion, truth, each, each > 0, folds) for each in (blend(odds), *odds)]
    gains = sign * (np.array(judged[0]) - np.array(judged[1:]))
    gains = gains[:, np.isfinite(gains).all(axis=0)]
    if gains.shape[1] < 2:
        return list(range(len(odds)))
    errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    best = int(np.argmax(np.round(gains.mean(axis=1), 9)))
    return [best] if gains[best].mean() > 2.0 * errors[best] + 1e-9 else list(range(len(odds)))


def log_losses(odds, Y, label_weight) -> np.ndarray:
    """Of each row the sum of −ln of the probability of the labels given, one sigmoid having put the scores on
    their scale; divided so that the mean over the rows is that over the pairs.

    Every pair counts in it, and by how much: of few or noisy labels it tells more than their ranking does.
    """
    weight = np.ones(Y.shape) if label_weight is None else label_weight
    calibrated = get_calibration("pooled").fit(odds, Y, weight).log_odds(odds)
    losses = weight * np.logaddexp(0.0, np.where(Y, -calibrated, calibrated))
    return losses.sum(axis=1) * len(Y) / weight.sum()


def blend(log_odds: list[np.ndarray]) -> np.ndarray:
    """The mean of the families' log-odds."""
    return np.mean(log_odds, axis=0)
