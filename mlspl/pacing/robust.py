"""Self-paced functions of the literature that let no pair drop out altogether."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, xlogy

from mlspl.pacing.arrays import blockwise, loss_array, pace_array, product, weight_array
from mlspl.pacing.base import FloatArray, SelfPacedFunction
from mlspl.pacing.families import ScaleFamily

__all__ = ["L1L2", "Cauchy", "Huber", "Logistic"]


class Logistic(SelfPacedFunction):
    """v* = (1 + e^(−λ))/(1 + e^(l − λ)): Xu et al. 2015.

    f = (1 + e^(−λ) − v) ln(1 + e^(−λ) − v) + v ln v − λv. As λ → 0 the weight tends to 2/(1 + e^l) and not to
    0, so condition 3 of Definition 1 fails.

    Examples
    --------
    >>> from mlspl.pacing import Logistic
    >>> print(Logistic().weight([0.0, 1.0, 2.0], pace=1.0).round(4))
    [1.     0.6839 0.3679]
    """

    name = "logistic"
    tex = r"\dfrac{1+e^{-\lambda}}{1+e^{\,l-\lambda}}"

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """(1 + e^(−λ))/(1 + e^(l − λ))."""

        def formula(loss: FloatArray, pace: FloatArray) -> FloatArray:
            margin = pace - loss
            margin = np.where(np.isnan(margin), np.inf, margin)  # ∞ − ∞: the pace wins
            return np.minimum((1.0 + np.exp(-pace)) * expit(margin), 1.0)

        return blockwise(formula, loss_array(loss), pace_array(pace))

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """ln(1 + (1 − v)e^λ) − ln v."""

        def formula(v: FloatArray, pace: FloatArray) -> FloatArray:
            rest = np.where(v == 1.0, -np.inf, pace + np.log1p(-v))
            return np.logaddexp(0.0, rest) - np.log(v)

        return blockwise(formula, weight_array(weight), pace_array(pace))

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """(1 + e^(−λ) − v) ln(1 + e^(−λ) − v) + v ln v − λv."""

        def formula(v: FloatArray, pace: FloatArray) -> FloatArray:
            rest = (1.0 - v) + np.exp(-pace)
            return xlogy(rest, rest) + xlogy(v, v) - product(pace, v)

        return blockwise(formula, weight_array(weight), pace_array(pace))


class Cauchy(ScaleFamily):
    """v* = λ/(λ + l): of the Cauchy loss.

    f = λ(v − ln v − 1).

    Examples
    --------
    >>> from mlspl.pacing import Cauchy
    >>> print(Cauchy().weight([0.0, 1.0, 3.0], pace=1.0))
    [1.   0.5  0.25]
    """

    name = "cauchy"
    tex = r"\dfrac{\lambda}{\lambda+l}"

    def curve(self, t: FloatArray) -> FloatArray:
        """1/(1 + t)."""
        return 1.0 / (1.0 + t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """1/v − 1."""
        return (1.0 - weight) / weight

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """The formula v − ln v − 1."""
        return weight - 1.0 - np.log(weight)


class L1L2(ScaleFamily):
    """v* = (1 + l/λ)^(−½): of the L1-L2 loss.

    f = λ(v + 1/v − 2).

    Examples
    --------
    >>> from mlspl.pacing import L1L2
    >>> print(L1L2().weight([0.0, 3.0, 15.0], pace=1.0))
    [1.   0.5  0.25]
    """

    name = "l1-l2"
    tex = r"(1+l/\lambda)^{-1/2}"

    def curve(self, t: FloatArray) -> FloatArray:
        """(1 + t)^(−½)."""
        return 1.0 / np.sqrt(1.0 + t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """1/v² − 1."""
        return (1.0 - weight) * (1.0 + weight) / weight / weight

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """(1 − v)²/v = v + 1/v − 2."""
        return np.square(1.0 - weight) / weight


class Huber(ScaleFamily):
    """v* = min(1, √(λ/l)): of the Huber loss.

    f = λ(1/v − 1).

    Examples
    --------
    >>> from mlspl.pacing import Huber
    >>> print(Huber().weight([0.0, 1.0, 4.0], pace=1.0))
    [1.  1.  0.5]
    """

    name = "huber"
    tex = r"\min(1,\sqrt{\lambda/l})"

    def curve(self, t: FloatArray) -> FloatArray:
        """min(1, t^(−½))."""
        return 1.0 / np.sqrt(np.maximum(1.0, t))

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """1/v²: at v = 1, the end of the plateau."""
        return 1.0 / np.square(weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """1/v − 1."""
        return (1.0 - weight) / weight
