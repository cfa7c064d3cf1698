"""scikit-learn's own checks, and what every estimator here promises beside them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl import (
    BSVMClassifier,
    MLkNNClassifier,
    MLLOCClassifier,
    MLSPLClassifier,
    RankSVMClassifier,
    SelfPacedForestClassifier,
    TRAMClassifier,
)
from mlspl.pacing import QuantilePace

CHECKED = [
    BSVMClassifier(),
    MLLOCClassifier(max_steps=3),
    MLSPLClassifier(schedule=QuantilePace(0.5, 1.0, 3)),
    MLSPLClassifier.as_published(max_steps=3),
    SelfPacedForestClassifier(n_estimators=10),
]
ESTIMATORS = [*CHECKED, MLkNNClassifier(k=5), TRAMClassifier(k=5), RankSVMClassifier()]
X, Y = make_multilabel_classification(n_samples=60, n_features=8, n_classes=4, n_labels=2, random_state=0)
X -= X.mean(axis=0)
X /= X.std(axis=0)
X_train, Y_train, X_test = X[:45], Y[:45], X[45:]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def named(estimator):
    return f"{type(estimator).__name__}-{getattr(estimator, 'codes', '')}"


every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)


@every_estimator
def test_any_container_and_coding_of_labels_gives_the_same_scores(estimator):
    seeded = clone(estimator)
    if "random_state" in seeded.get_params():
        seeded.set_params(random_state=0)
    scores = clone(seeded).fit(X_train, Y_train).decision_function(X_test)
    signs = np.where(Y_train, 1, -1)
    for labels in (Y_train.astype(bool), Y_train.astype(float), sparse.csr_matrix(Y_train), signs):
        model = clone(seeded).fit(X_train, labels)
        np.testing.assert_array_equal(model.decision_function(X_test), scores)
    assert set(np.unique(model.predict(X_test))) <= {-1, 1}
    # The kernels of sparse and dense rows differ by rounding, so the solvers end at other points within their
    # tolerance of 1e-3, which is that of a training score. Weights and codes carry it on to new rows, doubled
    # at most: the published pace of 0.01 asks for losses that are a hundred times as exact.
    from_sparse = clone(seeded).fit(sparse.csr_matrix(X_train), Y_train)
    np.testing.assert_allclose(from_sparse.decision_function(sparse.csr_matrix(X_test)), scores, atol=2e-3)


@every_estimator
def test_names_survive(estimator):
    frame = pd.DataFrame(X_train, columns=[f"f{i}" for i in range(8)])
    labels = pd.DataFrame(Y_train, columns=["a", "b", "c", "d"])
    model = clone(estimator).fit(frame, labels)
    assert list(model.label_names_) == ["a", "b", "c", "d"]
    assert list(model.feature_names_in_) == list(frame.columns)


@every_estimator
def test_inputs_may_be_read_only_and_stay_as_they_were(estimator):
    X_fixed, Y_fixed, weight = X_train.copy(), Y_train.copy(), np.full(Y_train.shape, 0.5)
    for array in (X_fixed, Y_fixed, weight):
        array.flags.writeable = False
    model = clone(estimator).fit(X_fixed, Y_fixed, label_weight=weight)
    model.predict_proba(X_fixed)
    np.testing.assert_array_equal(X_fixed, X_train)
    np.testing.assert_array_equal(Y_fixed, Y_train)


@every_estimator
def test_constant_labels_and_rows_without_labels_survive(estimator):
    labels = Y_train.copy()
    labels[:, 0], labels[:, 1] = 1, 0
    labels[:5, 2:] = 0
    predicted = clone(estimator).fit(X_train, labels).predict(X_test)
    assert predicted[:, 0].all()
    assert not predicted[:, 1].any()


@every_estimator
def test_unknown_labels_are_left_out(estimator):
    labels = Y_train.astype(float)
    labels[::3, 1] = np.nan
    weight = np.ones(Y_train.shape)
    weight[::3, 1] = 0.0
    unknown = clone(estimator)
    if "random_state" in unknown.get_params():
        unknown.set_params(random_state=0)
    unknown = clone(unknown).fit(X_train, labels)
    weighted = clone(unknown).fit(X_train, np.nan_to_num(labels), label_weight=weight)
    np.testing.assert_array_equal(unknown.decision_function(X_test), weighted.decision_function(X_test))


@every_estimator
def test_probabilities_have_the_shape_of_the_labels_and_survive_pickling(estimator):
    model = clone(estimator).fit(X_train, Y_train)
    probabilities = model.predict_proba(X_test)
    assert probabilities.shape == (15, 4)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(X_test), probabilities)


@every_estimator
@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.where(Y_train, 2, 0), r"Y\[\d+, \d+\] is 2"),
        (Y_train[:-1], "45 rows but Y has 44|inconsistent numbers of samples"),
        (np.empty((45, 0)), "at least one label|minimum of 1 is required"),
    ],
)
def test_bad_labels_are_refused_with_a_sentence(estimator, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(estimator).fit(X_train, labels)


@every_estimator
@pytest.mark.parametrize(
    ("weight", "sentence"),
    [(np.full(Y_train.shape, -1.0), "must not be negative"), (np.ones((45, 3)), r"shape \(45, 3\)")],
)
def test_bad_weights_are_refused_with_a_sentence(estimator, weight, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(estimator).fit(X_train, Y_train, label_weight=weight)
