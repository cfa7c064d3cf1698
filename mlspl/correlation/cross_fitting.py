"""Cross-fitting: codes predicted for training rows as they would be for new ones."""

from typing import NamedTuple

import numpy as np

from mlspl.correlation.regressors import CodeRegressor, get_regressor
from mlspl.errors import UserError

__all__ = ["CrossFit", "cross_fit_codes"]


class CrossFit(NamedTuple):
    """Out-of-fold codes, and the regressor for new rows.

    Attributes
    ----------
    codes : array (n, m)
        Every row's code as predicted by a fit that did not see the row.
    regressor : CodeRegressor
        Fitted on all rows.
    """

    codes: np.ndarray
    regressor: CodeRegressor


def cross_fit_codes(regressor, K, codes, folds, *, n_threads=1) -> CrossFit:
    """Predict the codes of the training rows out of fold.

    Codes are made from the labels. A classifier that is trained on them sees its own answer; trained
    on these predictions, it sees what it will see at test time.

    Parameters
    ----------
    regressor : {"svr", "ridge"} or CodeRegressor
        An instance is cloned, not changed.
    K : array (n, n)
        Kernel of the features among the training rows.
    codes : array (n, m)
        The codes.
    folds : sequence of (train, test)
        Index arrays; every row must be in exactly one test part, and not in the training part beside it.
    n_threads : int
        Regressions fitted at the same time. The answer does not depend on it.

    Returns
    -------
    CrossFit

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> codes = np.tile(np.eye(2), (3, 1))
    >>> folds = list(KFold(3).split(codes))
    >>> cross_fit_codes("ridge", codes @ codes.T, codes, folds).codes[0].round(3)
    array([0.833, 0.167])
    """
    folds = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    n = len(codes)
    tested = np.concatenate([test for _, test in folds]) if folds else np.empty(0)
    if not np.array_equal(np.sort(tested), np.arange(n)):
        raise UserError(f"The folds must test each of the {n} rows exactly once.")
    if any(len(train) == 0 or np.intersect1d(train, test).size for train, test in folds):
        raise UserError("A fold trains on no row at all, or on rows that it tests.")
    regressor = get_regressor(regressor)
    return CrossFit(regressor.cross_fit(K, codes, folds, n_threads), regressor)
