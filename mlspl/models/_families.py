"""Families of learners for `MLSPLClassifierCV`: candidates along paths of paces, evaluated out-of-fold."""

import time
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from mlspl import pacing
from mlspl._rounding import on_grid
from mlspl.model_selection import Calibration, IterativeStratification, get_calibration
from mlspl.models._forest_models import JointForest, LabelForests
from mlspl.models.tuned_decision import evaluate
from mlspl.spaces import Model


class Budget(NamedTuple):
    """What `MLSPLClassifierCV` tries."""

    quantiles: Sequence[float]
    per: tuple[str, ...]
    C: Sequence[float]
    gamma_factors: tuple[float, ...]
    n_settings: int
    n_estimators: int
    cv: int


_BOTH = ("class", "negatives")
BUDGETS = {
    "fast": Budget((0.8,), ("class",), (0.5, 4.0), (0.5,), 2, 150, 3),
    "default": Budget((0.7, 0.9), _BOTH, (0.125, 0.5, 2.0, 8.0), (0.25, 0.5, 1.0), 6, 500, 5),
    "thorough": Budget(
        (0.5, 0.7, 0.9),
        _BOTH,
        (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0),
        (0.125, 0.25, 0.5, 1.0, 2.0),
        8,
        1000,
        10,
    ),
}
# The path of every self-paced function costs a path more, and Gaussian ones rank best on development data.
_PACE_FUNCTION = "gaussian"


class PathPoint(NamedTuple):
    """A point of a path: self-paced function, group of losses, and their quantile that is the pace."""

    pace_function: str | None
    per: Literal["class", "label", "negatives", "all"] | None
    target: float


UNPACED = PathPoint(None, None, 1.0)


def list_points(per, quantiles) -> list[PathPoint]:
    """All points: the unpaced one first, then each path from its largest quantile down."""
    if not all(0.0 <= quantile < 1.0 for quantile in quantiles):
        raise ValueError(
            f"quantiles are {tuple(quantiles)}; give numbers from 0 to below 1. 1 is always added."
        )
    paths = product([_PACE_FUNCTION], per, sorted(set(quantiles), reverse=True))
    return [UNPACED, *(PathPoint(*point) for point in paths)]


def visit_points(fit, losses, points, Y, known) -> Iterator[tuple[PathPoint, np.ndarray]]:
    """Call `fit` with the weights of every point in turn; yield the point and its weights.

    The losses are those of the unpaced model; they may be None if no point is paced.
    """
    losses = None if losses is None else on_grid(losses)
    for point in points:
        weights = np.ones(Y.shape)
        if point != UNPACED:
            pace = pacing.QuantilePace(per=point.per).pace(point.target, losses, Y, known)
            weights = pacing.get(point.pace_function).weight(losses, pace)
        fit(weights)
        yield point, weights


def split_rows(Y, n_folds, random_state) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds with similar shares of every label."""
    return list(IterativeStratification(min(n_folds, len(Y)), random_state=random_state).split(Y, Y))


class Candidate(NamedTuple):
    """A setting, a point of its path, and out-of-fold scores (n, L)."""

    setting: dict[str, Any]
    point: PathPoint
    held_out: np.ndarray


class FittedMember(NamedTuple):
    """A member fitted on all rows: losses and weights (n, L) of the pairs."""

    candidate: Candidate
    losses: np.ndarray
    label_weights: np.ndarray


class Family(Protocol):
    """A kind of learner, with settings and paces to try.

    A label is predicted where its score exceeds ``cut``, and ``calibration`` turns scores into log-odds.
    """

    name: str
    cut: float
    calibration: str
    n_reports: int

    def search(self, X, Y, label_weight, folds) -> Iterator[tuple[str, list[Candidate]]]:
        """Yield a note after each of `n_reports` parts, and the candidates that are finished with it."""

    def choose(self, candidates: list[Candidate], badness: list[float], Y, label_weight) -> list[int]:
        """Indices of the candidates to average, best first; smaller `badness` is better."""

    def scores(self, held_out) -> np.ndarray:
        """Scores of the family from the mean of its out-of-fold scores."""

    def learn(self, X, Y, label_weight, members: list[Candidate]) -> tuple[list[Model], list[FittedMember]]:
        """Fit the members on all rows; the sum of the models' scores is the family's score."""


class FamilyModel:
    """The mean of a family's members, and the calibration of its scores."""

    _contents = {"family": "text", "models": [(Model, JointForest, LabelForests)], "calibration": Calibration}

    def __init__(self, family: str, models: list[Model], calibration: Calibration) -> None:
        self.family, self.models, self.calibration = family, models, calibration

    def log_odds(self, X) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return self.calibration.log_odds(sum(model.scores(X) for model in self.models))


def search_families(
    families, X, Y, label_weight, folds, report, deadline=np.inf
) -> tuple[dict[Family, list[Candidate]], str]:
    """All candidates, or those finished before a callback or the deadline; and the reason of the end."""
    found: dict[Family, list[Candidate]] = {}
    reason = "max_steps"
    try:
        for family in families:
            for note, candidates in family.search(X, Y, label_weight, folds):
                if candidates:
                    found.setdefault(family, []).extend(candidates)
                if report(note):
                    reason = "callback"
                elif reason == "max_steps" and time.monotonic() > deadline:
                    reason = "budget"
                if found and reason != "max_steps":
                    return found, reason
    except KeyboardInterrupt:
        if not found:
            raise
        names = " and ".join(family.name for family in found)
        warnings.warn(f"Interrupted: the fit continues with the finished families ({names}).", stacklevel=5)
        reason = "interrupted"
    return found, reason


def evaluate_folds(criterion, truth, scores, cut, folds) -> np.ndarray:
    """The criterion of every fold; NaN where there is nothing to rank."""
    return np.array([evaluate(criterion, truth[test], scores[test], scores[test] > cut) for _, test in folds])


def evaluate_candidates(candidates, cut, truth, folds, criterion) -> list[dict[str, Any]]:
    """The criterion of each candidate: its mean and its value in every fold."""
    rows = []
    for setting, point, held_out in candidates:
        values = evaluate_folds(criterion, truth, held_out, cut, folds)
        judged = {"mean": float(np.nanmean(values)), "folds": values.tolist()}
        rows.append({**setting, **point._asdict(), **judged})
    return rows


def select_families(names: list[str], odds: list[np.ndarray], criterion, truth, folds, sign) -> list[int]:
    """Families to average: all, or one that is better than the average by over two standard errors.

    A forest per label is left out unless it makes the average better by half a standard error, that of the
    mean difference over the folds. With `sign`, smaller is better.
    """

    def lead(first, second, n_errors) -> float:
        """How far the first log-odds are ahead of the second, less so many standard errors."""
        first, second = (evaluate_folds(criterion, truth, each, 0.0, folds) for each in (first, second))
        gains = sign * (second - first)
        gains = gains[np.isfinite(gains)]
        if len(gains) < 2:
            return -np.inf
        return gains.mean() - n_errors * gains.std(ddof=1) / np.sqrt(len(gains)) - 1e-9

    kept = list(range(len(odds)))
    if {"joint", "forest"} <= set(names):
        without = [number for number in kept if names[number] != "forest"]
        if lead(np.mean(odds, axis=0), np.mean([odds[number] for number in without], axis=0), 0.5) <= 0:
            kept = without
    together = np.mean([odds[number] for number in kept], axis=0)
    leads = [lead(odds[number], together, 2.0) for number in kept]
    return [kept[int(np.argmax(leads))]] if len(kept) > 1 and max(leads) > 0 else kept


def log_losses(odds, Y, label_weight) -> np.ndarray:
    """Log loss of each row, with one sigmoid for all scores; the mean is that over the pairs."""
    weight = np.ones(Y.shape) if label_weight is None else label_weight
    calibrated = get_calibration("pooled").fit(odds, Y, weight).log_odds(odds)
    losses = weight * np.logaddexp(0.0, np.where(Y, -calibrated, calibrated))
    return losses.sum(axis=1) * len(Y) / weight.sum()


def choose_point(odds: list[np.ndarray], Y, label_weight, n_errors: float = 0.5) -> int:
    """The log-odds with the smallest log loss; the first, unless others lead by so many standard errors."""
    losses = np.array([log_losses(each, Y, label_weight) for each in odds])
    gains = losses[0] - losses
    lead = gains.mean(axis=1) - n_errors * gains.std(axis=1, ddof=1) / np.sqrt(len(Y))
    return int(np.argmax(np.round(lead, 9))) if lead.max() > 1e-9 else 0


def summarise_members(
    learned: list[tuple[str, list[FittedMember]]], known
) -> tuple[np.ndarray, pacing.Trace, list[dict[str, Any]]]:
    """Mean weights, trace of the family with the most members, and history of all in the order of pace."""
    weights = [np.mean([member.label_weights for member in members], axis=0) for _, members in learned]
    trace = pacing.Trace(known.shape)
    history: list[dict[str, Any]] = []
    traced, _ = max(learned, key=lambda pair: len(pair[1]))
    for name, members in learned:
        for member in sorted(members, key=lambda member: member.candidate.point.target):
            if name == traced:
                trace.add(member.losses, member.label_weights)
            history.append(
                {
                    "step": len(history) + 1,
                    "family": name,
                    "pace": member.candidate.point.target,
                    "mean_loss": float(member.losses.mean(where=known)),
                    "mean_weight": float(member.label_weights.mean(where=known)),
                    **member.candidate.setting,
                }
            )
    return np.mean(weights, axis=0), trace, history
