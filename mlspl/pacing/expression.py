"""Formulas of one variable, read from text that is never executed.

Python's parser makes a syntax tree, which is evaluated node by node. Only numbers, `t`, arithmetic and the
functions below are accepted. Numbers are floats, so a large power is infinite and takes no time.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

from mlspl.errors import UserError, shorten
from mlspl.pacing.base import FloatArray

MAX_LENGTH = 200

_NUMPY_NAMES = ("exp", "log", "sqrt", "abs", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_OF_ONE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _NUMPY_NAMES},
    **{"ln": np.log, "atan": np.arctan, "arctan": np.arctan},
    **{"erf": special.erf, "erfc": special.erfc},
}
_OF_TWO = {"min": np.minimum, "max": np.maximum}
FUNCTIONS: dict[str, Callable[..., Any]] = _OF_ONE | _OF_TWO
_SYMPY_NAMES = {"abs": "Abs", "min": "Min", "max": "Max", "arctan": "atan"}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def evaluate(text: str, t: FloatArray) -> FloatArray:
    """Return the values of a formula in `t`, such as ``1/(1+t**2)``; refuse a text that is none."""
    names = {"t": np.asarray(t, dtype=np.float64), "pi": np.pi, "e": np.e, **FUNCTIONS}
    with np.errstate(all="ignore"):
        return np.asarray(_evaluate(_parse(text), names, np.float64))


def to_sympy(text: str, sympy: ModuleType, symbol: Any) -> Any:
    """Return a formula as a SymPy expression in `symbol`; decimal numbers become fractions."""
    names = {"t": symbol, "pi": sympy.pi, "e": sympy.E}
    names |= {name: getattr(sympy, _SYMPY_NAMES.get(name, name)) for name in FUNCTIONS}
    return _evaluate(_parse(text), names, lambda value: sympy.Rational(repr(value)))


@lru_cache(maxsize=64)
def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise UserError(f"a formula has at most {MAX_LENGTH} characters, and this one has {len(text)}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings about text that is refused below
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UserError(
            f'"{text}" is not a formula: write one in t, such as 1/(1+t**2) or exp(-t).'
        ) from None
    if not any(isinstance(node, ast.Name) and node.id == "t" for node in ast.walk(tree)):
        raise UserError(f'the formula "{text}" does not depend on t. Write one such as exp(-t).')
    return tree


def _evaluate(node: ast.AST, names: Mapping[str, Any], number: Callable[[Any], Any]) -> Any:
    """Evaluate a node with NumPy or SymPy, whichever `names` and `number` come from."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return number(value)
        case ast.Name(id=name) if name in names and name not in FUNCTIONS:
            return names[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(operand, names, number))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, names, number), _evaluate(right, names, number))
        case ast.Call(func=ast.Name(id=name), args=[one], keywords=[]) if name in _OF_ONE:
            return names[name](_evaluate(one, names, number))
        case ast.Call(func=ast.Name(id=name), args=[one, other], keywords=[]) if name in _OF_TWO:
            return names[name](_evaluate(one, names, number), _evaluate(other, names, number))
    raise UserError(
        f"a formula holds “{shorten(ast.unparse(node), 30)}”. It is made of numbers, t, pi, e, + - * / **, "
        f"parentheses, min and max of two parts, and of one: {', '.join(_OF_ONE)}."
    )
