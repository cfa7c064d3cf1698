import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from mlspl import MLSPLClassifier, MLSPLClassifierCV, pacing
from mlspl.datasets import corrupt
from mlspl.metrics import CRITERIA, average_precision
from mlspl.model_selection import get_calibration
from mlspl.models._families import split_rows
from mlspl.models._family_learners import _hold_out
from mlspl.models.tuned_decision import choose_decision, evaluate
from mlspl.spaces import Gram
from tests.models.checks import scikit_learn_checks
from tests.models.digits import X_TEST, X_TRAIN, Y_TEST, Y_TRAIN

SMALL = MLSPLClassifierCV(
    families=("kernel",), budget="fast", C=(1.0, 4.0), quantiles=(0.7, 0.9), random_state=0
)
# scikit-learn expects the labels with a positive score, which is what a threshold rule may change.
CHECKED = MLSPLClassifierCV(
    budget="fast", C=(1.0,), quantiles=(0.7,), thresholds=("zero",), n_estimators=10, cv=2
)


@pytest.fixture(scope="module")
def fitted():
    """For tests that only look."""
    return clone(SMALL).fit(X_TRAIN, Y_TRAIN)


@scikit_learn_checks([CHECKED])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def twin(member, rows=slice(None), label_weight=None):
    """The MLSPL that a member says it is, fitted on these training rows."""
    target = member["target"]
    return MLSPLClassifier(
        None if target == 1 else "gaussian",
        pacing.QuantilePace(target, target, 1, per="class"),
        C=member["C"],
        gamma=member["gamma"],
        class_weight=0.5,
        regressor="ridge",
        random_state=0,
    ).fit(X_TRAIN[rows], Y_TRAIN[rows], label_weight=None if label_weight is None else label_weight[rows])


def test_prior_weights_count_in_every_step():
    """Judged, averaged, decided and fitted as models are that get the weights of their rows."""
    weight = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 4.0], size=Y_TRAIN.shape)
    model = clone(SMALL).set_params(quantiles=(0.7,), C=(1.0,))
    model.fit(X_TRAIN, Y_TRAIN, label_weight=weight)
    present = (Y_TRAIN == 1) & (weight > 0)
    truth = np.where(weight > 0, Y_TRAIN, np.nan)
    folds = split_rows(present, 3, 0)
    scores = np.zeros(Y_TRAIN.shape)
    (member,) = model.members_
    for row in model.cv_results_:
        for (train, test), value in zip(folds, row["folds"], strict=True):
            held_out = twin(row, train, weight).decision_function(X_TRAIN[test])
            scores[test] += held_out * row["weight"]
            judged = evaluate(CRITERIA["average_precision"], truth[test], held_out, None)
            assert judged == pytest.approx(value, abs=2e-3)  # the SVMs' own tolerance
    decisions = choose_decision(
        scores, present, weight, folds, CRITERIA["average_precision"], model.calibrations, model.thresholds
    )
    for ours, theirs in zip(model.decisions_, decisions, strict=True):
        assert (ours["calibration"], ours["threshold"]) == (theirs["calibration"], theirs["threshold"])
        assert ours["score"] == pytest.approx(theirs["score"], abs=2e-3)
    best = decisions[0]
    assert {name: model.best_params_[name] for name in ("calibration", "threshold")} == {
        name: best[name] for name in ("calibration", "threshold")
    }
    calibration = get_calibration(best["calibration"]).fit(scores, present, weight)
    raw = twin(member, label_weight=weight).decision_function(X_TEST)
    np.testing.assert_allclose(model.decision_function(X_TEST), calibration.log_odds(raw), atol=0.02)


def test_a_fold_without_a_row_to_rank_leaves_the_choice_to_the_others():
    """Most rows have all labels or none; the grid's order must not decide."""
    Y = np.repeat(Y_TRAIN[:, :1], 3, axis=1)
    Y[:2, 1] = 1 - Y[:2, 1]
    for C in ((1e-4, 1.0), (1.0, 1e-4)):
        model = clone(SMALL).set_params(C=C, cv=5, quantiles=()).fit(X_TRAIN, Y)
        folds = np.array([row["folds"] for row in model.cv_results_])
        assert np.isnan(folds).any()
        assert model.best_score_ == max(np.nanmean(folds, axis=1))
    alike = clone(SMALL).set_params(quantiles=()).fit(X_TRAIN, np.repeat(Y_TRAIN[:, :1], 3, axis=1))
    assert alike.criterion_ == "hamming_loss"


def test_the_model_is_the_mean_of_the_members_it_names():
    model = clone(SMALL).set_params(budget="default", C=(1.0, 4.0), cv=3).fit(X_TRAIN, Y_TRAIN)
    assert len(model.members_) == 6
    (family,) = model.families_
    assert len(family.models) == 3
    twins = [twin(member) for member in model.members_]
    odds = model.calibration_.log_odds(np.mean([t.decision_function(X_TEST) for t in twins], axis=0))
    np.testing.assert_allclose(model.decision_function(X_TEST), odds, atol=5e-3)  # the SVMs' own tolerance
    np.testing.assert_allclose(
        model.label_weights_, np.mean([t.label_weights_ for t in twins], axis=0), atol=5e-3
    )
    scores = model.decision_function(X_TEST)
    np.testing.assert_array_equal(model.predict(X_TEST), model.threshold_.apply(scores))


def test_the_best_settings_have_a_member_each():
    model = clone(SMALL).set_params(C=(0.01, 1.0, 4.0)).fit(X_TRAIN, Y_TRAIN)
    assert len(model.cv_results_) == 3 * (1 + 2)
    assert {member["C"] for member in model.members_} == {1.0, 4.0}
    assert [member["weight"] for member in model.members_] == [0.5, 0.5]
    means = [member["mean"] for member in model.members_]
    assert means == sorted(means, reverse=True)
    assert model.best_score_ == means[0]
    assert model.members_[0]["target"] == model.best_params_["target"]


def test_unknown_labels_are_left_out_of_the_judgement():
    """A third of the pairs is unknown: what is judged are the others, not the unknown ones as absent."""
    Y = np.where(np.random.default_rng(0).random(Y_TRAIN.shape) < 0.3, np.nan, Y_TRAIN)
    model = clone(SMALL).set_params(quantiles=(), C=(1.0,)).fit(X_TRAIN, Y)
    (row,) = model.cv_results_
    known = ~np.isnan(Y)
    (kernel,) = model._make_families(("kernel",), model._given(len(X_TRAIN)), X_TRAIN, Y_TRAIN.shape[1])
    everything = dict.fromkeys(kernel.costs, kernel.points)
    rows = Gram(gamma=row["gamma"]).prepare(X_TRAIN)
    present = known & (Y == 1)
    for (train, test), value in zip(split_rows(present, 3, 0), row["folds"], strict=True):
        (scores,) = _hold_out(
            rows, present, known.astype(float), kernel.coding, everything, (train, test)
        ).values()
        kept = [
            i
            for i, (labels, told) in enumerate(zip(present[test], known[test], strict=True))
            if 0 < labels.sum() < told.sum()
        ]
        assert value == pytest.approx(average_precision(Y[test][kept], scores[kept]), abs=1e-9)
        assert value != pytest.approx(average_precision(present[test][kept], scores[kept]), abs=1e-3)


def test_held_out_scores_are_those_of_models_that_saw_other_rows_only():
    """Turning the labels of a fold upside down must not change its held-out scores."""
    model = clone(SMALL).set_params(quantiles=(0.7,))
    (kernel,) = model._make_families(("kernel",), model._given(len(X_TRAIN)), X_TRAIN, Y_TRAIN.shape[1])
    everything = dict.fromkeys(kernel.costs, kernel.points)
    rows = Gram("precomputed").prepare(X_TRAIN @ X_TRAIN.T / 64)
    Y = Y_TRAIN.astype(bool)
    (train, test), *_ = split_rows(Y, 3, 0)
    turned = Y.copy()
    turned[test] = ~Y[test]
    for first, second in zip(
        _hold_out(rows, Y, None, kernel.coding, everything, (train, test)).values(),
        _hold_out(rows, turned, None, kernel.coding, everything, (train, test)).values(),
        strict=True,
    ):
        np.testing.assert_array_equal(first, second)


def test_sparse_rows_give_the_same_model(fitted):
    scarce = clone(SMALL).fit(sparse.csr_array(X_TRAIN), Y_TRAIN)
    np.testing.assert_allclose(
        scarce.decision_function(sparse.csr_array(X_TEST)), fitted.decision_function(X_TEST), atol=5e-3
    )


def test_under_flipped_labels_the_path_is_no_worse_than_its_end():
    noisy, flipped = corrupt(Y_TRAIN, "flip", 0.2, 0)
    model = clone(SMALL).fit(X_TRAIN, noisy)
    unpaced = clone(SMALL).set_params(quantiles=()).fit(X_TRAIN, noisy)
    scores = [average_precision(Y_TEST, m.decision_function(X_TEST)) for m in (model, unpaced)]
    assert scores[0] >= scores[1] - 0.005
    if any(member["target"] < 1 for member in model.members_):
        assert model.label_weights_[flipped].mean() < model.label_weights_[~flipped].mean()


@pytest.mark.parametrize("criterion", ["hamming_loss", "ranking_loss"])
def test_other_criteria_decide(criterion):
    model = clone(SMALL).set_params(criterion=criterion, quantiles=(0.9,)).fit(X_TRAIN, Y_TRAIN)
    assert model.best_score_ == min(member["mean"] for member in model.members_)
    assert model.decisions_[0]["score"] == min(row["score"] for row in model.decisions_)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"quantiles": (-0.1,)}, "below 1"),
        ({"quantiles": (0.9, 1.0)}, "below 1"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(SMALL).set_params(**parameters).fit(X_TRAIN, Y_TRAIN)
