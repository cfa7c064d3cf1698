"""The criteria as scikit-learn scorers and as a table of facts."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold

from mlspl.errors import UserError
from mlspl.metrics import CRITERIA, get_criterion, get_scorer
from mlspl.model_selection import IterativeStratification
from mlspl.models import BSVMClassifier


@pytest.fixture(scope="module")
def data():
    return make_multilabel_classification(n_samples=120, n_classes=4, random_state=0)


@pytest.mark.parametrize("name", CRITERIA)
def test_a_scorer_is_the_criterion_with_its_sign(name, data):
    X, Y = data
    model = RidgeClassifier().fit(X, Y)
    criterion = CRITERIA[name]
    output = model.predict(X) if criterion.uses == "labels" else model.decision_function(X)
    sign = 1 if criterion.greater_is_better else -1
    assert get_scorer(name)(model, X, Y) == sign * criterion.function(Y, output)


@pytest.mark.parametrize("name", CRITERIA)
def test_the_direction_is_true(name):
    """Perfect predictions are at least as good as their opposite, in the direction the table says."""
    rng = np.random.default_rng(0)
    Y = rng.random((50, 5)) < 0.4
    criterion = CRITERIA[name]
    right, wrong = (Y, ~Y) if criterion.uses == "labels" else (Y * 1.0, -1.0 * Y)
    gain = criterion.function(Y, right) - criterion.function(Y, wrong)
    assert (gain > 0) == criterion.greater_is_better


def test_grid_search_picks_the_best_by_the_criterion(data):
    X, Y = data
    search = GridSearchCV(
        RidgeClassifier(),
        {"alpha": [1.0, 1e6]},
        scoring={name: get_scorer(name) for name in CRITERIA},
        refit="average_precision",
        cv=KFold(3),
    ).fit(X, Y)
    results = search.cv_results_["mean_test_average_precision"]
    assert search.best_index_ == np.argmax(results)
    assert (search.cv_results_["mean_test_coverage"] < 0).all()


def test_our_estimators_are_searched_also_where_labels_are_unknown(data):
    X, Y = data
    Y = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, np.nan, Y)
    folds = IterativeStratification(3, random_state=0)
    search = GridSearchCV(
        BSVMClassifier(), {"C": [1e-4, 1.0]}, scoring=get_scorer("average_precision"), cv=folds
    ).fit(X, Y)
    by_hand = [
        CRITERIA["average_precision"].function(
            Y[test], BSVMClassifier(C=1.0).fit(X[train], Y[train]).decision_function(X[test])
        )
        for train, test in folds.split(X, Y)
    ]
    assert search.cv_results_["mean_test_score"][1] == pytest.approx(np.mean(by_hand))


def test_a_scorer_takes_probabilities_where_there_is_no_decision_function(data):
    X, Y = data
    forest = RandomForestClassifier(n_estimators=10, random_state=0).fit(X[:60], Y[:60])
    probabilities = np.column_stack([of_label[:, 1] for of_label in forest.predict_proba(X)])
    assert get_scorer("coverage")(forest, X, Y) == -CRITERIA["coverage"].function(Y, probabilities)


def test_an_unknown_name_is_answered_with_the_known_ones():
    for look_up in (get_criterion, get_scorer):
        with pytest.raises(
            UserError, match="no criterion 'accuracy': choose one of hamming_loss, ranking_loss"
        ):
            look_up("accuracy")


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        CRITERIA["new"] = CRITERIA["coverage"]
    with pytest.raises(AttributeError):
        CRITERIA["coverage"].name = "depth"
