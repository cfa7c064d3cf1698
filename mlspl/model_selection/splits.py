"""Single splits into training and test rows: the protocol's random one, and a stratified one."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from mlspl.errors import UserError
from mlspl.model_selection.inputs import carriers
from mlspl.model_selection.stratification import share_out

__all__ = ["protocol_split", "stratified_split"]


def protocol_split(n: int, split: int, train: float = 0.3) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of split number `split`, as every published figure of this package uses them.

    With `p = np.random.RandomState(split).permutation(n)`, training rows are `p[:int(train * n)]` and test
    rows are the rest. This sentence is all it takes to compute a figure again, with or without this package.

    Parameters
    ----------
    n : int
        Number of rows.
    split : int
        Number of the split, which is its seed.
    train : float, default=0.3
        Share of the rows to train on.

    Returns
    -------
    train, test : ndarray
        Row numbers, in the order of the permutation.

    Examples
    --------
    >>> from mlspl.model_selection import protocol_split
    >>> train, test = protocol_split(10, split=0)
    >>> print(train, test)
    [2 8 4] [9 1 6 7 3 0 5]
    """
    n_train = training_rows(n, train)
    permutation = np.random.RandomState(split).permutation(n)
    return permutation[:n_train], permutation[n_train:]


def stratified_split(
    Y: ArrayLike, train: float = 0.3, random_state=None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return training and test rows in which every label has nearly the same share.

    One split by iterative stratification, of exactly `int(train * n)` training rows. See
    `IterativeStratification` for the algorithm.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n, L)
        Labels: 0/1, ±1 or boolean; NaN counts as absent.
    train : float, default=0.3
        Share of the rows to train on.
    random_state : int, RandomState instance or None, default=None
        Seeds the order of the rows and the ties.

    Returns
    -------
    train, test : ndarray
        Row numbers, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.model_selection import stratified_split
    >>> Y = np.array([[1, 0]] * 10 + [[0, 1]] * 10)
    >>> train, test = stratified_split(Y, train=0.4, random_state=0)
    >>> print(Y[train].sum(axis=0), Y[test].sum(axis=0))
    [4 4] [6 6]
    """
    labels = carriers(Y)
    n = labels.shape[0]
    n_train = training_rows(n, train)
    sizes = np.array([n_train, n - n_train])
    subsets = share_out(labels, sizes / n, sizes, check_random_state(random_state))
    return np.flatnonzero(subsets == 0), np.flatnonzero(subsets == 1)


def training_rows(n: int, train: float) -> int:
    if not 0 < train < 1:
        raise UserError(f"train is {train}: it is a share of the rows, between 0 and 1.")
    n_train = int(train * n)
    if not 0 < n_train < n:
        raise UserError(f"A share of {train} leaves {n_train} of {n} rows to train on: take more rows.")
    return n_train
