"""`Recipe`: a method on a table, from its parameters to a fitted pipeline."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from mlspl.recipes.methods import Method
from mlspl.recipes.pipeline import build_pipeline
from mlspl.recipes.schema import Schema
from mlspl.recipes.tuning import choose_parameters

__all__ = ["Recipe"]


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
