import matplotlib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl import MLSPLClassifier, MLSPLClassifierCV, pacing
from mlspl.datasets import corrupt, load_dataset
from mlspl.metrics import average_precision
from mlspl.model_selection import protocol_split

DIGITS = load_dataset("digits-traits")
TRAIN, TEST = protocol_split(len(DIGITS.Y), 0, 0.1)
X = StandardScaler().fit(DIGITS.X[TRAIN]).transform(DIGITS.X)
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[TRAIN], DIGITS.Y[TRAIN], X[TEST], DIGITS.Y[TEST]
SMALL = MLSPLClassifierCV(
    C=(1.0, 4.0), gamma_factors=(0.5,), class_weights=(0.5,), quantiles=(0.7, 0.9), cv=3, random_state=0
)


# scikit-learn expects the labels with a positive score, which is what a threshold rule may change.
CHECKED = MLSPLClassifierCV(
    C=(1.0,), gamma_factors=(1.0,), pace_functions=("huber",), per=("label",), thresholds=("zero",), cv=2
)


@parametrize_with_checks([CHECKED])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_chosen_model_is_the_mlspl_it_says():
    model = clone(SMALL).fit(X_TRAIN, Y_TRAIN)
    chosen = model.best_params_
    target = chosen["target"]
    schedule = pacing.QuantilePace(target, target, 1, per=chosen["per"] or "class")
    twin = MLSPLClassifier(
        chosen["pace_function"],
        schedule,
        C=chosen["C"],
        gamma=chosen["gamma"],
        class_weight=chosen["class_weight"],
        regressor="ridge",
        random_state=0,
    ).fit(X_TRAIN, Y_TRAIN)
    odds = model.calibration_.log_odds(twin.decision_function(X_TEST))
    np.testing.assert_array_equal(model.decision_function(X_TEST), odds)
    np.testing.assert_array_equal(model.predict(X_TEST), model.threshold_.apply(odds))


def test_every_point_of_every_setting_is_in_the_results():
    model = clone(SMALL).fit(X_TRAIN, Y_TRAIN)
    assert len(model.cv_results_) == 2 * (1 + 2 * 2 * 2)
    best = max(model.cv_results_, key=lambda row: row["mean"])
    unpaced = max((row for row in model.cv_results_ if row["target"] == 1.0), key=lambda row: row["mean"])
    gain = np.subtract(best["folds"], unpaced["folds"])
    clear = gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(3)
    assert model.best_score_ == (best if clear else unpaced)["mean"]


def test_held_out_rows_are_seen_by_nothing():
    """Turning the labels of a fold upside down must not change its held-out scores."""
    model = clone(SMALL).set_params(quantiles=(0.7,))
    K = X_TRAIN @ X_TRAIN.T / 64
    Y = Y_TRAIN.astype(bool)
    (train, test), *_ = model._split(Y, 3)
    turned = Y.copy()
    turned[test] = ~Y[test]
    for first, second in zip(
        model._held_out(K, Y, None, train, test, [(1.0, 0.5)], model._path()),
        model._held_out(K, turned, None, train, test, [(1.0, 0.5)], model._path()),
        strict=True,
    ):
        np.testing.assert_array_equal(first[1], second[1])


def test_under_flipped_labels_the_path_is_no_worse_than_its_end():
    noisy, flipped = corrupt(Y_TRAIN, "flip", 0.2, 0)
    model = clone(SMALL).fit(X_TRAIN, noisy)
    unpaced = clone(SMALL).set_params(quantiles=()).fit(X_TRAIN, noisy)
    scores = [average_precision(Y_TEST, m.decision_function(X_TEST)) for m in (model, unpaced)]
    assert scores[0] >= scores[1] - 0.005
    if model.best_params_["target"] < 1:
        assert model.label_weights_[flipped].mean() < model.label_weights_[~flipped].mean()


@pytest.mark.parametrize("criterion", ["hamming_loss", "ranking_loss"])
def test_other_criteria_decide(criterion):
    model = clone(SMALL).set_params(criterion=criterion, quantiles=(0.9,)).fit(X_TRAIN, Y_TRAIN)
    unpaced = [row["mean"] for row in model.cv_results_ if row["target"] == 1.0]
    assert model.best_score_ <= min(unpaced)


def test_the_path_can_be_drawn():
    matplotlib.use("agg")
    model = clone(SMALL).fit(X_TRAIN, Y_TRAIN)
    ax = model.plot_path()
    assert ax.get_ylabel() == "average precision"
    assert len(ax.containers) == 4
    matplotlib.pyplot.close(ax.figure)
