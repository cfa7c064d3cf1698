"""scikit-learn's own checks, and what every estimator here promises beside them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from mlspl import BSVMClassifier, MLLOCClassifier, MLSPLClassifier, SelfPacedForestClassifier
from mlspl.pacing import QuantilePace
from tests.models.checks import scikit_learn_checks
from tests.models.odd_inputs import ESTIMATORS, X_NEW, L, N, X, Y, every_estimator, fitted


@scikit_learn_checks(
    [
        BSVMClassifier(),
        MLLOCClassifier(max_steps=3),
        MLSPLClassifier(schedule=QuantilePace(0.5, 1.0, 3)),
        MLSPLClassifier.as_published(max_steps=3),
        SelfPacedForestClassifier(n_estimators=10),
    ]
)
@pytest.mark.filterwarnings("ignore:The kernel is nearly constant")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_estimator
def test_probabilities_have_the_shape_of_the_labels_and_survive_pickling(name):
    model = fitted(name, X, Y)
    probabilities = model.predict_proba(X_NEW)
    assert probabilities.shape == (8, L)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X_NEW), probabilities)


@every_estimator
def test_what_an_unknown_pair_might_have_been_does_not_matter(name):
    """NaN, or weight 0 with any value beside it: one model."""
    unknown = np.random.RandomState(0).rand(N, L) < 0.2
    weight = np.where(unknown, 0.0, 1.0)
    weight.flags.writeable = False
    scores = fitted(name, X, np.where(unknown, np.nan, Y)).decision_function(X_NEW)
    for value in (0, 1):
        weighted = fitted(name, X, np.where(unknown, value, Y), label_weight=weight)
        np.testing.assert_array_equal(weighted.decision_function(X_NEW), scores)


@every_estimator
@pytest.mark.parametrize(
    ("weight", "sentence"),
    [(np.full(Y.shape, -1.0), "not negative"), (np.ones((N, 3)), r"shape \(32, 3\)")],
)
def test_bad_weights_are_refused_with_a_sentence(name, weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(ESTIMATORS[name]).fit(X, Y, label_weight=weight)
