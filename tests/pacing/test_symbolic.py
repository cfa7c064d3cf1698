import sys
import time

import numpy as np
import pytest
import sympy as sp

from mlspl import pacing
from mlspl.pacing import symbolic
from mlspl.pacing.symbolic import _attempt

CLOSED = [
    ("1/(1+t**2)", "scale"),
    ("1-tanh(t)", "scale"),
    ("1-erf(t)", "scale"),
    ("erfc(t)/2", "shift"),
    ("0.3*exp(-t)", "scale"),
]


@pytest.mark.parametrize(("text", "family"), CLOSED)
def test_closed_forms_agree_with_the_numeric_path(text, family):
    """Both are found in different ways: by algebra, and by bisection and Gauss points on the curve."""
    derived = pacing.derive(text, family)
    v = np.linspace(0.02, 0.98, 49) * derived.weight(0.0, np.inf)
    assert derived._closed.inverse is not None
    assert derived._closed.penalty is not None
    assert derived.inverse(v, 1.0) - derived.inverse(v, 0.0) == pytest.approx(
        derived._numeric.inverse(v) if family == "scale" else np.ones(49), rel=1e-9
    )
    penalty, computed = derived.curve_penalty(v), derived._numeric.penalty(v)
    assert penalty - penalty[9] == pytest.approx(computed - computed[9], rel=1e-8, abs=1e-12)


def test_a_wrong_branch_is_not_taken():
    """SymPy solves (1+t)e^(−t) = v with the branch of Lambert's W that gives a negative t."""
    derived = pacing.derive("(1+t)*exp(-t)")
    assert derived._closed.inverse is None
    assert derived.weight(derived.inverse(0.4, 1.0), 1.0) == pytest.approx(0.4, rel=1e-12)


def test_sympy_is_stopped_when_it_takes_too_long(monkeypatch):
    monkeypatch.setattr(symbolic, "_SECONDS", 0.2)
    t = sp.Symbol("t", positive=True)
    start = time.process_time()
    assert _attempt(lambda: sp.integrate(1 / (1 + t + t**5), t)) is None  # minutes, if let
    assert time.process_time() - start < 10
    assert sys.getprofile() is None


def test_sympys_own_failures_are_no_answer():
    t = sp.Symbol("t", positive=True)
    assert _attempt(lambda: sp.solve(sp.exp(-(t**3) - t) / (1 + t**2) - sp.Symbol("v"), t)) is None
