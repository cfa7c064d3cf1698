"""MLSPL's defaults in linear and Nyström spaces: a pace that ends unpaced, labels that share scores."""

import numpy as np
import pytest

from mlspl import MLSPLClassifier, load_model, pacing, save_model
from mlspl.metrics import average_precision
from mlspl.model_selection import JointCalibration
from mlspl.models import _space_classifier


def made(n=300, d=20, n_labels=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, :n_labels] + rng.normal(size=(n, n_labels)) > 0.8).astype(int)


def chained(n=1200, d=150, seed=0):
    """A wide X; the second label is mostly the first one's, and rare: alone it is learnt badly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    first = X @ np.where(np.arange(d) < 30, 1.0, 0.0) / 3 + rng.normal(size=n)
    others = rng.random((n, 4)) < [0.1, 0.2, 0.3, 0.4]
    return X, np.column_stack([first > 0, (first > 0) & (rng.random(n) < 0.15), others]).astype(int)


@pytest.mark.parametrize("space", ["linear", "nystroem"])
def test_the_pace_ends_at_the_unpaced_model_and_its_scale(space):
    X, Y = made()
    options = {"space": space, "n_landmarks": 40, "random_state": 0, "C": 1.0, "tol": 1e-8}
    paced = MLSPLClassifier(schedule=pacing.QuantilePace(0.7, 1.0, 3), **options).fit(X, Y)
    by_default = MLSPLClassifier(**options).fit(X, Y)
    assert (by_default.stop_reason_, by_default.n_iter_) == ("infinite_pace", 1)
    unpaced = MLSPLClassifier(pace_function=None, **options).fit(X, Y)
    assert (paced.stop_reason_, paced.n_iter_) == ("infinite_pace", 3)
    assert [record["pace"] for record in paced.history_] == pytest.approx([0.7, 0.85, 1.0])
    assert np.all(paced.label_weights_ == 1)
    assert 0 < np.mean(paced.trace_.entered == 3) < 0.5
    # Each objective, of under 200 a label, is within 1e-8 of its least, by landmarks 20 times that: half the
    # squared distance to the weights there, so within .002 or .009. Rows by landmarks are of length 1.
    reach = 2 * (0.009 if space == "nystroem" else 0.002 * np.linalg.norm(X, axis=1).max())
    np.testing.assert_allclose(by_default.model_.scores(X), unpaced.model_.scores(X), atol=reach)
    np.testing.assert_allclose(paced.model_.scores(X), unpaced.model_.scores(X), atol=reach)
    # Scores of the machines of .85, of which the hardest are left out, would be steeper by a third.
    np.testing.assert_allclose(paced.decision_function(X), unpaced.decision_function(X), atol=2 * reach)


def test_on_a_kernel_matrix_a_pace_is_chosen_and_a_given_one_is_taken():
    X, Y = made(n=120)
    assert len(MLSPLClassifier(random_state=0).fit(X, Y).pace_choice_) == 2
    schedule = pacing.QuantilePace(0.7, 0.95, 3)
    for space in ("gram", "linear"):
        model = MLSPLClassifier(space=space, schedule=schedule, random_state=0).fit(X, Y)
        assert model.label_weights_.min() < 0.9


def test_labels_learn_from_each_other_where_held_out_rows_say_so(monkeypatch, tmp_path):
    X, Y = chained()
    X_new, Y_new = chained(seed=1)
    model = MLSPLClassifier(space="linear", random_state=0).fit(X, Y)
    assert isinstance(model.calibration_, JointCalibration)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.decision_function(X_new), model.decision_function(X_new))
    probabilities = model.predict_proba(X_new)
    np.testing.assert_array_equal(probabilities > 0.5, model.decision_function(X_new) > 0)
    monkeypatch.setattr(_space_classifier, "_JOINT_LABELS", 5)
    alone = MLSPLClassifier(space="linear", random_state=0).fit(X, Y)
    assert not isinstance(alone.calibration_, JointCalibration)
    judged = Y_new.any(axis=1) & ~Y_new.all(axis=1)
    joint, single = (
        average_precision(Y_new[judged], fitted.decision_function(X_new[judged])) for fitted in (model, alone)
    )
    assert joint > single
