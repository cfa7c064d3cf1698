"""The self-paced functions of the paper's Examples 1 to 4, with its errata corrected.

Each is a curve g(t) with its inverse and its penalty −∫ g⁻¹ dv; the families add the pace. Example 4 prints
the weight of `Exponential` beside the inverse and the penalty of `Gaussian`: both are here.
"""

import numpy as np
from scipy.special import expit, gammainc, logit, xlog1py, xlogy

from mlspl.pacing.base import ScaleFamily, ShiftFamily


class Arctan(ShiftFamily):
    """v* = (π/2 − arctan(l − λ))/π: paper, Example 1.

    Equations (3) and (4): s = λ + cot πv, f = −λv − ln(sin πv)/π. The derivative of s is −π/sin²(πv), not −π²
    as printed. As λ → 0 the weight tends to (π/2 − arctan l)/π and not to 0, so condition 3 of Definition 1
    fails.
    """

    name = "arctan"
    # Relatively accurate for large t.
    curve = staticmethod(lambda t: np.arctan(1.0 / t) / np.pi + np.signbit(t))
    # From the nearer end of [0, 1], where v is exact.
    curve_inverse = staticmethod(lambda v: np.copysign(1.0 / np.tan(np.pi * np.minimum(v, 1.0 - v)), 0.5 - v))
    curve_penalty = staticmethod(lambda v: -np.log(np.sin(np.pi * np.minimum(v, 1.0 - v))) / np.pi)


class Sigmoid(ScaleFamily):
    """v* = 2/(1 + e^(l/λ)): paper, Example 2.

    Equations (5) and (6): s = λ ln(2/v − 1), f = λ((2 − v) ln(2 − v) + v ln v).
    """

    name = "sigmoid"
    curve = staticmethod(lambda t: 2.0 * expit(-t))
    curve_inverse = staticmethod(lambda v: np.log1p(2.0 * (1.0 - v) / v))
    curve_penalty = staticmethod(lambda v: xlog1py(2.0 - v, 1.0 - v) + xlogy(v, v))


class Tanh(ShiftFamily):
    """v* = 1/(1 + e^(2(l − λ))): paper, Example 3.

    Equations (7) and (8): s = λ + ½ ln(1/v − 1), f = ½((1 − v) ln(1 − v) + v ln v) − λv. As λ → 0 the weight
    tends to 1/(1 + e^(2l)) and not to 0, so condition 3 of Definition 1 fails.
    """

    name = "tanh"
    curve = staticmethod(lambda t: expit(-2.0 * t))
    curve_inverse = staticmethod(lambda v: -0.5 * logit(v))
    curve_penalty = staticmethod(lambda v: 0.5 * (xlog1py(1.0 - v, -v) + xlogy(v, v)))


class Exponential(ScaleFamily):
    """v* = e^(−l/λ): paper, Example 4 by its weight.

    Equation (9), with s = −λ ln v and f = λ(v ln v − v). The paper prints those of `Gaussian` beside it.
    """

    name = "exponential"
    curve = staticmethod(lambda t: np.exp(-t))
    curve_inverse = staticmethod(lambda v: -np.log(v))
    curve_penalty = staticmethod(lambda v: xlogy(v, v) - v)


class Gaussian(ScaleFamily):
    """v* = e^(−(l/λ)²): paper, Example 4 by its penalty.

    Equation (10): s = λ√(−ln v), f = λ(½√π erf(√(−ln v)) − v√(−ln v)). The paper prints the weight of
    `Exponential` beside it. The only S-shaped of the paper's scale-invariant curves, with inflection at λ/√2.
    """

    name = "gaussian"
    curve = staticmethod(lambda t: np.exp(-np.square(t)))
    curve_inverse = staticmethod(lambda v: np.sqrt(np.abs(np.log(v))))  # abs: −ln 1 is −0.0
    # The closed form as an incomplete gamma function, which does not cancel near v = 1.
    curve_penalty = staticmethod(lambda v: 0.5 * np.sqrt(np.pi) * gammainc(1.5, np.abs(np.log(v))))
