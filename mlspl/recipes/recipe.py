"""`Recipe`: a method on a table, from its parameters to a fitted pipeline; tuning."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from mlspl.errors import UserError
from mlspl.metrics import get_criterion, get_scorer
from mlspl.model_selection import IterativeStratification
from mlspl.recipes.methods import TUNING_FOLDS, Method, list_settings
from mlspl.recipes.pipeline import build_pipeline
from mlspl.recipes.schema import Schema

__all__ = ["Recipe", "choose_parameters"]


@dataclass(frozen=True)
class Recipe:
    """A method for tables of a schema: what `mlspl fit`, `audit` and `reproduce` do to every file.

    Parameters
    ----------
    method : Method
        From the registry.
    schema : Schema
        Of the training rows.
    seed : int, default=0
        Seeds everything random.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl.recipes import Recipe, Schema, get_method
    >>> digits = load_dataset("digits-traits", encode=False)
    >>> recipe = Recipe(get_method("ml-knn"), Schema.from_dataset(digits))
    >>> table, _ = recipe.schema.match(digits)
    >>> model = recipe.build({"k": 5}).fit(table[:300], digits.Y[:300])
    >>> model.predict(table[300:]).shape
    (1497, 8)
    """

    method: Method
    schema: Schema
    seed: int = 0

    def build(self, parameters: Mapping[str, Any], *, undecided: bool = False) -> Pipeline:
        """Return the unfitted pipeline of these parameters.

        Parameters
        ----------
        parameters : mapping
            Of the method.
        undecided : bool, default=False
            Leave out the choice of calibration and threshold rule of a method whose name ends in ``+``.
        """
        return build_pipeline(self.schema, self.method.make(parameters, self.seed, undecided=undecided))

    def choose(
        self, grid: Mapping[str, list], criterion: str, table, Y, report: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """Return the parameters that do best in cross-validation on these rows.

        Parameters
        ----------
        grid : mapping
            The values to try of each parameter, such as ``method.settings(criterion)``.
        criterion : str
            Name of a criterion.
        table : DataFrame or CSR array
            The training rows, from ``schema.match``.
        Y : array of shape (n, L)
            Their labels.
        report : callable, optional
            Called after every setting.
        """

        def build(parameters: Mapping[str, Any]) -> Pipeline:
            return self.build(parameters, undecided=True)

        return choose_parameters(build, grid, criterion, table, Y, self.seed, report)


def choose_parameters(
    build: Callable[[Mapping[str, Any]], BaseEstimator],
    grid: Mapping[str, list],
    criterion: str,
    X,
    Y,
    random_state: int,
    report: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Return the combination that does best in cross-validation on these rows.

    The folds depend on the labels and the seed only, so that every method is judged on the same ones.
    Of equally good combinations the first is taken; one that cannot be fitted is left out with a warning.

    Parameters
    ----------
    build : callable
        Parameters to the estimator that is tuned, all that is done to X before it included.
    grid : mapping
        The values to try of each parameter.
    criterion : str
        As :func:`mlspl.metrics.get_criterion` takes it.
    X, Y : arrays of shape (n, d) and (n, L)
        The training rows; X may also be a DataFrame.
    random_state : int
        Seed of the folds.
    report : callable, optional
        Called after every combination.

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> from mlspl import BSVMClassifier
    >>> digits = load_dataset("digits-traits")
    >>> X, Y = digits.X[:150], digits.Y[:150]
    >>> build = lambda parameters: BSVMClassifier(gamma="scale", **parameters)
    >>> choose_parameters(build, {"C": [0.1, 1.0]}, "ranking_loss", X, Y, random_state=0)
    {'C': 1.0}
    """
    settings = list_settings(grid)
    if len(settings) == 1:
        return settings[0]
    scorer = get_scorer(get_criterion(criterion).name)
    folds = list(IterativeStratification(TUNING_FOLDS, random_state=random_state).split(X, Y))

    def score(setting: dict[str, Any]) -> float:
        values = cross_val_score(build(setting), X, Y, scoring=scorer, cv=folds, error_score="raise")
        # A criterion of rankings is undefined on a fold that has no row with present and absent labels.
        return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan

    scores = np.full(len(settings), -np.inf)
    reason = ""
    for i, setting in enumerate(settings):
        try:
            scores[i] = score(setting)
        except Exception as error:
            reason = str(error)
            warnings.warn(f"tuning left out {setting}: {error}", stacklevel=2)
        report()
    if np.isnan(scores).any():
        raise UserError(
            f"{criterion} cannot be told: no row that was held out has both present and absent labels. "
            "Tune by hamming_loss."
        )
    if not np.isfinite(scores).any():
        raise RuntimeError(f"tuning could not score any of the {len(settings)} settings: {reason}")
    return settings[int(np.argmax(scores))]
