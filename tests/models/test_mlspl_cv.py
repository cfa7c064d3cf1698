from contextlib import contextmanager

import matplotlib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import jaccard_score, make_scorer
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mlspl import MLSPLClassifier, MLSPLClassifierCV, pacing
from mlspl._limits import FitSize
from mlspl.datasets import corrupt, load_dataset
from mlspl.errors import UserError
from mlspl.metrics import CRITERIA, average_precision
from mlspl.model_selection import get_calibration, protocol_split
from mlspl.models._families import drop_families
from mlspl.models._forest import Bags, TreeRows, as_floats, make_tree, measure_units
from mlspl.models._forest_learner import ForestLearner
from mlspl.models._kernel_family import split_rows
from mlspl.models.tuned_decision import choose_decision, judge
from mlspl.spaces import Gram

DIGITS = load_dataset("digits-traits")
TRAIN, TEST = protocol_split(len(DIGITS.Y), 0, 0.1)
X = StandardScaler().fit(DIGITS.X[TRAIN]).transform(DIGITS.X)
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[TRAIN], DIGITS.Y[TRAIN], X[TEST], DIGITS.Y[TEST]
SMALL = MLSPLClassifierCV(
    families=("kernel",),
    pace_functions=("gaussian", "huber"),
    per=("label", "class", "negatives"),
    C=(1.0, 4.0),
    gamma_factors=(0.5,),
    quantiles=(0.7, 0.9),
    n_settings=6,
    n_points=2,
    cv=3,
    random_state=0,
)
BOTH = MLSPLClassifierCV(
    C=(1.0, 4.0), gamma_factors=(0.5,), n_points=None, n_estimators=40, cv=3, random_state=0
)


# scikit-learn expects the labels with a positive score, which is what a threshold rule may change.
CHECKED = MLSPLClassifierCV(
    C=(1.0,),
    gamma_factors=(1.0,),
    quantiles=(0.7,),
    per=("class",),
    thresholds=("zero",),
    n_estimators=10,
    cv=2,
)


@pytest.fixture(scope="module")
def fitted():
    """For tests that only look."""
    return clone(SMALL).fit(X_TRAIN, Y_TRAIN)


@parametrize_with_checks([CHECKED])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def twin(member, rows=slice(None), label_weight=None):
    """The MLSPL that a member says it is, fitted on these training rows."""
    target = member["target"]
    return MLSPLClassifier(
        member["pace_function"],
        pacing.QuantilePace(target, target, 1, per=member["per"] or "class"),
        C=member["C"],
        gamma=member["gamma"],
        class_weight=member["class_weight"],
        regressor="ridge",
        random_state=0,
    ).fit(X_TRAIN[rows], Y_TRAIN[rows], label_weight=None if label_weight is None else label_weight[rows])


def test_prior_weights_count_in_every_step():
    """Judged, averaged, decided and fitted as models are that get the weights of their rows."""
    weight = np.random.default_rng(0).choice([0.0, 0.3, 1.0, 4.0], size=Y_TRAIN.shape)
    model = clone(SMALL).set_params(quantiles=(0.7,), pace_functions=("gaussian",), per=("class",))
    model.set_params(C=(1.0,)).fit(X_TRAIN, Y_TRAIN, label_weight=weight)
    present = (Y_TRAIN == 1) & (weight > 0)
    truth = np.where(weight > 0, Y_TRAIN, np.nan)
    folds = split_rows(present, 3, 0)
    scores = np.zeros(Y_TRAIN.shape)
    assert len(model.members_) == 2
    for member in model.members_:
        for (train, test), value in zip(folds, member["folds"], strict=True):
            held_out = twin(member, train, weight).decision_function(X_TRAIN[test])
            scores[test] += held_out / 2
            judged = judge(CRITERIA["average_precision"], truth[test], held_out, None)
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
    raw = np.mean(
        [twin(member, label_weight=weight).decision_function(X_TEST) for member in model.members_], 0
    )
    np.testing.assert_allclose(model.decision_function(X_TEST), calibration.log_odds(raw), atol=0.02)


def test_a_fold_without_a_row_to_rank_leaves_the_choice_to_the_others():
    """Most rows have all labels or none; the grid's order must not decide."""
    Y = np.repeat(Y_TRAIN[:, :1], 3, axis=1)
    Y[:2, 1] = 1 - Y[:2, 1]
    for C in ((1e-4, 1.0), (1.0, 1e-4)):
        model = clone(SMALL).set_params(C=C, cv=5, n_settings=1, quantiles=()).fit(X_TRAIN, Y)
        folds = np.array([row["folds"] for row in model.cv_results_])
        assert np.isnan(folds).any()
        assert model.best_score_ == max(np.nanmean(folds, axis=1))
    alike = clone(SMALL).set_params(quantiles=()).fit(X_TRAIN, np.repeat(Y_TRAIN[:, :1], 3, axis=1))
    assert alike.criterion_ == "hamming_loss"


def test_the_model_is_the_mean_of_the_members_it_names():
    model = clone(SMALL).set_params(gamma_factors=(0.5, 1.0), n_settings=3).fit(X_TRAIN, Y_TRAIN)
    assert len(model.members_) == 6
    (family,) = model.families_
    assert len(family.models) == 2
    twins = [twin(member) for member in model.members_]
    odds = model.calibration_.log_odds(np.mean([t.decision_function(X_TEST) for t in twins], axis=0))
    np.testing.assert_allclose(model.decision_function(X_TEST), odds, atol=5e-3)  # the SVMs' own tolerance
    np.testing.assert_allclose(
        model.label_weights_, np.mean([t.label_weights_ for t in twins], axis=0), atol=5e-3
    )
    scores = model.decision_function(X_TEST)
    np.testing.assert_array_equal(model.predict(X_TEST), model.threshold_.apply(scores))


def test_the_best_points_of_the_best_settings_are_its_members():
    model = clone(SMALL).set_params(C=(0.01, 1.0, 4.0), n_settings=2, n_points=3).fit(X_TRAIN, Y_TRAIN)
    assert len(model.cv_results_) == 3 * (1 + 2 * 3 * 2)
    best_three = {
        C: sorted((row["mean"] for row in model.cv_results_ if row["C"] == C), reverse=True)[:3]
        for C in (0.01, 1.0, 4.0)
    }
    kept = sorted(best_three.values(), key=np.mean, reverse=True)[:2]
    assert [member["mean"] for member in model.members_] == sorted(np.ravel(kept), reverse=True)
    assert model.best_score_ == max(row["mean"] for row in model.cv_results_)
    assert model.members_[0]["per"] == model.best_params_["per"]


def test_unknown_labels_are_left_out_of_the_judgement():
    """A third of the pairs is unknown: what is judged are the others, not the unknown ones as absent."""
    Y = np.where(np.random.default_rng(0).random(Y_TRAIN.shape) < 0.3, np.nan, Y_TRAIN)
    model = clone(SMALL).set_params(quantiles=(), C=(1.0,)).fit(X_TRAIN, Y)
    (row,) = model.cv_results_
    known = ~np.isnan(Y)
    (kernel,) = model._make_families(model._given(), FitSize.of(X_TRAIN, Y_TRAIN))
    everything = dict.fromkeys(kernel.settings, kernel.points)
    rows = Gram(gamma=row["gamma"]).place(X_TRAIN)
    present = known & (Y == 1)
    for (train, test), value in zip(split_rows(present, 3, 0), row["folds"], strict=True):
        ((_, scores),) = kernel.hold_out(rows, present, known.astype(float), train, test, everything)
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
    (kernel,) = model._make_families(model._given(), FitSize.of(X_TRAIN, Y_TRAIN))
    everything = dict.fromkeys(kernel.settings, kernel.points)
    rows = Gram("precomputed").place(X_TRAIN @ X_TRAIN.T / 64)
    Y = Y_TRAIN.astype(bool)
    (train, test), *_ = split_rows(Y, 3, 0)
    turned = Y.copy()
    turned[test] = ~Y[test]
    for (_, first), (_, second) in zip(
        kernel.hold_out(rows, Y, None, train, test, everything),
        kernel.hold_out(rows, turned, None, train, test, everything),
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
    assert model.best_score_ == min(row["mean"] for row in model.cv_results_)


def test_the_path_is_drawn_as_gains_over_its_end(fitted):
    matplotlib.use("agg")
    model = fitted
    ax = model.plot_path()
    assert ax.get_ylabel() == "gain in held-out average precision"
    assert len(ax.containers) == 6
    best = {"C", "gamma", "class_weight"}
    rows = [r for r in model.cv_results_ if all(r[name] == model.best_params_[name] for name in best)]
    (end,) = (row["mean"] for row in rows if row["target"] == 1.0)
    for container, marks in zip(ax.containers, ax.collections[1::2], strict=False):
        function, group = container.get_label().split(", ")
        path = [r for r in rows if r["pace_function"] == function and r["per"] == group.removeprefix("per ")]
        path.sort(key=lambda row: row["target"])
        drawn = container.lines[0].get_ydata()
        np.testing.assert_allclose(drawn, [row["mean"] - end for row in path], atol=1e-12)
        filled = [tuple(colour) != (1.0, 1.0, 1.0, 1.0) for colour in marks.get_facecolors()]
        assert filled == [row in model.members_ for row in path]
    matplotlib.pyplot.close(ax.figure)


def test_one_label_is_drawn_by_what_judged_it():
    matplotlib.use("agg")
    model = clone(SMALL).fit(X_TRAIN, Y_TRAIN[:, :1])
    ax = model.plot_path()
    assert ax.get_ylabel() == "gain in held-out hamming loss"
    matplotlib.pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"quantiles": (-0.1,)}, "give numbers from 0 to below 1"),
        ({"quantiles": (0.9, 1.0)}, "give numbers from 0 to below 1: 1 is always there"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        clone(SMALL).set_params(**parameters).fit(X_TRAIN, Y_TRAIN)


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
    assert len(model.trees) == Y_TRAIN.shape[1] * (20 + 4 * 5)
    of_forest = model.scores(X_TEST)
    expected = both.calibration_.log_odds((of_kernel + of_forest) / 2)
    np.testing.assert_allclose(both.decision_function(X_TEST), expected, atol=5e-3)


def test_half_of_the_trees_are_those_of_the_plain_forest(both):
    """The unpaced ones come first, on the draws of the seed; the others see the same rows, and weights."""
    Y = Y_TRAIN.astype(bool)
    trees = both.families_[1].models[0].trees
    bags = Bags.draw(40, *Y.shape, 0)
    rows = TreeRows(as_floats(X_TRAIN, measure_units(X_TRAIN)), make_tree("extra-trees", 2, "sqrt", 64))
    learner = ForestLearner(rows, Y, np.ones(Y.shape), bags.first(20), None)
    learner.fit(np.ones(Y.shape))
    for label in range(Y.shape[1]):
        ours, plain = trees.part(40 * label, 40 * label + 20), learner.forests[label]
        np.testing.assert_array_equal(ours.sum_leaves(rows.X)[0], plain.sum_leaves(rows.X)[0])
    weights = [member["weight"] for member in both.members_ if member["family"] == "forest"]
    assert sorted(weights) == pytest.approx([0.0625] * 4 + [0.25])


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
    for family, n_settings in (("kernel", 2), ("forest", 1)):
        targets = [member["target"] for member in both.members_ if member["family"] == family]
        assert sorted(targets) == sorted(n_settings * [0.5, 0.5, 0.7, 0.7, 1.0])
    assert {step["family"] for step in both.history_} == {"kernel", "forest"}
    assert both.trace_.n_steps == 10


def test_the_held_out_rows_of_a_forest_are_not_seen():
    family = BOTH._make_families(BOTH._given(), FitSize.of(X_TRAIN, Y_TRAIN))[1]
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


def test_a_fast_budget_tries_less():
    few = MLSPLClassifierCV(budget="fast", random_state=0).fit(X_TRAIN, Y_TRAIN)
    assert len(few.cv_results_) == 2 * 2 + 2
    assert len(few.cv_results_[0]["folds"]) == 3


def test_a_linear_family_stands_beside_the_others():
    model = clone(BOTH).set_params(families=("linear", "forest"), quantiles=(0.7,)).fit(X_TRAIN, Y_TRAIN)
    assert [family.family for family in model.families_] == ["linear", "forest"]
    assert model.space_ is None
    assert average_precision(Y_TEST, model.decision_function(X_TEST)) > 0.8
