"""The default pace of `MLSPLClassifier` and `SelfPacedClassifier` is chosen by held-out rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from mlspl import MLSPLClassifier, SelfPacedClassifier, pacing
from mlspl.datasets import corrupt, load_dataset
from mlspl.model_selection import out_of_fold_scores
from mlspl.models._families import log_losses
from mlspl.models._pace_choice import UNPACED, choose_schedule

DIGITS = load_dataset("digits-traits")
X, Y = DIGITS.X[:300] / 16.0, DIGITS.Y[:300]
NOISY, _ = corrupt(Y, "flip", 0.3, random_state=0)
MODELS = {
    "mlspl": MLSPLClassifier(random_state=0),
    "self-paced": SelfPacedClassifier(LogisticRegression(C=10.0, max_iter=300), random_state=0),
}


SCHEDULES = {
    "mlspl": [pacing.QuantilePace(0.9, 0.9, 1), pacing.QuantilePace(0.7, 0.95, 3)],
    "self-paced": [pacing.QuantilePace(0.9, 0.9, 1)],
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("labels", [Y, NOISY], ids=["clean", "flipped"])
def test_the_choice_is_that_of_a_plain_comparison(name, labels):
    model = MODELS[name].fit(X, labels)
    losses = []
    for schedule in (UNPACED, *SCHEDULES[name]):
        scores = out_of_fold_scores(clone(model).set_params(schedule=schedule), X, labels, cv=3)
        losses.append(log_losses(scores, labels > 0, None))
    for record, paced in zip(model.pace_choice_, losses[1:], strict=True):
        gain = losses[0] - paced
        assert record["gain"] == pytest.approx(gain.mean())
        assert record["standard_error"] == pytest.approx(gain.std(ddof=1) / np.sqrt(len(gain)))
    is_paced = any(record["gain"] > 0.5 * record["standard_error"] for record in model.pace_choice_)
    assert is_paced == (model.label_weights_ < 1).any() == (labels is NOISY)


@pytest.mark.parametrize("name", MODELS)
def test_few_rows_and_a_given_schedule_leave_no_choice(name):
    few = MODELS[name].fit(X[:60], Y[:60])
    assert few.pace_choice_ == []
    assert (few.label_weights_ == 1).all()
    given = clone(MODELS[name]).set_params(schedule=pacing.QuantilePace(0.6, 0.6, 1)).fit(X, Y)
    assert given.pace_choice_ == []
    assert given.label_weights_.min() < 0.5


def test_any_container_chooses_alike():
    """A kernel matrix, sparse labels and weights of pairs are cut to the sample as arrays are."""
    paces = [pacing.QuantilePace(0.9, 0.9, 1)]
    estimator = MLSPLClassifier(kernel="linear", random_state=0).fit(X, NOISY)
    _, expected = choose_schedule(estimator, paces, X, NOISY, None)
    estimator.set_params(kernel="precomputed")
    for labels, weight in ((NOISY, None), (sparse.csr_array(NOISY), None), (NOISY, np.ones(NOISY.shape))):
        _, found = choose_schedule(estimator, paces, X @ X.T, labels, weight)
        assert found[0]["gain"] == pytest.approx(expected[0]["gain"], abs=1e-6)


def test_names_of_classes_reach_the_folds():
    """Folds see labels of 0 and 1, so weights by class name failed in `predict_proba`."""
    y = np.where(Y[:, 0] > 0, "even", "odd")
    model = MLSPLClassifier(class_weight={"even": 3.0, "odd": 1.0}, random_state=0).fit(X, y)
    assert model.predict_proba(X[:2]).shape == (2, 2)
    in_sample = MLSPLClassifier.as_published(class_weight={"even": 3.0}, random_state=0).fit(X, y)
    assert in_sample.predict_proba(X[:2]).shape == (2, 2)
