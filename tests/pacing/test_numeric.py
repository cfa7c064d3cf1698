"""The numeric inverse and penalty against closed forms computed with thirty digits."""

import mpmath as mp
import numpy as np
import pytest

from mlspl.pacing.numeric import NumericCurve, vanishes

LOWEST = -float(np.finfo(np.float64).max)
# curve, its inverse, and its penalty with the constant that NumericCurve promises
SCALE = {
    "exp": (lambda t: np.exp(-t), lambda v: -mp.log(v), lambda v: v * mp.log(v) - v + 1),
    "gauss": (
        lambda t: np.exp(-(t**2)),
        lambda v: mp.sqrt(-mp.log(v)),
        lambda v: mp.sqrt(mp.pi) / 2 * mp.erf(mp.sqrt(-mp.log(v))) - v * mp.sqrt(-mp.log(v)),
    ),
    "cauchy": (lambda t: 1 / (1 + t), lambda v: 1 / v - 1, lambda v: v - mp.log(v) - 1),
    "square root": (lambda t: 1 / np.sqrt(1 + t), lambda v: 1 / v**2 - 1, lambda v: v + 1 / v - 2),
    "kink": (lambda t: np.maximum(0, 1 - 0.7 * t), lambda v: (1 - v) / 0.7, lambda v: (1 - v) ** 2 / 1.4),
    "plateau": (lambda t: np.minimum(1, 1 / np.sqrt(t + 1e-300)), lambda v: 1 / v**2, lambda v: 1 / v - 1),
    "jump": (
        lambda t: np.where(t < 0.3, 1.0, 0.0),
        lambda v: mp.mpf("0.3"),
        lambda v: mp.mpf("0.3") * (1 - v),
    ),
    "singular slope": (
        lambda t: np.exp(-np.sqrt(t)),
        lambda v: mp.log(v) ** 2,
        lambda v: -v * (mp.log(v) ** 2 - 2 * mp.log(v) + 2) + 2,
    ),
}
SHIFT = {
    "arc cotangent": (
        lambda t: np.arctan2(1.0, t) / np.pi,
        lambda v: mp.cot(mp.pi * v),
        lambda v: -mp.log(mp.sin(mp.pi * v)) / mp.pi,
    ),
    "logistic": (
        lambda t: 1 / (1 + np.exp(np.clip(2 * t + 1, -700, 700))),
        lambda v: (mp.log(1 / v - 1) - 1) / 2,
        lambda v: ((1 - v) * mp.log(1 - v) + v * mp.log(v) + mp.log(2) + v - 0.5) / 2,
    ),
}
WEIGHTS = np.concatenate([[1e-12, 1e-6, 1e-3], np.linspace(0.02, 0.98, 25), [0.999, 1 - 1e-5]])


@pytest.mark.parametrize(("lowest", "curves"), [(0.0, SCALE), (LOWEST, SHIFT)], ids=["scale", "shift"])
def test_inverse_and_penalty_are_right_to_eight_digits(lowest, curves):
    for name, (curve, inverse, penalty) in curves.items():
        with np.errstate(all="ignore"):
            numeric = NumericCurve(curve, lowest)
            found, area = numeric.inverse(WEIGHTS), numeric.penalty(WEIGHTS)
        with mp.workdps(30):
            expected = np.array([float(inverse(mp.mpf(float(v)))) for v in WEIGHTS])
            costs = np.array([float(penalty(mp.mpf(float(v)))) for v in WEIGHTS])
        assert found == pytest.approx(expected, rel=1e-8, abs=1e-13), name
        assert area == pytest.approx(costs, rel=1e-8, abs=1e-13), name


def test_the_ends_are_those_of_the_doubles():
    numeric = NumericCurve(lambda t: np.maximum(0, 1 - t), 0.0)
    assert numeric.inverse(np.array([0.0, 1.0])) == pytest.approx([1.0, 0.0], abs=1e-15)
    assert numeric.penalty(np.array([0.0, 1.0])) == pytest.approx([0.5, 0.0], abs=1e-15)
    half = NumericCurve(lambda t: 0.5 * np.exp(-t), 0.0)
    assert half.inverse(np.array([0.5, 0.9])) == pytest.approx([0.0, 0.0], abs=1e-16)  # 0.9 is never reached


def test_a_noisy_curve_does_not_run_for_ever():
    random = np.random.default_rng(0)
    noisy = NumericCurve(lambda t: np.exp(-t) * (1 - 1e-9 * random.random(np.shape(t))), 0.0)
    assert noisy.penalty(np.array([0.3])) == pytest.approx([0.3 * np.log(0.3) - 0.3 + 1], rel=1e-6)


def test_on_the_way_to_zero():
    assert vanishes(np.array([1e-3]), np.array([1e-9]))
    assert vanishes(np.array([1 / 115]), np.array([1 / 230]))  # 1/ln t: slow, but on its way
    assert not vanishes(np.array([0.0011]), np.array([0.001]))
