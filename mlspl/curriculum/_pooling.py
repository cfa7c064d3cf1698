"""What the labels of a data set say together about the rates of noise: a hierarchy on a grid, no sampling.

The rates of one label come from Beta distributions common to all labels, whose means and strength are
unknown and averaged over. A label that is learnt well bounds the rates from above; one that is not takes
them from the others.
"""

from functools import cache

import numpy as np
from scipy.special import betainc, logsumexp

from mlspl.curriculum._noise_curve import FALSE, LOST

__all__ = ["pool"]

# How alike the rates of labels may be: as if this many pairs had been looked at by the common annotator.
STRENGTHS = (10.0, 30.0, 100.0, 300.0, 1000.0)
# A priori the common rates fall off as e^(−rate/.2): published test sets have some 3 % wrong labels, few
# above 10 % (Northcutt, Athalye & Mueller 2021), and a rate must be seen in the data to be believed.
SCALE = 0.2
# The mean of a Beta distribution cannot be 0.
LEAST = 0.002


def pool(likelihood):
    """Return the posterior (L, G) of the labels' rates from log-likelihoods (L, G), and the log-evidence."""
    prior, weight = _hierarchy()
    largest = likelihood.max(axis=1, keepdims=True)
    likely = np.exp(likelihood - largest)
    evidence = np.maximum(prior @ likely.T, 1e-300)
    common = np.log(weight) + np.log(evidence).sum(axis=1)
    total = logsumexp(common)
    posterior = ((np.exp(common - total)[:, None] / evidence).T @ prior) * likely
    return posterior / posterior.sum(axis=1, keepdims=True), float(total + largest.sum())


@cache
def _hierarchy():
    """The grid's prior under every common mean and strength (H, G), and the weights of those (H,)."""
    rates = np.unique(FALSE)
    edges = np.concatenate([[0.0], (rates[1:] + rates[:-1]) / 2, [1.0]])
    width = np.diff(edges)
    mean = np.maximum(rates, LEAST)[:, None]
    at_false, at_lost = np.searchsorted(rates, FALSE), np.searchsorted(rates, LOST)
    # Four kinds of errors, each as likely as the others: labels are overlooked, or given too freely, or
    # mistaken as often either way, or all of that.
    larger = width[np.maximum(at_false, at_lost)] * np.exp(-np.maximum(FALSE, LOST) / SCALE)
    kinds = [np.where(kind, larger, 0.0) for kind in (FALSE == 0, LOST == 0, FALSE == LOST)]
    kinds.append(width[at_false] * width[at_lost] * np.exp(-(FALSE + LOST) / SCALE))
    weight = np.mean([kind / kind.sum() for kind in kinds], axis=0)
    priors = []
    for strength in STRENGTHS:
        mass = np.diff(betainc(strength * mean, strength * (1 - mean), edges), axis=1)
        prior = mass[np.ix_(at_false, at_false)] * mass[np.ix_(at_lost, at_lost)] + 1e-12
        priors.append(prior / prior.sum(axis=1, keepdims=True))
    return np.concatenate(priors), np.tile(weight / len(STRENGTHS), len(STRENGTHS))
