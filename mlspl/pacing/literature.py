"""Self-paced functions of the literature, and the registry of all functions by name."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, hyp1f1, xlogy

from mlspl.errors import UserError, guess
from mlspl.pacing.base import (
    ElementwiseFunction,
    FloatArray,
    ScaleFamily,
    SelfPacedFunction,
    check_number,
    loss_array,
    pace_array,
    product,
    weight_array,
)
from mlspl.pacing.paper import Arctan, Exponential, Gaussian, Sigmoid, Tanh


class Hard(ScaleFamily):
    """v* = 1 if l < λ, else 0: Kumar et al. 2010.

    s = λ, f = −λv. Weights are 0 or 1.
    """

    name = "hard"
    curve = staticmethod(lambda t: (t < 1.0).astype(np.float64))
    curve_inverse = staticmethod(lambda v: np.ones_like(v))
    curve_penalty = staticmethod(lambda v: -v)


class Linear(ScaleFamily):
    """v* = max(0, 1 − l/λ): Jiang et al. 2014.

    s = λ(1 − v), f = λ(v²/2 − v).
    """

    name = "linear"
    curve = staticmethod(lambda t: np.maximum(0.0, 1.0 - t))
    curve_inverse = staticmethod(lambda v: 1.0 - v)
    curve_penalty = staticmethod(lambda v: v * (0.5 * v - 1.0))


@dataclass(frozen=True)
class Polynomial(ScaleFamily):
    """v* = max(0, 1 − l/λ)^(1/(t−1)): of degree t.

    s = λ(1 − v^(t−1)), f = λ(vᵗ/t − v). Degree 2 is `Linear`; the larger the degree, the nearer to `Hard`.

    Parameters
    ----------
    degree : float, default=3.0
        t, above 1.
    """

    degree: float = 3.0

    name = "polynomial"

    def __post_init__(self) -> None:
        check_number("degree", self.degree, "a number above 1", 1.0)

    def curve(self, t: FloatArray) -> FloatArray:
        return np.power(np.maximum(0.0, 1.0 - t), 1.0 / (self.degree - 1.0))

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        return 1.0 - np.power(weight, self.degree - 1.0)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        return np.power(weight, self.degree) / self.degree - weight


class Logarithmic(ElementwiseFunction):
    """v* = ln(l + 1 − λ)/ln(1 − λ) if l < λ < 1, else 0: Jiang et al. 2014.

    s = zᵛ − z, f = zv − zᵛ/ln z with z = 1 − λ, here without its constant −1/ln z. A finite pace of 1 or more
    is refused. As λ → 1 the weight of a fixed loss *falls* to 0: condition 3 of Definition 1 fails.
    """

    name = "logarithmic"
    max_pace = 1.0

    def weight_formula(self, loss: FloatArray, pace: FloatArray) -> FloatArray:
        inside = np.log1p(loss - pace) / np.log1p(-pace)
        return np.where((loss == 0) | (pace == np.inf), 1.0, np.where(loss < pace, inside, 0.0))

    def inverse_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        loss = (1.0 - pace) * np.expm1((weight - 1.0) * np.log1p(-pace))
        return np.where(pace == np.inf, product(pace, 1.0 - weight), loss)

    def penalty_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        # zv − (z^v − 1)/ln z, as a Kummer function that does not cancel as λ → 0.
        x = weight * np.log1p(-pace)
        finite = -weight * (pace + 0.5 * x * hyp1f1(1.0, 3.0, x))
        return np.where(pace == np.inf, -product(pace, weight), finite)


@dataclass(frozen=True)
class Mixture(ScaleFamily):
    """v* = z/l − z/λ, cut to [0, 1]: Jiang et al. 2014.

    s = z/(v + z/λ), f = −z ln(v + z/λ) with z = ρλ/(1 − ρ): 1 up to ρλ, 0 from λ on. The authors' λ₁ is the
    pace and λ₂ = ρλ₁.

    Parameters
    ----------
    ratio : float, default=0.5
        ρ, between 0 and 1: pairs with a loss below ρλ have weight 1.
    """

    ratio: float = 0.5

    name = "mixture"

    def __post_init__(self) -> None:
        check_number("ratio", self.ratio, "a number between 0 and 1, both excluded", 0.0, 1.0)

    _z = property(lambda self: self.ratio / (1.0 - self.ratio))

    def curve(self, t: FloatArray) -> FloatArray:
        return np.clip(self._z * (1.0 / t - 1.0), 0.0, 1.0)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        return self._z / (weight + self._z)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        return -self._z * np.log(weight + self._z)


@dataclass(frozen=True)
class MixtureZhao(ElementwiseFunction):
    """v* = γ/√l − γ/λ, cut to [0, 1]: Zhao et al. 2015.

    f = γ²/(v + γ/λ): 1 up to (λγ/(λ + γ))², 0 from λ² on. The pace is compared with √l; as λ → ∞ the
    weight tends to min(1, γ/√l).

    Parameters
    ----------
    gamma : float, default=1.0
        γ, above 0: the larger, the nearer to `Hard` at λ².
    """

    gamma: float = 1.0

    name = "mixture-zhao"

    def __post_init__(self) -> None:
        check_number("gamma", self.gamma, "a number above 0", 0.0)

    def weight_formula(self, loss: FloatArray, pace: FloatArray) -> FloatArray:
        weight = np.clip(self.gamma * (1.0 / np.sqrt(loss) - 1.0 / pace), 0.0, 1.0)
        return np.where(np.isnan(weight), 1.0, weight)

    def inverse_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        return (weight / self.gamma + 1.0 / pace) ** -2.0

    def penalty_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        return self.gamma**2 / (weight + self.gamma / pace)


class Logistic(ElementwiseFunction):
    """v* = (1 + e^(−λ))/(1 + e^(l − λ)): Xu et al. 2015.

    f = (1 + e^(−λ) − v) ln(1 + e^(−λ) − v) + v ln v − λv. As λ → 0 the weight tends to 2/(1 + e^l) and not to
    0, so condition 3 of Definition 1 fails.
    """

    name = "logistic"

    def weight_formula(self, loss: FloatArray, pace: FloatArray) -> FloatArray:
        margin = pace - loss
        margin = np.where(np.isnan(margin), np.inf, margin)
        return np.minimum((1.0 + np.exp(-pace)) * expit(margin), 1.0)

    def inverse_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        rest = np.where(weight == 1.0, -np.inf, pace + np.log1p(-weight))
        return np.logaddexp(0.0, rest) - np.log(weight)

    def penalty_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        rest = (1.0 - weight) + np.exp(-pace)
        return xlogy(rest, rest) + xlogy(weight, weight) - product(pace, weight)


class Cauchy(ScaleFamily):
    """v* = λ/(λ + l): of the Cauchy loss.

    s = λ(1/v − 1), f = λ(v − ln v − 1).
    """

    name = "cauchy"
    curve = staticmethod(lambda t: 1.0 / (1.0 + t))
    curve_inverse = staticmethod(lambda v: (1.0 - v) / v)
    curve_penalty = staticmethod(lambda v: v - 1.0 - np.log(v))


class L1L2(ScaleFamily):
    """v* = (1 + l/λ)^(−½): of the L1-L2 loss.

    s = λ(1/v² − 1), f = λ(v + 1/v − 2).
    """

    name = "l1-l2"
    curve = staticmethod(lambda t: 1.0 / np.sqrt(1.0 + t))
    curve_inverse = staticmethod(lambda v: (1.0 - v) * (1.0 + v) / v / v)
    curve_penalty = staticmethod(lambda v: np.square(1.0 - v) / v)


class Huber(ScaleFamily):
    """v* = min(1, √(λ/l)): of the Huber loss.

    s = λ/v², the end of the plateau at v = 1; f = λ(1/v − 1).
    """

    name = "huber"
    curve = staticmethod(lambda t: 1.0 / np.sqrt(np.maximum(1.0, t)))
    curve_inverse = staticmethod(lambda v: 1.0 / np.square(v))
    curve_penalty = staticmethod(lambda v: (1.0 - v) / v)


@dataclass(frozen=True)
class Diversity(SelfPacedFunction):
    """v* = 1 if l₍ᵣ₎ < λ + γ/(√r + √(r−1)), else 0: Jiang et al. 2014, SPLD.

    f = −λ Σ v − γ Σ_b ‖v_b‖₂ over groups b, and r is the rank of a loss in its group. Each label is a group;
    a vector is one group. The first pairs of a group are admitted at larger losses than later ones, so every
    group is represented. Conditions 1 and 3 of Definition 1 fail: f is not convex in the weights of a group,
    and as λ → 0 the easiest pairs with a loss below γ keep their weight.

    Parameters
    ----------
    gamma : float, default=1.0
        γ ≥ 0, the bonus of diversity in units of the loss; 0 is `Hard`.
    """

    gamma: float = 1.0

    name = "diversity"

    def __post_init__(self) -> None:
        check_number("gamma of a diversity function", self.gamma, "a number, 0 or more", 0.0, closed=True)

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """1 for the easiest pairs of each group, up to the rank at which the bonus no longer pays."""
        loss, pace = np.broadcast_arrays(loss_array(loss), pace_array(pace))
        with np.errstate(invalid="ignore"):
            margin = np.atleast_1d(loss - pace)
        margin[np.isnan(margin)] = -np.inf  # ∞ − ∞: the pace wins
        rank = margin.argsort(axis=0, kind="stable").argsort(axis=0) + 1
        in_play = margin < self.gamma / (np.sqrt(rank) + np.sqrt(rank - 1))
        return in_play.astype(np.float64).reshape(loss.shape)[()]

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """−∂f/∂v = λ + γ v/‖v_b‖₂; in a group of one, the loss at which it drops out."""
        v, pace = np.broadcast_arrays(weight_array(weight), pace_array(pace))
        return (pace + self.gamma * self._share(v))[()]

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """Each entry's part −λv − γ v²/‖v_b‖₂; over a group the parts add up to −λ‖v_b‖₁ − γ‖v_b‖₂."""
        v, pace = np.broadcast_arrays(weight_array(weight), pace_array(pace))
        with np.errstate(invalid="ignore"):
            return (-product(pace, v) - self.gamma * v * self._share(v))[()]

    def _share(self, v: FloatArray) -> FloatArray:
        """v/‖v_b‖₂; where a whole group is out, 0."""
        norm = np.sqrt(np.square(v).sum(axis=0 if v.ndim else None, keepdims=True))
        return np.reshape(v / np.where(norm > 0, norm, 1.0), v.shape)


_CLASSES: dict[str, type[SelfPacedFunction]] = {
    function.name: function
    for function in (
        *(Arctan, Sigmoid, Tanh, Exponential, Gaussian),
        *(Hard, Linear, Polynomial, Logarithmic, Mixture, MixtureZhao),
        *(Logistic, Cauchy, L1L2, Huber, Diversity),
    )
}


def names() -> list[str]:
    """Return the names that `get` knows, the paper's own first."""
    return list(_CLASSES)


def get(function: str | SelfPacedFunction) -> SelfPacedFunction:
    """Resolve a name of `names()`, with default parameters; an instance passes through.

    Examples
    --------
    >>> from mlspl import pacing
    >>> pacing.get("polynomial")
    Polynomial(degree=3.0)
    """
    if isinstance(function, SelfPacedFunction):
        return function
    if not isinstance(function, str):
        raise UserError(f"There is no self-paced function {function!r}. Give a name, or an instance of one.")
    if function not in _CLASSES:
        hint = guess(function, _CLASSES) or f" The names are {', '.join(_CLASSES)}; see also pacing.derive."
        raise UserError(f"There is no self-paced function {function!r}.{hint}")
    return _CLASSES[function]()
