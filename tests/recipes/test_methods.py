"""One registry: a name means the same model in Python, in `fit` and in `reproduce`."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mlspl import MLSPLClassifier, TunedDecisionClassifier
from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.recipes import METHODS, get_method, method_title


@pytest.mark.parametrize("name", METHODS)
def test_the_defaults_are_those_of_the_estimator(name):
    method = get_method(name)
    assert repr(method.build(**method.settings(""))) == repr(method.build())


def test_mlspl_is_ours_and_the_papers_has_a_name_of_its_own():
    assert repr(get_method("mlspl").build()) == repr(MLSPLClassifier())
    published = get_method("mlspl-published").make(get_method("mlspl-published").settings(""), random_state=3)
    assert repr(published) == repr(MLSPLClassifier.as_published(random_state=3))


def test_a_plus_has_the_decision_tuned():
    method = get_method("bsvm+")
    model = method.make(method.settings("") | {"C": 7.0}, random_state=0)
    assert isinstance(model, TunedDecisionClassifier)
    assert (model.estimator.C, model.criterion) == (7.0, "average_precision")
    assert method.make({"C": 7.0, "criterion": "one_error"}, 0, undecided=True).C == 7.0
    assert method_title("bsvm+") == "BSVM+"


def test_logistic_is_logistic_regression():
    """The minimum of LIBLINEAR, ½‖w‖² + C Σ loss with a bias like any weight, to either's tolerance.

    Ours is of the objective, about 100 here: weights within sqrt(2 · 1e-8), times rows of length 8, to 2e-3.
    """
    digits = load_dataset("digits-traits")
    X = digits.X[:300] / 16.0
    model = get_method("logistic").build(C=1.0, tol=1e-10).fit(X, digits.Y[:300])
    theirs = LogisticRegression(C=1.0, solver="liblinear", tol=1e-8, max_iter=10_000)
    for j in range(3):
        scores = theirs.fit(X, digits.Y[:300, j]).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X)[:, j], scores, atol=2e-3)


@pytest.mark.parametrize("name", ["svm", "mlspl-cv+", "bsvm++", ""])
def test_what_there_is_not_is_said_with_what_there_is(name):
    with pytest.raises(UserError, match=r"bsvm, .*extra-trees"):
        get_method(name)
