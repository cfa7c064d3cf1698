"""`label_issues`: how probably each given label is wrong, by anybody's out-of-sample probabilities."""

from numpy.typing import ArrayLike, NDArray

from mlspl.curriculum._judgement import judge

__all__ = ["label_issues"]


def label_issues(
    Y: ArrayLike,
    probabilities: ArrayLike,
    relations: bool = True,
    return_truth: bool = False,
    n_jobs: int | None = None,
) -> NDArray | tuple[NDArray, NDArray]:
    """Return the probability that each given label is wrong.

    By Bayes' rule from the rates of noise (see :func:`noise_rates`, estimated on the way) and what the
    model says: a label that is given without support is suspected where labels are given falsely, one that
    is missing against the odds where they are lost. Nothing has to be said about the kind of noise.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n, L)
        The labels as given: 0/1, ±1 or boolean, NaN where unknown.
    probabilities : array-like of shape (n, L)
        P(given = 1) of every pair by a model that was not fitted on that row: out of fold or out of bag.
        They need not be calibrated, but must order the rows.
    relations : bool, default=True
        Let the other labels of a row count too: labels that usually come together, or exclude each other. How
        much is chosen by held-out likelihood. False judges each label alone.
    return_truth : bool, default=False
        Also return the probability that each label is truly 1. For an unknown label that is the proposal.
    n_jobs : int, optional
        Labels worked on at a time, on threads; -1 for all processors.

    Returns
    -------
    suspicion : ndarray of shape (n, L)
        Between 0 and 1; NaN where the label is unknown. Its sum estimates the number of errors. float32 if
        the probabilities are.
    truth : ndarray of shape (n, L)
        Only if asked for.

    See Also
    --------
    noise_rates : The rates behind it.
    audit : The same from data, with a model that suits it.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import label_issues
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.beta(0.3, 0.3, (500, 3))
    >>> Y = (rng.random((500, 3)) < probabilities).astype(float)
    >>> Y[:50] = 1 - Y[:50]
    >>> Y[99, 0] = np.nan
    >>> suspicion, truth = label_issues(Y, probabilities, return_truth=True)
    >>> bool(np.nanmean(suspicion[:50]) > 5 * np.nanmean(suspicion[50:]))
    True
    >>> suspicion[99, 0], bool(abs(truth[99, 0] - probabilities[99, 0]) < 0.2)
    (np.float64(nan), True)
    """
    judgement = judge(Y, probabilities, relations, n_jobs)
    return (judgement.suspicion, judgement.truth) if return_truth else judgement.suspicion
