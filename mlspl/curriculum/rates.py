"""`noise_rates`: how many positives of each label were lost and how many are false."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from mlspl.curriculum._judgement import judge
from mlspl.curriculum._noise_curve import FALSE, LOST

__all__ = ["noise_rates", "rates_table"]

# A credible interval of nine in ten.
INTERVAL = (0.05, 0.95)


def noise_rates(
    Y: ArrayLike, probabilities: ArrayLike, relations: bool = True, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return, per label, the estimated share of lost positives and of false ones.

    Where a model is sure, what is given still errs as often as the annotators did. So the curve from the
    model's log-odds to what is given is fitted as a logistic one between two asymptotes, which are the
    rates; its slope tells hard pairs from wrong ones. All labels of a data set are fitted together: those
    that are hard to predict say little about their own rates and borrow from the others.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n, L)
        The labels as given: 0/1, ±1 or boolean, NaN where unknown.
    probabilities : array-like of shape (n, L)
        P(given = 1) of every pair by a model that was not fitted on that row.
    relations : bool, default=True
        As in :func:`label_issues`.
    n_jobs : int, optional
        As in :func:`label_issues`.

    Returns
    -------
    DataFrame, a row per label
        ``lost``, P(given 0 | true 1); ``false``, P(given 1 | true 0); each with the ends of its 90 %
        interval, ``lost_low``, ``lost_high``, ``false_low``, ``false_high``.

    Notes
    -----
    Rates are told from hardness by the shape of the curve alone. What a model can never be sure of,
    whatever the labels, looks like noise to it: on clean data that no model predicts well, the rates are
    too high rather than too low. The interval knows of the number of rows, not of that.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import noise_rates
    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 4, (2000, 4))
    >>> Y = rng.random((2000, 4)) < 1 / (1 + np.exp(-odds))
    >>> Y &= rng.random((2000, 4)) > 0.2  # a fifth of the positives is lost
    >>> rates = noise_rates(Y, 1 / (1 + np.exp(-odds)))
    >>> rates[["lost", "false"]].mean().round(1).tolist()
    [0.2, 0.0]
    """
    judgement = judge(Y, probabilities, relations, n_jobs)
    return rates_table(judgement.posterior, judgement.names)


def rates_table(posterior: NDArray[np.float64], names: list[str] | None) -> pd.DataFrame:
    """The means and intervals of the rates, of a posterior (L, G) over the grid."""
    table = pd.DataFrame(index=pd.Index(range(len(posterior)) if names is None else names, name="label"))
    for name, rate in (("lost", LOST), ("false", FALSE)):
        table[name] = posterior @ rate
        table[f"{name}_low"], table[f"{name}_high"] = _quantiles(posterior, rate).T
    return table


def _quantiles(posterior, rate):
    """The ends of the interval (L, 2), linear between the grid's rates."""
    values = np.unique(rate)
    mass = np.column_stack([posterior[:, rate == value].sum(axis=1) for value in values])
    # The mass of a rate of the grid stands for what lies half way to its neighbours.
    edges = np.concatenate([[0.0], (values[1:] + values[:-1]) / 2, [values[-1]]])
    cumulated = np.column_stack([np.zeros(len(mass)), np.cumsum(mass, axis=1)])
    return np.array([np.interp(INTERVAL, row, edges) for row in cumulated])
