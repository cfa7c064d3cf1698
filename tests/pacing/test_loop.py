"""The paced loop: against Algorithm 1 written out, its reasons to stop, and what it remembers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import mlspl
from mlspl import pacing
from mlspl.errors import UserError
from tests.naive import pacing as naive


class Means:
    """Predicts every label's weighted mean; `moving` fits say that they moved something."""

    def __init__(self, Y, moving=0):
        self.Y, self.mean, self.fitted, self.moving = Y, Y.mean(axis=0), [], moving

    def fit(self, weights):
        self.fitted.append(weights)
        total = weights.sum(axis=0)
        self.mean = np.where(total > 0, (self.Y * weights).sum(axis=0) / np.maximum(total, 1e-300), 0.5)
        return len(self.fitted) <= self.moving

    def losses(self):
        return np.abs(self.Y - self.mean)


def labels(seed=0, shape=(30, 4)):
    return (np.random.RandomState(seed).rand(*shape) < 0.3).astype(float)


@given(st.integers(0, 1000), st.sampled_from(["gaussian", "hard", "linear", "huber"]))
def test_it_is_algorithm_1(seed, name):
    Y = labels(seed)
    known = np.random.RandomState(seed + 1).rand(*Y.shape) < 0.9
    schedule = pacing.QuantilePace(0.4, 0.9, 4, per="label")
    run = pacing.paced(Means(Y), pacing.get(name), schedule, Y, known, target_weight=np.inf)
    steps = [(step.losses, step.weights) for step in run]
    expected = naive.paced_steps(Means(Y), pacing.get(name), schedule, Y, known)
    for (losses, weights), (naive_losses, naive_weights) in zip(steps, expected, strict=False):
        np.testing.assert_array_equal(losses, naive_losses)
        np.testing.assert_array_equal(weights, naive_weights)
    if run.stop_reason == "max_steps":
        assert len(steps) == len(expected)
    else:  # nothing that was left out would have been different
        assert run.stop_reason in ("settled", "infinite_pace")
        for _, weights in expected[len(steps) :]:
            np.testing.assert_array_equal(weights, run.weights)
    entered, mean = naive.trace(expected[: len(steps)])
    np.testing.assert_array_equal(run.trace.entered, entered)
    # Sums of a few float32 numbers of the order of 1.
    np.testing.assert_allclose(run.trace.mean_loss, mean, atol=1e-6)
    np.testing.assert_array_equal(run.trace.last_loss, steps[-1][0].astype(np.float32))


def test_it_stops_at_an_infinite_pace():
    Y = labels()
    run = pacing.paced(Means(Y, moving=99), pacing.Gaussian(), pacing.QuantilePace(0.5, 1.0, 50), Y)
    assert len(list(run)) < 50
    assert run.stop_reason == "infinite_pace"
    assert (run.weights == 1).all()


def test_a_step_that_changes_nothing_is_the_last_unless_a_later_target_would_change_something():
    Y = np.array([[1.0], [1.0], [1.0], [1.0], [0.0]])

    class Still(Means):
        def losses(self):
            return np.array([[0.1], [0.2], [0.2], [0.2], [0.9]])

    # The quantiles .3, .5 and .7 of these losses are all .2; .9 is not.
    run = pacing.paced(Still(Y), pacing.Linear(), pacing.QuantilePace(0.3, 0.9, 4, per="label"), Y)
    assert [step.number for step in run] == [1, 2, 3, 4]
    run = pacing.paced(Still(Y), pacing.Linear(), pacing.QuantilePace(0.3, 0.7, 3, per="label"), Y)
    assert [step.number for step in run] == [1, 2]
    assert run.stop_reason == "settled"


def test_a_learner_that_moves_goes_on_and_one_that_is_not_paced_ends_when_it_does_not():
    Y = labels()
    run = pacing.paced(Means(Y, moving=3), None, range(10), Y)
    assert [bool(step.moved) for step in run] == [True, True, True, False]
    assert run.stop_reason == "settled"
    assert run.history[0]["pace"] is None
    assert run.trace.n_steps == 0


def test_everything_in_play_is_enough():
    Y = labels()
    run = pacing.paced(Means(Y), pacing.Hard(), pacing.GeometricPace(2.0, 1.5, 9), Y)
    assert len(list(run)) == 1
    assert run.stop_reason == "target_weight"


def test_the_walker_may_stop_it_and_add_to_the_history():
    Y = labels()
    run = pacing.paced(Means(Y), pacing.Gaussian(), pacing.QuantilePace(0.3, 0.9, 5, per="label"), Y)
    for step in run:
        step.record["note"] = step.number * 10
        if step.number == 2:
            run.stop()
    assert run.stop_reason == "callback"
    assert [record["note"] for record in run.history] == [10, 20]
    assert {"step", "pace", "mean_loss", "mean_weight", "in_play", "seconds"} <= run.history[0].keys()


def test_unknown_pairs_set_no_pace_and_are_not_counted():
    Y = labels()
    known = np.ones(Y.shape, dtype=bool)
    known[:10, 0] = False
    losses = []
    for junk in (0.0, 7.0):

        class Junk(Means):
            def losses(self, junk=junk):
                return np.where(known, super().losses(), junk)

        run = pacing.paced(
            Junk(Y), pacing.Gaussian(), pacing.QuantilePace(0.5, 0.5, 1, per="label"), Y, known
        )
        (step,) = run
        losses.append((step.weights[known], run.history[0]["mean_loss"], run.history[0]["in_play"]))
    np.testing.assert_array_equal(losses[0][0], losses[1][0])
    assert losses[0][1:] == losses[1][1:]


def test_lateness_runs_from_the_first_step_to_never():
    trace = pacing.Trace((1, 3))
    trace.add(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]]))
    trace.add(np.zeros((1, 3)), np.array([[1.0, 0.5, 0.4]]))
    assert trace.lateness.tolist() == [[0.0, 0.5, 1.0]]


class Constant(pacing.SelfPacedFunction):
    def __init__(self, value):
        self.value = value

    def weight(self, loss, pace):
        return np.full(np.shape(loss), self.value)

    def inverse(self, weight, pace):
        return np.zeros(np.shape(weight))

    penalty = inverse


@pytest.mark.parametrize("value", [np.nan, -0.1, 1.1, 1e308, -np.inf])
@pytest.mark.parametrize(
    "estimator",
    [
        lambda function: mlspl.SelfPacedForestClassifier(3, function, pacing.QuantilePace()),
        lambda function: mlspl.SelfPacedForestClassifier(3, function),
        lambda function: mlspl.SelfPacedClassifier(LogisticRegression(), function),
        lambda function: mlspl.MLSPLClassifier(function),
        lambda function: mlspl.MLSPLClassifier(function, space="linear"),
    ],
)
def test_weights_outside_0_and_1_are_refused_in_every_estimator(estimator, value):
    X = np.random.RandomState(0).randn(120, 3)
    Y = (X[:, :2] > 0).astype(int)
    with pytest.raises(UserError, match="weight"):
        estimator(Constant(value)).fit(X, Y)


def test_weights_of_another_shape_are_refused():
    function = Constant(0.5)
    function.weight = lambda loss, pace: np.full(np.shape(loss)[1], 0.5)
    with pytest.raises(UserError, match="weights for"):
        list(pacing.paced(Means(labels()), function, pacing.GeometricPace(), labels()))
