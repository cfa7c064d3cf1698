"""Tuning: the same folds and budget for all, judged by scikit-learn's own search, blind to test rows."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from mlspl.datasets import load_dataset
from mlspl.experiments import plan_trials, run_trial
from mlspl.metrics import get_scorer
from mlspl.model_selection import IterativeStratification
from mlspl.recipes import METHODS, TUNING_BUDGET, TUNING_FOLDS, Recipe, Schema, get_method, list_settings


@pytest.fixture(scope="module")
def digits():
    full = load_dataset("digits-traits")
    return replace(full, X=full.X[:120], Y=full.Y[:120])


@pytest.mark.parametrize(("method", "criterion"), [("ml-knn", "hamming_loss"), ("tram", "average_precision")])
def test_the_choice_is_that_of_grid_search(digits, criterion, method):
    grid = {"k": [1, 3, 7, 15]}
    folds = list(IterativeStratification(TUNING_FOLDS, random_state=5).split(digits.X, digits.Y))
    recipe = Recipe(get_method(method), Schema.from_dataset(digits), seed=5)
    table, _ = recipe.schema.match(digits)
    search = GridSearchCV(
        recipe.build({}), {"model__k": grid["k"]}, scoring=get_scorer(criterion), cv=folds
    ).fit(table, digits.Y)
    assert recipe.choose(grid, criterion, table, digits.Y) == {"k": search.best_params_["model__k"]}


def test_no_test_row_is_looked_at(digits):
    (trial,) = plan_trials({"digits": digits}, ["ml-knn"], splits=1, tune="ranking_loss")
    test = np.random.RandomState(0).permutation(120)[36:]
    X, Y = digits.X.copy(), digits.Y.copy()
    X[test], Y[test] = np.random.default_rng(0).permutation(X[test]), 1 - Y[test]
    ours, theirs = run_trial(trial, digits), run_trial(trial, replace(digits, X=X, Y=Y))
    assert ours.chosen == theirs.chosen
    assert ours.scores != theirs.scores
    assert ours.chosen["k"] in trial.parameters["k"]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_that_is_tuned_gets_the_same_budget(name):
    method = get_method(name)
    grid = method.settings("one_error")
    if method.grid:
        assert prod(len(values) for values in grid.values()) == TUNING_BUDGET
        # On a kernel matrix "auto" is a number of the grid; logistic regression chooses it by validation.
        numbers = (
            {"C": {"ml-loc": 0.5, "logistic": 0.03}.get(name, 1.0)}
            if method.defaults.get("C") == "auto"
            else {}
        )
        own = repr(method.build(**method.defaults | numbers))
        assert own in [repr(method.build(**setting)) for setting in list_settings(grid)]


def test_settings_that_cannot_be_fitted_are_left_out_with_a_warning(digits):
    recipe = Recipe(get_method("ml-knn"), Schema.from_dataset(digits))
    table, _ = recipe.schema.match(digits)
    with pytest.warns(UserWarning, match="left out {'k': 500}"):
        assert recipe.choose({"k": [500, 5]}, "one_error", table, digits.Y) == {"k": 5}
    with (
        pytest.warns(UserWarning, match="left out"),
        pytest.raises(RuntimeError, match="2 settings"),
    ):
        recipe.choose({"k": [500, 600]}, "one_error", table, digits.Y)
