"""Formulas of one variable, read from text that is never executed.

Python's parser makes a syntax tree. Only numbers, `t`, arithmetic and the functions below are accepted, and
the tree is evaluated node by node. Length, depth, constants and exponents are bounded.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

from mlspl.errors import UserError, shorten
from mlspl.pacing.base import FloatArray

MAX_LENGTH = 200
MAX_DEPTH = 50
MAX_EXPONENT = 64.0
MAX_CONSTANT = 1e15

_NUMPY_NAMES = ("exp", "log", "sqrt", "abs", "sin", "cos", "tan", "sinh", "cosh", "tanh")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _NUMPY_NAMES},
    "min": np.minimum,
    "max": np.maximum,
    "atan": np.arctan,
    "erf": special.erf,
    "erfc": special.erfc,
}
_SYMPY_NAMES = {"abs": "Abs", "min": "Min", "max": "Max"}
_ALIASES = {"arctan": "atan", "ln": "log", "E": "e"} | {name: ours for ours, name in _SYMPY_NAMES.items()}
_CONSTANTS = {"pi": np.float64(np.pi), "e": np.float64(np.e)}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


@dataclass(frozen=True)
class Expression:
    """A formula in `t`, such as ``1/(1+t**2)``."""

    text: str
    _tree: ast.expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Parse and check the text."""
        tree = _parse(self.text)
        with np.errstate(all="ignore"):
            constant = _check(tree, self.text, depth=0)
        if constant is not None:
            raise UserError(f'the formula "{self.text}" does not depend on t. Write one such as exp(-t).')
        object.__setattr__(self, "_tree", tree)

    def __call__(self, t: FloatArray) -> FloatArray:
        """Evaluate the formula at each t."""
        names = {"t": np.asarray(t, dtype=np.float64), **_CONSTANTS, **FUNCTIONS}
        with np.errstate(all="ignore"):
            return np.asarray(_evaluate(self._tree, names, np.float64))

    def to_sympy(self, sympy: ModuleType, symbol: Any) -> Any:
        """Return the formula as a SymPy expression in `symbol`; decimal numbers become fractions."""
        names = {"t": symbol, "pi": sympy.pi, "e": sympy.E}
        names |= {name: getattr(sympy, _SYMPY_NAMES.get(name, name)) for name in FUNCTIONS}
        return _evaluate(self._tree, names, lambda value: sympy.Rational(repr(value)))


def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise UserError(f"a formula has at most {MAX_LENGTH} characters, and this one has {len(text)}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SyntaxWarnings about text that is refused below
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UserError(
            f'"{text}" is not a formula: write one in t, such as 1/(1+t**2) or exp(-t).'
        ) from None


def _check(node: ast.expr, text: str, depth: int) -> Any:
    """Refuse what is no part of a formula or too large; return a constant part's value, None if it varies."""
    if depth > MAX_DEPTH:
        raise UserError(f'the formula "{text[:57]}…" is nested more than {MAX_DEPTH} deep.')
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            pass
        case ast.Name(id=name) if _ALIASES.get(name, name) in ("t", *_CONSTANTS):
            if name == "t":
                return None
        case ast.BinOp(op=ast.BitXor()):
            raise UserError(f'the formula "{text}" holds ^; write a power as **.')
        case ast.UnaryOp() | ast.BinOp() if type(node.op) in _OPERATORS:
            pass
        case ast.Call(func=ast.Name(id=name), keywords=[]) if _ALIASES.get(name, name) in FUNCTIONS:
            if len(node.args) != (2 if name.lower() in ("min", "max") else 1):
                raise UserError(f'in the formula "{text}", {name} has {len(node.args)} arguments.')
        case _:
            raise UserError(
                f'the formula "{shorten(text, 60)}" holds “{ast.unparse(node)[:30]}”. A formula is made of '
                f"numbers, t, pi, e, + - * / **, parentheses and the functions {', '.join(FUNCTIONS)}."
            )
    # Children first: a constant is refused before a larger one is computed from it.
    children = [_check(child, text, depth + 1) for child in _children(node)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and children[1] is not None:
        _bound(children[1], text, "exponent", MAX_EXPONENT)
    if any(child is None for child in children):
        return None
    value = _apply(node, children, {**_CONSTANTS, **FUNCTIONS}, np.float64)
    _bound(value, text, "constant", MAX_CONSTANT)
    return value


def _bound(value: Any, text: str, what: str, largest: float) -> None:
    """Refuse a constant that is beyond `largest` or too close to 0."""
    size = abs(float(value))
    if not (size == 0 or 1 / MAX_CONSTANT <= size <= largest):
        raise UserError(f'the formula "{text}" holds the {what} {size:g}; it may be at most {largest:g}.')


def _children(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.UnaryOp():
            return [node.operand]
        case ast.BinOp():
            return [node.left, node.right]
        case ast.Call():
            return node.args
    return []


def _evaluate(node: ast.expr, names: Mapping[str, Any], number: Callable[[Any], Any]) -> Any:
    """Evaluate a checked tree with NumPy or SymPy, whichever `names` and `number` come from."""
    return _apply(node, [_evaluate(child, names, number) for child in _children(node)], names, number)


def _apply(node: Any, children: list, names: Mapping[str, Any], number: Callable[[Any], Any]) -> Any:
    """Evaluate a node of a checked tree, given the values of its children."""
    match node:
        case ast.Constant():
            return number(node.value)
        case ast.Name(id=name):
            return names[_ALIASES.get(name, name)]
        case ast.Call(func=ast.Name(id=name)):
            return names[_ALIASES.get(name, name)](*children)
    return _OPERATORS[type(node.op)](*children)
