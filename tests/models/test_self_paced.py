import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from mlspl import MLSPLClassifier, SelfPacedClassifier, pacing
from mlspl.datasets import corrupt, load_dataset
from mlspl.metrics import average_precision
from tests.models.checks import scikit_learn_checks

DIGITS = load_dataset("digits-traits")
X = DIGITS.X / 16.0
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[:300], DIGITS.Y[:300], X[300:900], DIGITS.Y[300:900]


@scikit_learn_checks([SelfPacedClassifier(LogisticRegression())])
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
    paced = pacing.QuantilePace(0.9, 0.9, 1)
    model = SelfPacedClassifier(estimator, schedule=paced, random_state=0).fit(
        X_TRAIN[:, 20:44], Y_TRAIN[:, :2]
    )
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


def unknown_majority():
    """Label 1 is x > 0; of its absent pairs only those near the border are known, and they are few."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    Y = np.column_stack([X[:, 1] > 0, X[:, 0] > 0]).astype(float)
    Y[X[:, 0] < -0.1, 1] = np.nan
    return X, Y, X[:, 0] > 0


@pytest.mark.parametrize(
    "model",
    [
        SelfPacedClassifier(LogisticRegression(), random_state=0),
        MLSPLClassifier("hard", random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_unknown_pairs_do_not_set_the_pace_of_the_known(model):
    X, Y, truth = unknown_majority()
    model = clone(model).set_params(schedule=pacing.QuantilePace(0.5, 0.5, 1)).fit(X, Y)
    known = np.isfinite(Y[:, 1])
    assert model.label_weights_[known & ~truth, 1].mean() > 0.3
    assert (model.predict(X)[:, 1] == truth).mean() > 0.8
    assert model.history_[0]["mean_weight"] == pytest.approx(model.label_weights_[np.isfinite(Y)].mean())


def test_a_kernel_of_all_rows_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="all pairs of rows"):
        SelfPacedClassifier(SVC(kernel="precomputed")).fit(np.eye(20), np.arange(40).reshape(20, 2) % 3 == 0)


def test_a_hard_pace_that_leaves_one_class_gives_its_constant():
    schedule = pacing.QuantilePace(0.0, 0.0, 1, per="label")
    model = SelfPacedClassifier(LogisticRegression(), "hard", schedule, random_state=0)
    scores = model.fit(X_TRAIN, Y_TRAIN).decision_function(X_TEST)
    assert np.isfinite(scores).all()
    assert any(isinstance(estimator, float) for estimator in model.estimators_)


def test_a_seed_makes_random_estimators_repeat_themselves():
    forest = RandomForestClassifier(n_estimators=5)
    first, again, other = (
        SelfPacedClassifier(forest, random_state=seed).fit(X_TRAIN, Y_TRAIN[:, :2]).decision_function(X_TEST)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert forest.random_state is None


def test_what_takes_no_weights_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"takes no sample_weight"):
        SelfPacedClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X_TRAIN, Y_TRAIN)
