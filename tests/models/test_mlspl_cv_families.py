"""What `MLSPLClassifierCV` does with several families of learners."""

import time
from contextlib import contextmanager

import matplotlib
import numpy as np
import pytest
from scipy.special import expit
from sklearn import metrics
from sklearn.base import clone
from sklearn.metrics import jaccard_score, make_scorer

from mlspl import MLSPLClassifierCV
from mlspl.datasets import corrupt
from mlspl.errors import UserError
from mlspl.metrics import CRITERIA, average_precision
from mlspl.model_selection import PooledCalibration
from mlspl.models._families import UNPACED, Candidate, list_points, log_losses, select_families, split_rows
from mlspl.models._family_learners import ForestFamily
from mlspl.models._forest import JointForestLearner, RowSamples, TreeRows, make_tree
from mlspl.models._forest_models import JointForest, as_floats
from tests.models.digits import X_TEST, X_TRAIN, Y_TEST, Y_TRAIN

ALL = MLSPLClassifierCV(budget="fast", C=(1.0, 4.0), n_estimators=40, random_state=0)


@pytest.fixture(scope="module")
def fitted():
    """For tests that only look."""
    return clone(ALL).fit(X_TRAIN, Y_TRAIN)


def test_the_model_is_the_mean_of_its_families(fitted):
    joint, kernel = fitted.families_  # on these digits, a forest per label adds nothing to joint trees
    assert [family.family for family in fitted.families_] == ["joint", "kernel"]
    assert {row["family"] for row in fitted.cv_results_} == {"joint", "kernel", "forest"}
    weights = dict.fromkeys(("joint", "kernel"), 0.0)
    for member in fitted.members_:
        weights[member["family"]] += member["weight"]
    assert weights == pytest.approx(dict.fromkeys(weights, 1 / 2))
    margins = clone(ALL).set_params(families=("kernel",)).fit(X_TRAIN, Y_TRAIN).families_[0].log_odds(X_TEST)
    of_kernel = kernel.calibration.slope_ * margins + kernel.calibration.offset_
    assert isinstance(joint.models[0], JointForest)
    assert len(joint.models[0].trees) == 40
    mean = (joint.models[0].scores(X_TEST) + of_kernel) / 2
    expected = fitted.calibration_.log_odds(mean)
    np.testing.assert_allclose(fitted.decision_function(X_TEST), expected, atol=5e-3)


@pytest.mark.parametrize("paced_is_right", [True, False])
def test_a_forest_takes_the_pace_with_the_smallest_log_loss(paced_is_right):
    random = np.random.default_rng(0)
    Y = random.random((100, 4)) < 0.5
    right = np.clip(np.where(Y, 0.8, 0.2) + 0.1 * random.standard_normal(Y.shape), 0.05, 0.95)
    points = list_points(("class",), (0.5,))
    candidates = [
        Candidate({}, point, right if paced_is_right == (point != UNPACED) else 1.0 - right)
        for point in points
    ]
    family = ForestFamily("joint", points, 40, 5, None, 0)
    (taken,) = family.choose(candidates, [0.0, 0.0], Y, None)
    assert (candidates[taken].point != UNPACED) == paced_is_right


def test_joint_trees_are_grown_again_with_the_weights_of_the_chosen_pace():
    Y, _ = corrupt(Y_TRAIN.astype(bool), "flip", 0.2, 0)
    point = list_points(("class",), (0.7,))[1]
    family = ForestFamily("joint", [UNPACED, point], 30, 3, None, 0)
    model, member = (part[0] for part in family.learn(X_TRAIN, Y, None, [Candidate({}, point, Y)]))
    rows = TreeRows(as_floats(X_TRAIN), make_tree("extra-trees", 2, "auto", 64))
    learner = JointForestLearner(rows, Y, np.ones(Y.shape), RowSamples.draw(30, *Y.shape, 0), None)
    learner.fit(np.ones(Y.shape))
    np.testing.assert_array_equal(member.losses, learner.losses())
    learner.fit(member.label_weights)
    np.testing.assert_array_equal(model.probabilities(X_TRAIN), learner.model().probabilities(rows.X))
    assert member.label_weights.min() < 0.5 < member.label_weights.max()


def test_other_weights_in_the_leaves_keep_the_trees():
    """The forest is that of a fit whose cuts had ignored the weights."""
    Y = Y_TRAIN.astype(bool)
    rows = TreeRows(as_floats(X_TRAIN), make_tree("extra-trees", 2, "auto", 64))
    learner = JointForestLearner(rows, Y, np.ones(Y.shape), RowSamples.draw(10, *Y.shape, 0), None)
    learner.fit(np.ones(Y.shape))
    before = learner.model()
    weights = np.random.default_rng(0).random(Y.shape)
    learner.reweight(weights)
    after = learner.model()
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
    calibrated = PooledCalibration().fit(3 * odds - 1, Y, weight).transform(3 * odds - 1)
    expected = metrics.log_loss(Y.ravel(), calibrated.ravel(), sample_weight=weight.ravel())
    assert log_losses(3 * odds - 1, Y, weight).mean() == pytest.approx(expected, abs=1e-8)
    assert log_losses(odds, Y, weight).mean() == pytest.approx(expected, abs=1e-6)


def test_a_family_that_spoils_the_mean_is_left_out():
    """Beyond two standard errors of its folds; anything less is a matter of chance."""
    random = np.random.default_rng(0)
    truth = random.random((200, 5)) < 0.4
    folds = split_rows(truth, 5, 0)
    right, other = (np.where(truth, 1.0, -1.0) + random.standard_normal(truth.shape) for _ in range(2))
    wrong = 5 * random.standard_normal(truth.shape)
    judge_by = {"criterion": CRITERIA["average_precision"], "truth": truth, "folds": folds, "sign": -1.0}
    assert select_families(["joint", "kernel"], [right, wrong], **judge_by) == [0]
    assert select_families(["joint", "kernel"], [wrong, right], **judge_by) == [1]
    assert select_families(["joint", "kernel"], [right, other], **judge_by) == [0, 1]
    assert select_families(["joint"], [wrong], **judge_by) == [0]
    # A forest per label that repeats what joint trees say is not needed; one that adds to them is.
    assert select_families(["joint", "forest"], [right, right], **judge_by) == [0]
    assert select_families(["joint", "forest"], [right, other], **judge_by) == [0, 1]


def test_members_are_in_the_history_and_the_trace(fitted):
    names = [step["family"] for step in fitted.history_]
    assert sorted(names) == ["joint", "kernel", "kernel", "kernel", "kernel"]
    assert fitted.trace_.n_steps == 4


@pytest.mark.parametrize("name", ["joint", "forest"])
def test_the_held_out_rows_of_a_forest_are_not_seen(name):
    family = ForestFamily(name, list_points(("class",), (0.7,)), 40, 3, None, 0)
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


@pytest.mark.parametrize(
    "criterion",
    ["macro_f1", "subset_accuracy", "ndcg", "precision_at_1", make_scorer(jaccard_score, average="samples")],
)
def test_any_criterion_decides(criterion):
    model = clone(ALL).set_params(criterion=criterion, quantiles=()).fit(X_TRAIN, Y_TRAIN)
    decided = [row["score"] for row in model.decisions_]
    assert decided[0] == max(decided)
    assert model.best_score_ <= max(row["mean"] for row in model.cv_results_)
    model.plot_path()
    matplotlib.pyplot.close("all")


def test_families_are_drawn_side_by_side(fitted):
    matplotlib.use("agg")
    ax = fitted.plot_path()
    names = [container.get_label() for container in ax.containers]
    assert names == [f"{family}: gaussian, per class" for family in ("joint", "kernel", "forest")]
    matplotlib.pyplot.close(ax.figure)


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
    assert len(few.cv_results_) == 2 + 2 * 2 + 2
    assert len(few.cv_results_[0]["folds"]) == 3


@pytest.mark.parametrize(
    ("n_rows", "n_labels", "names"),
    [
        (500, 1, ("kernel", "forest")),
        (500, 64, ("joint", "kernel", "forest")),
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
    assert {row["family"] for row in whole.cv_results_} == {"joint", "kernel", "forest"}


def test_a_linear_family_stands_beside_the_others():
    model = clone(ALL).set_params(families=("linear", "forest"), quantiles=(0.7,)).fit(X_TRAIN, Y_TRAIN)
    assert [family.family for family in model.families_] == ["linear", "forest"]
    assert model.space_ is None
    assert average_precision(Y_TEST, model.decision_function(X_TEST)) > 0.8
