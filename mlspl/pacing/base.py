"""The contract of a self-paced function, and the paper's two families: a scaled or a shifted curve."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl.errors import UserError

FloatArray = NDArray[np.float64]


class SelfPacedFunction(ABC):
    """The weight of a pair, given its loss l and the pace λ (Definition 1 of the paper).

    A subclass with these three methods works in every estimator; `pacing.verify` checks its conditions. All
    three take scalars or arrays, broadcast them and return float64. Paces run from 0 to infinity; at either
    end the result is the limit, and an infinite pace is the unpaced model. Functions are equal when their
    class and attributes are, so use a frozen dataclass for parameters.
    """

    _contents: ClassVar[dict[str, Any]] = {}

    name: ClassVar[str] = ""
    """The name in `pacing.get`, on the command line and in legends."""
    max_pace: ClassVar[float] = np.inf
    """Finite paces from here on are refused."""
    by_label: ClassVar[bool] = True
    """Whether the weights of a label depend on no other label's losses."""

    @abstractmethod
    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """v*(l, λ), the minimiser of v·l + f(v, λ) over v in [0, 1]; falls with l and rises with λ."""

    @abstractmethod
    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """s(v, λ), the loss whose weight is v."""

    @abstractmethod
    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """f(v, λ) = −∫ s dv (Lemma 1), up to a constant in v; summed over the pairs it is the regulariser."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(vars(self).items()))))

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"


class ElementwiseFunction(SelfPacedFunction):
    """A self-paced function given by three formulas of float arrays; inputs are checked here."""

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        return self._evaluate(self.weight_formula, loss_array(loss), pace)

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        return self._evaluate(self.inverse_formula, weight_array(weight), pace)

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        return self._evaluate(self.penalty_formula, weight_array(weight), pace)

    def _evaluate(self, formula, values: FloatArray, pace: ArrayLike) -> FloatArray:
        """Overflow to infinity and 1/0 give no warning: the formulas then have the right limit."""
        paces = pace_array(pace, self.max_pace)
        with np.errstate(all="ignore"):
            return np.asarray(formula(values, paces), dtype=np.float64)[()]

    @abstractmethod
    def weight_formula(self, loss: FloatArray, pace: FloatArray) -> FloatArray: ...

    @abstractmethod
    def inverse_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray: ...

    @abstractmethod
    def penalty_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray: ...


class CurveFamily(ElementwiseFunction):
    """A self-paced function made of one decreasing curve."""

    lowest: ClassVar[float] = 0.0
    """The left end of the curve's domain."""

    @abstractmethod
    def curve(self, t: FloatArray, /) -> FloatArray:
        """g(t): decreasing, within [0, 1], falling to 0 as t grows."""

    @abstractmethod
    def curve_inverse(self, weight: FloatArray, /) -> FloatArray:
        """g⁻¹(v)."""

    @abstractmethod
    def curve_penalty(self, weight: FloatArray, /) -> FloatArray:
        """−∫ g⁻¹(v) dv."""


class ScaleFamily(CurveFamily):
    """v* = g(l/λ^c), s = λ^c g⁻¹(v), f = −λ^c ∫ g⁻¹ dv: invariant when loss and λ^c grow alike.

    Define `curve` (on t ≥ 0), `curve_inverse` and `curve_penalty`.
    """

    exponent: float = 1.0

    def weight_formula(self, loss: FloatArray, pace: FloatArray) -> FloatArray:
        scale = pace**self.exponent
        t = loss / scale
        # 0/0 at pace 0 and ∞/∞ at pace ∞: in both the limit in λ is g(0).
        return self.curve(_replace_nan(t, 0.0) if np.any((scale == 0) | (scale == np.inf)) else t)

    def inverse_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        return product(pace**self.exponent, self.curve_inverse(weight))

    def penalty_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        return product(pace**self.exponent, self.curve_penalty(weight))


class ShiftFamily(CurveFamily):
    """v* = g(l − λ), s = λ + g⁻¹(v), f = −λv − ∫ g⁻¹ dv: the curve keeps its width and moves with the pace.

    Define `curve` (on the whole line), `curve_inverse` and `curve_penalty`. As λ → 0 the weight tends to
    g(l), so a function of this family breaks condition 3 of Definition 1 unless g(l) is 0 for l > 0.
    """

    lowest = -float(np.finfo(np.float64).max)

    def weight_formula(self, loss: FloatArray, pace: FloatArray) -> FloatArray:
        t = loss - pace
        return self.curve(_replace_nan(t, -np.inf) if np.any(pace == np.inf) else t)

    def inverse_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        return _replace_nan(pace + self.curve_inverse(weight), -np.inf)

    def penalty_formula(self, weight: FloatArray, pace: FloatArray) -> FloatArray:
        return _replace_nan(self.curve_penalty(weight) - product(pace, weight), np.inf)


def check_number(
    what: str, value: object, rule: str, low: float, high: float = np.inf, *, closed: bool = False
) -> None:
    """Refuse a parameter that is not a number between `low` and `high`; `closed` includes finite ends."""
    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if low < number < high or (closed and number in (low, high) and np.isfinite(number)):
            return
    raise UserError(f"{what} is {value!r}: give {rule}.")


def loss_array(loss: ArrayLike) -> FloatArray:
    """Losses as float64, all of them 0 or more."""
    return _check_range(loss, np.inf, "a loss", "must be 0 or more")


def weight_array(weight: ArrayLike, what: str = "a weight") -> FloatArray:
    """Weights as float64, all of them in [0, 1]."""
    return _check_range(weight, 1.0, what, "must be between 0 and 1")


def pace_array(pace: ArrayLike, max_pace: float = np.inf) -> FloatArray:
    """Paces as float64, from 0 up to but not reaching `max_pace`, or infinite."""
    array = _check_range(pace, np.inf, "a pace", "must be 0 or more; infinity means no pacing")
    if max_pace < np.inf and np.any(beyond := (array >= max_pace) & (array < np.inf)):
        raise UserError(
            f"a pace is {array[beyond].flat[0]:g}: this function needs one below {max_pace:g}, or infinity. "
            "Divide losses and pace by one number, or choose another function."
        )
    return array


def _check_range(values: ArrayLike, high: float, what: str, rule: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    # NaN fails both comparisons.
    if array.size and not (array.min() >= 0.0 and (high == np.inf or array.max() <= high)):
        index = tuple(map(int, np.argwhere(~((array >= 0.0) & (array <= high)))[0]))
        raise UserError(f"{what}{f' at index {index}' if index else ''} is {array[index]:g}: it {rule}.")
    return array


def product(first: FloatArray, second: FloatArray) -> FloatArray:
    """``first * second`` with 0·∞ = 0, the limit at a pace of 0 or infinity."""
    return _replace_nan(np.asarray(first * second), 0.0)


def _replace_nan(values: FloatArray, by: float) -> FloatArray:
    return np.where(np.isnan(values), by, values)
