import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl import SelfPacedClassifier, pacing
from mlspl.datasets import corrupt, load_dataset
from mlspl.metrics import average_precision

DIGITS = load_dataset("digits-traits")
X = DIGITS.X / 16.0
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[:300], DIGITS.Y[:300], X[300:900], DIGITS.Y[300:900]


@parametrize_with_checks([SelfPacedClassifier(LogisticRegression())])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_unpaced_it_is_a_classifier_per_label():
    ours = SelfPacedClassifier(LogisticRegression(), pace_function=None).fit(X_TRAIN, Y_TRAIN)
    theirs = MultiOutputClassifier(LogisticRegression()).fit(X_TRAIN, Y_TRAIN)
    np.testing.assert_array_equal(ours.predict(X_TEST), theirs.predict(X_TEST))
    expected = np.column_stack([p[:, 1] for p in theirs.predict_proba(X_TEST)])
    np.testing.assert_allclose(ours.predict_proba(X_TEST), np.clip(expected, 1e-6, 1 - 1e-6), rtol=1e-6)


@pytest.mark.parametrize(
    "estimator",
    [
        HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=8, random_state=0),
        RandomForestClassifier(n_estimators=20, random_state=0),
        LinearSVC(random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_with_sample_weights(estimator):
    model = SelfPacedClassifier(estimator, random_state=0).fit(X_TRAIN[:, 20:44], Y_TRAIN[:, :2])
    assert (model.predict(X_TEST[:, 20:44]) == Y_TEST[:, :2]).mean() > 0.75
    assert model.label_weights_.min() < 0.5 < model.label_weights_.max()


def test_trees_take_sparse_rows_with_long_indices():
    """scikit-learn's trees refuse 64-bit indices, which concatenation and other libraries make."""
    narrow = sparse.csr_array(X_TRAIN[:, 20:44])
    wide = sparse.csr_array((narrow.data, narrow.indices.astype(np.int64), narrow.indptr.astype(np.int64)))
    model = SelfPacedClassifier(RandomForestClassifier(n_estimators=5, random_state=0), random_state=0)
    expected = model.fit(narrow, Y_TRAIN[:, :2]).decision_function(narrow)
    np.testing.assert_array_equal(model.fit(wide, Y_TRAIN[:, :2]).decision_function(wide), expected)
    assert wide.indices.dtype == np.int64


def test_flipped_pairs_weigh_less_and_the_labels_come_out_better():
    noisy, flipped = corrupt(Y_TRAIN, "flip", 0.2, 0)
    paced = SelfPacedClassifier(LogisticRegression(), random_state=0).fit(X_TRAIN, noisy)
    unpaced = SelfPacedClassifier(LogisticRegression(), pace_function=None).fit(X_TRAIN, noisy)
    assert paced.label_weights_[flipped].mean() < paced.label_weights_[~flipped].mean() - 0.2
    assert average_precision(Y_TEST, paced.decision_function(X_TEST)) > average_precision(
        Y_TEST, unpaced.decision_function(X_TEST)
    )


def test_a_hard_pace_that_leaves_one_class_gives_its_constant():
    schedule = pacing.QuantilePace(0.0, 0.0, 1, per="label")
    model = SelfPacedClassifier(LogisticRegression(), "hard", schedule, random_state=0)
    scores = model.fit(X_TRAIN, Y_TRAIN).decision_function(X_TEST)
    assert np.isfinite(scores).all()
    assert any(isinstance(estimator, float) for estimator in model.estimators_)
