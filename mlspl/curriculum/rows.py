"""`row_scores`: from suspicions of pairs to rows worth a look."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mlspl.errors import UserError

__all__ = ["row_scores"]


def row_scores(suspicion: ArrayLike) -> pd.DataFrame:
    """Return how probably each row has any wrong label, and several, and how many are expected.

    The errors of a row are taken as independent given their suspicions.

    Parameters
    ----------
    suspicion : array-like of shape (n, L)
        The probability that each given label is wrong, as :func:`label_issues` returns it; NaN counts as
        none.

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
        one = one * (1 - column) + none * column
        none = none * (1 - column)
    several = np.clip(1 - none - one, 0.0, 1.0)
    return pd.DataFrame(
        {"any_error": 1 - none, "several_errors": several, "expected_errors": wrong.sum(axis=1)},
        index=suspicion.index if isinstance(suspicion, pd.DataFrame) else None,
    )
