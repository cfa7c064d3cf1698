import copy
import pickle

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mlspl import pacing
from mlspl.errors import UserError
from tests.naive import pacing as naive

shapes = st.tuples(st.integers(1, 7), st.integers(1, 3))
# Few distinct values, so that ties and groups of equal losses are common.
problems = shapes.flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.0, 0.25, 1.0, 1.0, 3.7])),
        arrays(bool, shape),
    )
)


@settings(max_examples=150, deadline=None)
@given(problem=problems, target=st.floats(0, 1), per=st.sampled_from(["class", "label", "negatives", "all"]))
def test_quantile_pace_is_that_of_the_naive_loops(problem, target, per):
    losses, Y = problem
    schedule = pacing.QuantilePace(target, target, 1, per=per)
    pace = np.broadcast_to(schedule.pace(target, losses, Y), losses.shape)
    assert pace == pytest.approx(naive.quantile_pace(losses, Y, target, per), rel=1e-12)
    assert np.array_equal(schedule.pace(target, losses, np.where(Y, 1, -1)), schedule.pace(target, losses, Y))


@settings(max_examples=100, deadline=None)
@given(
    problem=problems,
    target=st.floats(0, 1),
    per=st.sampled_from(["class", "label", "negatives"]),
    data=st.data(),
)
def test_the_pace_of_a_label_is_that_of_its_known_pairs_alone(problem, target, per, data):
    losses, Y = problem
    known = data.draw(arrays(bool, losses.shape))
    schedule = pacing.QuantilePace(target, target, 1, per=per)
    pace = np.broadcast_to(schedule.pace(target, losses, Y, known), losses.shape)
    for label, rows in enumerate(known.T):
        alone = schedule.pace(target, losses[rows][:, [label]], Y[rows][:, [label]])
        assert np.array_equal(pace[rows, label], np.broadcast_to(alone, (rows.sum(), 1))[:, 0])


def test_unknown_pairs_do_not_count_among_all():
    losses, Y = np.array([[1.0, 9.0], [2.0, 3.0]]), np.ones((2, 2))
    known = losses < 9
    assert pacing.QuantilePace(0.5, 0.5, 1, per="all").pace(0.5, losses, Y, known) == 2.0


@settings(max_examples=100, deadline=None)
@given(
    problem=problems,
    target=st.floats(0, 1),
    name=st.sampled_from(["hard", "linear", "sigmoid", "tanh", "mixture"]),
    per=st.sampled_from(["class", "negatives"]),
)
def test_no_class_of_any_label_is_starved(problem, target, name, per):
    losses, Y = problem
    pace = pacing.QuantilePace(target, target, 1, per=per).pace(target, losses, Y)
    weight = pacing.get(name).weight(losses, pace)
    for label in range(Y.shape[1]):
        for group in (Y[:, label], ~Y[:, label]):
            assert not group.any() or weight[group, label].max() > 0


@pytest.mark.parametrize(
    "name", [name for name in pacing.names() if name not in ("mixture-zhao", "logarithmic")]
)
def test_the_last_quantile_puts_every_pair_in_play(name):
    random = np.random.default_rng(0)
    losses, Y = random.exponential(size=(20, 3)), random.random((20, 3)) < 0.2
    schedule = pacing.QuantilePace(0.4, 1.0, 4)
    *_, last = schedule
    weight = pacing.get(name).weight(losses, schedule.pace(last, losses, Y))
    assert np.array_equal(weight, np.ones((20, 3)))


def test_hard_pacing_keeps_the_share_asked_for_of_every_group():
    random = np.random.default_rng(1)
    losses, Y = random.exponential(size=(200, 2)) * [1.0, 50.0], random.random((200, 2)) < [0.5, 0.05]
    schedule = pacing.QuantilePace(0.25, 0.75, 3)
    for target in schedule:
        weight = pacing.Hard().weight(losses, schedule.pace(target, losses, Y))
        for label in range(2):
            for group in (Y[:, label], ~Y[:, label]):
                assert weight[group, label].mean() == pytest.approx(target, abs=1 / group.sum())


def test_geometric_pace_is_the_papers():
    schedule = pacing.GeometricPace(start=1e-5, growth=1.1, steps=30)
    paces = [schedule.pace(target, np.ones((2, 2)), np.ones((2, 2))) for target in schedule]
    assert len(schedule) == len(paces) == 30
    pace = 1e-5
    for step in range(30):
        assert paces[step] == pytest.approx(pace, rel=1e-13)
        assert np.ndim(paces[step]) == 0
        pace *= 1.1


def test_a_geometric_pace_may_reach_infinity():
    assert list(pacing.GeometricPace(1.0, 1e300, 3)) == [1.0, 1e300, np.inf]


@pytest.mark.parametrize(
    "schedule",
    [pacing.GeometricPace(), pacing.QuantilePace(0.2, 0.8, 3, per="all")],
    ids=repr,
)
def test_schedules_are_values(schedule):
    assert copy.deepcopy(schedule) == schedule
    assert hash(copy.deepcopy(schedule)) == hash(schedule)
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert eval(repr(schedule), vars(pacing)) == schedule
    stored = skops.io.dumps(schedule)
    assert skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored)) == schedule
    with pytest.raises(AttributeError):
        schedule.start = 3.0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: pacing.GeometricPace(start=0.0), "start"),
        (
            lambda: pacing.GeometricPace(growth=0.9),
            "growth",
        ),
        (
            lambda: pacing.GeometricPace(steps=0),
            "steps",
        ),
        (lambda: pacing.GeometricPace(steps=2.5), "2.5"),
        (lambda: pacing.QuantilePace(stop=1.1), "stop"),
        (
            lambda: pacing.QuantilePace(0.9, 0.1),
            "stop is 0.1",
        ),
        (lambda: pacing.QuantilePace(steps=1), "one step"),
        (
            lambda: pacing.QuantilePace(per="row"),
            "per is 'row'",
        ),
        (
            lambda: pacing.QuantilePace().pace(0.5, np.ones(3), np.ones(3)),
            "losses",
        ),
        (
            lambda: pacing.QuantilePace().pace(0.5, np.ones((3, 2)), np.ones((2, 3))),
            "Y has",
        ),
    ],
)
def test_mistakes_are_answered_with_a_sentence(make, sentence):
    with pytest.raises(UserError, match=sentence):
        make()


def test_noise_pace_is_the_quantile_of_the_right_labels_in_each_group():
    """Each group by itself with NumPy's quantile; no pace below 3 % of wrong labels."""
    random = np.random.default_rng(0)
    losses, Y = random.exponential(size=(80, 3)), random.integers(0, 2, size=(80, 3))
    known = random.random((80, 3)) < 0.8
    shares = np.array([[0.0, 0.2, 0.029], [0.3, 0.03, 1.0]])
    pace = pacing.NoisePace(shares).pace(1.0, losses, Y, known)
    for label in range(3):
        for side in (0, 1):
            members = Y[:, label] == side
            share = shares[side, label]
            group = losses[members & known[:, label], label]
            expected = np.inf if share < 0.03 else np.quantile(group, 1 - share)
            if share == 1.0:  # the smallest loss would leave no pair; the next one is used
                expected = np.sort(group)[1]
            assert pace[members, label] == pytest.approx(expected, rel=1e-12)


def test_noise_pace_asks_a_callable_at_each_step_and_paces_any_learner():
    seen = []

    def shares(losses, Y, known):
        seen.append(losses.mean())
        return np.full((2, 2), 0.3 if len(seen) == 1 else 0.0)

    class Learner:
        def fit(self, weights):
            self.weights = weights

        def losses(self):
            return np.arange(20.0).reshape(10, 2) + 1

    Y = np.arange(20).reshape(10, 2) % 3 == 0
    run = pacing.paced(Learner(), pacing.Hard(), pacing.NoisePace(shares, steps=4), Y)
    weights = [step.weights.mean() for step in run]
    assert run.stop_reason == "infinite_pace"
    assert 0.4 < weights[0] < 0.8
    assert weights[1:] == [1.0]
    assert len(seen) == 2


def test_noise_paces_are_values():
    schedule = pacing.NoisePace(np.array([[0.1, 0.2], [0.0, 0.3]]), steps=2)
    assert schedule == pacing.NoisePace([[0.1, 0.2], [0.0, 0.3]], 2)
    assert hash(schedule) == hash(pacing.NoisePace([[0.1, 0.2], [0.0, 0.3]], 2))
    assert list(schedule) == [1.0, 2.0]


@pytest.mark.parametrize("shares", [[0.1, 0.2], [[0.1], [1.1]], [[np.nan], [0.1]], [[0.1, 0.1]]])
def test_what_are_no_shares_is_refused(shares):
    with pytest.raises(UserError, match="shares"):
        pacing.NoisePace(shares)
    with pytest.raises(UserError, match="shares"):
        pacing.NoisePace([[0.1, 0.1], [0.1, 0.1]]).pace(1.0, np.ones((3, 1)), np.ones((3, 1)))


def test_a_falling_pace_goes_down_to_the_share_of_right_labels():
    losses, Y = np.arange(1.0, 12.0).reshape(-1, 1), np.ones((11, 1))
    schedule = pacing.NoisePace(0.4, steps=2, falling=True)
    assert [schedule.pace(target, losses, Y)[0, 0] for target in schedule] == [9.0, 7.0]
    assert schedule == pacing.NoisePace([[0.4], [0.4]], steps=2, falling=True)
    two = pacing.NoisePace(0.4).pace(1.0, np.column_stack([losses, 2 * losses]), np.ones((11, 2)))
    assert two[0].tolist() == [7.0, 14.0]
