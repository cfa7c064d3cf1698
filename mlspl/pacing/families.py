"""The two families of the paper: one curve g, scaled by the pace, g(l/λ^c), or shifted by it, g(l − λ)."""

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from mlspl.pacing.arrays import blockwise, loss_array, pace_array, product, weight_array
from mlspl.pacing.base import FloatArray, SelfPacedFunction

__all__ = ["CurveFamily", "ScaleFamily", "ShiftFamily"]


class CurveFamily(SelfPacedFunction):
    """A self-paced function made of one decreasing curve; the families say how the pace enters it."""

    @abstractmethod
    def curve(self, t: FloatArray) -> FloatArray:
        """g(t): decreasing, within [0, 1], falling to 0 as t grows."""

    @abstractmethod
    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """g⁻¹(v)."""

    @abstractmethod
    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """−∫ g⁻¹(v) dv."""


class ScaleFamily(CurveFamily):
    """v* = g(l/λ^c), s = λ^c g⁻¹(v), f = −λ^c ∫ g⁻¹ dv: invariant when loss and λ^c grow alike.

    Write `curve` (on t ≥ 0), `curve_inverse` and `curve_penalty`; weights, limits and checks follow.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl import pacing
    >>> class Hyperbola(pacing.ScaleFamily):
    ...     def curve(self, t):
    ...         return 1 / (1 + t)
    ...     def curve_inverse(self, weight):
    ...         return 1 / weight - 1
    ...     def curve_penalty(self, weight):
    ...         return weight - np.log(weight)
    >>> print(Hyperbola().weight([0.0, 1.0, 3.0], pace=1.0))
    [1.   0.5  0.25]
    """

    exponent: float = 1.0

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """g(l/λ^c); a pair without loss has the weight g(0) at every pace, 0 included."""
        pace = pace_array(pace)
        with np.errstate(over="ignore", under="ignore"):
            scale = pace**self.exponent
        ends = bool(np.any((scale == 0) | (scale == np.inf)))

        def formula(loss: FloatArray, scale: FloatArray) -> FloatArray:
            t = loss / scale
            # 0/0 at pace 0 and ∞/∞ at pace ∞: in both the limit in λ is g(0).
            return self.curve(np.where(np.isnan(t), 0.0, t) if ends else t)

        return blockwise(formula, loss_array(loss), np.asarray(scale))

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """λ^c g⁻¹(v)."""
        return self._scaled(self.curve_inverse, weight, pace)

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """−λ^c ∫ g⁻¹ dv."""
        return self._scaled(self.curve_penalty, weight, pace)

    def _scaled(self, formula, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        return blockwise(
            lambda v, pace: product(pace**self.exponent, formula(v)), weight_array(weight), pace_array(pace)
        )


class ShiftFamily(CurveFamily):
    """v* = g(l − λ), s = λ + g⁻¹(v), f = −λv − ∫ g⁻¹ dv: the curve keeps its width and moves with the pace.

    Write `curve` (on the whole line), `curve_inverse` and `curve_penalty`. As λ → 0 the weight tends to g(l);
    unless that is 0 for l > 0, a function of this family breaks condition 3 of Definition 1.

    Examples
    --------
    >>> from mlspl import pacing
    >>> isinstance(pacing.Tanh(), pacing.ShiftFamily)
    True
    """

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """g(l − λ)."""
        pace = pace_array(pace)
        ends = bool(np.any(pace == np.inf))

        def formula(loss: FloatArray, pace: FloatArray) -> FloatArray:
            t = loss - pace
            return self.curve(np.where(np.isnan(t), -np.inf, t) if ends else t)  # ∞ − ∞: the pace wins

        return blockwise(formula, loss_array(loss), pace)

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """λ + g⁻¹(v)."""

        def formula(v: FloatArray, pace: FloatArray) -> FloatArray:
            loss = pace + self.curve_inverse(v)
            return np.where(np.isnan(loss), -np.inf, loss)

        return blockwise(formula, weight_array(weight), pace_array(pace))

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """−λv − ∫ g⁻¹ dv."""

        def formula(v: FloatArray, pace: FloatArray) -> FloatArray:
            penalty = self.curve_penalty(v) - product(pace, v)
            return np.where(np.isnan(penalty), np.inf, penalty)

        return blockwise(formula, weight_array(weight), pace_array(pace))
