"""The paper's general method: from a decreasing curve to a self-paced function (Lemma 1)."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from mlspl.errors import UserError
from mlspl.pacing.base import CurveFamily, FloatArray, ScaleFamily, ShiftFamily, check_number
from mlspl.pacing.expression import evaluate
from mlspl.pacing.numeric import NumericCurve, vanishes
from mlspl.pacing.symbolic import find_formulas

_ARRAYS = "A curve takes and returns NumPy arrays: use np.exp and np.where instead of math.exp and if."


def derive(
    curve: Any, family: Literal["scale", "shift"] = "scale", exponent: float = 1.0
) -> "DerivedFunction":
    """Make a self-paced function from a decreasing curve, by Lemma 1 of the paper.

    The weight is g(l/λ^c) or g(l − λ), the inverse s solves for l, and the penalty is f = −∫ s dv. Inverse
    and penalty are computed numerically, about as accurately as the curve itself.

    Parameters
    ----------
    curve : str or callable
        g(t), decreasing within [0, 1] and falling to 0: on t ≥ 0 for the scale family, on the whole line for
        the shift family. A string is a formula in ``t`` such as ``"1/(1+t**2)"``; it is never executed. A
        callable takes and returns NumPy arrays.
    family : {"scale", "shift"}, default="scale"
        Whether the pace scales the curve or shifts it.
    exponent : float, default=1.0
        c > 0 of the scale family.

    Returns
    -------
    DerivedFunction
        With ``weight``, ``inverse``, ``penalty``, ``formulas`` and ``latex``. It can be pickled if its curve
        can. The penalty is 0 at v = 1 (scale), or at half the height of the curve (shift).

    Examples
    --------
    >>> from mlspl import pacing
    >>> print(pacing.derive("1/(1+t**2)").weight([0.0, 1.0, 3.0], pace=1.0))
    [1.  0.5 0.1]
    """
    if family not in ("scale", "shift"):
        raise UserError(f"family is {family!r}: choose 'scale' or 'shift'.")
    if family == "shift" and exponent != 1.0:
        raise UserError("the shift family g(l − λ) has no exponent. Leave it at 1, or use the scale family.")
    function = DerivedScale(curve, exponent) if family == "scale" else DerivedShift(curve)
    function.check_curve()
    return function


@dataclass(frozen=True, repr=False)
class DerivedFunction(CurveFamily):
    """A self-paced function made by `derive`; `source` is its curve."""

    source: str | Callable[[FloatArray], Any]

    _family: ClassVar[str]
    exponent = 1.0

    def __post_init__(self) -> None:
        """Check the curve and the exponent."""
        if isinstance(self.source, str):
            evaluate(self.source, np.ones(1))
        elif not callable(self.source):
            raise UserError(f"the curve is {self.source!r}: give text, such as exp(-t), or a callable.")
        check_number("exponent", self.exponent, "a number above 0", 0.0)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The text of the curve, or the name of the callable."""
        return self.source if isinstance(self.source, str) else getattr(self.source, "__name__", "curve")

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters only; tables are computed again when needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def curve(self, t: FloatArray) -> FloatArray:
        """g(t), clipped to [0, 1] against rounding; where the formula overflows to NaN, its limit."""
        values = self._values(t)
        if np.isnan(values.sum()):
            values = np.where(np.isnan(values), np.where(t > 0, 0.0, self._left), values)
        return np.clip(values, 0.0, 1.0)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        return self.numeric.inverse(weight)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        return self.numeric.penalty(weight)

    def formulas(self) -> dict[str, str | None]:
        """Closed forms of ``weight``, ``inverse`` and ``penalty`` as text; None where SymPy found none."""
        return {part: forms["text"] if forms else None for part, forms in self._forms.items()}

    def latex(self) -> str:
        """Return weight, inverse and penalty as a LaTeX ``align*`` block."""
        left = (r"v^{\ast}(l, \lambda)", r"s(v, \lambda)", r"f(v, \lambda)")
        right = [forms["latex"] if forms else r"\text{(no closed form)}" for forms in self._forms.values()]
        lines = [f"{name} &= {form}" for name, form in zip(left, right, strict=True)]
        return "\n".join([r"\begin{align*}", " \\\\\n".join(lines), r"\end{align*}"])

    def check_curve(self) -> None:
        """Refuse a curve that increases, leaves [0, 1] or does not fall to 0."""
        t = np.unique(np.concatenate([[0.0], np.logspace(-12, 100, 5000), np.linspace(0.0, 20.0, 4001)]))
        if self.lowest < 0:
            t = np.concatenate([-t[:0:-1], t])
        g = self._values(t)
        # Beyond ±100 a formula may overflow to NaN, as inf/inf does; `curve` replaces that by the limit.
        if np.any(bad := np.isnan(g) & (np.abs(t) <= 100)):
            raise UserError(f"the curve is not a number at t = {t[bad][0]:.4g}.")
        t, g = t[~np.isnan(g)], g[~np.isnan(g)]
        if np.any(bad := (g < -1e-12) | (g > 1 + 1e-12)):
            raise UserError(f"the curve leaves [0, 1]: it is {g[bad][0]:.4g} at t = {t[bad][0]:.4g}.")
        i = int(np.argmax(np.diff(g)))
        if g[i + 1] - g[i] > 1e-13:
            raise UserError(
                f"the curve increases, from {g[i]:.4g} at t = {t[i]:.4g} to {g[i + 1]:.4g} "
                f"at t = {t[i + 1]:.4g}. A curve must decrease."
            )
        if g[0] <= 0:
            raise UserError(f"the curve is 0 from t = {t[0]:.4g} on; a curve falls from above 0 to 0.")
        ends = self._values(np.array([1e50, 1e100]))
        if not vanishes(*np.where(np.isnan(ends), g[-1], ends)):
            raise UserError(f"the curve does not fall to 0: it is still {g[-1]:.4g} at t = {t[-1]:.4g}.")

    @cached_property
    def numeric(self) -> NumericCurve:
        """Inverse and penalty of the curve."""
        return NumericCurve(self.curve, self.lowest)

    def _values(self, t: FloatArray) -> FloatArray:
        """Evaluate the curve as given; refuse a callable that does not work on arrays."""
        if isinstance(self.source, str):
            return evaluate(self.source, t)
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self.source(t), dtype=np.float64)
        except Exception as error:
            raise UserError(f"the curve failed on an array ({error}). {_ARRAYS}") from error
        if values.shape != np.shape(t):
            raise UserError(f"the curve returned the shape {values.shape} for {np.shape(t)}. {_ARRAYS}")
        return values

    @cached_property
    def _left(self) -> float:
        """The curve at its left end, or as far to the left as it is a number."""
        values = self._values(np.append(-np.logspace(100, 0, 201), 0.0) if self.lowest < 0 else np.zeros(1))
        return float(values[~np.isnan(values)][0])

    @cached_property
    def _forms(self) -> dict[str, dict[str, str] | None]:
        if not isinstance(self.source, str):
            raise UserError(f"{self!r} has no formulas. Derive it from text.")
        found = find_formulas(self.source, self._family, float(self.exponent))
        return {part: found.get(part) for part in ("weight", "inverse", "penalty")}

    def __repr__(self) -> str:
        source = repr(self.source) if isinstance(self.source, str) else self.name
        end = "" if self.exponent == 1.0 else f", exponent={float(self.exponent)!r}"
        return f"derive({source}, family={self._family!r}{end})"


@dataclass(frozen=True, repr=False)
class DerivedScale(DerivedFunction, ScaleFamily):
    """v* = g(l/λ^c) for the curve g given to `derive`."""

    exponent: float = 1.0

    _family = "scale"


@dataclass(frozen=True, repr=False)
class DerivedShift(DerivedFunction, ShiftFamily):
    """v* = g(l − λ) for the curve g given to `derive`."""

    _family = "shift"
