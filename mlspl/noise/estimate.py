"""`estimate_noise`: how probably each given label is wrong, under two models of label noise.

Two models explain a pair whose label is uncertain given the features x, with p = P(given = 1 | x):

- *Class-conditional* noise: the truth varies given x, and labels are flipped at rates that ignore x. With
  η = (p − false)/(1 − false − lost), Bayes' rule gives P(wrong | given 0) = lost · η/(1 − p) and
  P(wrong | given 1) = false · (1 − η)/p.
- *Instance-dependent* noise: the truth is determined by x, and annotators vary where x is ambiguous. Then
  P(wrong) is p for a given 0 and 1 − p for a given 1.

One label per pair cannot tell them apart. The suspicion is their mixture, (1 − w) · first + w · second.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, expit, logit

from mlspl._validation import Labels, check_labels, check_labels_beside, check_scores, check_shape, row_blocks
from mlspl.errors import UserError
from mlspl.model_selection import fit_logistic
from mlspl.noise._curve import FALSE, LOST, fit_curve, look_up_pairs, row_dispersion
from mlspl.noise._other_labels import OtherLabels, adjust_for_other_labels

# Prior odds of instance-dependent noise: (EVEN/φ)³, with the strength of PRIOR_PAIRS reviews. φ is the number
# of errors expected under the first model, at the medians of its rates, over that under the second: 0.19 to
# 0.5 with planted flips and lost labels (emotions, scene, yeast, medical, enron), 0 to 0.07 with labels given
# by people (CheXpert, OPP-115, mirflickr). The rule was set on these.
EVEN = 0.07
PRIOR_PAIRS = 2.0
# Labels alone cannot tell the two models apart: intervals keep this probability of each extreme.
UNDECIDED = 0.1
INTERVAL = (0.05, 0.95)
# Decisions on a label from which its interval follows the review.
LEAST_REVIEWED = 10
_WEIGHTS = np.linspace(0.0, 1.0, 21)


@dataclass(frozen=True)
class NoiseEstimate:
    """What given labels and probabilities say about label noise; the attributes are described by `Audit`."""

    given: NDArray[np.int8]
    suspicion: NDArray
    truth: NDArray
    reviewed: NDArray[np.bool_] | None
    noise_rates: pd.DataFrame
    instance_dependent: float
    error_range: tuple[float, float]
    information: NDArray
    other_labels: OtherLabels | None


def estimate_noise(
    Y: ArrayLike | Labels,
    probabilities: ArrayLike,
    *,
    other_labels: bool = True,
    absent: str = "negative",
    reviewed=None,
    agreed: NDArray | None = None,
    instance_dependent: float | None = None,
    n_jobs: int | None = None,
) -> NoiseEstimate:
    """Estimate how noisy labels are and which are wrong; parameters as in `curriculum.label_issues`.

    agreed (n, L), NaN elsewhere, are labels on which other annotators agree: evidence like that of reviewed
    pairs, but the suspicions of these pairs stay.
    """
    if absent not in ("negative", "unknown"):
        raise UserError(f"absent={absent!r}: a 0 is either 'negative' or 'unknown'. Choose one of the two.")
    if instance_dependent is not None and not 0 <= instance_dependent <= 1:
        raise UserError(f"instance_dependent={instance_dependent}: it must be a probability, or None.")
    labels = check_labels_beside(Y, probabilities, "probabilities")
    given = label_codes(labels)
    names = labels.names or [str(c) for c in getattr(probabilities, "columns", ())] or None
    decisions = settled = _read_reviewed(reviewed, given)
    if agreed is not None:
        known = np.where(np.isnan(agreed), -1, agreed).astype(np.int8)
        decisions = known if settled is None else np.where(settled >= 0, settled, known)
    z = calibrated_odds(probabilities, given)
    trusted, views, adjusted = absent == "unknown", [(z, 1.0)], None
    if other_labels and given.shape[1] > 1:
        adjusted = adjust_for_other_labels(given, z, n_jobs)
        # An annotator who misreads a row errs in several labels, which then confirm each other. So other
        # labels count by the inverse overdispersion of surprises, as in a quasi-likelihood.
        share = 1 / max(row_dispersion(given, z), 1.0)
        views = [(z, 1 - share), (adjusted.odds, share)]
    posterior, class_conditional, dependent = 0.0, np.zeros_like(z), np.zeros_like(z)
    for odds, share in views:
        rates, *curves = fit_curve(given, odds, trusted, n_jobs)
        truth, probability = look_up_pairs(given, odds, *curves)
        posterior += share * rates
        class_conditional += share * truth
        # Errors that depend on the row make its other labels doubtful: they count half as much.
        dependent += (share + (odds is z)) / 2 * probability
    first, second = (_wrong(given, truth, trusted) for truth in (class_conditional, dependent))
    prior = instance_dependent
    if prior is None:
        # Medians, because means of rates that little is known about are those of their prior.
        ratio = np.nansum(first) / max(np.nansum(second), 1e-9) * _median_share(posterior, given)
        prior = 1 / (1 + (ratio / EVEN) ** 3)
    undecided = UNDECIDED * (instance_dependent is None)
    weights, wide = _weigh(first, second, decisions, given, prior, undecided)
    weight = float(weights @ _WEIGHTS)
    suspicion = (1 - weight) * first + weight * second
    spread = float(weights @ (_WEIGHTS - weight) ** 2)
    information = np.nan_to_num(
        spread * (second - first) ** 2 / np.maximum(suspicion * (1 - suspicion), 1e-3)
    )
    truth = (1 - weight) * class_conditional + weight * dependent
    if trusted:
        truth[given == 1] = 1.0
    factor = np.ones((2, given.shape[1]))
    if decisions is not None:
        before = _group_sums(given, suspicion)
        suspicion = _calibrate(suspicion, decisions, given)
        truth = np.where(given < 0, truth, np.where(given == 1, 1 - suspicion, suspicion))
        factor = _group_sums(given, suspicion) / np.maximum(before, 1e-9)
    mask = None
    if settled is not None:
        mask = settled >= 0
        suspicion[mask] = settled[mask] != given[mask]
        suspicion[given < 0] = np.nan
        truth[mask] = settled[mask]
        information[mask] = 0.0
    rates = _rates_table(given, posterior, second, (weights, wide), factor, names)
    # All labels at the same end of their intervals, because what is not known is common to them.
    lost, false = _group_sums(given, np.nan_to_num(suspicion))
    positives = (given == 1).sum(axis=0) - false + lost
    negatives = (given == 0).sum(axis=0) - lost + false
    ends = (rates[f"lost_{end}"] @ positives + rates[f"false_{end}"] @ negatives for end in ("low", "high"))
    expected, least, most = float(np.nansum(suspicion)), *map(float, ends)
    low, high = min(least, expected), max(most, expected)
    if decisions is not None:
        # Reviews of other labels tell little about a label with errors of its own.
        few = ((decisions >= 0) & (given >= 0)).sum(axis=0) < LEAST_REVIEWED
        unreviewed = _weigh(first, second, None, given, prior, undecided)
        unreviewed = _rates_table(given, posterior, second, unreviewed, np.ones_like(factor), names)
        for end, widen in (("low", np.minimum), ("high", np.maximum)):
            columns = [f"lost_{end}", f"false_{end}"]
            rates[columns] = np.where(
                few[:, None], widen(rates[columns], unreviewed[columns]), rates[columns]
            )
    return NoiseEstimate(given, suspicion, truth, mask, rates, weight, (low, high), information, adjusted)


def wrong_shares(Y: ArrayLike, probabilities: ArrayLike, **options) -> NDArray[np.float64]:
    """Return the expected share of wrong given labels per class and label.

    Parameters
    ----------
    Y, probabilities, **options
        As in :func:`mlspl.curriculum.label_issues`.

    Returns
    -------
    ndarray of shape (2, L)
        Row 0: among the given 0s, row 1: among the given 1s. Each row is shrunk towards its mean over labels:
        much where a label has few pairs or where labels hardly differ.
    """
    found = estimate_noise(Y, probabilities, **options)
    return np.stack([_shrink(np.where(found.given == g, found.suspicion, np.nan)) for g in (0, 1)])


def _wrong(given, truth, trusted):
    """Return P(wrong) of the given labels; NaN where unknown; 0 for trusted positives."""
    wrong = truth.copy()
    if trusted:
        wrong[given == 1] = 0.0
    else:
        np.subtract(1, wrong, out=wrong, where=given == 1)
    np.copyto(wrong, np.nan, where=given < 0)
    return wrong


def _marginal(posterior, grid):
    """Return the values of a rate, and the probability of each for every label, (L, values)."""
    values = np.unique(grid)
    return values, np.column_stack([posterior[:, grid == value].sum(axis=1) for value in values])


def _median_share(posterior, given):
    """Return the number of errors at the median rates over that at the mean rates."""
    median = mean = 0.0
    for grid, code in ((LOST, 1), (FALSE, 0)):
        values, mass = _marginal(posterior, grid)
        count = (given == code).sum(axis=0)
        median += count @ values[(np.cumsum(mass, axis=1) >= 0.5).argmax(axis=1)]
        mean += count @ (mass @ values)
    return median / max(mean, 1e-9)


def _weigh(first, second, decisions, given, prior, undecided):
    """Return the probability of each of _WEIGHTS by the prior and the reviewed decisions; also for intervals.

    The prior of intervals keeps the probability `undecided` of each extreme: no error depends on the
    features, or all uncertain labels are errors that do.
    """
    prior = np.clip(prior, 1e-3, 1 - 1e-3)
    edges = np.concatenate([[0.0], (_WEIGHTS[1:] + _WEIGHTS[:-1]) / 2, [1.0]])
    mass = np.diff(betainc(PRIOR_PAIRS * prior, PRIOR_PAIRS * (1 - prior), edges))
    mass = np.maximum(
        np.stack([mass, (1 - 2 * undecided) * mass + undecided * np.isin(_WEIGHTS, (0, 1))]), 1e-12
    )
    if decisions is not None:
        known = (decisions >= 0) & (given >= 0)
        right = decisions[known] == given[known]
        chance = first[known] + _WEIGHTS[:, None] * (second[known] - first[known])
        likelihood = np.log(np.clip(np.where(right, 1 - chance, chance), 1e-3, 1.0)).sum(axis=1)
        mass = mass * np.exp(likelihood - likelihood.max())
    return mass / mass.sum(axis=1, keepdims=True)


def _calibrate(suspicion, decisions, given):
    """Return suspicions calibrated on the decisions, separately for given 0s and given 1s.

    Platt's scaling of the log-odds; intercept and slope have normal priors around 0 and 1 (standard deviation
    0.5). Suspicions far below those of the reviewed pairs stay as they are.
    """
    odds = logit(np.clip(suspicion, 1e-6, 1 - 1e-6))
    calibrated = suspicion.copy()
    for g in (0, 1):
        known, chosen = (decisions >= 0) & (given == g), given == g
        if not known.any():
            continue
        intercept, slope = _fit_platt(odds[known], decisions[known] != g, ridge=4.0)
        shift = intercept + max(slope - 1, -0.9) * odds[chosen]
        least = np.quantile(odds[known], 0.05)
        calibrated[chosen] = expit(odds[chosen] + shift * np.interp(odds[chosen], [least - 2, least], [0, 1]))
    return np.where(suspicion == 0, 0.0, calibrated)


def _rates_table(given, posterior, second, weights, factor, names):
    """Return means and intervals of the rates: over the grid of rates and over the weight of the models."""
    zeros, ones = (given == 0).sum(axis=0), (given == 1).sum(axis=0)
    lost, false = _group_sums(given, second)
    table = pd.DataFrame(index=pd.Index(names or range(len(posterior)), name="label"))
    for name, grid, count, total, scale in (
        ("lost", LOST, lost, lost + ones - false, factor[0]),
        ("false", FALSE, false, false + zeros - lost, factor[1]),
    ):
        values, mass = _marginal(posterior, grid)
        dependent = count / np.maximum(total, 1e-9)
        rows = []
        for label in range(len(posterior)):
            rate = (1 - _WEIGHTS[:, None]) * values + _WEIGHTS[:, None] * dependent[label]
            rate = np.clip(rate * scale[label], 0.0, 1.0).ravel()
            share, wide = ((w[:, None] * mass[label]).ravel() for w in weights)
            order = np.argsort(rate)
            cumulated = np.cumsum(wide[order]) - wide[order] / 2
            rows.append([rate @ share, *np.interp(INTERVAL, cumulated, rate[order])])
        table[[name, f"{name}_low", f"{name}_high"]] = rows
    return table


def _group_sums(given, values):
    """Return the sums of values over the given 0s and the given 1s, (2, L)."""
    return np.stack([np.where(given == g, values, 0.0).sum(axis=0) for g in (0, 1)])


def _shrink(values):
    """Return column means of values (n, L), NaN ignored, shrunk towards their common mean.

    The method of moments for random effects (DerSimonian & Laird 1986), with binomial variances.
    """
    known = ~np.isnan(values)
    n = known.sum(axis=0)
    sums = np.where(known, values, 0.0).sum(axis=0)
    mean = sums.sum() / max(n.sum(), 1)
    shares = np.where(n > 0, sums / np.maximum(n, 1), mean)
    variance = mean * (1 - mean)
    excess = (n * (shares - mean) ** 2).sum() - (np.count_nonzero(n) - 1) * variance
    between = max(excess / max(n.sum() - (n**2).sum() / max(n.sum(), 1), 1e-9), 0.0)
    return mean + (shares - mean) * (n * between / np.maximum(n * between + variance, 1e-12))


def _read_reviewed(reviewed, given) -> NDArray[np.int8] | None:
    """Return reviewed labels (n, L): 1, 0, or -1 where not reviewed."""
    if reviewed is None:
        return None
    if isinstance(reviewed, pd.DataFrame) and {"row", "label", "value"} <= set(reviewed.columns):
        known = reviewed[reviewed["value"].notna()]
        decisions = np.full(given.shape, -1, dtype=np.int8)
        try:
            decisions[known["row"].to_numpy(int), known["label"].to_numpy(int)] = known["value"]
        except (IndexError, ValueError):
            raise UserError(
                f"reviewed names pairs outside the {given.shape[0]} rows and {given.shape[1]} labels. "
                "Its columns row and label are positions in Y, as pages.read_decisions returns them."
            ) from None
        return decisions
    labels = check_labels(reviewed, "reviewed")
    check_shape(labels.shape, given.shape, "reviewed")
    return label_codes(labels)


def label_codes(labels) -> NDArray[np.int8]:
    """Return 1, 0 or -1 (unknown) of every pair, (n, L)."""
    given = np.empty(labels.shape, dtype=np.int8)
    for rows, codes in labels.blocks():
        given[rows] = codes
    return given


def calibrated_odds(probabilities, given) -> NDArray:
    """Return log-odds (n, L), float32 of float32, bounded by those of 1/(n + 2), then calibrated.

    Each label's are scaled and shifted; slope and shift have normal priors around 1 and 0 (deviation 1).
    """
    table = check_scores(probabilities, given.shape, "probabilities")
    odds = np.empty(given.shape, dtype=np.float32 if table.dtype == np.float32 else np.float64)
    least = 1.0 / (len(given) + 2)
    for rows, block in row_blocks(table):
        outside = ~((block >= 0) & (block <= 1))
        if outside.any():
            i, j = np.argwhere(outside)[0]
            raise UserError(
                f"probabilities[{i + rows.start}, {j}] is {block[i, j]:g}: probabilities lie from 0 to 1. "
                "Calibrate scores first, for instance with model_selection.PlattCalibration."
            )
        odds[rows] = logit(np.clip(block, least, 1 - least))
    for label, z in enumerate(odds.T):
        known = given[:, label] >= 0
        intercept, slope = _fit_platt(z[known].astype(np.float64), given[known, label], ridge=1.0)
        odds[:, label] = max(slope, 1e-3) * z + intercept
    return odds


def _fit_platt(odds, y, ridge: float) -> tuple[float, float]:
    """Return intercept and slope of a logistic regression on log-odds, shrunk to 0 and 1."""
    features, n = np.column_stack([np.ones(len(odds)), odds]), len(odds)
    shift = fit_logistic(features, y.astype(np.float64), np.ones(n), offset=odds, ridge=ridge)
    return shift[0], 1 + shift[1]
