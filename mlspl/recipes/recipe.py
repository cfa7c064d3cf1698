"""`Recipe`: a method for tables of one schema; tuning."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from mlspl.errors import UserError
from mlspl.metrics import get_criterion, get_scorer
from mlspl.model_selection import IterativeStratification
from mlspl.recipes.methods import TUNING_FOLDS, Method, list_settings
from mlspl.recipes.pipeline import build_pipeline
from mlspl.recipes.schema import Schema

__all__ = ["Recipe"]


@dataclass(frozen=True)
class Recipe:
    """A `Method` for tables of a `Schema`, with a seed: what `mlspl fit`, `audit` and `reproduce` use.

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
        """Return the unfitted pipeline; `undecided` leaves out calibration and threshold rule."""
        return build_pipeline(self.schema, self.method.make(parameters, self.seed, undecided=undecided))

    def choose(
        self, grid: Mapping[str, list], criterion: str, table, Y, report: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """Return the parameters of the grid that do best in cross-validation on the rows of a table.

        The folds depend on the labels and the seed only. Of equally good settings the first is taken; one
        that cannot be fitted is left out with a warning. `report` is called after every setting.
        """
        settings = list_settings(grid)
        if len(settings) == 1:
            return settings[0]
        scorer = get_scorer(get_criterion(criterion).name)
        folds = list(IterativeStratification(TUNING_FOLDS, random_state=self.seed).split(table, Y))
        scores = np.full(len(settings), -np.inf)
        reason = ""
        for i, setting in enumerate(settings):
            model = self.build(setting, undecided=True)
            try:
                values = cross_val_score(model, table, Y, scoring=scorer, cv=folds, error_score="raise")
                # A ranking criterion is undefined on a fold without a row that has present and absent labels.
                scores[i] = np.nanmean(values) if np.isfinite(values).any() else np.nan
            except Exception as error:
                reason = str(error)
                warnings.warn(f"tuning left out {setting}: {error}", stacklevel=2)
            report()
        if np.isnan(scores).any():
            raise UserError(
                f"{criterion} is undefined: no held-out row has both present and absent labels. "
                "Tune by hamming_loss."
            )
        if not np.isfinite(scores).any():
            raise RuntimeError(f"tuning could not score any of the {len(settings)} settings: {reason}")
        return settings[int(np.argmax(scores))]
