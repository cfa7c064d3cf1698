"""The criteria as scikit-learn scorers and as a table of facts."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold

from mlspl.errors import UserError
from mlspl.metrics import CRITERIA, get_criterion, get_scorer, precision_at_k
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
    # Of the few best labels, lest all five of them are counted either way.
    function = get_criterion(name.replace("at_k", "at_2")).function
    gain = function(Y, right) - function(Y, wrong)
    assert (gain > 0) == criterion.greater_is_better
    if name not in ("coverage", "precision_at_k"):  # depend on Y
        assert function(Y, right) == pytest.approx(float(criterion.greater_is_better))


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
        with pytest.raises(UserError, match=r"accuracy.* hamming_loss"):
            look_up("accuracy")


def test_k_may_stand_in_the_name(data):
    X, Y = data
    F = RidgeClassifier().fit(X, Y).decision_function(X)
    named = get_criterion("precision_at_2")
    assert named.name == "precision_at_2"
    assert named.function(Y, F) == precision_at_k(Y, F, k=2) != precision_at_k(Y, F, k=1)
    assert get_criterion(named) is named
    for name in ("precision_at_0", "recall_at_3", "coverage_at_3"):
        with pytest.raises(UserError):
            get_criterion(name)


def test_what_is_no_criterion_is_refused():
    with pytest.raises(UserError, match="criterion"):
        get_criterion(3)


def test_the_catalogue_cannot_be_changed():
    with pytest.raises(TypeError):
        CRITERIA["new"] = CRITERIA["coverage"]
    with pytest.raises(AttributeError):
        CRITERIA["coverage"].name = "depth"
