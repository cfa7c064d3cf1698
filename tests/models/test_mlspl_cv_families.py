"""What `MLSPLClassifierCV` does with several families of learners."""

from contextlib import contextmanager

import matplotlib
import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn import metrics
from sklearn.base import clone
from sklearn.metrics import jaccard_score, make_scorer

from mlspl import MLSPLClassifierCV
from mlspl._limits import FitSize
from mlspl.errors import UserError
from mlspl.metrics import CRITERIA, average_precision
from mlspl.model_selection import PooledCalibration
from mlspl.models._families import Candidate, drop_families, log_losses
from mlspl.models._forest import Bags, TreeRows, as_floats, make_tree, measure_units
from mlspl.models._forest_family import ForestFamily, drop_copies
from mlspl.models._forest_learner import ForestLearner
from mlspl.models._kernel_family import split_rows
from mlspl.models._label_forests import forest_probabilities, see_labels
from mlspl.models._pace_path import UNPACED, list_points
from tests.models.digits import X_TEST, X_TRAIN, Y_TEST, Y_TRAIN

BOTH = MLSPLClassifierCV(
    C=(1.0, 4.0), gamma_factors=(0.5,), n_points=None, n_estimators=40, cv=3, random_state=0
)


@pytest.fixture(scope="module")
def both():
    """For tests that only look."""
    return clone(BOTH).fit(X_TRAIN, Y_TRAIN)


def test_the_model_is_the_mean_of_its_families(both):
    """The forests' members are one forest of all their trees; the kernel's margins get one sigmoid."""
    kernel, forest = both.families_
    assert [kernel.family, forest.family] == ["kernel", "forest"]
    taken = [row for row in both.cv_results_ if row["weight"] > 0]
    assert sum(row["weight"] for row in taken) == pytest.approx(1.0)
    assert sum(row["weight"] for row in taken if row["family"] == "forest") == pytest.approx(0.5)
    margins = clone(BOTH).set_params(families=("kernel",)).fit(X_TRAIN, Y_TRAIN).families_[0].log_odds(X_TEST)
    of_kernel = kernel.calibration.slope_ * margins + kernel.calibration.offset_
    (model,) = forest.models
    assert [model.first.n_trees, model.further.n_trees] == [10, 4 * 2 + 10 + 4 * 2]
    of_forest = model.scores(X_TEST)
    expected = both.calibration_.log_odds((of_kernel + of_forest) / 2)
    np.testing.assert_allclose(both.decision_function(X_TEST), expected, atol=5e-3)


def test_the_first_trees_are_those_of_the_plain_forest(both):
    """They are unpaced, on the draws of the seed; half of all trees are, and half see the labels."""
    Y = Y_TRAIN.astype(bool)
    first = both.families_[1].models[0].first
    leaf = next(member["min_samples_leaf"] for member in both.members_ if member["family"] == "forest")
    rows = TreeRows(as_floats(X_TRAIN, measure_units(X_TRAIN)), make_tree("extra-trees", leaf, 8, 64))
    bags = Bags.draw(10 + 4 * 2, *Y.shape, 0).part(0, 10)
    learner = ForestLearner(rows, Y, np.ones(Y.shape), bags, None)
    learner.fit(np.ones(Y.shape))
    expected = forest_probabilities(learner.forests, learner.frequencies, rows.X)
    np.testing.assert_array_equal(first.probabilities(X_TRAIN), expected)
    forest = [member for member in both.members_ if member["family"] == "forest"]
    assert sorted(member["weight"] for member in forest) == pytest.approx([1 / 36] * 8 + [5 / 36] * 2)
    assert sum(member["weight"] for member in forest if member["sees_labels"]) == pytest.approx(0.25)


def test_further_trees_see_what_the_first_say_of_the_labels(both):
    model = both.families_[1].models[0]
    first = model.first.probabilities(X_TEST)
    further = model.further.probabilities(np.hstack([X_TEST, first]))
    mean = (11 * first + 27 * further) / 38
    np.testing.assert_allclose(model.scores(X_TEST), logit(mean), rtol=1e-12)
    np.testing.assert_array_equal(model.scores(X_TEST), model.scores(sparse.csr_matrix(X_TEST)))
    counts = np.bincount(model.further.trees.feature[model.further.trees.feature >= 0], minlength=64 + 8)
    assert (counts[64:] > 0).all()


def test_copies_of_labels_are_one_column_once_trees_are_grown():
    """Labels are drawn as often as their copies, and rows need only one of each."""
    Y = Y_TRAIN.astype(bool)
    seen = as_floats(np.random.default_rng(0).random(Y.shape))
    wide = see_labels(as_floats(X_TRAIN), seen, 3)
    rows = TreeRows(wide, make_tree("extra-trees", 2, 8, wide.shape[1]))
    learner = ForestLearner(rows, Y, np.ones(Y.shape), Bags.draw(5, *Y.shape, 0), None)
    learner.fit(np.ones(Y.shape))
    trees = learner.forests[0]
    narrow = drop_copies(trees, 64, Y.shape[1])
    assert trees.feature.max() >= 64 + Y.shape[1] > narrow.feature.max()
    np.testing.assert_array_equal(
        narrow.sum_leaves(see_labels(as_floats(X_TRAIN), seen))[0], trees.sum_leaves(wide)[0]
    )


@pytest.mark.parametrize("paced_is_right", [True, False])
def test_paced_trees_are_left_out_where_they_lose(paced_is_right):
    random = np.random.default_rng(0)
    Y = random.random((100, 4)) < 0.5
    right = np.clip(np.where(Y, 0.8, 0.2) + 0.1 * random.standard_normal(Y.shape), 0.05, 0.95)
    points = list_points(("gaussian",), ("class",), (0.5,))
    family = ForestFamily((2,), points, 40, 5, None, 0)
    candidates = [
        Candidate(
            {"min_samples_leaf": 2, "sees_labels": seen},
            point,
            right if paced_is_right == (point != UNPACED) else 1.0 - right,
        )
        for seen in (False, True)
        for point in points
    ]
    taken = {candidates[i].point for i in family.choose(candidates, [0.0] * 4, Y, None)}
    assert taken == (set(points) if paced_is_right else {UNPACED})


def test_leaves_grow_where_labels_are_noise():
    """One row a leaf learns every wrong label; the log loss out of bag tells."""
    random = np.random.default_rng(0)
    X = random.standard_normal((500, 5))
    clean = X[:, :2] > 0
    flipped = clean ^ (random.random(clean.shape) < 0.25)
    family = ForestFamily((1, 10), [UNPACED], 200, 3, None, 0)
    assert family._choose_leaf(as_floats(X), flipped, None) == 10
    assert family._choose_leaf(as_floats(X), clean, None) == 1


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
    assert drop_families([right, wrong], **judge_by) == [0]
    assert drop_families([wrong, right], **judge_by) == [1]
    assert drop_families([right, other], **judge_by) == [0, 1]
    assert drop_families([wrong], **judge_by) == [0]


def test_the_whole_path_of_a_taken_setting_is_averaged(both):
    for family, n_settings in (("kernel", 2), ("forest", 2)):
        targets = [member["target"] for member in both.members_ if member["family"] == family]
        assert sorted(targets) == sorted(n_settings * [0.5, 0.5, 0.7, 0.7, 1.0])
    assert {step["family"] for step in both.history_} == {"kernel", "forest"}
    assert both.trace_.n_steps == 10


def test_the_held_out_rows_of_a_forest_are_not_seen():
    model = clone(BOTH).set_params(min_samples_leaf=(2,))
    family = model._make_families(model._given(), X_TRAIN, FitSize.of(X_TRAIN, Y_TRAIN))[1]
    Y = Y_TRAIN.astype(bool)
    folds = split_rows(Y, 3, 0)
    (first,) = family.search(X_TRAIN, Y, None, folds[:1], lambda note: None)
    turned = Y.copy()
    turned[folds[0][1]] = ~Y[folds[0][1]]
    (second,) = family.search(X_TRAIN, turned, None, folds[:1], lambda note: None)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.held_out[folds[0][1]], other.held_out[folds[0][1]])


def test_missing_values_are_for_forests_alone():
    gaps = np.where(np.random.default_rng(0).random(X_TRAIN.shape) < 0.1, np.nan, X_TRAIN)
    with pytest.raises(ValueError, match="needs a number in every cell"):
        clone(BOTH).fit(gaps, Y_TRAIN)
    model = clone(BOTH).set_params(families=("forest",), quantiles=()).fit(gaps, Y_TRAIN)
    assert average_precision(Y_TEST, model.decision_function(X_TEST)) > 0.8


@pytest.mark.parametrize(
    "criterion",
    ["macro_f1", "subset_accuracy", "ndcg", "precision_at_1", make_scorer(jaccard_score, average="samples")],
)
def test_any_criterion_decides(criterion):
    model = clone(BOTH).set_params(criterion=criterion, quantiles=(), n_settings=1).fit(X_TRAIN, Y_TRAIN)
    decided = [row["score"] for row in model.decisions_]
    assert decided[0] == max(decided)
    assert model.best_score_ <= max(row["mean"] for row in model.cv_results_)
    model.plot_path()
    matplotlib.pyplot.close("all")


def test_families_are_drawn_side_by_side(both):
    matplotlib.use("agg")
    ax = both.plot_path()
    names = [container.get_label() for container in ax.containers]
    assert names == [f"{f}: gaussian, {g}" for f in ("kernel", "forest") for g in ("per class", "negatives")]
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.parametrize("after", [1, 4])
def test_ctrl_c_keeps_what_is_finished(after, monkeypatch):
    """After a first fold nothing is; after the first fold of the forests the kernel's paths are."""
    told = []

    @contextmanager
    def interrupt(*_):
        def report(note):
            told.append(note)
            if len(told) == after:
                raise KeyboardInterrupt
            return False

        yield report

    monkeypatch.setattr("mlspl.models.mlspl_cv.fit_progress", interrupt)
    if after == 1:
        with pytest.raises(KeyboardInterrupt):
            clone(BOTH).fit(X_TRAIN, Y_TRAIN)
        return
    with pytest.warns(UserWarning, match="finished \\(kernel\\)"):
        model = clone(BOTH).fit(X_TRAIN, Y_TRAIN)
    assert model.stop_reason_ == "interrupted"
    kernel = clone(BOTH).set_params(families=("kernel",)).fit(X_TRAIN, Y_TRAIN)
    np.testing.assert_array_equal(model.decision_function(X_TEST), kernel.decision_function(X_TEST))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"families": ("kernel", "hedge")}, "give some of 'kernel', 'forest', 'linear'"),
        ({"families": ()}, "give some of"),
        ({"budget": "vast"}, "budget is 'vast'; give 'fast', 'default' or 'thorough'"),
    ],
)
def test_families_and_budgets_that_there_are_not(parameters, sentence):
    with pytest.raises(UserError, match=sentence):
        clone(BOTH).set_params(**parameters).fit(X_TRAIN, Y_TRAIN)


@pytest.mark.parametrize(("n_rows", "n_trees"), [(100, 1000), (2000, 500), (100_000, 400)])
def test_more_rows_get_fewer_trees_unless_one_says_how_many(n_rows, n_trees):
    size = FitSize(n_rows, 10, 5, 10 * n_rows, n_rows)
    default, told = MLSPLClassifierCV(), MLSPLClassifierCV(n_estimators=300)
    assert default._count_trees(default._given(), size) == n_trees
    assert told._count_trees(told._given(), size) == 300


def test_a_fast_budget_tries_less():
    few = MLSPLClassifierCV(budget="fast", random_state=0).fit(X_TRAIN, Y_TRAIN)
    assert len(few.cv_results_) == 2 * 2 + 2 * 2
    assert len(few.cv_results_[0]["folds"]) == 3


def test_a_linear_family_stands_beside_the_others():
    model = clone(BOTH).set_params(families=("linear", "forest"), quantiles=(0.7,)).fit(X_TRAIN, Y_TRAIN)
    assert [family.family for family in model.families_] == ["linear", "forest"]
    assert model.space_ is None
    assert average_precision(Y_TEST, model.decision_function(X_TEST)) > 0.8
