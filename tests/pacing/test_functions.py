"""The laws every self-paced function obeys, and the table of formulas, in high precision, as an oracle."""

import copy
import pickle

import mpmath as mp
import numpy as np
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from mlspl import pacing
from mlspl.errors import UserError
from tests.naive import pacing as naive

FUNCTIONS = [
    *(pacing.get(name) for name in pacing.names() if name != "diversity"),
    pacing.Polynomial(degree=1.5),
    pacing.Mixture(ratio=0.9),
    pacing.MixtureZhao(gamma=0.2),
]
WIDTH_FIXED = ("arctan", "tanh", "logistic")  # the pace moves these curves and does not stretch them

laws = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
losses = st.one_of(st.just(0.0), st.floats(-12, 12).map(lambda x: 10.0**x))
paces = st.floats(-12, 12).map(lambda x: 10.0**x)
weights = st.floats(0.0, 1.0)
inner_weights = st.floats(0.01, 0.99)


def allowed(function, pace):
    """A pace the function takes; the logarithmic one knows only paces below 1, ill-conditioned next to it."""
    return 0.999 * pace / (1 + pace) if function.max_pace == 1 else pace


def z(ratio, p):
    return ratio * p / (1 - ratio)


# name: weight(x, λ) of a loss x, and penalty(v, λ) as ALGORITHMS.md prints them
TABLE = {
    "arctan": (
        lambda x, p: (mp.pi / 2 - mp.atan(x - p)) / mp.pi,
        lambda v, p: -p * v - mp.log(mp.sin(mp.pi * v)) / mp.pi,
    ),
    "sigmoid": (
        lambda x, p: 2 / (1 + mp.exp(x / p)),
        lambda v, p: p * ((2 - v) * mp.log(2 - v) + v * mp.log(v)),
    ),
    "tanh": (
        lambda x, p: 1 / (1 + mp.exp(2 * (x - p))),
        lambda v, p: ((1 - v) * mp.log(1 - v) + v * mp.log(v)) / 2 - p * v,
    ),
    "exponential": (lambda x, p: mp.exp(-x / p), lambda v, p: p * (v * mp.log(v) - v)),
    "gaussian": (
        lambda x, p: mp.exp(-((x / p) ** 2)),
        lambda v, p: p * (mp.sqrt(mp.pi) / 2 * mp.erf(mp.sqrt(-mp.log(v))) - v * mp.sqrt(-mp.log(v))),
    ),
    "hard": (lambda x, p: 1 if x < p else 0, lambda v, p: -p * v),
    "linear": (lambda x, p: max(0, 1 - x / p), lambda v, p: p * (v**2 / 2 - v)),
    "polynomial": (
        lambda x, p: (1 - x / p) ** (mp.mpf(1) / 2) if x < p else 0,
        lambda v, p: p * (v**3 / 3 - v),
    ),
    "logarithmic": (
        lambda x, p: mp.log(x + 1 - p) / mp.log(1 - p) if x < p else 0,
        lambda v, p: (1 - p) * v - (1 - p) ** v / mp.log(1 - p) + 1 / mp.log(1 - p),
    ),
    "mixture": (
        lambda x, p: 1 if x <= p / 2 else 0 if x >= p else z(0.5, p) / x - z(0.5, p) / p,
        lambda v, p: -z(0.5, p) * mp.log(v + z(0.5, p) / p),
    ),
    "mixture-zhao": (
        lambda x, p: 1 if x <= (p / (p + 1)) ** 2 else 0 if x >= p**2 else 1 / mp.sqrt(x) - 1 / p,
        lambda v, p: 1 / (v + 1 / p),
    ),
    "logistic": (
        lambda x, p: (1 + mp.exp(-p)) / (1 + mp.exp(x - p)),
        lambda v, p: (1 + mp.exp(-p) - v) * mp.log(1 + mp.exp(-p) - v) + v * mp.log(v) - p * v,
    ),
    "cauchy": (lambda x, p: p / (p + x), lambda v, p: p * (v - mp.log(v) - 1)),
    "l1-l2": (lambda x, p: (1 + x / p) ** -0.5, lambda v, p: p * (v + 1 / v - 2)),
    "huber": (lambda x, p: min(1, mp.sqrt(p / x)) if x else 1, lambda v, p: p * (1 / v - 1)),
}


@pytest.mark.parametrize("name", TABLE)
def test_weight_and_penalty_are_those_of_the_table_computed_with_fifty_digits(name):
    function, (weight, penalty) = pacing.get(name), TABLE[name]
    for pace in (1e-9, 0.01, 0.3, 0.7, 3.0, 400.0):
        if pace >= function.max_pace:
            continue
        near = (
            pace + np.array([-0.9 * min(pace, 3), -0.1 * min(pace, 3), 0.2, 3.0])
            if name in WIDTH_FIXED
            else ()
        )
        for loss in (0.0, *(pace * np.array([1e-3, 0.4, 0.8, 0.999, 1.3, 20.0])), *near):
            with mp.workdps(50):
                exact = float(weight(mp.mpf(float(loss)), mp.mpf(pace)))
            assert function.weight(loss, pace) == pytest.approx(exact, rel=1e-11, abs=1e-14), (loss, pace)
        for v in (1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-7):
            with mp.workdps(50):
                exact = float(penalty(mp.mpf(v), mp.mpf(pace)))
            unit = 1.0 if name in WIDTH_FIXED else pace
            assert function.penalty(v, pace) == pytest.approx(exact, rel=1e-9, abs=1e-15 * unit), (v, pace)


@every_function
@laws
@given(loss=losses, pace=paces, rival=weights)
def test_no_other_weight_costs_less(function, loss, pace, rival):
    pace = allowed(function, pace)
    best = function.weight(loss, pace)
    costs = [v * loss + function.penalty(v, pace) for v in (best, rival)]
    # The two sums cancel; what counts is the rounding of the largest part.
    size = max(max(v * loss, abs(function.penalty(v, pace)), pace * v) for v in (best, rival))
    # A penalty near 0 is itself a difference of parts of the pace's order.
    assert costs[0] <= costs[1] + 1e-12 * size + 1e-15 * pace


@every_function
@pytest.mark.parametrize("pace", [0.05, 0.6, 4.0])
def test_weight_is_what_direct_minimisation_finds(function, pace):
    pace = allowed(function, pace)
    for loss in pace * np.array([0.0, 0.1, 0.45, 0.7, 0.95, 1.2, 2.5]):
        found = naive.minimising_weight(loss, lambda v: function.penalty(v, pace))
        # At its minimum the cost is flat: √(rounding) is how well a minimiser can be known.
        assert function.weight(loss, pace) == pytest.approx(found, abs=2e-6)


@every_function
@laws
@given(loss=losses, more=losses, pace=paces, faster=paces)
def test_weight_lies_in_the_unit_interval_falls_with_the_loss_and_rises_with_the_pace(
    function, loss, more, pace, faster
):
    slow, fast = sorted((allowed(function, pace), allowed(function, faster)))
    weight = function.weight(loss, slow)
    assert 0 <= weight <= 1
    assert function.weight(loss + more, slow) <= weight * (1 + 1e-12)
    if function.name != "logarithmic":  # which breaks this condition: see test_verification.py
        assert function.weight(loss, fast) >= weight * (1 - 1e-12)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f.name != "hard"], ids=repr)
@laws
@given(weight=inner_weights, pace=paces)
def test_inverse_and_weight_undo_each_other(function, weight, pace):
    pace = allowed(function, min(pace, 1e3) if function.name in WIDTH_FIXED else pace)
    loss = function.inverse(weight, pace)
    if loss < 0:  # a weight this large is never reached at this pace
        return
    again = function.weight(loss, pace)
    # No weight is known better than the last digits of its loss let it be.
    around = function.weight(loss * np.array([1 - 1e-15, 1 + 1e-15]), pace)
    assert again == pytest.approx(weight, rel=1e-10, abs=around[0] - around[1])
    assert function.inverse(again, pace) == pytest.approx(loss, rel=1e-9, abs=1e-9 * pace)


@every_function
@laws
@given(weight=inner_weights, pace=st.floats(-3, 3).map(lambda x: 10.0**x))
def test_slope_of_the_penalty_is_minus_the_inverse(function, weight, pace):
    pace = allowed(function, pace)
    step = 1e-4 * min(weight, 1 - weight)
    above, below = function.penalty([weight + step, weight - step], pace)
    slope = (above - below) / (2 * step)
    rounding = 1e-15 * max(abs(above), abs(below), 1.0) / step
    assert slope == pytest.approx(-function.inverse(weight, pace), rel=1e-6, abs=1e-6 * pace + rounding)


@pytest.mark.parametrize("name", pacing.names())
def test_extreme_numbers_give_no_warning_and_nothing_but_numbers(name):
    function = pacing.get(name)
    loss = np.concatenate([[0.0, 5e-324, 1e-300], np.logspace(-12, 12, 49), [1e300, np.inf]])[:, None]
    pace = np.concatenate([[0.0, 1e-300], np.logspace(-12, 12, 49), [1e300, np.inf]])[None, :]
    pace = np.append(pace[pace < function.max_pace], np.inf)[None, :]
    weight = function.weight(loss, pace)
    assert weight.dtype == np.float64
    assert weight.shape == np.broadcast_shapes(loss.shape, pace.shape)
    assert np.all((weight >= 0) & (weight <= 1))
    v = np.array([0.0, 1e-300, 1e-12, 0.5, 1 - 1e-12, 1.0])[:, None]
    assert not np.isnan(function.inverse(v, pace)).any()
    assert not np.isnan(function.penalty(v, pace)).any()


@pytest.mark.parametrize("name", [name for name in pacing.names() if name != "mixture-zhao"])
def test_an_infinite_pace_is_the_unpaced_model(name):
    assert np.array_equal(pacing.get(name).weight([[0.0, 1.0], [1e12, np.inf]], np.inf), np.ones((2, 2)))


def test_the_infinite_pace_of_zhaos_mixture_is_the_limit_of_its_formula():
    assert pacing.MixtureZhao(gamma=2.0).weight([0.0, 4.0, 16.0], np.inf).tolist() == [1.0, 1.0, 0.5]


@every_function
def test_the_ends_of_the_pace_are_limits(function):
    loss = np.array([0.0, 1e-3, 0.2, 0.9])
    assert function.weight(loss, 0.0) == pytest.approx(function.weight(loss, 1e-200), abs=1e-12)
    if function.max_pace == np.inf:
        assert function.weight(loss, np.inf) == pytest.approx(function.weight(loss, 1e200), abs=1e-12)


@every_function
def test_pace_broadcasts_as_a_scalar_a_row_or_a_matrix(function):
    random = np.random.default_rng(0)
    loss = random.exponential(size=(40, 3))
    row = np.array([[0.2, 0.5, 0.9]])
    whole = random.uniform(0.1, 0.9, size=(40, 3))
    for pace in (0.3, row, whole, np.float32(0.5)):
        expected = [
            [function.weight(x, p) for x, p in zip(*pair, strict=True)]
            for pair in zip(*np.broadcast_arrays(loss, pace), strict=True)
        ]
        assert function.weight(loss, pace) == pytest.approx(np.array(expected), rel=1e-14)


@pytest.mark.parametrize("name", ["sigmoid", "hard", "tanh", "logistic", "mixture-zhao"])
@pytest.mark.parametrize("shape", [(70_000,), (9_000, 8), (2, 40_000), (1, 70_000)])
def test_blocks_do_not_show(name, shape):
    function, random = pacing.get(name), np.random.default_rng(1)
    loss = random.exponential(size=shape)
    before = loss.copy()
    for pace in (
        0.7,
        random.uniform(0.1, 2, size=(1, shape[-1])) if len(shape) == 2 else 0.3,
        random.uniform(0.1, 2, size=shape),
    ):
        some = (..., slice(0, 500))
        part = np.broadcast_to(pace, shape)[some]
        assert np.array_equal(function.weight(loss, pace)[some], function.weight(loss[some], part))
        transposed = function.weight(loss.T, np.broadcast_to(pace, shape).T)
        assert np.array_equal(transposed.T, function.weight(loss, pace))
    assert np.array_equal(loss, before)


def test_scalars_give_scalars_and_lists_are_welcome():
    assert isinstance(pacing.Sigmoid().weight(1.0, 1.0), float)
    assert pacing.Linear().weight([0, 1], 2).tolist() == [1.0, 0.5]
    assert pacing.Linear().weight(np.empty((0, 3)), 1.0).shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: pacing.Sigmoid().weight([[0.5, -1.0]], 1.0),
            r"index \(0, 1\)",
        ),
        (
            lambda: pacing.Sigmoid().weight([0.1, np.nan], 1.0),
            "index .*1.* is nan",
        ),
        (
            lambda: pacing.Arctan().weight(1.0, -0.1),
            "pace",
        ),
        (lambda: pacing.Logistic().penalty(1.5, 1.0), "weight is 1.5"),
        (lambda: pacing.Logarithmic().weight(0.3, 1.7), "pace is 1.7"),
        (
            lambda: pacing.Polynomial(degree=1.0),
            "degree",
        ),
        (lambda: pacing.Polynomial(degree="3"), "degree"),
        (lambda: pacing.Mixture(ratio=1.0), "ratio"),
        (lambda: pacing.MixtureZhao(gamma=np.nan), "gamma"),
        (
            lambda: pacing.Diversity(gamma=-1),
            "gamma",
        ),
    ],
)
def test_mistakes_are_answered_with_a_sentence(call, sentence):
    with pytest.raises(UserError, match=sentence):
        call()


@pytest.mark.parametrize("function", [*FUNCTIONS, pacing.Diversity(0.5)], ids=repr)
def test_functions_are_values(function):
    again = copy.deepcopy(function)
    assert again == function
    assert hash(again) == hash(function)
    assert len({function, again}) == 1
    assert pickle.loads(pickle.dumps(function)) == function
    assert eval(repr(function), vars(pacing)) == function
    stored = skops.io.dumps(function)
    assert skops.io.loads(stored, trusted=skops.io.get_untrusted_types(data=stored)) == function


def test_functions_differ_by_class_and_by_parameters():
    assert pacing.Sigmoid() != pacing.Tanh()
    assert pacing.Polynomial(2.0) != pacing.Polynomial(3.0)
    assert pacing.Polynomial(3) == pacing.Polynomial(3.0)


class Paced(BaseEstimator):
    """As small an estimator as scikit-learn clones."""

    def __init__(self, pace_function="sigmoid", schedule=None):
        self.pace_function = pace_function
        self.schedule = schedule


def test_scikit_learn_clones_estimators_that_hold_them():
    estimator = Paced(pacing.Polynomial(2.5), pacing.QuantilePace(0.3, 0.9, 4))
    copied = clone(estimator)
    assert copied.get_params() == estimator.get_params()
    assert (
        repr(copied) == "Paced(pace_function=Polynomial(degree=2.5),\n"
        "      schedule=QuantilePace(start=0.3, stop=0.9, steps=4, per='class'))"
    )


class Capped(pacing.SelfPacedFunction):
    """A user's class with its parameter set in ``__init__``."""

    def __init__(self, cap):
        self.cap = cap

    def weight(self, loss, pace):
        return np.minimum(self.cap, pacing.Linear().weight(loss, pace))

    def inverse(self, weight, pace):
        return pacing.Linear().inverse(weight, pace)

    def penalty(self, weight, pace):
        return pacing.Linear().penalty(weight, pace)


def test_a_users_own_class_is_a_value_too():
    assert Capped(0.5) == Capped(0.5)
    assert Capped(0.5) != Capped(0.6)
    assert hash(Capped(0.5)) == hash(Capped(0.5))
    assert repr(Capped(0.5)) == "Capped(cap=0.5)"
    assert pacing.get(Capped(0.5)) == Capped(0.5)
