"""The self-paced functions of the paper's Examples 1 to 4, with its errata corrected.

Example 4 prints the weight of `Exponential` beside the inverse and the penalty of `Gaussian`: both are here.
"""

import numpy as np
from scipy.special import expit, gammainc, logit, xlog1py, xlogy

from mlspl.pacing.base import FloatArray
from mlspl.pacing.families import ScaleFamily, ShiftFamily

__all__ = ["Arctan", "Exponential", "Gaussian", "Sigmoid", "Tanh"]


class Arctan(ShiftFamily):
    """v* = (π/2 − arctan(l − λ))/π: paper, Example 1.

    Equations (3) and (4): f = −λv − ln(sin πv)/π. The derivative of its inverse is −π/sin²(πv); the paper
    prints −π². As λ → 0 the weight tends to (π/2 − arctan l)/π and not to 0, so condition 3 of Definition
    1 fails.

    Examples
    --------
    >>> from mlspl.pacing import Arctan
    >>> print(Arctan().weight([0.0, 1.0, 2.0], pace=1.0))
    [0.75 0.5  0.25]
    """

    name = "arctan"
    tex = r"\dfrac{\pi/2-\arctan(l-\lambda)}{\pi}"

    def curve(self, t: FloatArray) -> FloatArray:
        """Arc cotangent over π; as arctan(1/t) it keeps its relative accuracy for large losses."""
        return np.arctan(1.0 / t) / np.pi + np.signbit(t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """The cotangent of πv, from the nearer end of [0, 1], where v is exact."""
        return np.copysign(1.0 / np.tan(np.pi * np.minimum(weight, 1.0 - weight)), 0.5 - weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """−ln(sin πv)/π, infinite at 0 and at 1."""
        return -np.log(np.sin(np.pi * np.minimum(weight, 1.0 - weight))) / np.pi


class Sigmoid(ScaleFamily):
    """v* = 2/(1 + e^(l/λ)): paper, Example 2.

    Equations (5) and (6): f = λ((2 − v) ln(2 − v) + v ln v).

    Examples
    --------
    >>> from mlspl.pacing import Sigmoid
    >>> print(Sigmoid().weight([0.0, 1.0, 10.0], pace=1.0).round(4))
    [1.000e+00 5.379e-01 1.000e-04]
    """

    name = "sigmoid"
    tex = r"\dfrac{2}{1+e^{\,l/\lambda}}"

    def curve(self, t: FloatArray) -> FloatArray:
        """2/(1 + e^t)."""
        return 2.0 * expit(-t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """ln(2/v − 1)."""
        return np.log1p(2.0 * (1.0 - weight) / weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """(2 − v) ln(2 − v) + v ln v."""
        return xlog1py(2.0 - weight, 1.0 - weight) + xlogy(weight, weight)


class Tanh(ShiftFamily):
    """v* = 1/(1 + e^(2(l − λ))): paper, Example 3.

    Equations (7) and (8): f = ½((1 − v) ln(1 − v) + v ln v) − λv. As λ → 0 the weight tends to 1/(1 +
    e^(2l)) and not to 0, so condition 3 of Definition 1 fails.

    Examples
    --------
    >>> from mlspl.pacing import Tanh
    >>> float(Tanh().weight(1.0, pace=1.0))
    0.5
    """

    name = "tanh"
    tex = r"\dfrac{1}{1+e^{\,2(l-\lambda)}}"

    def curve(self, t: FloatArray) -> FloatArray:
        """1/(1 + e^(2t)) = (1 − tanh t)/2."""
        return expit(-2.0 * t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """½ ln(1/v − 1)."""
        return -0.5 * logit(weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """½((1 − v) ln(1 − v) + v ln v)."""
        return 0.5 * (xlog1py(1.0 - weight, -weight) + xlogy(weight, weight))


class Exponential(ScaleFamily):
    """v* = e^(−l/λ): paper, Example 4 by its weight.

    Equation (9), with f = λ(v ln v − v). The inverse and the penalty printed beside it belong to `Gaussian`.

    Examples
    --------
    >>> from mlspl.pacing import Exponential
    >>> print(Exponential().weight([0.0, 1.0], pace=1.0).round(4))
    [1.     0.3679]
    """

    name = "exponential"
    tex = r"\exp(-l/\lambda)"

    def curve(self, t: FloatArray) -> FloatArray:
        """e^(−t)."""
        return np.exp(-t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """−ln v."""
        return -np.log(weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """The formula v ln v − v."""
        return xlogy(weight, weight) - weight


class Gaussian(ScaleFamily):
    """v* = e^(−(l/λ)²): paper, Example 4 by its penalty.

    Equation (10): f = λ(½√π erf(√(−ln v)) − v√(−ln v)). The weight printed beside it, equation (9),
    belongs to `Exponential`. Of the paper's scale-invariant curves the only S-shaped one: sigmoid and
    exponential are convex on l ≥ 0, this one has its inflection at l = λ/√2.

    Examples
    --------
    >>> from mlspl.pacing import Gaussian
    >>> print(Gaussian().weight([0.0, 1.0, 2.0], pace=1.0).round(4))
    [1.     0.3679 0.0183]
    """

    name = "gaussian"
    tex = r"\exp(-(l/\lambda)^2)"

    def curve(self, t: FloatArray) -> FloatArray:
        """e^(−t²)."""
        return np.exp(-np.square(t))

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """√(−ln v)."""
        return np.sqrt(np.abs(np.log(weight)))  # abs: −ln 1 is −0.0

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """The closed form above, as an incomplete gamma function: exact where that form is 0/0 or cancels."""
        return 0.5 * np.sqrt(np.pi) * gammainc(1.5, np.abs(np.log(weight)))
