"""The paper's general method: from a decreasing curve to a self-paced function (Lemma 1)."""

import sys
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from mlspl.errors import UserError, listed
from mlspl.pacing.arrays import check_number
from mlspl.pacing.base import FloatArray
from mlspl.pacing.expression import Expression
from mlspl.pacing.families import CurveFamily, ScaleFamily, ShiftFamily
from mlspl.pacing.numeric import NumericCurve, vanishes
from mlspl.pacing.symbolic import ClosedForms, find_closed_forms

__all__ = ["DerivedFunction", "DerivedScale", "DerivedShift", "derive"]


def derive(
    curve: Any, family: Literal["scale", "shift"] = "scale", exponent: float = 1.0
) -> "DerivedFunction":
    """Make a self-paced function from a decreasing curve, by Lemma 1 of the paper.

    The weight is g(l/λ^c) or g(l − λ), the inverse s solves for l, and the penalty is f = −∫ s dv.

    Parameters
    ----------
    curve : str, sympy.Expr or callable
        g(t), decreasing within [0, 1] and falling to 0: on t ≥ 0 for the scale family, on the whole line for
        the shift family. A string is a formula in ``t`` such as ``"1/(1+t**2)"``; it is never run as code. A
        callable takes and returns NumPy arrays. For a string or a SymPy expression in one symbol, inverse
        and penalty are closed forms where SymPy (the extra ``symbolic``) finds them within seconds; otherwise
        they are computed from the curve, about as accurately as it is.
    family : {"scale", "shift"}, default="scale"
        Whether the pace scales the curve or shifts it.
    exponent : float, default=1.0
        c > 0 of the scale family.

    Returns
    -------
    DerivedFunction
        With ``weight``, ``inverse``, ``penalty`` and ``latex``. It can be pickled unless its curve is a
        lambda or another callable that pickle cannot find by name.

    Notes
    -----
    A penalty is known up to a constant in v. A closed form is written without one; a computed penalty is 0
    at v = 1 in the scale family, and at the middle of its curve (v = ½) in the shift family.

    Examples
    --------
    >>> from mlspl import pacing
    >>> function = pacing.derive("1/(1+t**2)")
    >>> print(function.weight([0.0, 1.0, 3.0], pace=1.0))
    [1.  0.5 0.1]
    >>> float(function.inverse(0.1, pace=2.0))
    6.0
    >>> pacing.derive("t/(1+t)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mlspl.errors.UserError: the curve increases, from 0.08684 at t = 0.0951 to 0.09091 at t = 0.1; ...
    """
    if family not in ("scale", "shift"):
        raise UserError(f"the family of a curve is 'scale' or 'shift', and {family!r} is neither.")
    check_number("the exponent of the pace", exponent, "a number above 0", 0.0)
    if family == "shift" and exponent != 1.0:
        raise UserError("the shift family g(l − λ) has no exponent; leave it at 1, or take the scale family.")
    source = _source(curve)
    function = DerivedScale(source, float(exponent)) if family == "scale" else DerivedShift(source)
    function.check_curve()
    return function


@dataclass(frozen=True)
class DerivedFunction(CurveFamily):
    """A self-paced function that `derive` made; `source` is the curve it was given."""

    source: Any

    _lowest: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        """Take the name from the curve."""
        name = str(self.source) if not callable(self.source) else getattr(self.source, "__name__", "curve")
        self.__dict__["name"] = name

    def __getstate__(self) -> dict[str, Any]:
        """The parameters only: tables and closed forms are found again when needed."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the parameters and nothing else: state may be a stranger's, and closed forms become code."""
        if state.keys() != {field.name for field in fields(self)}:
            raise UserError(f"a derived self-paced function has no such parts: {listed(sorted(state))}.")
        source, exponent = state["source"], state.get("exponent", 1.0)
        check_number("the exponent of the pace", exponent, "a number above 0", 0.0)
        if isinstance(source, str):
            Expression(source)
        elif not callable(source) and not _is_sympy(source):
            raise UserError(f"a curve is a function, a formula or a SymPy expression, and {source!r} is not.")
        self.__dict__.update(state)
        self.__post_init__()

    def curve(self, t: FloatArray) -> FloatArray:
        """g(t), cut to [0, 1] against rounding, and its limit where the formula overflows to no number."""
        with np.errstate(all="ignore"):
            values = np.asarray(self._evaluate(t), dtype=np.float64)
        if np.isnan(values.sum()):
            values = np.where(np.isnan(values), np.where(t > 0, 0.0, self._left), values)
        return np.clip(values, 0.0, 1.0)

    def curve_inverse(self, weight: FloatArray) -> FloatArray:
        """g⁻¹(v), in closed form if there is one."""
        form = self._functions[0]
        if form is None:
            return self._numeric.inverse(weight)
        return _completed(form(weight), weight, self._numeric.inverse)

    def curve_penalty(self, weight: FloatArray) -> FloatArray:
        """−∫ g⁻¹ dv, in closed form if there is one."""
        form = self._functions[1]
        if form is None:
            return self._numeric.penalty(weight)
        middle = np.array([0.5 * self._numeric.top])
        constant = form(middle) - self._numeric.penalty(middle)
        return _completed(form(weight), weight, lambda v: self._numeric.penalty(v) + constant)

    def formulas(self) -> dict[str, Any]:
        """SymPy expressions of ``weight``, ``inverse`` and ``penalty``; None without a closed form."""
        if callable(self.source):
            raise UserError(f"{self!r} has no formulas: derive from text or a SymPy expression to have them.")
        if self._closed is None:
            raise UserError(
                "formulas need SymPy: install the extra, python -m pip install 'mlspl[symbolic]'."
            )
        import sympy as sp

        symbols = (sp.Symbol(name, positive=True) for name in ("l", "v", "lambda"))
        return dict(
            zip(("weight", "inverse", "penalty"), self._with_pace(self._closed, *symbols), strict=True)
        )

    def latex(self) -> str:
        """The weight, the inverse and the penalty as a LaTeX ``align*`` block."""
        formulas = self.formulas()
        import sympy as sp

        unknown = {
            "inverse": r"\text{(no closed form)}",
            "penalty": r"-\int s(v, \lambda)\,dv \quad \text{(no closed form)}",
        }
        right = {
            part: unknown[part] if form is None else sp.latex(form, ln_notation=True)
            for part, form in formulas.items()
        }
        return "\n".join(
            [
                r"\begin{align*}",
                rf"v^{{\ast}}(l, \lambda) &= {right['weight']} \\",
                rf"s(v, \lambda) &= {right['inverse']} \\",
                rf"f(v, \lambda) &= {right['penalty']}",
                r"\end{align*}",
            ]
        )

    def check_curve(self) -> None:
        """Refuse a curve that increases, leaves [0, 1] or does not fall to 0, and say where."""
        t = np.unique(np.concatenate([[0.0], np.logspace(-12, 100, 5000), np.linspace(0.0, 20.0, 4001)]))
        if self._lowest < 0:
            t = np.concatenate([-t[:0:-1], t])
        g = self._sampled(t)
        # Beyond ±100 a formula may overflow to no number, as inf/inf does; the curve then keeps its limit.
        number = np.flatnonzero(~np.isnan(g))
        first, last = (t[number[0]], t[number[-1]]) if number.size else (np.inf, -np.inf)
        overflow = (np.abs(t) > 100) & ((t < first) | (t > last))
        if np.any(bad := np.isnan(g) & ~overflow):
            raise UserError(f"the curve is not a number at t = {t[bad][0]:.4g}.")
        t, g = t[number], g[number]
        if np.any(bad := (g < -1e-12) | (g > 1 + 1e-12)):
            raise UserError(f"the curve leaves [0, 1]: it is {g[bad][0]:.4g} at t = {t[bad][0]:.4g}.")
        i = int(np.argmax(np.diff(g)))
        if g[i + 1] - g[i] > 1e-13:
            raise UserError(
                f"the curve increases, from {g[i]:.4g} at t = {t[i]:.4g} to {g[i + 1]:.4g} "
                f"at t = {t[i + 1]:.4g}; a curve must decrease."
            )
        if g[0] <= 0:
            raise UserError(f"the curve is 0 from t = {t[0]:.4g} on; a curve falls from above 0 to 0.")
        ends = self._sampled(np.array([1e50, 1e100]))
        if not vanishes(*np.where(np.isnan(ends), g[-1], ends)):
            raise UserError(f"the curve does not fall to 0: it is still {g[-1]:.4g} at t = {t[-1]:.4g}.")

    def _sampled(self, t: FloatArray) -> FloatArray:
        """The curve as it was given, on an array; a callable that is not made for arrays is refused."""
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(self._evaluate(t), dtype=np.float64)
        except Exception as error:
            raise UserError(f"the curve failed on an array ({error}); {_ARRAYS}") from error
        if values.shape != t.shape:
            raise UserError(f"the curve turned {t.size} numbers into an array {values.shape}; {_ARRAYS}")
        return values

    @abstractmethod
    def _with_pace(self, forms: ClosedForms, loss: Any, v: Any, pace: Any) -> tuple[Any, Any, Any]:
        """The closed forms of the curve with the pace in them."""

    @cached_property
    def _evaluate(self) -> Callable[[FloatArray], Any]:
        if isinstance(self.source, str):
            return Expression(self.source)
        if callable(self.source):
            return self.source
        import sympy as sp

        if not isinstance(self.source, sp.Expr):  # lambdify would run whatever text it is given
            raise UserError(
                f"a curve is a function, a formula or a SymPy expression, and {self.source!r} is not."
            )
        return sp.lambdify(sp.Symbol("t"), self.source, ["scipy", "numpy"])

    @cached_property
    def _left(self) -> float:
        """The curve at its left end, or as far to the left as it is a number."""
        t = np.append(-np.logspace(100, 0, 201), 0.0) if self._lowest < 0 else np.zeros(1)
        with np.errstate(all="ignore"):
            values = np.asarray(self._evaluate(t), dtype=np.float64)
        return float(values[~np.isnan(values)][0])

    @cached_property
    def _numeric(self) -> NumericCurve:
        return NumericCurve(self.curve, self._lowest)

    @cached_property
    def _closed(self) -> ClosedForms | None:
        sympy = _sympy()
        if callable(self.source) or sympy is None:
            return None
        t = sympy.Symbol("t", positive=True) if self._lowest == 0 else sympy.Symbol("t", real=True)
        if isinstance(self.source, str):
            curve = Expression(self.source).to_sympy(sympy, t)
        else:
            curve = self.source.subs(sympy.Symbol("t"), t)
        return find_closed_forms(curve, t, self._numeric)

    @cached_property
    def _functions(self) -> tuple[Callable | None, Callable | None]:
        """The closed forms as functions of arrays."""
        if self._closed is None:
            return None, None
        import sympy as sp

        v = sp.Symbol("v", positive=True)
        inverse, penalty = (
            None if form is None else sp.lambdify(v, form, ["scipy", "numpy"])
            for form in (self._closed.inverse, self._closed.penalty)
        )
        return inverse, penalty


@dataclass(frozen=True, repr=False)
class DerivedScale(DerivedFunction, ScaleFamily):
    """v* = g(l/λ^c) for the curve g that `derive` was given."""

    exponent: float = 1.0

    def __repr__(self) -> str:
        exponent = "" if self.exponent == 1.0 else f", exponent={self.exponent!r}"
        return f"derive({_shown(self.source)}, family='scale'{exponent})"

    def _with_pace(self, forms: ClosedForms, loss: Any, v: Any, pace: Any) -> tuple[Any, Any, Any]:
        import sympy as sp

        scale = pace ** sp.nsimplify(self.exponent, rational=True)
        weight = _substitute(forms.curve, loss / scale)
        return weight, *(None if form is None else scale * form for form in (forms.inverse, forms.penalty))


@dataclass(frozen=True, repr=False)
class DerivedShift(DerivedFunction, ShiftFamily):
    """v* = g(l − λ) for the curve g that `derive` was given."""

    _lowest: ClassVar[float] = -float(np.finfo(np.float64).max)

    def __repr__(self) -> str:
        return f"derive({_shown(self.source)}, family='shift')"

    def _with_pace(self, forms: ClosedForms, loss: Any, v: Any, pace: Any) -> tuple[Any, Any, Any]:
        weight = _substitute(forms.curve, loss - pace)
        inverse = None if forms.inverse is None else pace + forms.inverse
        return weight, inverse, None if forms.penalty is None else forms.penalty - pace * v


_ARRAYS = (
    "a curve takes and returns NumPy arrays: write np.exp and np.where where you would write math.exp and "
    "if, or wrap it in np.vectorize, which is slow."
)


def _source(curve: Any) -> Any:
    """The curve as it is kept: text, a callable, or a SymPy expression in the symbol t."""
    if _is_sympy(curve):
        sympy = sys.modules["sympy"]
        if len(curve.free_symbols) != 1:
            raise UserError(
                f"a curve is an expression in one symbol, and {curve} has {len(curve.free_symbols)}."
            )
        return curve.subs(next(iter(curve.free_symbols)), sympy.Symbol("t"))
    if isinstance(curve, str):
        return Expression(curve).text
    if callable(curve):
        return curve
    raise UserError(
        f"a curve is a formula as text, a callable or a SymPy expression, and {curve!r} is none of them."
    )


def _is_sympy(curve: Any) -> bool:
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(curve, sympy.Expr)


def _sympy() -> ModuleType | None:
    try:
        import sympy
    except ImportError:
        return None
    return sympy


def _substitute(curve: Any, t: Any) -> Any:
    """The curve at another t; SymPy may have found that it does not depend on it, as 0**t for t > 0."""
    return curve.subs(dict.fromkeys(curve.free_symbols, t))


def _shown(source: Any) -> str:
    if isinstance(source, str):
        return repr(source)
    return getattr(source, "__qualname__", str(source))


def _completed(
    values: FloatArray, weight: FloatArray, fallback: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """A closed form's values, with the computed ones where the form is 0/0 or 0·∞."""
    missing = np.isnan(values)
    return np.where(missing, fallback(weight), values) if missing.any() else values
