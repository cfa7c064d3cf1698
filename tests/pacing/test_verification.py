import numpy as np
import pytest

from mlspl import pacing
from mlspl.errors import UserError

# What is known to fail among the built-ins, with the number that shows it.
KNOWN_TO_FAIL = {
    "arctan": {"v* → 0 as λ → 0": "at l = 1, λ = 1e-100: v* = 0.25"},
    "tanh": {"v* → 0 as λ → 0": "at l = 1, λ = 1e-100: v* = 0.1192"},
    "logistic": {"v* → 0 as λ → 0": "at l = 1, λ = 1e-100: v* = 0.53788"},
    "logarithmic": {"v* rises as λ grows": "v* = 0.7461 at λ = 0.9, 0.52425 at λ = 0.99"},
    "diversity": {
        "f is convex in v": "between v = (1, 0) and (0, 1)",
        "v* → 0 as λ → 0": "at l = 0.1, λ = 1e-100: v* = 1",
    },
}


@pytest.mark.parametrize("name", pacing.names())
def test_the_built_ins_keep_every_condition_but_these(name):
    report = pacing.verify(name)
    expected = KNOWN_TO_FAIL.get(name, {})
    assert {check.statement for check in report.failed} == set(expected)
    for check in report.failed:
        assert expected[check.statement] in check.witness
    assert report.passed == (not expected)


def test_the_witnesses_of_the_paper_are_its_own_limits():
    """As λ → 0, arctan tends to (π/2 − arctan l)/π and tanh to 1/(1 + e^(2l)), here at l = 1."""
    assert (np.pi / 2 - np.arctan(1)) / np.pi == pytest.approx(0.25)
    assert 1 / (1 + np.exp(2)) == pytest.approx(0.1192, abs=1e-5)
    assert 2 / (1 + np.e) == pytest.approx(0.53788, abs=1e-5)


class ExponentialAsPrinted(pacing.Exponential):
    """Example 4 of the paper: the weight of equation (9), the inverse and penalty of equation (10)."""

    curve_inverse = staticmethod(pacing.Gaussian.curve_inverse)
    curve_penalty = staticmethod(pacing.Gaussian.curve_penalty)


def test_the_printed_exponential_is_found_to_be_two_functions():
    report = pacing.verify(ExponentialAsPrinted())
    assert {check.statement for check in report.failed} == {"s(v*(l)) = l", "v* minimises v·l + f(v, λ)"}


class Own(pacing.ScaleFamily):
    """A right one, written by a user; the ones below spoil it one part at a time."""

    def curve(self, t):
        return 1 / (1 + t)

    def curve_inverse(self, weight):
        return 1 / weight - 1

    def curve_penalty(self, weight):
        return weight - np.log(weight)


class Increasing(Own):
    def weight(self, loss, pace):
        return 1 - super().weight(loss, pace)


class ShrinkingWithPace(Own):
    def weight(self, loss, pace):
        return super().weight(loss, 1 / np.asarray(pace))


class TooLarge(Own):
    def curve(self, t):
        return 1.5 / (1 + t)


class NeverZero(Own):
    def curve(self, t):
        return 0.2 + 0.8 / (1 + t)


class ConcavePenalty(Own):
    def curve_penalty(self, weight):
        return -((1 - weight) ** 2)


class WrongPenalty(Own):
    def curve_penalty(self, weight):
        return weight - 1.1 * np.log(weight)


class RisingInverse(Own):
    def curve_inverse(self, weight):
        return weight


class WrongRoot(pacing.Polynomial):
    """The mistake found in another library: divided by t − 1 where the (t−1)-th root was meant."""

    def curve(self, t):
        return np.maximum(0, (1 - t) / (self.degree - 1))


@pytest.mark.parametrize(
    ("function", "failing"),
    [
        (Increasing(), {"v* falls as l grows", "v* → 0 as l → ∞"}),
        (ShrinkingWithPace(), {"v* rises as λ grows", "v* → 0 as λ → 0"}),
        (TooLarge(), {"0 ≤ v* ≤ 1 as l → 0", "v* ≤ 1 as λ → ∞"}),
        (NeverZero(), {"v* → 0 as l → ∞", "v* → 0 as λ → 0"}),
        (ConcavePenalty(), {"f is convex in v", "∂f/∂v = −s"}),
        (WrongPenalty(), {"∂f/∂v = −s", "v* minimises v·l + f(v, λ)"}),
        (RisingInverse(), {"∂s/∂v ≤ 0", "∂f/∂v = −s", "s(v*(l)) = l"}),
        (WrongRoot(), {"s(v*(l)) = l", "v* minimises v·l + f(v, λ)"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_condition_can_fail(function, failing):
    failed = {check.statement: check.witness for check in pacing.verify(function).failed}
    assert failing <= set(failed)
    assert all(failed.values())


def test_a_users_own_right_function_passes():
    report = pacing.verify(Own())
    assert report.passed
    assert str(report).startswith("Own(): a self-paced function; every condition holds.\nContract")


class NotANumber(Own):
    def curve_penalty(self, weight):
        return weight * np.log(weight) - weight  # 0·(−∞) at 0


class Scalar(pacing.SelfPacedFunction):
    def weight(self, loss, pace):
        return 1.0 if loss < pace else 0.0

    def inverse(self, weight, pace):
        return pace

    def penalty(self, weight, pace):
        return -pace * weight


def test_a_function_that_gives_no_numbers_is_told_so_first():
    # The family's own penalty makes 0 of 0·∞; the bare method does not.
    class Bare(NotANumber):
        def penalty(self, weight, pace):
            return pace * self.curve_penalty(np.asarray(weight))

    report = pacing.verify(Bare())
    assert [check.witness for check in report.checks] == ["penalty is not a number at v = 0, λ = 0.01"]
    report = pacing.verify(Scalar())
    assert report.failed[0].witness.startswith("weight failed on arrays: The truth value of an array")


def test_derived_functions_are_verified():
    assert pacing.verify(pacing.derive(lambda t: np.exp(-t - t**2))).passed
    assert pacing.verify(pacing.derive(lambda t: np.maximum(0, 1 - t), exponent=0.5)).passed
    shifted = pacing.verify(pacing.derive(lambda t: np.arctan2(1, t) / np.pi, "shift"))
    assert [check.witness for check in shifted.failed] == ["at l = 1, λ = 1e-100: v* = 0.25"]


def test_an_unknown_name_is_a_mistake():
    with pytest.raises(UserError, match="arctan"):
        pacing.verify("arctn")


def test_the_text_is_a_table_with_the_witness():
    lines = str(pacing.verify("tanh")).splitlines()
    assert lines[0] == "Tanh(): 1 of 12 conditions fails."
    assert len(lines) == 13
    assert (
        lines[7] == "Definition 1 (3)  v* → 0 as λ → 0             FAILS  at l = 1, λ = 1e-100: v* = 0.1192"
    )
    assert lines[8] == "Definition 1 (3)  v* ≤ 1 as λ → ∞             holds"
