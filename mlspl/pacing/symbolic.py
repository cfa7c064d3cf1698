"""Closed forms of a curve's inverse and penalty, where SymPy finds them in a few seconds."""

import inspect
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from mlspl.pacing.base import FloatArray
from mlspl.pacing.numeric import NumericCurve

__all__ = ["ClosedForms", "find_closed_forms"]

_SECONDS = 3.0  # of processor time for each question to SymPy, so that a busy machine finds no fewer answers
_SHORT = 16  # operations; a penalty this short is not worth a second look
_PROBES = np.concatenate([[1e-6, 1e-3], np.linspace(0.02, 0.98, 25)])


@dataclass(frozen=True)
class ClosedForms:
    """SymPy expressions for a curve g(t), for g⁻¹(v) and for −∫ g⁻¹ dv; None where none was found."""

    curve: Any
    inverse: Any
    penalty: Any


def find_closed_forms(curve: Any, t: Any, numeric: NumericCurve) -> ClosedForms:
    """Ask SymPy to invert and to integrate a curve; keep only answers that agree with the numeric ones."""
    import sympy as sp

    v = sp.Symbol("v", positive=True)
    probes = _PROBES * numeric.top
    losses, costs = numeric.inverse(probes), numeric.penalty(probes)
    plain = curve
    if curve.has(sp.tanh, sp.sinh, sp.cosh):
        exponentials = _attempt(lambda: sp.simplify(curve.rewrite(sp.exp)))
        plain = curve if exponentials is None else exponentials
    roots = _attempt(lambda: sp.solve(sp.Eq(plain, v), t)) or []
    shorter = _attempt(lambda: [sp.simplify(root) for root in roots]) or []
    roots = [root for root in (*roots, *shorter) if _agrees(root, v, probes, losses)]
    if not roots:
        return ClosedForms(curve, None, None)
    root = min(roots, key=sp.count_ops)

    area = _attempt(lambda: sp.integrate(plain, t))
    found = [] if area is None else _rewritten(area.subs(t, root) - v * root, v)
    if not any(sp.count_ops(form) <= _SHORT for form in found):
        direct = _attempt(lambda: sp.integrate(root, v, manual=True))
        found += [] if direct is None else _rewritten(-direct, v)
    right = [form for form in found if _agrees(form, v, probes, costs, up_to_constant=True)]
    return ClosedForms(curve, root, min(right, key=sp.count_ops, default=None))


def _rewritten(form: Any, v: Any) -> list[Any]:
    """A few ways to write the same form, each without its constant."""
    import sympy as sp

    if form.has(sp.Integral):
        return []
    simple = _attempt(lambda: sp.simplify(form))
    logs = (sp.log(v), sp.log(1 - v), sp.log(2 - v))
    split = _attempt(lambda: sp.collect(sp.expand(sp.expand_log(sp.expand(simple), force=True)), logs))
    return [way.as_independent(v, as_Add=True)[1] for way in (form, simple, split) if way is not None]


def _agrees(
    form: Any, v: Any, probes: FloatArray, expected: FloatArray, *, up_to_constant: bool = False
) -> bool:
    """Whether a form is real and gives the numbers expected at the probes."""
    import sympy as sp

    if not isinstance(form, sp.Expr) or form.has(sp.I, sp.zoo, sp.nan, sp.Integral):
        return False
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(sp.lambdify(v, form, ["scipy", "numpy"])(probes))
    except Exception:  # a form that NumPy and SciPy cannot compute is of no use
        return False
    if values.shape != probes.shape or values.dtype.kind != "f":
        return False
    if up_to_constant:
        values, expected = values - values[-1], expected - expected[-1]
    return bool(np.allclose(values, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max()))


class _Late(BaseException):
    """Time is up. Not an Exception, which SymPy might catch."""


def _attempt(question: Callable[[], Any]) -> Any:
    """SymPy's answer, or None if it fails or takes more than a few seconds.

    SymPy cannot be told to stop, nor can a thread; but a profile function sees every call, and can raise.
    """
    end = time.thread_time() + _SECONDS
    calls = 0

    def stop_if_late(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        # A generator may be on its way out, where Python would print the error and forget it.
        if event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            calls += 1
            if calls % 64 == 0 and time.thread_time() > end:
                raise _Late

    before = sys.getprofile()
    sys.setprofile(stop_if_late)
    try:
        return question()
    except (Exception, _Late):  # SymPy gives up in many ways
        return None
    finally:
        sys.setprofile(before)
