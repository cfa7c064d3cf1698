"""The registry of methods, and `Recipe`: a method for tables of one schema; tuning."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

from mlspl import models, torch
from mlspl.errors import UserError, guess, listed
from mlspl.metrics import get_criterion, get_scorer
from mlspl.model_selection import IterativeStratification
from mlspl.recipes.pipeline import build_pipeline
from mlspl.recipes.schema import Schema

TUNING_BUDGET = 20
"""How many settings tuning tries for each method: the size of the paper's own grid for MLSPL."""

TUNING_FOLDS = 5
"""Folds of the inner cross-validation, as many as MLSPL-CV has."""

_CRITERION = "criterion"


@dataclass(frozen=True)
class Method:
    """One method.

    The command line calls it `name`, tables `title`. `build` turns parameters into an unfitted estimator.
    `grid` has the values that tuning tries of each; a method that tunes itself has none. `decide`: whether
    calibration and threshold rule are chosen by validation too. A trial notes the versions of `libraries`.

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
    decide: bool = False
    libraries: tuple[str, ...] = ()

    def make(
        self, parameters: Mapping[str, Any], random_state: int, *, undecided: bool = False
    ) -> BaseEstimator:
        """Build the estimator with a seed; `undecided` leaves out calibration and threshold rule."""
        parameters = dict(parameters)
        criterion = parameters.pop(_CRITERION) if self.decide else ""
        estimator = self.build(**parameters)
        if self.decide and not undecided:
            estimator = models.TunedDecisionClassifier(estimator, criterion, cv=TUNING_FOLDS)
        seeds = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
        return estimator.set_params(**dict.fromkeys(seeds, random_state))

    def with_parameters(self, given: Mapping[str, Any]) -> "Method":
        """Return the method with some parameters fixed, which tuning does not change."""
        known = {*self.make(self.defaults, 0, undecided=True).get_params(deep=False), *self.defaults}
        for name in sorted(given.keys() - known):
            choice = ", ".join(sorted(known))
            raise UserError(f"{self.name} has no parameter {name!r}.{guess(name, known)} It has {choice}.")
        grid = {name: values for name, values in self.grid.items() if name not in given}
        method = replace(self, defaults={**self.defaults, **given}, grid=grid)
        try:
            method.make(method.defaults, 0)
        except TypeError as error:
            raise UserError(f"{self.name} fixes some of {listed(list(given))} itself ({error}).") from None
        return method

    def settings(self, tune: str) -> dict[str, Any]:
        """Return the parameters; with a criterion to tune by, the values of each that tuning tries."""
        if not tune:
            return dict(self.defaults)
        fixed = {name: [tune if name == _CRITERION else value] for name, value in self.defaults.items()}
        return fixed | dict(self.grid)


def get_method(name: str, methods: Mapping[str, Method] | None = None) -> Method:
    """Return the method of that name; with a ``+`` after it, validation chooses threshold rule and all."""
    methods = METHODS if methods is None else methods
    plain = name.removesuffix("+")
    if not _is_known(name, methods):
        raise UserError(
            f"There is no method {name!r}.{guess(plain, methods)} Choose out of {', '.join(methods)}; a + "
            "behind a name has calibration and threshold chosen by validation, which mlspl-cv does anyway."
        )
    method = methods[plain]
    if name == plain:
        return method
    defaults = {**method.defaults, _CRITERION: "average_precision"}
    return replace(method, name=name, title=f"{method.title}+", defaults=defaults, decide=True)


def method_title(name: str) -> str:
    """Return what tables call a method; other names stay as they are."""
    return get_method(name).title if _is_known(name, METHODS) else name


def _is_known(name: str, methods: Mapping[str, Method]) -> bool:
    plain = name.removesuffix("+")
    return plain in methods and (name == plain or bool(methods[plain].grid))


def list_settings(grid: Mapping[str, list]) -> list[dict[str, Any]]:
    """List all combinations of the values of a grid, the last parameter changing fastest."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


_SVM_GRID: dict[str, list] = {"C": [0.1, 1.0, 10.0, 100.0, 1000.0], "gamma": ["scale", 0.001, 0.01, 0.1]}
# ML-LOC's α = 1 is C = ½; the same five orders of magnitude around it.
_LOCAL_GRID = {**_SVM_GRID, "C": [0.05, 0.5, 5.0, 50.0, 500.0]}
_NEIGHBOUR_GRID: dict[str, list] = {"k": ["auto", *range(1, TUNING_BUDGET)]}
_PACE_GRID = {"pace": [1e-5, 1e-4, 1e-3, 1e-2], "growth": [1.1, 1.2, 1.3, 1.4, 1.5]}
_FOREST_GRID: dict[str, list] = {
    "max_features": [0.05, 0.1, 0.2, "sqrt"],
    "min_samples_leaf": [1, 2, 3, 5, 8],
}
_LOGISTIC_GRID: dict[str, list] = {"C": [0.003, 0.03, 0.3, 3.0, 30.0], "class_weight": [None, 0.25, 0.5, 1.0]}
_NETWORK_GRID: dict[str, list] = {
    "dropout": [0.1, 0.3, 0.5, 0.7],
    "learning_rate": [1e-4, 3e-4, 1e-3, 3e-3, 1e-2],
}
_MLSPL = {"C": "auto", "gamma": "scale", "class_weight": 0.5, "regressor": "ridge"}
_PUBLISHED = {"pace_function": "sigmoid", "pace": 1e-2, "growth": 1.3, "max_steps": 20}


def _logistic(**parameters: Any) -> models.BSVMClassifier:
    """Logistic regression for each label; C="auto" is chosen by the loss of held-out rows."""
    return models.BSVMClassifier(space="linear", **parameters)


def _extra_trees(**parameters: Any) -> models.SelfPacedForestClassifier:
    """Joint trees with the leaves and features of scikit-learn's extra trees, unpaced."""
    defaults = {"n_estimators": 500, "min_samples_leaf": 1, "max_features": "sqrt", "trees": "joint"}
    return models.SelfPacedForestClassifier(
        pace_function=None, **(defaults | {"prior_weight": 0.0} | parameters)
    )


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("bsvm", "BSVM", models.BSVMClassifier, {"C": "auto", "gamma": "scale"}, _SVM_GRID),
        Method("ml-knn", "ML-kNN", models.MLkNNClassifier, {"k": "auto"}, _NEIGHBOUR_GRID),
        Method("tram", "TRAM", models.TRAMClassifier, {"k": "auto"}, _NEIGHBOUR_GRID),
        Method("ranksvm", "RankSVM", models.RankSVMClassifier, {"C": "auto", "gamma": "scale"}, _SVM_GRID),
        Method("ml-loc", "ML-LOC", models.MLLOCClassifier, {"C": "auto", "gamma": "scale"}, _LOCAL_GRID),
        Method(
            "mlspl-published", "MLSPL (paper)", models.MLSPLClassifier.as_published, _PUBLISHED, _PACE_GRID
        ),
        Method("mlspl", "MLSPL", models.MLSPLClassifier, _MLSPL, _SVM_GRID),
        Method("mlspl-cv", "MLSPL-CV", models.MLSPLClassifierCV, {_CRITERION: "average_precision"}, {}),
        Method(
            "forest",
            "Paced forest",
            models.SelfPacedForestClassifier,
            {"n_estimators": 300},
            _FOREST_GRID | {"max_features": [0.05, 0.1, 0.2, "auto"]},
        ),
        Method("extra-trees", "ExtraTrees", _extra_trees, {"n_estimators": 500}, _FOREST_GRID),
        Method("logistic", "Logistic", _logistic, {"C": "auto"}, _LOGISTIC_GRID),
        Method("net", "Networks", torch.SelfPacedNetClassifier, {"n_epochs": 100}, _NETWORK_GRID),
    )
}
"""The methods by name: those of the paper in the order of its tables, then the others."""


@dataclass(frozen=True)
class Recipe:
    """A `Method` for tables of a `Schema`, with a seed: what `mlspl fit`, `audit` and `reproduce` use."""

    method: Method
    schema: Schema
    seed: int = 0

    def build(self, parameters: Mapping[str, Any], *, undecided: bool = False) -> Pipeline:
        """Return the unfitted pipeline; `undecided` leaves out calibration and threshold rule."""
        return build_pipeline(self.schema, self.method.make(parameters, self.seed, undecided=undecided))

    def choose(
        self, grid: Mapping[str, list], criterion: str, table, Y, report: Callable[[], None] = lambda: None
    ) -> dict[str, Any]:
        """Return the parameters of the grid that do best in cross-validation; `report` counts them."""
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
