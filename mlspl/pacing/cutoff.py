"""Self-paced functions of the literature that put a pair with a large loss out of play altogether."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import hyp1f1

from mlspl.pacing.arrays import blockwise, check_number, loss_array, pace_array, product, weight_array
from mlspl.pacing.base import FloatArray, SelfPacedFunction
from mlspl.pacing.families import ScaleFamily

__all__ = ["Hard", "Linear", "Logarithmic", "Mixture", "MixtureZhao", "Polynomial"]


class Hard(ScaleFamily):
    """v* = 1 if l < λ, else 0: Kumar et al. 2010.

    f = −λv: the first self-paced function. A pair is in or out; nothing between.

    Examples
    --------
    >>> from mlspl.pacing import Hard
    >>> print(Hard().weight([0.0, 0.9, 1.0], pace=1.0))
    [1. 1. 0.]
    """

    name = "hard"
    tex = r"[\,l<\lambda\,]"

    def curve(self, t: FloatArray) -> FloatArray:
        """1 if t < 1, else 0."""
        return (t < 1.0).astype(np.float64)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """1 for every v: the curve falls from 1 to 0 there."""
        return np.ones_like(weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """−v."""
        return -weight


class Linear(ScaleFamily):
    """v* = max(0, 1 − l/λ): Jiang et al. 2014.

    f = λ(v²/2 − v).

    Examples
    --------
    >>> from mlspl.pacing import Linear
    >>> print(Linear().weight([0.0, 0.5, 2.0], pace=1.0))
    [1.  0.5 0. ]
    """

    name = "linear"
    tex = r"[\,1-l/\lambda\,]_+"

    def curve(self, t: FloatArray) -> FloatArray:
        """max(0, 1 − t)."""
        return np.maximum(0.0, 1.0 - t)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """1 − v."""
        return 1.0 - weight

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """v²/2 − v."""
        return weight * (0.5 * weight - 1.0)


@dataclass(frozen=True)
class Polynomial(ScaleFamily):
    """v* = max(0, 1 − l/λ)^(1/(t−1)): of degree t.

    f = λ(vᵗ/t − v). Degree 2 is `Linear`; the larger the degree, the nearer to `Hard`.

    Parameters
    ----------
    degree : float, default=3.0
        t, above 1.

    Examples
    --------
    >>> from mlspl.pacing import Polynomial
    >>> print(Polynomial(degree=3).weight([0.0, 0.75, 2.0], pace=1.0))
    [1.  0.5 0. ]
    """

    degree: float = 3.0

    name = "polynomial"
    tex = r"[\,1-l/\lambda\,]_+^{1/(t-1)}"

    def __post_init__(self) -> None:
        """Refuse a degree for which the penalty is not convex."""
        check_number("the degree of a polynomial self-paced function", self.degree, "a number above 1", 1.0)

    def curve(self, t: FloatArray) -> FloatArray:
        """max(0, 1 − t) to the power 1/(degree − 1)."""
        return np.power(np.maximum(0.0, 1.0 - t), 1.0 / (self.degree - 1.0))

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """1 − v^(degree − 1)."""
        return 1.0 - np.power(weight, self.degree - 1.0)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """v^degree/degree − v."""
        return np.power(weight, self.degree) / self.degree - weight


class Logarithmic(SelfPacedFunction):
    """v* = ln(l + 1 − λ)/ln(1 − λ) if l < λ < 1, else 0: Jiang et al. 2014.

    f = zv − zᵛ/ln z with z = 1 − λ; given here without its constant −1/ln z, which would swamp the rest
    for a small λ. A finite pace of 1 or more has no meaning and is refused; an infinite one is the
    unpaced model. As λ nears 1 the weight of a fixed loss *falls*, to 0 in the limit, so condition 3 of
    Definition 1 fails.

    Examples
    --------
    >>> from mlspl.pacing import Logarithmic
    >>> print(Logarithmic().weight([0.0, 0.25, 0.5], pace=0.5).round(4))
    [1.    0.415 0.   ]
    """

    name = "logarithmic"
    tex = r"\dfrac{\ln(l+1-\lambda)}{\ln(1-\lambda)}"
    max_pace = 1.0

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """ln(l + 1 − λ)/ln(1 − λ) below λ, else 0."""

        def formula(loss: FloatArray, pace: FloatArray) -> FloatArray:
            inside = np.log1p(loss - pace) / np.log1p(-pace)
            # Without loss the weight is 1 at every pace; at an infinite pace so is every weight.
            return np.where((loss == 0) | (pace == np.inf), 1.0, np.where(loss < pace, inside, 0.0))

        return blockwise(formula, loss_array(loss), self._pace(pace))

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """z^v − z."""

        def formula(v: FloatArray, pace: FloatArray) -> FloatArray:
            loss = (1.0 - pace) * np.expm1((v - 1.0) * np.log1p(-pace))
            return np.where(pace == np.inf, product(pace, 1.0 - v), loss)

        return blockwise(formula, weight_array(weight), self._pace(pace))

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """The formula zv − (z^v − 1)/ln z, through a Kummer function that does not cancel as λ → 0."""

        def formula(v: FloatArray, pace: FloatArray) -> FloatArray:
            x = v * np.log1p(-pace)
            return np.where(pace == np.inf, -product(pace, v), -v * (pace + 0.5 * x * hyp1f1(1.0, 3.0, x)))

        return blockwise(formula, weight_array(weight), self._pace(pace))

    def _pace(self, pace: ArrayLike) -> FloatArray:
        return pace_array(pace, self.max_pace)


@dataclass(frozen=True)
class Mixture(ScaleFamily):
    """v* = z/l − z/λ, cut to [0, 1]: Jiang et al. 2014.

    f = −z ln(v + z/λ) with z = ρλ/(1 − ρ): 1 up to ρλ, 0 from λ on. The authors' λ₁ is the pace and λ₂ =
    ρλ₁, so that both grow together.

    Parameters
    ----------
    ratio : float, default=0.5
        ρ, between 0 and 1: the share of the pace below which a pair counts in full.

    Examples
    --------
    >>> from mlspl.pacing import Mixture
    >>> print(Mixture(ratio=0.5).weight([0.0, 0.5, 0.8, 1.0], pace=1.0))
    [1.   1.   0.25 0.  ]
    """

    ratio: float = 0.5

    name = "mixture"
    tex = r"[\,z/l-z/\lambda\,]_0^1"

    def __post_init__(self) -> None:
        """Refuse a ratio that leaves nothing between in and out."""
        check_number(
            "the ratio of a mixture", self.ratio, "a number between 0 and 1, both excluded", 0.0, 1.0
        )

    def curve(self, t: FloatArray) -> FloatArray:
        """z(1/t − 1), cut to [0, 1]."""
        return np.clip(self._z * (1.0 / t - 1.0), 0.0, 1.0)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """z/(v + z)."""
        return self._z / (weight + self._z)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """−z ln(v + z)."""
        return -self._z * np.log(weight + self._z)

    @property
    def _z(self) -> float:
        return self.ratio / (1.0 - self.ratio)


@dataclass(frozen=True)
class MixtureZhao(SelfPacedFunction):
    """v* = γ/√l − γ/λ, cut to [0, 1]: Zhao et al. 2015.

    f = γ²/(v + γ/λ): 1 up to (λγ/(λ + γ))², 0 from λ² on. The pace is compared with √l; as λ → ∞ the
    weight tends to min(1, γ/√l).

    Parameters
    ----------
    gamma : float, default=1.0
        γ, above 0: the larger, the nearer to `Hard` at λ².

    Examples
    --------
    >>> from mlspl.pacing import MixtureZhao
    >>> print(MixtureZhao(gamma=1.0).weight([0.0, 0.64, 1.0], pace=1.0))
    [1.   0.25 0.  ]
    """

    gamma: float = 1.0

    name = "mixture-zhao"
    tex = r"[\,\gamma/\sqrt{l}-\gamma/\lambda\,]_0^1"

    def __post_init__(self) -> None:
        """Refuse a γ that is no positive number."""
        check_number("gamma of a mixture", self.gamma, "a number above 0", 0.0)

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """γ(1/√l − 1/λ), cut to [0, 1]."""

        def formula(loss: FloatArray, pace: FloatArray) -> FloatArray:
            weight = np.clip(self.gamma * (1.0 / np.sqrt(loss) - 1.0 / pace), 0.0, 1.0)
            return np.where(np.isnan(weight), 1.0, weight)  # no loss at pace 0

        return blockwise(formula, loss_array(loss), pace_array(pace))

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """(v/γ + 1/λ)⁻²."""
        return blockwise(
            lambda v, pace: (v / self.gamma + 1.0 / pace) ** -2.0, weight_array(weight), pace_array(pace)
        )

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """γ²/(v + γ/λ)."""
        return blockwise(
            lambda v, pace: self.gamma**2 / (v + self.gamma / pace), weight_array(weight), pace_array(pace)
        )
