"""Families of learners for `MLSPLClassifierCV`: candidates along paths of paces, evaluated out-of-fold.

A family has a `name`, a `calibration` that turns its scores into log-odds, and `n_settings`, how many of the
best settings are averaged. Its `search(X, Y, label_weight, folds)` yields a note after each of `n_reports`
parts, with the candidates finished by it. Its `learn(X, Y, label_weight, members)` fits candidates on all
rows: models, whose scores are added, and the losses and weights (n, L) of each member.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_expit, logsumexp

from mlspl import pacing
from mlspl._rounding import on_grid
from mlspl.model_selection import Calibration, IterativeStratification, get_calibration
from mlspl.models._forest_models import JointForest, LabelForests
from mlspl.models.tuned_decision import evaluate
from mlspl.noise import wrong_shares
from mlspl.spaces import Model


class Budget(NamedTuple):
    """What `MLSPLClassifierCV` tries."""

    C: Sequence[float]
    gamma_factors: tuple[float, ...]
    n_settings: int
    n_estimators: int
    cv: int
    quantiles: Sequence[float] = (0.9, 0.8, 0.7)


BUDGETS = {
    "fast": Budget((0.5, 4.0), (0.5,), 2, 300, 3),
    "default": Budget((0.125, 0.5, 2.0, 8.0), (0.25, 0.5, 1.0), 6, 500, 5),
    "thorough": Budget(
        (0.03125, 0.125, 0.5, 2.0, 8.0, 32.0), (0.125, 0.25, 0.5, 1.0, 2.0), 8, 1000, 10, (0.9, 0.8, 0.7, 0.5)
    ),
}
# With fewer rows, held-out rows cannot tell whether a pace helps.
FEWEST_ROWS = 100
# The weight of joint trees beside other families. Validation cannot choose it: on mirflickr (real noise) a
# kernel ranks the given labels of held-out rows better by 0.05 and the true ones worse by 0.08.
_JOINT_SHARE = 0.7
# With networks as well: average precision on development splits of emotions, scene and mirflickr 0.810, 0.894
# and 0.853; with 0.7 and 0.15 it is 0.805, 0.892 and 0.848, and without networks 0.807, 0.891 and 0.843.
_BESIDE_NET = {"joint": 0.5, "net": 0.35}
# Sparse features are not encoded, which halves the networks. On development splits of enron and medical 0.699
# and 0.860; with the weights above 0.696 and 0.855, and without networks 0.691 and 0.859.
_BESIDE_NET_SPARSE = {"joint": 0.4, "net": 0.2}
# On development splits of six sets with real noise, the mean gain of a paced joint forest is 0.0097 with this
# share and the estimated noise first, and 0.0078 with the largest gain.
_GOOD_GAIN = 0.8

# A point of a path: the quantile of the losses of each label and class, or "noise", their right share.
Point = float | str
UNPACED: Point = 1.0


def list_points(quantiles, *, follow_noise=False) -> list[Point]:
    """All points: the unpaced one, the estimated noise if asked for, and the quantiles from the largest."""
    if not all(0.0 <= quantile < 1.0 for quantile in quantiles):
        raise ValueError(
            f"quantiles are {tuple(quantiles)}; give numbers from 0 to below 1. 1 is always added."
        )
    noise: list[Point] = ["noise"] if len(quantiles) and follow_noise else []
    return [UNPACED, *noise, *sorted(set(quantiles), reverse=True)]


def visit_points(fit, losses, points, Y, known) -> Iterator[tuple[Point, np.ndarray]]:
    """Call `fit` with the weights of every point, by the losses of the unpaced model; yield both."""
    losses = None if losses is None else on_grid(losses)
    for point in points:
        weights = np.ones(Y.shape)
        if point != UNPACED:
            schedule = FOLLOW_NOISE if point == "noise" else pacing.QuantilePace(per="class")
            pace = schedule.pace(None if point == "noise" else point, losses, Y, known)
            weights = pacing.get("gaussian").weight(losses, pace)
        fit(weights)
        yield point, weights


def _estimate_shares(losses, Y, known) -> np.ndarray:
    """Shares of wrong labels, estimated from the losses −ln p of the given labels."""
    given = np.exp(-losses)
    probabilities = np.where(Y, given, 1.0 - given)
    return wrong_shares(np.where(known, Y, np.nan), probabilities, other_labels=False)


# The estimate takes 20 ms a label, so with more than so many labels only quantiles are tried.
MOST_LABELS_ESTIMATED = 64
# Of losses −ln p.
FOLLOW_NOISE = pacing.NoisePace(_estimate_shares)


def split_rows(Y, n_folds, random_state) -> list[tuple[np.ndarray, np.ndarray]]:
    """Folds with similar shares of every label."""
    return list(IterativeStratification(min(n_folds, len(Y)), random_state=random_state).split(Y, Y))


class Candidate(NamedTuple):
    """A setting, a point of its path, and out-of-fold scores (n, L), positive where a label is predicted."""

    setting: dict[str, Any]
    point: Point
    held_out: np.ndarray


class FamilyModel:
    """The mean of a family's members, the calibration of its scores, and its weight beside other families."""

    _contents = {
        "family": "text",
        "models": [(Model, JointForest, LabelForests)],
        "calibration": Calibration,
        "weight": "float",
    }

    def __init__(self, family: str, models: list[Model], calibration: Calibration, weight: float) -> None:
        self.family, self.models, self.calibration, self.weight = family, models, calibration, weight

    def log_odds(self, X) -> np.ndarray:
        """Log-odds (n, L) of new rows."""
        return self.calibration.log_odds(sum(model.scores(X) for model in self.models))


def weigh_families(names: Sequence[str], is_sparse: bool = False) -> list[float]:
    """Fixed weights of joint trees, and of networks beside them; the others share the rest equally."""
    fixed: dict[str, float] = {}
    if "joint" in names:
        beside_net = _BESIDE_NET_SPARSE if is_sparse else _BESIDE_NET
        fixed = beside_net if "net" in names else {"joint": _JOINT_SHARE}
    n_others = len(set(names) - set(fixed))
    rest = (1.0 - sum(fixed.values())) / max(n_others, 1)
    total = sum(fixed.values()) + rest * n_others
    return [fixed.get(name, rest) / total for name in names]


def average_families(odds, weights) -> np.ndarray:
    """Log-odds (n, L) of the mean probability: their own mean would follow the surest family."""
    weights = np.reshape(weights, (-1, 1, 1))
    present, absent = (logsumexp(log_expit(sign * np.array(odds)), axis=0, b=weights) for sign in (1.0, -1.0))
    return present - absent


def search_families(
    families, X, Y, label_weight, folds, report, deadline=np.inf
) -> tuple[dict[Any, list[Candidate]], str]:
    """All candidates, or those finished before a callback or the deadline; and the reason of the end."""
    found: dict[Any, list[Candidate]] = {}
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


def evaluate_candidates(candidates, truth, folds, criterion) -> list[dict[str, Any]]:
    """The criterion of each candidate: its mean and its value in every fold, NaN if there is none to rank."""
    rows = []
    for setting, point, held_out in candidates:
        values = [evaluate(criterion, truth[test], held_out[test], held_out[test] > 0) for _, test in folds]
        rows.append({**setting, "target": point, "mean": float(np.nanmean(values)), "folds": values})
    return rows


def choose_members(candidates: list[Candidate], badness, Y, label_weight, n_settings: int) -> list[int]:
    """The point of each setting with nearly the smallest log loss, of the best settings; best first."""
    settings: dict[tuple, list[int]] = {}
    for i, candidate in enumerate(candidates):
        settings.setdefault(tuple(candidate.setting.values()), []).append(i)
    chosen = [
        tried[choose_point([candidates[i].held_out for i in tried], Y, label_weight)]
        for tried in settings.values()
    ]
    # Rounded, so that ties keep the order in which they were tried on every CPU.
    return sorted(chosen, key=lambda i: round(badness[i], 9))[:n_settings]


def log_losses(odds, Y, label_weight) -> np.ndarray:
    """Log loss of each row, with one sigmoid for all scores; the mean is that over the pairs."""
    weight = np.ones(Y.shape) if label_weight is None else label_weight
    calibrated = get_calibration("pooled").fit(odds, Y, weight).log_odds(odds)
    losses = weight * np.logaddexp(0.0, np.where(Y, -calibrated, calibrated))
    return losses.sum(axis=1) * len(Y) / weight.sum()


def choose_point(odds: Sequence[np.ndarray], Y, label_weight) -> int:
    """The first log-odds with nearly the smallest log loss, or 0; see `first_good`."""
    return first_good(log_loss_gains(odds, Y, label_weight))


def log_loss_gains(odds: Sequence[np.ndarray], Y, label_weight) -> np.ndarray:
    """How far each but the first lowers the log loss: means over the rows, and standard errors, (2, n)."""
    losses = np.array([log_losses(each, Y, label_weight) for each in odds])
    gains = losses[0] - losses[1:]
    return np.array([gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(len(Y))])


def first_good(gains_and_errors, n_errors: float = 0.5) -> int:
    """The number, from 1 on, of the first with nearly the largest gain less so many standard errors, or 0.

    On mirflickr (real noise) the last tenth of the gain in log loss cost 0.013 in average precision: 0.8 of
    it will do.
    """
    gains, errors = gains_and_errors
    gains = np.round([0.0, *(gains - n_errors * errors)], 9)
    return int(np.argmax(gains >= _GOOD_GAIN * gains.max())) if gains.max() > 0 else 0


def summarise_members(learned, known) -> tuple[np.ndarray, pacing.Trace, list[dict[str, Any]]]:
    """Mean weights, trace of the family with the most members, and history of all in the order of pace."""
    weights = [np.mean([each for _, each in tables], axis=0) for *_, tables in learned]
    trace = pacing.Trace(known.shape)
    history: list[dict[str, Any]] = []
    traced, *_ = max(learned, key=lambda part: len(part[1]))
    for name, *parts in learned:
        steps = sorted(zip(*parts, strict=True), key=lambda step: str(step[0].point))
        for member, (losses, of_member) in steps:
            if name == traced:
                trace.add(losses, of_member)
            values = {"mean_loss": losses, "mean_weight": of_member}
            means = {key: float(each.mean(where=known)) for key, each in values.items()}
            step = {"step": len(history) + 1, "family": name, "pace": member.point, **means}
            history.append(step | member.setting)
    return np.mean(weights, axis=0), trace, history
