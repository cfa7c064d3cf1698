import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier

from mlspl import BSVMClassifier, MLkNNClassifier, RankSVMClassifier, TRAMClassifier, TunedDecisionClassifier
from mlspl.datasets import load_dataset
from mlspl.metrics import CRITERIA, hamming_loss
from mlspl.model_selection import PlattCalibration
from mlspl.models.tuned_decision import choose_decision
from tests.models.checks import scikit_learn_checks

DIGITS = load_dataset("digits-traits")
X = DIGITS.X / 16.0
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[:200], DIGITS.Y[:200], X[200:500], DIGITS.Y[200:500]


# scikit-learn expects the labels with a positive score, which is what a threshold rule may change.
@scikit_learn_checks([TunedDecisionClassifier(BSVMClassifier(), thresholds=("zero",))])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "estimator",
    [BSVMClassifier(), MLkNNClassifier(), TRAMClassifier(), RankSVMClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_every_estimator_can_have_its_decision_tuned(estimator):
    model = TunedDecisionClassifier(estimator).fit(X_TRAIN, Y_TRAIN)
    best = model.decisions_[0]
    assert best["score"] == min(row["score"] for row in model.decisions_)
    assert len(model.decisions_) == 6
    expected = model.calibration_.log_odds(model.estimator_.decision_function(X_TEST))
    np.testing.assert_array_equal(model.decision_function(X_TEST), expected)
    np.testing.assert_array_equal(model.predict(X_TEST), model.threshold_.apply(expected))


def test_a_shifted_score_is_put_right():
    class Shifted(BSVMClassifier):
        def _scores(self, X):
            return super()._scores(X) + 0.8

    plain, tuned = Shifted(gamma="scale"), TunedDecisionClassifier(Shifted(gamma="scale"))
    losses = [hamming_loss(Y_TEST, model.fit(X_TRAIN, Y_TRAIN).predict(X_TEST)) for model in (plain, tuned)]
    assert losses[1] < 0.7 * losses[0]


def test_rules_are_judged_on_rows_they_were_not_fitted_on():
    """With noise for scores a cut per label looks good on its own rows only."""
    rng = np.random.default_rng(0)
    Y = rng.random((60, 20)) < 0.5
    folds = [(np.setdiff1d(np.arange(60), np.arange(k, 60, 3)), np.arange(k, 60, 3)) for k in range(3)]
    rows = choose_decision(
        rng.normal(size=Y.shape), Y, None, folds, CRITERIA["hamming_loss"], ["none"], ["zero", "label"]
    )
    assert min(row["score"] for row in rows) > 0.45


def mixed_up(seed=0, rows=90, labels=4):
    """Scores in units that differ from label to label, by which labels cannot be ranked as they are."""
    rng = np.random.default_rng(seed)
    Y = rng.random((rows, labels)) < 0.4
    scores = (np.where(Y, 1.0, -1.0) + rng.normal(size=Y.shape)) * 10.0 ** np.arange(labels)
    folds = [(np.setdiff1d(np.arange(rows), np.arange(k, rows, 3)), np.arange(k, rows, 3)) for k in range(3)]
    return scores, Y, folds


def test_a_calibration_that_makes_labels_comparable_wins_by_average_precision():
    """Of the threshold rules, which it does not see, the one with the least Hamming loss."""
    scores, Y, folds = mixed_up()
    criterion = CRITERIA["average_precision"]
    rows = choose_decision(
        scores + 1.0, Y, None, folds, criterion, ["none", "platt"], ["count", "zero", "label"]
    )
    assert [row["calibration"] for row in rows] == ["platt"] * 3 + ["none"] * 3
    losses = [row["hamming_loss"] for row in rows]
    assert losses[:3] == sorted(losses[:3])
    assert losses[0] < losses[2]


def test_calibrations_are_judged_on_rows_they_were_not_fitted_on():
    """A calibration that learns its rows by heart is perfect on them, and a guess elsewhere."""

    class ByHeart(PlattCalibration):
        def fit(self, F, Y, label_weight=None):
            self.learnt_ = {row.tobytes(): y for row, y in zip(F, Y, strict=True)}
            return super().fit(F, Y, label_weight)

        def log_odds(self, F):
            return np.array(
                [np.where(self.learnt_.get(row.tobytes(), np.zeros(F.shape[1])), 9.0, -9.0) for row in F]
            )

    scores, Y, folds = mixed_up()
    rows = choose_decision(scores, Y, None, folds, CRITERIA["hamming_loss"], [ByHeart(), "platt"], ["zero"])
    assert rows[0]["calibration"] == "platt"


def test_what_has_no_weight_changes_no_decision():
    """Junk of weight 0 in every fold leaves choice, calibration, cuts and probabilities as they are."""
    scores, Y, _ = mixed_up()
    rng = np.random.default_rng(1)
    junk = rng.random(Y.shape[0]) < 0.5
    whole = np.vstack([scores, rng.normal(size=scores[junk].shape) * 50])
    labels = np.vstack([Y, rng.random(Y[junk].shape) < 0.5])
    weight = np.vstack([np.ones(Y.shape), np.zeros(Y[junk].shape)])

    class Told(TunedDecisionClassifier):
        def _raw_scores(self, X):
            return X

    models = []
    for F, L, W, n in ((scores, Y, None, len(Y)), (whole, labels & (weight > 0), weight, len(whole))):
        tests = [np.arange(k, n, 3) for k in range(3)]
        folds = [(np.setdiff1d(np.arange(n), test), test) for test in tests]
        model = Told(None, calibrations=("platt",), thresholds=("label",))
        model._decide(F, L, W, folds, CRITERIA["hamming_loss"])
        models.append(model)
    alone, among = models
    assert alone.decisions_[0]["score"] == pytest.approx(among.decisions_[0]["score"], abs=1e-12)
    np.testing.assert_allclose(alone._scores(scores), among._scores(scores), rtol=1e-6)
    np.testing.assert_array_equal(
        alone._labels(scores, alone._scores(scores)), among._labels(scores, among._scores(scores))
    )
    odds = alone._scores(scores)
    np.testing.assert_allclose(
        alone._probabilities(scores, odds), among._probabilities(scores, odds), rtol=1e-6
    )


def test_probabilities_are_fitted_to_the_calibrated_scores():
    scores, Y, folds = mixed_up()
    model = TunedDecisionClassifier(None, calibrations=("platt",))
    model._decide(scores, Y, None, folds, CRITERIA["hamming_loss"])
    odds = model.calibration_.log_odds(scores)
    expected = PlattCalibration(offset=False).fit(odds, Y).transform(odds)
    np.testing.assert_array_equal(model._probabilities(None, odds), expected)


def test_an_estimator_without_scores_is_refused():
    with pytest.raises(ValueError, match="has no decision_function"):
        TunedDecisionClassifier(RandomForestClassifier()).fit(X_TRAIN, Y_TRAIN)


def test_weights_reach_the_estimator():
    weight = np.random.default_rng(0).choice([0.0, 1.0, 5.0], size=Y_TRAIN.shape)
    tuned = TunedDecisionClassifier(BSVMClassifier()).fit(X_TRAIN, Y_TRAIN, label_weight=weight)
    alone = BSVMClassifier().fit(X_TRAIN, Y_TRAIN, label_weight=weight)
    np.testing.assert_allclose(
        tuned.estimator_.decision_function(X_TEST), alone.decision_function(X_TEST), atol=1e-9
    )


def test_given_calibrations_are_not_changed_and_not_shared():
    given = PlattCalibration()
    first = TunedDecisionClassifier(BSVMClassifier(), calibrations=[given]).fit(X_TRAIN, Y_TRAIN)
    before = first.decision_function(X_TEST)
    TunedDecisionClassifier(BSVMClassifier(), calibrations=[given]).fit(X_TEST, Y_TEST)
    np.testing.assert_array_equal(first.decision_function(X_TEST), before)
    assert not hasattr(given, "slope_")


@pytest.mark.parametrize("estimator", [BSVMClassifier(), RankSVMClassifier()], ids=["bsvm", "ranksvm"])
def test_probabilities_are_those_of_the_fit_whatever_is_set_later(estimator):
    asked, later = (clone(estimator).fit(X_TRAIN, Y_TRAIN) for _ in range(2))
    expected = asked.predict_proba(X_TEST)
    np.testing.assert_array_equal(later.set_params(C=1e-4).predict_proba(X_TEST), expected)


@pytest.mark.parametrize("criterion", ["macro_f1", "precision_at_1"])
def test_any_criterion_may_decide(criterion):
    X, Y = make_multilabel_classification(n_samples=150, n_classes=6, n_labels=1, random_state=0)
    model = TunedDecisionClassifier(RidgeClassifier(), criterion=criterion).fit(X, Y)
    scores = [row["score"] for row in model.decisions_]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    by_loss = TunedDecisionClassifier(RidgeClassifier()).fit(X, Y)
    assert scores[0] >= next(
        row["score"]
        for row in model.decisions_
        if all(row[part] == by_loss.decisions_[0][part] for part in ("calibration", "threshold"))
    )
