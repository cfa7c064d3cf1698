"""What `MLSPLClassifierCV` does with several families of learners."""

import time
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.base import clone

from mlspl import MLSPLClassifierCV
from mlspl.datasets import corrupt
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from mlspl.model_selection import PlattCalibration
from mlspl.models._families import (
    UNPACED,
    Candidate,
    average_families,
    choose_members,
    first_good,
    list_points,
    log_losses,
    split_rows,
    weigh_families,
)
from mlspl.models._family_learners import ForestFamily
from mlspl.models._forest import ForestLearner, RowSamples, TreeRows
from mlspl.models._forest_models import JointForest, as_floats
from tests.models.digits import X_TEST, X_TRAIN, Y_TEST, Y_TRAIN

ALL = MLSPLClassifierCV(budget="fast", C=(1.0, 4.0), n_estimators=40, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    """For tests that only look."""
    return clone(ALL).fit(X_TRAIN, Y_TRAIN)


def test_the_model_is_the_weighted_mean_of_its_families(fitted):
    joint, kernel = fitted.families_
    assert [family.family for family in fitted.families_] == ["joint", "kernel"]
    weights = dict.fromkeys(("joint", "kernel"), 0.0)
    for member in fitted.members_:
        weights[member["family"]] += member["weight"]
    assert weights == pytest.approx({"joint": 0.7, "kernel": 0.3})
    margins = clone(ALL).set_params(families=("kernel",)).fit(X_TRAIN, Y_TRAIN).families_[0].log_odds(X_TEST)
    of_kernel = kernel.calibration.slope_ * margins + kernel.calibration.offset_
    assert isinstance(joint.models[0], JointForest)
    assert len(joint.models[0].trees) == 40
    mean = 0.7 * joint.models[0].probabilities(X_TEST) + 0.3 * expit(of_kernel)
    expected = fitted.calibration_.log_odds(logit(mean))
    np.testing.assert_allclose(fitted.decision_function(X_TEST), expected, atol=5e-3)


@pytest.mark.parametrize(
    ("names", "is_sparse", "weights"),
    [
        (["joint"], False, [1]),
        (["kernel", "joint"], False, [0.3, 0.7]),
        (["kernel", "joint"], True, [0.3, 0.7]),
        (["kernel", "joint", "net"], False, [0.15, 0.5, 0.35]),
        (["kernel", "joint", "net"], True, [0.4, 0.4, 0.2]),
        (["net", "joint"], False, [0.35 / 0.85, 0.5 / 0.85]),
        (["linear", "forest"], False, [1 / 2, 1 / 2]),
    ],
)
def test_families_have_fixed_weights(names, is_sparse, weights):
    assert weigh_families(names, is_sparse) == pytest.approx(weights)


def test_probabilities_are_averaged_and_huge_log_odds_stay():
    odds = np.array([[[-2.0, 0.5]], [[1.0, 3.0]]])
    mean = 0.25 * expit(odds[0]) + 0.75 * expit(odds[1])
    np.testing.assert_allclose(average_families(odds, [0.25, 0.75]), logit(mean))
    np.testing.assert_allclose(average_families([[[900.0, -900.0]]], [1.0]), [[900.0, -900.0]])


@pytest.mark.parametrize("paced_is_right", [True, False])
def test_a_setting_takes_the_pace_with_the_smallest_log_loss(paced_is_right):
    random = np.random.default_rng(0)
    Y = random.random((100, 4)) < 0.5
    right = np.where(Y, 1.4, -1.4) + random.standard_normal(Y.shape)
    candidates = [
        Candidate({"C": C}, point, right if paced_is_right == (point != UNPACED) else -right)
        for C in (1.0, 2.0, 4.0)
        for point in list_points((0.5,))
    ]
    taken = choose_members(candidates, [3.0, 3.0, 1.0, 1.0, 2.0, 2.0], Y, None, 2)
    assert [candidates[i].setting["C"] for i in taken] == [2.0, 4.0]
    assert all((candidates[i].point != UNPACED) == paced_is_right for i in taken)


def test_joint_trees_are_grown_on_all_rows_with_the_weights_of_the_chosen_pace():
    Y, _ = corrupt(Y_TRAIN.astype(bool), "flip", 0.2, 0)
    point = list_points((0.7,))[1]
    family = ForestFamily("joint", [UNPACED, point], 30, 3, None, 0)
    candidate = Candidate({"max_features": 8}, point, Y)
    (model,), ((losses, weights),) = family.learn(X_TRAIN, Y, None, [candidate])
    rows = TreeRows(as_floats(X_TRAIN), 2, 8)
    samples = RowSamples.draw(30, *Y.shape, 0)
    learner = ForestLearner(rows, Y, np.ones(Y.shape), samples, ("joint",), None)
    learner.fit(np.ones(Y.shape))
    np.testing.assert_array_equal(losses, learner.losses())
    samples.counts[:] = 1
    learner.fit(weights)
    np.testing.assert_array_equal(model.probabilities(X_TRAIN), learner.models[0].probabilities(rows.X))
    assert (model.leaves >= 0).all()  # every row is in every tree
    assert weights.min() < 0.5 < weights.max()


def test_forests_of_wide_rows_try_two_numbers_of_features():
    Y, X = Y_TRAIN.astype(bool), np.hstack([X_TRAIN] * 2)
    family = ForestFamily("joint", [UNPACED], 12, 2, None, 0)
    *_, (_, candidates) = family.search(X, Y, None, split_rows(Y, 2, 0))
    assert [candidate.setting["max_features"] for candidate in candidates] == [12, 11]


def test_other_weights_in_the_leaves_keep_the_trees():
    """The forest is that of a fit whose cuts had ignored the weights."""
    Y = Y_TRAIN.astype(bool)
    rows = TreeRows(as_floats(X_TRAIN), 2, "auto")
    samples = RowSamples.draw(10, *Y.shape, 0)
    learner = ForestLearner(rows, Y, np.ones(Y.shape), samples, ("joint",), None)
    learner.fit(np.ones(Y.shape))
    before = learner.models[0]
    weights = np.random.default_rng(0).random(Y.shape)
    learner.reweight(weights)
    after = learner.models[0]
    np.testing.assert_array_equal(after.trees.feature, before.trees.feature)
    leaves = after.trees.find_leaves(as_floats(X_TEST[:1]))[:, 0]
    sums, counts = learner.frequencies.copy(), np.ones(Y.shape[1])
    for of_rows, leaf in zip(after.leaves, leaves, strict=True):
        inside = of_rows == leaf
        scaled = weights[inside] / weights.max(axis=0)
        sums += (scaled * Y[inside]).mean(axis=0)
        counts += scaled.mean(axis=0)
    np.testing.assert_allclose(after.probabilities(as_floats(X_TEST[:1]))[0], sums / counts, rtol=1e-6)


def test_log_losses_are_those_of_calibrated_scores():
    random = np.random.default_rng(0)
    odds = random.standard_normal((400, 3))
    Y = random.random(odds.shape) < expit(odds)
    weight = random.random(odds.shape)
    calibrated = PlattCalibration(shared=True).fit(3 * odds - 1, Y, weight).transform(3 * odds - 1)
    expected = metrics.log_loss(Y.ravel(), calibrated.ravel(), sample_weight=weight.ravel())
    assert log_losses(3 * odds - 1, Y, weight).mean() == pytest.approx(expected, abs=1e-8)
    assert log_losses(odds, Y, weight).mean() == pytest.approx(expected, abs=1e-6)


def test_members_are_in_the_history_and_the_trace(fitted):
    names = [step["family"] for step in fitted.history_]
    assert sorted(names) == ["joint", "kernel", "kernel"]
    assert fitted.trace_.n_steps == 2


@pytest.mark.parametrize("name", ["joint", "forest"])
def test_the_held_out_rows_of_a_forest_are_not_seen(name):
    family = ForestFamily(name, list_points((0.7,)), 40, 3, None, 0)
    Y = Y_TRAIN.astype(bool)
    folds = split_rows(Y, 3, 0)
    ((_, first),) = family.search(X_TRAIN, Y, None, folds[:1])
    turned = Y.copy()
    turned[folds[0][1]] = ~Y[folds[0][1]]
    ((_, second),) = family.search(X_TRAIN, turned, None, folds[:1])
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.held_out[folds[0][1]], other.held_out[folds[0][1]])


def test_missing_values_are_for_forests_alone():
    gaps = np.where(np.random.default_rng(0).random(X_TRAIN.shape) < 0.1, np.nan, X_TRAIN)
    with pytest.raises(ValueError, match="every cell"):
        clone(ALL).fit(gaps, Y_TRAIN)
    model = clone(ALL).set_params(families=("joint", "forest"), quantiles=()).fit(gaps, Y_TRAIN)
    assert average_precision(Y_TEST, model.decision_function(X_TEST)) > 0.8


@pytest.mark.parametrize("criterion", ["macro_f1", "subset_accuracy", "ndcg", "precision_at_1"])
def test_any_criterion_decides(criterion):
    model = clone(ALL).set_params(criterion=criterion, quantiles=()).fit(X_TRAIN, Y_TRAIN)
    decided = [row["score"] for row in model.decisions_]
    assert decided[0] == max(decided)
    assert model.best_score_ <= max(row["mean"] for row in model.cv_results_)


@pytest.mark.parametrize("after", [1, 4])
def test_ctrl_c_keeps_what_is_finished(after, monkeypatch):
    """After a first fold nothing is; after the first fold of the kernel the joint trees are."""
    notes = []

    @contextmanager
    def interrupt(*_):
        def report(note):
            notes.append(note)
            if len(notes) == after:
                raise KeyboardInterrupt
            return False

        yield report

    monkeypatch.setattr("mlspl.models.mlspl_cv.fit_progress", interrupt)
    if after == 1:
        with pytest.raises(KeyboardInterrupt):
            clone(ALL).fit(X_TRAIN, Y_TRAIN)
        return
    with pytest.warns(UserWarning, match="finished families \\(joint\\)"):
        model = clone(ALL).fit(X_TRAIN, Y_TRAIN)
    assert model.stop_reason_ == "interrupted"
    joint = clone(ALL).set_params(families=("joint",)).fit(X_TRAIN, Y_TRAIN)
    np.testing.assert_array_equal(model.decision_function(X_TEST), joint.decision_function(X_TEST))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"families": ("kernel", "hedge")}, "families is .*'joint'"),
        ({"families": ()}, "families"),
        ({"budget": "vast"}, "'budget'.*'vast'"),
        ({"budget": 0.0}, "'budget'.*0.0"),
    ],
)
def test_families_and_budgets_that_there_are_not(parameters, sentence):
    with pytest.raises(UserError, match=sentence):
        clone(ALL).set_params(**parameters).fit(X_TRAIN, Y_TRAIN)


def test_a_fast_budget_tries_less():
    few = MLSPLClassifierCV(budget="fast", random_state=0).fit(X_TRAIN, Y_TRAIN)
    assert len(few.cv_results_) == 5 + 2 * 4
    assert len(few.cv_results_[0]["folds"]) == 3


def test_few_rows_are_paced_only_if_asked():
    model = clone(ALL).set_params(families=("joint",)).fit(X_TRAIN[:60], Y_TRAIN[:60])
    assert [row["target"] for row in model.cv_results_] == [1.0]
    model.set_params(quantiles=(0.7,)).fit(X_TRAIN[:60], Y_TRAIN[:60])
    assert [row["target"] for row in model.cv_results_] == [1.0, "noise", 0.7]


def test_beyond_64_labels_only_forests_are_paced_and_the_noise_is_not_estimated():
    model = clone(ALL).set_params(families=("joint", "linear"), n_estimators=8)
    many = np.random.RandomState(0).rand(len(Y_TRAIN), 65) < 0.3
    paces = {(row["family"], row["target"]) for row in model.fit(X_TRAIN, many).cv_results_}
    assert paces == {("linear", 1.0)} | {("joint", quantile) for quantile in (1.0, 0.9, 0.8, 0.7)}


def test_the_first_point_with_most_of_the_gain_is_taken():
    errors = np.zeros(3)
    assert first_good([np.array([0.79, 0.8, 1.0]), errors]) == 2
    assert first_good([np.array([-1.0, 0.0, -0.5]), errors]) == 0
    assert first_good([np.array([0.79, 0.8, 1.0]), np.array([0.0, 0.0, 1.0])]) == 1
    assert first_good([np.array([0.1, 0.2, 0.3]), np.array([1.0, 1.0, 1.0])]) == 0
    assert first_good([np.array([0.1, 0.2, 0.3]), np.array([1.0, 1.0, 1.0])], n_errors=0.0) == 3


@pytest.mark.parametrize(
    ("n_rows", "n_labels", "names"),
    [
        (500, 1, ("joint", "kernel")),
        (500, 64, ("joint", "kernel")),
        (500, 65, ("joint", "linear")),
        (20_000, 6, ("joint", "linear")),
    ],
)
def test_many_labels_or_rows_have_cheaper_families(n_rows, n_labels, names):
    assert MLSPLClassifierCV()._family_names(n_rows, n_labels) == names


def test_a_time_limit_ends_the_search_with_what_is_finished(monkeypatch):
    """The clock advances by a second whenever it is read: once a fold."""
    clock = iter(range(1000))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    model = clone(ALL).set_params(budget=8.0).fit(X_TRAIN, Y_TRAIN)
    assert model.stop_reason_ == "budget"
    assert [family.family for family in model.families_] == ["joint"]
    clock = iter(range(1000))
    at_once = clone(ALL).set_params(budget=0.1).fit(X_TRAIN, Y_TRAIN)
    assert [family.family for family in at_once.families_] == ["joint"]
    clock = iter(range(1000))
    whole = clone(ALL).set_params(budget=100.0).fit(X_TRAIN, Y_TRAIN)
    assert whole.stop_reason_ == "max_steps"
    assert {row["family"] for row in whole.cv_results_} == {"joint", "kernel"}


def test_a_linear_family_stands_beside_the_others():
    model = clone(ALL).set_params(families=("linear", "forest"), quantiles=(0.7,)).fit(X_TRAIN, Y_TRAIN)
    assert [family.family for family in model.families_] == ["linear", "forest"]
    assert model.space_ is None
    assert average_precision(Y_TEST, model.decision_function(X_TEST)) > 0.8
