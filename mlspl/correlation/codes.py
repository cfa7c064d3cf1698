"""The Q step: every instance takes the code that suits its labels and the classifiers best."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mlspl.correlation.prototypes import prototype_distances
from mlspl.solvers import solve_codes

__all__ = ["update_codes"]


def update_codes(scores, signs, code_weights, prototypes, label_weights, beta, *, n_threads=1) -> np.ndarray:
    """The codes that minimise objective (11) while classifiers, weights and prototypes stay.

    Parameters
    ----------
    scores : array (n, L)
        Scores of the classifiers without the part of the codes.
    signs : array (n, L)
        Labels, -1 or +1.
    code_weights : array (L, m)
        Weight of each code in each classifier's score.
    prototypes : array (m, L)
        The prototypes.
    label_weights : array (n, L)
        Weight of the loss of each (instance, label) pair.
    beta : float
        Weight of the distances to the prototypes.
    n_threads : int
        The answer does not depend on it.

    Returns
    -------
    array (n, m)
        Non-negative rows that sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> update_codes(np.zeros((1, 2)), np.array([[1.0, -1.0]]), np.zeros((2, 2)),
    ...              np.array([[-1.0, -1.0], [1.0, -1.0]]), np.ones((1, 2)), beta=100.0)
    array([[0., 1.]])
    """
    distances = prototype_distances(signs, prototypes)
    solution = solve_codes(scores, signs, code_weights, distances, label_weights, beta, n_threads=n_threads)
    loose = int(np.sum(solution.gap > 1e-6 * (1.0 + np.abs(solution.objective))))
    if loose:
        warnings.warn(
            f"{loose} of {len(solution.codes)} codes are not optimal: their programs ran out of steps.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution.codes
