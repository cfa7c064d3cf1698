"""Formulas of every kind given to `derive`: a self-paced function or a sentence, nothing run, no hang.

``MLSPL_FUZZ_EXAMPLES=20000 pytest tests/pacing/test_fuzz_derive.py`` searches longer than the usual run.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlspl import pacing
from mlspl.errors import UserError
from mlspl.pacing.expression import FUNCTIONS
from tests.watched import Patience, fuzzing, little_memory, nothing_run

BOMBS = [
    "9**9**9**9", "t**9**9**9", "9**t**9**t**9", "((((t**64)**64)**64)**64)**64", "1e308**t",
    "2**-(9**9**9)", "(" * 95 + "t" + ")" * 95, "-" * 199 + "t", "exp(" * 40 + "t" + ")" * 40,
    "t" + "+t" * 99, "t" + "**t" * 60, "factorial(99999)", "gamma(1e9)", "t!", "t!!",
    "10**10**10*t", "1/(1+t**1e9)", "9" * 199, "t*" + "9" * 190, "0x" + "f" * 190 + "*t", "1_0**t",
    "1e-400*t", "exp(-t)*" * 20 + "1", "exp(-t)#", "exp(-t);", "exp(-t)\n", "\\\nt", "exp(-t\0)",
    "ｅxp(-t)", "exp(-ｔ)", "t if t else t", "t or t", "t<t", "~t", "t//t", "t%t", "t@t", "t.real",
    "t()", "t[0]", "f'{t}'", "(t:=1)", "lambda:t", "exp(*t)", "exp(t,t)", "exp(x=t)", "min(t)",
    "max()", "__import__('os').system('true')", "().__class__.__base__.__subclasses__()",
    "exp.__globals__", "True*t", "1j*t", "inf-t", "nan*t", "None", "...", "'t'", "b't'", "", " ",
    "\n", "t" * 200, "t" * 201, "\ud800", "٣*t",
]  # fmt: skip
SEEDS = ["1/(1+t**2)", "exp(-t)", "1/(1+exp(t))", "max(0, 1-t)", "erfc(t)", "1-2/pi*atan(t)", "sqrt(1/(1+t))"]

numbers = st.one_of(
    st.integers(0, 9).map(str),
    st.floats(0, 1e3, allow_nan=False).map(repr),
    st.sampled_from(["pi", "e", "1e9", "1e-9", "1e15", "1e308", "5e-324", "64", "65", ".5", "00", "1e400"]),
)
formulas = st.recursive(
    st.one_of(st.just("t"), st.just("t"), numbers),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", "*-", "**-"]), inner).map("".join),
        st.tuples(st.sampled_from([name for name in FUNCTIONS if name not in ("min", "max")]), inner).map(
            lambda parts: f"{parts[0]}({parts[1]})"
        ),
        st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]},{p[2]})"),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"1/(1+({text})**2)"),
        inner.map(lambda text: f"exp(-abs({text}))"),
    ),
    max_leaves=8,
)


@st.composite
def mutated(draw):
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 3)))
        piece = draw(st.one_of(
            st.sampled_from(["t", "**", "(", ")", "-", "1e99", "exp(", ",", ".", "__", "'", "[", "9**9"]),
            st.text(max_size=3),
        ))  # fmt: skip
        text = text[:start] + piece + text[stop:]
    return text


def derived_or_refused(text, family):
    """The function, or None with a sentence; and never anything run meanwhile."""
    function = refusal = None
    try:
        with little_memory(100e6), nothing_run(), Patience():
            function = pacing.derive(text, family)
            check_weights(function)
    except UserError as error:
        refusal = str(error)
    assert function or (refusal.endswith(".") and len(refusal) < 600)
    return function


def check_weights(function):
    losses = np.array([0.0, 1e-300, 0.1, 1.0, 10.0, 1e300])
    for pace in (1e-5, 1.0, 1e5):
        weights = function.weight(losses, pace)
        assert ((weights >= 0) & (weights <= 1)).all()
        assert (np.diff(weights) <= 1e-12).all()


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Import what is imported late."""
    for family in ("scale", "shift"):
        check_weights(pacing.derive("1/(1+exp(t))", family))
    with pytest.raises(UserError):
        pacing.derive("t*", "scale")


@pytest.mark.parametrize("text", BOMBS)
def test_bombs(text):
    for family in ("scale", "shift"):
        derived_or_refused(text, family)


@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    "texts", [st.text(max_size=60), mutated(), formulas], ids=["random", "mutated", "grammatical"]
)
def test_texts(texts):
    @fuzzing()
    @given(texts, st.sampled_from(["scale", "shift"]))
    @example("exp(-t)", "scale")
    def run(text, family):
        derived_or_refused(text, family)

    run()


@pytest.mark.timeout(0)
def test_closed_forms_end():
    """SymPy is stopped after some seconds."""

    @fuzzing(0.01)
    @given(formulas)
    @example("t**.3")
    def run(text):
        function = derived_or_refused(f"2/(1+exp(t+abs({text})))", "scale") or pacing.derive("1/(1+t)")
        with Patience(60.0):
            inverse, penalty = function.inverse([0.1, 0.5], 1.0), function.penalty([0.1, 0.5], 1.0)
            assert "align" in function.latex()
        assert not np.isnan(inverse).any()
        assert not np.isnan(penalty).any()

    run()


def test_the_watch_sees(tmp_path):
    for deed in (lambda: exec("1"), lambda: (tmp_path / "file").write_text("x"), lambda: __import__("this")):
        with pytest.raises(AssertionError, match=r"exec|open|import"), nothing_run():
            deed()
