import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
import skops.io

from mlspl import pacing
from mlspl.errors import UserError

PAPER = {
    "arctan": ("(pi/2 - atan(t))/pi", lambda t: np.arctan2(1, t) / np.pi, "shift"),
    "sigmoid": ("2/(1+exp(t))", lambda t: 2 / (1 + np.exp(t)), "scale"),
    "tanh": ("1/(1+exp(2*t))", lambda t: 1 / (1 + np.exp(2 * t)), "shift"),
    "exponential": ("exp(-t)", lambda t: np.exp(-t), "scale"),
    "gaussian": ("exp(-t**2)", lambda t: np.exp(-np.square(t)), "scale"),
}
LOSSES = np.concatenate([[0.0], np.logspace(-6, 3, 50)])
WEIGHTS = np.concatenate([[1e-9, 1e-3], np.linspace(0.01, 0.99, 50), [1 - 1e-5]])


@pytest.mark.parametrize("name", PAPER)
@pytest.mark.parametrize("form", ["text", "callable"])
def test_the_papers_functions_are_derived(name, form):
    text, curve, family = PAPER[name]
    curve = text if form == "text" else curve
    derived, known = pacing.derive(curve, family), pacing.get(name)
    for pace in (1e-4, 0.7, 25.0):
        assert derived.weight(LOSSES, pace) == pytest.approx(known.weight(LOSSES, pace), rel=1e-12, abs=1e-16)
        assert derived.inverse(WEIGHTS, pace) == pytest.approx(known.inverse(WEIGHTS, pace), rel=1e-7)
        # π/2 − atan(t) loses digits at a weight of 1e-9. A penalty is known up to a constant.
        computed, expected = derived.penalty(WEIGHTS, pace), known.penalty(WEIGHTS, pace)
        assert computed - computed[20] == pytest.approx(
            expected - expected[20], rel=1e-8, abs=1e-13 * max(pace, 1)
        )


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_the_exponent_of_the_pace(exponent):
    derived, known = pacing.derive("exp(-t)", exponent=exponent), pacing.Exponential()
    assert derived.weight(LOSSES, 3.0) == pytest.approx(known.weight(LOSSES, 3.0**exponent), rel=1e-13)
    assert derived.inverse(WEIGHTS, 3.0) == pytest.approx(known.inverse(WEIGHTS, 3.0**exponent), rel=1e-8)
    penalty = known.penalty(WEIGHTS, 3.0**exponent) + 3.0**exponent  # 0 at v = 1
    assert derived.penalty(WEIGHTS, 3.0) == pytest.approx(penalty, rel=1e-8)
    assert derived.weight([0.0, 1.0], [[0.0], [1e-300], [1e300], [np.inf]]).tolist() == [
        [1, 0],
        [1, 0],
        [1, 1],
        [1, 1],
    ]


def test_latex_is_the_gaussians_penalty():
    latex = pacing.derive("exp(-t**2)").latex()
    assert r"s(v, \lambda) &= \lambda \sqrt{- \ln{\left(v \right)}}" in latex
    assert r"\frac{\sqrt{\pi} \operatorname{erf}{\left(\sqrt{- \ln{\left(v \right)}} \right)}}{2}" in latex
    assert r"e^{- \frac{l^{2}}{\lambda^{2}}}" in latex
    assert r"\lambda^{2}" in pacing.derive("exp(-t)", exponent=2.0).latex()


def test_formulas_without_a_closed_form_are_computed():
    derived = pacing.derive("(1+t+t**2/2)*exp(-t)")
    assert "no closed form" in derived.latex()
    loss = derived.inverse(WEIGHTS[5:], 2.0)
    assert derived.weight(loss, 2.0) == pytest.approx(WEIGHTS[5:], rel=1e-12)
    assert pacing.verify(derived).passed


def test_a_callable_has_no_formulas():
    with pytest.raises(UserError, match="no formulas"):
        pacing.derive(lambda t: np.exp(-t)).latex()


def test_formulas_that_overflow_have_their_limits():
    falling = pacing.derive("2 - 2*exp(t)/(1+exp(t))")  # inf/inf from t = 710 on
    assert falling.weight([0.0, 1e3, 1e12, np.inf], 1.0).tolist() == [1, 0, 0, 0]
    shifted = pacing.derive("exp(-t)/(1+exp(-t))", "shift")  # and on the left
    assert shifted.weight([0.0, 1e4], [[1.0], [1e4], [np.inf]]) == pytest.approx(
        np.array([[1 / (1 + np.exp(-1)), 0], [1, 0.5], [1, 1]])
    )


@pytest.mark.parametrize(
    ("curve", "family", "sentence"),
    [
        ("t/(1+t)", "scale", "increases"),
        ("exp(-t)*(1+sin(9*t)/9)", "scale", "increases"),
        ("1/(1+t**2)", "shift", "increases"),
        ("1.5*exp(-t)", "scale", "leaves .* 1.5"),
        ("1-t", "scale", "leaves"),
        ("exp(-t)", "shift", "leaves .* inf"),
        ("0.1+0.9*exp(-t)", "scale", "not fall"),
        (
            lambda t: np.where(t < 200, 0.5 + 0.5 * np.exp(-t), np.nan),
            "scale",
            "not fall",
        ),
        ("0*t", "scale", "is 0 from"),
        ("log(1+1/t)/9+0*log(t-3)", "scale", "curve"),
        ("(1-exp(-t))/t", "scale", "not a number"),
        (lambda t: np.full(np.shape(t), np.nan), "scale", "not a number"),
        (lambda t: 1.0 if t < 1 else 0.0, "scale", "NumPy arrays"),
        (lambda t: 0.5, "scale", "shape"),
        (3.0, "scale", "3.0"),
        ("exp(-t)", "both", "family"),
    ],
)
def test_what_is_no_curve_is_refused_with_the_reason(curve, family, sentence):
    with pytest.raises(UserError, match=sentence):
        pacing.derive(curve, family)


def test_exponents_that_make_no_sense_are_refused():
    with pytest.raises(UserError, match="exponent"):
        pacing.derive("exp(-t)", exponent=-1)
    with pytest.raises(UserError, match="exponent"):
        pacing.derive("1/(1+exp(t))", "shift", 2.0)


def module_level_curve(t):
    return 1 / (1 + t) ** 3


@pytest.mark.parametrize(
    ("curve", "family"),
    [
        ("1/(1+t**2)", "scale"),
        ("1/(1+exp(t))", "shift"),
        (module_level_curve, "scale"),
    ],
)
def test_derived_functions_are_values(curve, family):
    derived = pacing.derive(curve, family)
    derived.penalty(0.3, 1.0)  # fills the tables, which are no part of the value
    again = pickle.loads(pickle.dumps(derived))
    assert again == derived == copy.deepcopy(derived) == pacing.derive(curve, family)
    assert hash(again) == hash(derived)
    assert again.penalty(0.3, 1.0) == derived.penalty(0.3, 1.0)
    assert again.name == derived.name
    assert derived != pacing.derive("exp(-2*t)")


def test_a_lambda_cannot_be_pickled():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(pacing.derive(lambda t: np.exp(-t)))


def test_functions_derived_from_text_are_stored_safely():
    derived = pacing.derive("exp(-t**2)", exponent=2.0)
    derived.penalty(0.3, 1.0)
    stored = skops.io.dumps(derived)
    assert skops.io.get_untrusted_types(data=stored) == ["mlspl.pacing.derived.DerivedScale"]
    again = skops.io.loads(stored, trusted=["mlspl.pacing.derived.DerivedScale"])
    assert again == derived
    assert again.weight(1.0, 2.0) == derived.weight(1.0, 2.0)


def test_repr_and_name_tell_the_curve():
    assert repr(pacing.derive("exp(-t)", exponent=2)) == "derive('exp(-t)', family='scale', exponent=2.0)"
    assert repr(pacing.derive("1/(1+exp(t))", "shift")) == "derive('1/(1+exp(t))', family='shift')"
    assert repr(pacing.derive(module_level_curve)) == "derive(module_level_curve, family='scale')"
    assert pacing.derive(module_level_curve).name == "module_level_curve"


def test_text_works_without_sympy():
    script = """
import sys
sys.modules["sympy"] = None  # as if it were not installed
from mlspl import pacing
function = pacing.derive("exp(-t**2)")
known = pacing.get("gaussian")
assert abs(function.inverse(0.3, 2.0) / known.inverse(0.3, 2.0) - 1) < 1e-12
assert abs(function.penalty(0.3, 2.0) / known.penalty(0.3, 2.0) - 1) < 1e-12
assert pacing.verify(function).passed
try:
    function.latex()
except ValueError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True
    )
    assert "mlspl[symbolic]" in run.stdout


@pytest.mark.parametrize("family", ["scale", "shift"])
def test_a_curve_that_sympy_finds_constant_has_formulas(family):
    """0**t is 1 at 0 and 0 beyond, which SymPy simplifies to 0 for t > 0."""
    function = pacing.derive("0**t" if family == "scale" else "1/(1+exp(t))", family)
    assert function.formulas()["weight"] == ("0" if family == "scale" else "1/(exp(l - lambda) + 1)")
    assert function.latex().startswith(r"\begin{align*}")
