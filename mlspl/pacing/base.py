"""The contract of a self-paced function: weight, inverse and penalty."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FloatArray", "SelfPacedFunction"]

FloatArray = NDArray[np.float64]


class SelfPacedFunction(ABC):
    """How much a pair counts, given its loss l and the pace λ (Definition 1 of the paper).

    Write the three methods and every estimator of mlspl can pace with your function; `pacing.verify` tells
    you whether it is one. All three take scalars or arrays, broadcast them and return float64. Paces run
    from 0 to infinity; at either end the answer is the limit, and an infinite pace is the unpaced model.

    Give parameters in ``__init__`` (or make the class a frozen dataclass) and keep them as plain attributes:
    functions are equal when their class and attributes are.
    """

    _contents: ClassVar[dict[str, Any]] = {}

    name: ClassVar[str] = ""
    """What `pacing.get`, the command line and the legends call the function."""
    tex: ClassVar[str] = ""
    """The weight as a LaTeX formula in l and λ, for the titles of plots."""
    max_pace: ClassVar[float] = np.inf
    """Finite paces from here on are refused."""

    @property
    def by_label(self) -> bool:
        """Whether the weights of a label depend on no other label's losses."""
        return True

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
        """Equal when class and parameters are."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(sorted(vars(self).items()))))

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"
