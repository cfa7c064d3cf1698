"""Prototypes of the label vectors and codes of the instances: their start, distances, and the A step."""

import numpy as np
from scipy import sparse

from mlspl.correlation._label_sets import cluster_label_sets, distinct_label_sets

__all__ = ["initial_codes", "prototype_distances", "prototype_means"]


def initial_codes(signs, n_codes, random_state=None) -> tuple[np.ndarray, np.ndarray]:
    """Cluster the label vectors by k-means and code every instance by its cluster.

    Distinct label vectors are clustered, each weighted by its frequency. If there are at most `n_codes` of
    them, each is a prototype.

    Parameters
    ----------
    signs : array or CSR array (n, L)
        Labels, positive where present. Memory and time of CSR grow with the labels that are present.
    n_codes : int
        Number of prototypes; there are never more than distinct label vectors.
    random_state : int, RandomState or None
        Seeds k-means.

    Returns
    -------
    codes : array (n, m)
        A 1 in the column of the instance's cluster.
    prototypes : array (m, L)
        Mean label vector of each cluster.

    Examples
    --------
    >>> import numpy as np
    >>> codes, prototypes = initial_codes(np.array([[-1, 1], [1, 1], [-1, 1]]), n_codes=15)
    >>> codes
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    >>> prototypes
    array([[-1.,  1.],
           [ 1.,  1.]])
    """
    if n_codes < 1:
        raise ValueError(f"n_codes is {n_codes}; at least one code is needed.")
    present = sparse.csr_array((signs if sparse.issparse(signs) else np.asarray(signs)) > 0)
    present.sort_indices()
    first, member, count = distinct_label_sets(present)
    if n_codes >= len(first):
        return np.eye(len(first))[member], np.where(present[first].toarray(), 1.0, -1.0)
    # Frequent label vectors come first, so that they win ties.
    order = np.argsort(-count, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    group, prototypes = cluster_label_sets(present[first[order]], count[order], n_codes, random_state)
    return np.eye(n_codes)[group[place[member]]], prototypes


def prototype_distances(signs, prototypes) -> np.ndarray:
    """Squared distances ‖y_i − a_j‖² of labels (n, L) to prototypes (m, L), of shape (n, m).

    Examples
    --------
    >>> import numpy as np
    >>> prototype_distances(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0], [-1.0, 0.5]]))
    array([[0.  , 4.25]])
    """
    signs, prototypes = np.asarray(signs, dtype=np.float64), np.asarray(prototypes, dtype=np.float64)
    squares = np.sum(signs**2, axis=1)[:, None] + np.sum(prototypes**2, axis=1)
    # Rounded, so that equal distances stay equal.
    return np.round(np.maximum(squares - 2.0 * (signs @ prototypes.T), 0.0), 9)


def prototype_means(signs, codes, prototypes) -> np.ndarray:
    """A step: a_j = Σ_i q_ij y_i / Σ_i q_ij, the minimiser of Σ_ij q_ij ‖y_i − a_j‖².

    The paper prints the sum without its denominator; with it all prototypes collapse into one. A prototype
    without instances stays as it was.

    Parameters
    ----------
    signs : array (n, L)
        Labels, -1 or +1.
    codes : array (n, m)
        The codes q.
    prototypes : array (m, L)
        The present prototypes; not changed.

    Examples
    --------
    >>> import numpy as np
    >>> signs, codes = np.array([[1.0], [-1.0]]), np.array([[1.0, 0.0], [1.0, 0.0]])
    >>> prototype_means(signs, codes, prototypes=np.array([[0.5], [0.7]]))
    array([[0. ],
           [0.7]])
    """
    sums, mass = np.asarray(codes).T @ signs, np.sum(codes, axis=0)[:, None]
    return np.divide(sums, mass, out=np.array(prototypes, dtype=np.float64), where=mass > 0)
