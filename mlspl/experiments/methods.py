"""The compared methods: how each is built, with which parameters, and what tuning may try."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from sklearn.base import BaseEstimator

from mlspl import models
from mlspl.errors import UserError

__all__ = ["METHODS", "TUNING_BUDGET", "Method", "candidates", "get_method", "is_standard", "method_title"]

TUNING_BUDGET = 20
"""How many settings tuning tries for each method: the size of the paper's own grid for MLSPL."""

_CRITERION = "criterion"


@dataclass(frozen=True)
class Method:
    """One compared method.

    Parameters
    ----------
    name : str
        What the command line calls it.
    title : str
        What tables call it.
    build : callable
        Keyword parameters to an unfitted estimator.
    defaults : mapping
        The paper's parameters.
    grid : mapping
        The values that tuning tries of each parameter, `TUNING_BUDGET` combinations in all; empty for a
        method that tunes itself, by its parameter `criterion`.

    Examples
    --------
    >>> method = get_method("bsvm")
    >>> method.title, method.make({"C": 10.0}, random_state=0).C
    ('BSVM', 10.0)
    """

    name: str
    title: str
    build: Callable[..., BaseEstimator]
    defaults: Mapping[str, Any]
    grid: Mapping[str, list]

    def make(self, parameters: Mapping[str, Any], random_state: int) -> BaseEstimator:
        """Build the estimator, seeded where it draws random numbers.

        Parameters
        ----------
        parameters : mapping
            Its parameters.
        random_state : int
            The seed.
        """
        estimator = self.build(**parameters)
        if "random_state" in estimator.get_params(deep=False):
            estimator.set_params(random_state=random_state)
        return estimator

    def settings(self, tune: str) -> dict[str, Any]:
        """Return the parameters of a trial: the paper's, or the grid when they are tuned.

        Parameters
        ----------
        tune : str
            The criterion to tune by, or empty.
        """
        if not tune:
            return dict(self.defaults)
        fixed = {name: [tune if name == _CRITERION else value] for name, value in self.defaults.items()}
        return fixed | dict(self.grid)


def get_method(name: str) -> Method:
    """Return the method of that name, or say which names there are.

    Parameters
    ----------
    name : str
        As the command line spells it.

    Examples
    --------
    >>> get_method("ml-knn").title
    'ML-kNN'
    """
    if name not in METHODS:
        raise UserError(f"There is no method {name!r}: choose out of {', '.join(METHODS)}.")
    return METHODS[name]


def method_title(name: str) -> str:
    """Return what tables call a method; names that are not ours stay as they are.

    Parameters
    ----------
    name : str
        Of a method, ours or not.

    Examples
    --------
    >>> method_title("ml-knn"), method_title("someone else's")
    ('ML-kNN', "someone else's")
    """
    return METHODS[name].title if name in METHODS else name


def is_standard(method: str, parameters: Mapping[str, Any], tune: str) -> bool:
    """Whether these are the parameters (or the grid) that `mlspl reproduce` gives the method.

    Parameters
    ----------
    method : str
        Name of a method, ours or not.
    parameters : mapping
        Of a trial.
    tune : str
        Its criterion, or empty.

    Examples
    --------
    >>> is_standard("ml-knn", {"k": 10}, tune=""), is_standard("ml-knn", {"k": 3}, tune="")
    (True, False)
    """
    return method in METHODS and METHODS[method].settings(tune) == dict(parameters)


def candidates(grid: Mapping[str, list]) -> list[dict[str, Any]]:
    """List all combinations of the values of a grid, the last parameter changing fastest.

    Parameters
    ----------
    grid : mapping
        The values of each parameter.

    Examples
    --------
    >>> candidates({"C": [1, 10], "gamma": ["auto"]})
    [{'C': 1, 'gamma': 'auto'}, {'C': 10, 'gamma': 'auto'}]
    """
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


_SVM_GRID: dict[str, list] = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": ["auto", 0.001, 0.01, 0.1]}
# ML-LOC's α = 1 is C = ½; the same five orders of magnitude around it.
_LOCAL_GRID = {**_SVM_GRID, "C": [0.05, 0.5, 5.0, 50.0, 500.0]}
_NEIGHBOUR_GRID = {"k": list(range(1, TUNING_BUDGET + 1))}
_PACE_GRID = {"pace": [1e-5, 1e-4, 1e-3, 1e-2], "growth": [1.1, 1.2, 1.3, 1.4, 1.5]}
_PUBLISHED = {"pace_function": "sigmoid", "pace": 1e-2, "growth": 1.3, "max_steps": 20}


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("bsvm", "BSVM", models.BSVMClassifier, {"C": 1.0, "gamma": "auto"}, _SVM_GRID),
        Method("ml-knn", "ML-kNN", models.MLkNNClassifier, {"k": 10}, _NEIGHBOUR_GRID),
        Method("tram", "TRAM", models.TRAMClassifier, {"k": 10}, _NEIGHBOUR_GRID),
        Method("ranksvm", "RankSVM", models.RankSVMClassifier, {"C": 1.0, "gamma": "auto"}, _SVM_GRID),
        Method("ml-loc", "ML-LOC", models.MLLOCClassifier, {"C": 0.5, "gamma": "auto"}, _LOCAL_GRID),
        Method("mlspl", "MLSPL", models.MLSPLClassifier.as_published, _PUBLISHED, _PACE_GRID),
        Method("mlspl-cv", "MLSPL-CV", models.MLSPLClassifierCV, {_CRITERION: "average_precision"}, {}),
    )
}
"""The methods by name, in the order of the paper's tables."""
