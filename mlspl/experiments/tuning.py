"""Choosing a method's parameters on the training rows alone, the same way for every method."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from mlspl.errors import UserError
from mlspl.experiments.methods import TUNING_FOLDS, Method, candidates
from mlspl.metrics import get_criterion, get_scorer
from mlspl.model_selection import IterativeStratification

__all__ = ["choose_parameters", "scaled"]


def scaled(estimator: BaseEstimator, keep_sparse: bool) -> Pipeline:
    """Put z-scoring before an estimator, so that only the rows it is fitted on decide the scale.

    Parameters
    ----------
    estimator : estimator
        The method.
    keep_sparse : bool
        Sparse data is divided but not centred, and stays sparse.
    """
    return make_pipeline(StandardScaler(with_mean=not keep_sparse), estimator)


def choose_parameters(
    method: Method,
    grid: Mapping[str, list],
    criterion: str,
    X,
    Y,
    random_state: int,
    build: Callable[[BaseEstimator], Pipeline] | None = None,
    report: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Return the combination that does best in cross-validation on these rows.

    The folds depend on the labels and the seed only, so that every method is judged on the same ones.
    Of equally good combinations the first is taken; one that cannot be fitted is left out with a warning.

    Parameters
    ----------
    method : Method
        What to tune.
    grid : mapping
        The values to try of each parameter.
    criterion : str
        Name of one of the five criteria.
    X, Y : arrays of shape (n, d) and (n, L)
        The training rows; X may also be what `build`'s pipelines take.
    random_state : int
        Seed of the folds and of the method.
    build : callable, optional
        Puts the preprocessing before the method; by default `scaled` does.
    report : callable, optional
        Called after every combination.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl.experiments import get_method
    >>> digits = load_dataset("digits-traits")
    >>> X, Y = digits.X[:150], digits.Y[:150]
    >>> choose_parameters(get_method("bsvm"), {"C": [1e-4, 1.0]}, "ranking_loss", X, Y, random_state=0)
    {'C': 1.0}
    """
    settings = candidates(grid)
    if len(settings) == 1:
        return settings[0]
    scorer = get_scorer(get_criterion(criterion).name)
    folds = list(IterativeStratification(TUNING_FOLDS, random_state=random_state).split(X, Y))
    build = build or partial(scaled, keep_sparse=sparse.issparse(X))

    def score(setting: dict[str, Any]) -> float:
        model = build(method.make(setting, random_state, undecided=True))
        values = cross_val_score(model, X, Y, scoring=scorer, cv=folds, error_score="raise")
        # A criterion of rankings is undefined on a fold that has no row with present and absent labels.
        return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan

    scores = np.full(len(settings), -np.inf)
    reason = ""
    for i, setting in enumerate(settings):
        try:
            scores[i] = score(setting)
        except Exception as error:
            reason = str(error)
            warnings.warn(f"tuning left out {method.name} with {setting}: {error}", stacklevel=2)
        report()
    if np.isnan(scores).any():
        raise UserError(
            f"{criterion} cannot be told: no row that was held out has both present and absent labels. "
            "Tune by hamming_loss."
        )
    if not np.isfinite(scores).any():
        raise RuntimeError(
            f"tuning could not score {method.name} with any of its {len(settings)} settings: {reason}"
        )
    return settings[int(np.argmax(scores))]
