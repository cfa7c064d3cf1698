import time
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier

from mlspl import SelfPacedForestClassifier, load_model, pacing, save_model
from mlspl.datasets import corrupt, load_dataset
from mlspl.errors import UserError
from mlspl.metrics import average_precision
from mlspl.model_selection import ShrunkCalibration
from mlspl.models import _forest, self_paced_forest
from mlspl.models._forest import RowSamples
from mlspl.models._forest_models import as_floats
from mlspl.models.self_paced_forest import _mean_is_better

DIGITS = load_dataset("digits-traits")
X, Y = DIGITS.X, DIGITS.Y
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[:120], Y[:120, :4], X[300:700], Y[300:700, :4]


@pytest.mark.parametrize("trees", ["joint", "per-label"])
def test_unpaced_it_is_scikit_learns_forest(trees):
    """Of other draws: the mean of 200 trees with a spread of at most ½ has a standard error of 0.035."""
    model = SelfPacedForestClassifier(200, None, random_state=0, trees=trees, prior_weight=0.0)
    model.fit(X_TRAIN, Y_TRAIN)
    columns = [slice(None)] if trees == "joint" else [[0], [1], [2], [3]]
    for labels in columns:
        other = ExtraTreesClassifier(200, min_samples_leaf=2, random_state=1)
        other.fit(X_TRAIN, Y_TRAIN[:, labels].squeeze())
        theirs = other.predict_proba(X_TEST)
        theirs = np.column_stack([p[:, 1] for p in theirs]) if trees == "joint" else theirs[:, [1]]
        difference = model.predict_proba(X_TEST)[:, labels] - theirs
        assert np.abs(difference).max() < 5 * 0.035 * np.sqrt(2)
        assert np.abs(difference).mean() < 0.035
        importances = model.label_feature_importances_[labels][0]
        assert np.corrcoef(importances, other.feature_importances_)[0, 1] > 0.9


def test_a_joint_forest_averages_the_labels_of_the_rows_that_share_a_leaf():
    weight = np.random.RandomState(0).uniform(0.0, 1.0, Y_TRAIN.shape)
    weight[::3, 1] = 0.0
    model = SelfPacedForestClassifier(7, None, random_state=0, trees="joint", prior_weight=0.0)
    model.fit(X_TRAIN, Y_TRAIN, label_weight=weight)
    (forest,), samples = model.forests_, RowSamples.draw(7, *Y_TRAIN.shape, 0)
    seen, asked = (forest.trees.find_leaves(as_floats(x)) for x in (X_TRAIN, X_TEST[:9]))
    weight = weight / weight.max(axis=0)
    for found, probabilities, tree_counts in (
        (asked, model.predict_proba(X_TEST[:9]), np.ones((7, 9), bool)),
        (seen, model.oob_probabilities_, samples.counts == 0),
    ):
        for row in range(9):
            above, below = forest.frequencies.copy(), np.ones(4)
            for tree in np.flatnonzero(tree_counts[:, row]):
                leaf = (seen[tree] == found[tree, row]) & (samples.counts[tree] > 0)
                above += (weight * Y_TRAIN)[leaf].mean(axis=0)
                below += weight[leaf].mean(axis=0)
            # Scores are rounded to multiples of 2⁻²⁶.
            np.testing.assert_allclose(probabilities[row], above / below, rtol=2e-8)


def test_a_joint_forest_of_many_labels_ranks_as_well_through_projections():
    many = np.repeat(Y, 9, axis=1)  # 72 labels, more than a tree has targets
    scores = {}
    for name, labels in (("few", Y), ("many", many)):
        model = SelfPacedForestClassifier(60, None, random_state=0, trees="joint").fit(X[:200], labels[:200])
        scores[name] = average_precision(labels[300:700], model.decision_function(X_TEST))
    assert scores["many"] > scores["few"] - 0.03


def test_auto_is_the_mean_of_joint_trees_and_trees_of_each_label():
    parts = [
        SelfPacedForestClassifier(10, None, random_state=0, trees=trees, prior_weight=0.0).fit(
            X_TRAIN, Y_TRAIN
        )
        for trees in ("joint", "per-label", "auto")
    ]
    joint, apart, both = (model.predict_proba(X_TEST) for model in parts)
    np.testing.assert_allclose(both, (joint + apart) / 2, atol=1e-12)
    joint, apart, both = (model.oob_probabilities_ for model in parts)
    np.testing.assert_allclose(both, (joint + apart) / 2, atol=1e-12)


def test_frequencies_weigh_in_where_rows_out_of_bag_ask_for_it():
    """Of labels drawn by lot trees know nothing; of these digits they know enough."""
    of_digits = SelfPacedForestClassifier(50, random_state=0).fit(X_TRAIN, Y_TRAIN)
    assert of_digits.prior_weight_ == 0
    by_lot = (np.random.RandomState(0).uniform(size=Y_TRAIN.shape) < [0.5, 0.3, 0.2, 0.1]).astype(int)
    model = SelfPacedForestClassifier(50, random_state=0).fit(X_TRAIN, by_lot)
    asked = ShrunkCalibration().fit(logit(model.oob_probabilities_), by_lot)
    assert model.prior_weight_ == 1 - asked.share_ > 0.2
    alone = SelfPacedForestClassifier(50, random_state=0, prior_weight=0.0).fit(X_TRAIN, by_lot)
    expected = asked.log_odds(alone.decision_function(X_TEST))
    np.testing.assert_allclose(model.decision_function(X_TEST), expected, atol=3e-8)


def test_the_weights_are_those_of_the_losses_out_of_bag():
    unpaced = SelfPacedForestClassifier(30, None, random_state=0).fit(X_TRAIN, Y_TRAIN)
    schedule = pacing.QuantilePace(0.7, 0.7, 1)
    model = SelfPacedForestClassifier(30, schedule=schedule, random_state=0).fit(X_TRAIN, Y_TRAIN)
    given = np.where(Y_TRAIN == 1, unpaced.oob_probabilities_, 1 - unpaced.oob_probabilities_)
    losses = -np.log(np.maximum(given, 1e-3))
    expected = pacing.get("gaussian").weight(losses, schedule.pace(0.7, losses, Y_TRAIN))
    np.testing.assert_allclose(model.label_weights_, expected, rtol=1e-6)  # losses are rounded
    np.testing.assert_allclose(model.trace_.last_loss, losses, rtol=1e-6)
    assert [step["pace"] for step in model.history_] == [0.7]
    assert model.stop_reason_ == "max_steps"


def test_an_infinite_pace_is_the_plain_forest():
    plain = SelfPacedForestClassifier(20, None, random_state=0).fit(X_TRAIN, Y_TRAIN)
    model = SelfPacedForestClassifier(20, schedule=pacing.QuantilePace(1.0, 1.0, 3), random_state=0)
    model.fit(X_TRAIN, Y_TRAIN)
    np.testing.assert_array_equal(model.decision_function(X_TEST), plain.decision_function(X_TEST))
    assert model.stop_reason_ == "infinite_pace"
    assert len(model.history_) == 1


def test_flipped_pairs_weigh_less_and_the_labels_come_out_better():
    noisy, wrong = corrupt(Y[:200], "flip", 0.3, random_state=0)
    plain = SelfPacedForestClassifier(50, None, random_state=0).fit(X[:200], noisy)
    paced = SelfPacedForestClassifier(50, random_state=0).fit(X[:200], noisy)
    assert paced.label_weights_[wrong].mean() < 0.7 * paced.label_weights_[~wrong].mean()
    before, after = (average_precision(Y[300:700], m.decision_function(X_TEST)) for m in (plain, paced))
    assert after > before + 0.01


def test_the_seed_alone_decides_whatever_the_threads_and_the_container():
    model = SelfPacedForestClassifier(35, random_state=3)
    scores = model.fit(X_TRAIN, Y_TRAIN).decision_function(X_TEST)
    model.set_params(n_jobs=2).fit(sparse.csr_array(X_TRAIN), Y_TRAIN)
    np.testing.assert_array_equal(model.decision_function(sparse.csr_array(X_TEST)), scores)
    other = model.set_params(random_state=4).fit(X_TRAIN, Y_TRAIN).decision_function(X_TEST)
    assert np.abs(other - scores).max() > 0.01


def test_rows_drawn_for_every_tree_and_labels_without_a_choice_get_frequencies():
    labels = Y_TRAIN[:40].copy()
    labels[:, 0], labels[:, 1], labels[:, 2] = 1, 0, 0
    labels[7, 2] = 1
    model = SelfPacedForestClassifier(1, None, random_state=0, trees="per-label").fit(X_TRAIN[:40], labels)
    drawn = RowSamples.draw(1, *labels.shape, 0).counts[0] > 0
    frequencies = (0.5 + labels.sum(axis=0)) / 41
    np.testing.assert_allclose(model.oob_probabilities_[drawn], np.tile(frequencies, (drawn.sum(), 1)))
    np.testing.assert_allclose(model.predict_proba(X_TEST)[:, :2], np.tile(frequencies[:2], (400, 1)))
    assert not model.label_feature_importances_[:2].any()
    assert np.isclose(model.feature_importances_.sum(), 1.0)
    never, once = model.decision_function(X_TEST)[:, 1], model.decision_function(X_TEST)[:, 2]
    assert (never <= once).all()


def test_paced_to_next_to_nothing_it_still_answers():
    schedule = pacing.GeometricPace(1e-5, 1.1, 2)
    model = SelfPacedForestClassifier(5, "hard", schedule, random_state=0).fit(X_TRAIN, Y_TRAIN)
    assert np.isfinite(model.decision_function(X_TEST)).all()


def test_pairs_without_weight_do_not_matter_and_weights_have_no_scale():
    weight = np.random.RandomState(0).uniform(0.2, 1.0, Y_TRAIN.shape)
    weight[::4] = 0.0
    model = SelfPacedForestClassifier(20, random_state=0)
    scores = model.fit(X_TRAIN, Y_TRAIN, label_weight=weight).predict_proba(X_TEST)
    other = Y_TRAIN.copy()
    other[::4] = 1 - other[::4]
    np.testing.assert_array_equal(model.fit(X_TRAIN, other, weight).predict_proba(X_TEST), scores)
    # Only the frequency, one voice among 21, knows how much was seen.
    lighter = model.fit(X_TRAIN, Y_TRAIN, label_weight=weight / 4).predict_proba(X_TEST)
    np.testing.assert_allclose(lighter, scores, atol=0.05)


def test_missing_values_are_like_those_of_scikit_learns_trees():
    gaps = np.where(np.random.RandomState(0).uniform(size=X.shape) < 0.2, np.nan, X)
    model = SelfPacedForestClassifier(200, None, random_state=0, prior_weight=0.0, trees="per-label")
    model.fit(gaps[:120], Y_TRAIN)
    theirs = [
        ExtraTreesClassifier(200, min_samples_leaf=2, random_state=1).fit(gaps[:120], y) for y in Y_TRAIN.T
    ]
    expected = np.column_stack([forest.predict_proba(gaps[300:700])[:, 1] for forest in theirs])
    assert np.abs(model.predict_proba(gaps[300:700]) - expected).mean() < 0.035


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter"),
        ({"min_samples_leaf": -1}, "min_samples_leaf"),
        ({"max_features": "half"}, "max_features"),
        ({"pace_function": "slow"}, "slow"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(parameters, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        SelfPacedForestClassifier(**parameters).fit(X_TRAIN, Y_TRAIN)
    assert "sklearn" in type(refusal.value).__module__ or isinstance(refusal.value, UserError)


def test_a_plain_fit_takes_no_longer_than_scikit_learns():
    """It takes a tenth of the time; the better of two, for other work on the machine disturbs."""

    def cpu_seconds(fit):
        start = time.process_time()
        fit()
        return time.process_time() - start

    model = SelfPacedForestClassifier(60, None)
    plain = ExtraTreesClassifier(60, min_samples_leaf=2, bootstrap=True, oob_score=True)
    ours = min(cpu_seconds(lambda: model.fit(X_TRAIN, Y_TRAIN[:, :2])) for _ in range(2))
    theirs = min(
        cpu_seconds(lambda: [plain.fit(X_TRAIN, Y_TRAIN[:, label]) for label in range(2)]) for _ in range(2)
    )
    assert ours < 1.2 * theirs


def test_a_model_file_holds_the_forest(tmp_path):
    model = SelfPacedForestClassifier(10, random_state=0).fit(X_TRAIN, Y_TRAIN)
    save_model(model, tmp_path / "forest.mlspl")
    loaded = load_model(tmp_path / "forest.mlspl")
    np.testing.assert_array_equal(loaded.decision_function(X_TEST), model.decision_function(X_TEST))
    np.testing.assert_array_equal(loaded.trace_.entered, model.trace_.entered)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("feature", 64),
        ("feature", -2),
        ("left", 0),
        ("right", 10**6),
        ("starts", 1),
        ("value", np.zeros(3, dtype=np.float32)),
        ("left", np.zeros(3)),
        ("n_features", 65),
        ("starts", np.zeros(1, dtype=np.int64)),
    ],
)
def test_trees_that_lead_nowhere_are_neither_saved_nor_loaded(name, value, tmp_path):
    model = SelfPacedForestClassifier(3, None, random_state=0, trees="per-label").fit(X_TRAIN, Y_TRAIN)
    if isinstance(value, np.ndarray) or name == "n_features":
        setattr(model.forests_[0].trees, name, value)
    else:
        getattr(model.forests_[0].trees, name)[0] = value
    with pytest.raises(UserError, match="cannot be saved"):
        save_model(model, tmp_path / "forest.mlspl")


@pytest.mark.parametrize(
    "forge",
    [
        lambda forest: forest.leaves.__setitem__((0, 0), 10**6),
        lambda forest: forest.leaves.__setitem__((0, 0), -(2**31)),
        lambda forest: setattr(forest, "leaves", forest.leaves[:, :-1]),
        lambda forest: setattr(forest, "weights", -np.ones(forest.labels.shape)),
        lambda forest: setattr(forest, "labels", forest.labels[:-1]),
    ],
)
def test_joint_forests_whose_leaves_do_not_exist_are_neither_saved_nor_loaded(forge, tmp_path):
    model = SelfPacedForestClassifier(3, None, random_state=0, trees="joint").fit(X_TRAIN, Y_TRAIN)
    forge(model.forests_[0])
    with pytest.raises(UserError, match="cannot be saved"):
        save_model(model, tmp_path / "forest.mlspl")


def test_the_default_pace_is_the_one_with_the_smallest_held_out_log_loss():
    noisy, _ = corrupt(Y[:200], "flip", 0.3, random_state=0)
    clean, paced = (
        SelfPacedForestClassifier(20, random_state=0).fit(X[:200], labels) for labels in (Y[:200], noisy)
    )
    assert len(clean.pace_choice_) == len(paced.pace_choice_) == 4
    for model in (clean, paced):
        # On these digits no pace lowers the average precision by two standard errors and the log loss, too.
        gain = max(choice["gain"] for choice in model.pace_choice_)
        assert bool(model.history_) == (gain > 0)
        assert (model.label_weights_ == 1).all() == (gain <= 0)
    few = SelfPacedForestClassifier(20, random_state=0).fit(X[:99], Y[:99])
    assert few.pace_choice_ == few.history_ == []


def test_the_choice_of_the_pace_shows_progress_and_grows_no_more_trees_than_the_forest(monkeypatch):
    notes, trees = [], []
    grow = _forest.grow_extra_trees

    def count_trees(features, targets, weight, counts, *others):
        trees.append(len(counts))
        return grow(features, targets, weight, counts, *others)

    @contextmanager
    def record(*_):
        yield lambda note: notes.append(note)

    monkeypatch.setattr(_forest, "grow_extra_trees", count_trees)
    monkeypatch.setattr(self_paced_forest, "fit_progress", record)
    SelfPacedForestClassifier(4, trees="joint", random_state=0).fit(X[:120], Y[:120])
    assert set(trees) == {4}
    assert [note.split(":")[0] for note in notes[:3]] == ["choice of the pace"] * 3


def test_forests_per_label_are_averaged_with_joint_trees_only_if_that_ranks_better():
    random = np.random.default_rng(0)
    truth = random.random((200, 4)) < 0.4
    good, bad = (expit(scale * (truth - 0.5) + random.standard_normal(truth.shape)) for scale in (4, 1))
    known = np.ones(truth.shape)
    assert _mean_is_better((bad, good), truth, known)
    assert not _mean_is_better((good, bad), truth, known)
    assert not _mean_is_better((good, good), truth, known)
