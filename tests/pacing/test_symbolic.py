import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

from mlspl import pacing
from mlspl.pacing import symbolic

CLOSED = [
    ("1/(1+t**2)", "scale", 1.0),
    ("1-tanh(t)", "scale", 2.0),
    ("1-erf(t)", "scale", 1.0),
    ("erfc(t)/2", "shift", 1.0),
    ("0.3*exp(-t)", "scale", 1.0),
    ("(pi/2 - atan(t))/pi", "shift", 1.0),
]


@pytest.mark.parametrize(("text", "family", "exponent"), CLOSED)
def test_closed_forms_agree_with_the_numeric_values(text, family, exponent):
    """They are found in different ways: by algebra, and by bisection and quadrature on the curve."""
    derived = pacing.derive(text, family, exponent)
    forms = {part: sp.sympify(form.replace("lambda", "pace")) for part, form in derived.formulas().items()}
    loss, v, pace = sp.symbols("l v pace")
    weights = np.linspace(0.02, 0.98, 49) * derived.weight(0.0, np.inf)
    losses = np.linspace(0.0, 3.0, 20)
    values = {
        part: sp.lambdify(symbol, forms[part].subs(pace, sp.Rational(7, 10)), ["scipy", "numpy"])(given)
        for part, symbol, given in (
            ("weight", loss, losses),
            ("inverse", v, weights),
            ("penalty", v, weights),
        )
    }
    assert derived.weight(losses, 0.7) == pytest.approx(values["weight"], rel=1e-12)
    assert derived.inverse(weights, 0.7) == pytest.approx(values["inverse"], rel=1e-9, abs=1e-12)
    penalty = derived.penalty(weights, 0.7)
    assert penalty - penalty[9] == pytest.approx(
        values["penalty"] - values["penalty"][9], rel=1e-8, abs=1e-12
    )


def test_a_wrong_branch_is_not_taken():
    """SymPy solves (1+t)e^(−t) = v with the branch of Lambert's W that gives a negative t."""
    derived = pacing.derive("(1+t)*exp(-t)")
    assert derived.formulas()["inverse"] is None
    assert derived.weight(derived.inverse(0.4, 1.0), 1.0) == pytest.approx(0.4, rel=1e-12)


@pytest.mark.parametrize("text", ["1/(1+t**1.000000000000001)", "tanh(1/(1e-15+t))"])
def test_formulas_that_sympy_cannot_handle_end(text, monkeypatch):
    """SymPy alone would run for ever. Weights, inverses and penalties do without it."""
    monkeypatch.setattr(subprocess, "run", None)
    derived = pacing.derive(text)
    assert derived.inverse([0.1, 0.5], 1.0) == pytest.approx(derived.numeric.inverse(np.array([0.1, 0.5])))
    assert pacing.verify(derived).passed
    monkeypatch.undo()
    assert derived.formulas()["inverse"] is None


def test_the_child_is_stopped_and_what_it_found_is_kept(monkeypatch):
    command = "import sys, time; print('[\"weight\", {}]\\n[\"inver', end='', flush=True); time.sleep(60)"
    run = subprocess.run
    monkeypatch.setattr(symbolic, "_WALL_SECONDS", 1.0)
    monkeypatch.setattr(subprocess, "run", lambda _, **kwargs: run([sys.executable, "-c", command], **kwargs))
    assert symbolic.find_formulas("exp(-t)", "scale", 1.0) == {"weight": {}}


def test_modules_in_the_current_directory_are_not_imported(tmp_path, monkeypatch):
    (tmp_path / "sympy.py").write_text("raise SystemExit(open('imported', 'w'))")
    monkeypatch.chdir(tmp_path)
    assert pacing.derive("exp(-t)").formulas()["inverse"] == "-lambda*log(v)"
    assert not (tmp_path / "imported").exists()
