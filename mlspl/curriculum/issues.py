"""`label_issues`, `noise_rates` and `row_scores`: label errors by any model's out-of-sample probabilities."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from mlspl.errors import UserError
from mlspl.noise import estimate_noise


def label_issues(
    Y: ArrayLike,
    probabilities: ArrayLike,
    *,
    other_labels: bool = True,
    absent: str = "negative",
    reviewed=None,
    instance_dependent: float | None = None,
    return_truth: bool = False,
    n_jobs: int | None = None,
) -> NDArray | tuple[NDArray, NDArray]:
    """Return the probability that each given label is wrong.

    It is a mixture of two models of label noise. Class-conditional noise flips labels at rates that ignore
    the features (see :func:`noise_rates`). Instance-dependent noise is the errors of annotators in ambiguous
    rows: a label is then as suspect as it is improbable. docs/methods/audit.md says how the two are weighted.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n, L)
        The labels as given: 0/1, ±1 or boolean, NaN where unknown.
    probabilities : array-like of shape (n, L)
        P(given = 1) of every pair by a model that was not fitted on that row. They need not be calibrated.
    other_labels : bool, default=True
        Use the other labels of a row as evidence, as far as that helps on held-out rows.
    absent : {"negative", "unknown"}, default="negative"
        What a given 0 means. "unknown": labels are incomplete, and only 0s are suspected.
    reviewed : array-like of shape (n, L) or DataFrame, optional
        The right labels of reviewed pairs, NaN for all others; or the table of
        :func:`mlspl.pages.read_decisions`. They update the weight of the two models of noise and the rates.
    instance_dependent : float, optional
        Probability, before any review, that errors depend on the features; by default estimated.
    return_truth : bool, default=False
        Also return the probability that each label is truly 1.
    n_jobs : int, optional
        Labels worked on at a time, on threads; -1 for all processors.

    Returns
    -------
    suspicion : ndarray of shape (n, L)
        NaN where the label is unknown. Its sum estimates the number of errors.
    truth : ndarray of shape (n, L)
        Only if `return_truth`.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import label_issues
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.beta(0.3, 0.3, (500, 3))
    >>> Y = (rng.random((500, 3)) < probabilities).astype(float)
    >>> Y[:50] = 1 - Y[:50]
    >>> suspicion = label_issues(Y, probabilities)
    >>> bool(suspicion[:50].mean() > 5 * suspicion[50:].mean())
    True
    """
    estimate = estimate_noise(
        Y,
        probabilities,
        other_labels=other_labels,
        absent=absent,
        reviewed=reviewed,
        instance_dependent=instance_dependent,
        n_jobs=n_jobs,
    )
    return (estimate.suspicion, estimate.truth) if return_truth else estimate.suspicion


def noise_rates(Y: ArrayLike, probabilities: ArrayLike, **options) -> pd.DataFrame:
    """Return, per label, the estimated shares of lost and of false positives.

    Parameters
    ----------
    Y, probabilities, **options
        As in :func:`label_issues`.

    Returns
    -------
    DataFrame, a row per label
        ``lost``, P(given 0 | true 1); ``false``, P(given 1 | true 0); each with the ends of its 90 %
        interval, ``lost_low``, ``lost_high``, ``false_low``, ``false_high``.

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
    return estimate_noise(Y, probabilities, **options).noise_rates


def row_scores(suspicion: ArrayLike) -> pd.DataFrame:
    """Return how probably each row has any wrong label, and several, and how many are expected.

    The errors of a row are taken as independent given their suspicions.

    Parameters
    ----------
    suspicion : array-like of shape (n, L)
        The probability that each given label is wrong, as :func:`label_issues` returns it; NaN counts as 0.

    Returns
    -------
    DataFrame, a row per row
        ``any_error``, P(at least one); ``several_errors``, P(at least two); ``expected_errors``.

    Examples
    --------
    >>> from mlspl.curriculum import row_scores
    >>> row_scores([[0.5, 0.5, 0.0], [0.9, 0.0, 0.0]])
       any_error  several_errors  expected_errors
    0       0.75            0.25              1.0
    1       0.90            0.00              0.9
    """
    wrong = np.asarray(suspicion)
    if wrong.ndim != 2 or not np.all((wrong >= 0) & (wrong <= 1) | np.isnan(wrong)):
        raise UserError(f"suspicion, of shape {wrong.shape}, must be a table (n, L) between 0 and 1, or NaN.")
    wrong = np.where(np.isnan(wrong), 0.0, wrong)
    none, one = np.ones(len(wrong)), np.zeros(len(wrong))
    for column in wrong.T:
        none, one = none * (1 - column), one * (1 - column) + none * column
    several = np.clip(1 - none - one, 0.0, 1.0)
    return pd.DataFrame(
        {"any_error": 1 - none, "several_errors": several, "expected_errors": wrong.sum(axis=1)},
        index=suspicion.index if isinstance(suspicion, pd.DataFrame) else None,
    )
