import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl import BSVMClassifier, MLkNNClassifier, RankSVMClassifier, TRAMClassifier, TunedDecisionClassifier
from mlspl.datasets import load_dataset
from mlspl.metrics import CRITERIA, hamming_loss
from mlspl.models.decision import choose_decision

DIGITS = load_dataset("digits-traits")
X = DIGITS.X / 16.0
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[:200], DIGITS.Y[:200], X[200:500], DIGITS.Y[200:500]


# scikit-learn expects the labels with a positive score, which is what a threshold rule may change.
@parametrize_with_checks([TunedDecisionClassifier(BSVMClassifier(), thresholds=("zero",))])
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
