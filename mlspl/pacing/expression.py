"""Formulas of one variable, read from text without ever running it.

The text is parsed to Python's syntax tree, of which only numbers, `t`, arithmetic and the functions below are
let through; the tree is then walked, never compiled. Length, depth, constants and exponents are bounded.
"""

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from scipy import special

from mlspl.errors import UserError
from mlspl.pacing.base import FloatArray

__all__ = ["Expression"]

MAX_LENGTH = 200
MAX_DEPTH = 50
MAX_EXPONENT = 64.0
MAX_CONSTANT = 1e15

CONSTANTS: dict[str, float] = {"pi": np.pi, "e": np.e}
# Each function by its name in formulas, as NumPy computes it; SymPy knows it under the name in SYMPY_NAMES.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": special.erf,
    "erfc": special.erfc,
}
SYMPY_NAMES = {"abs": "Abs", "min": "Min", "max": "Max"}
_ALIASES = {"arctan": "atan", "ln": "log"}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}


@dataclass(frozen=True)
class Expression:
    """A formula in `t`, such as ``1/(1+t**2)``."""

    text: str
    _tree: ast.expr = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Parse and check the text."""
        tree = _parse(self.text)
        _check(tree, self.text, depth=0)
        if not _varies(tree):
            raise UserError(f'the formula "{self.text}" does not depend on t.')
        object.__setattr__(self, "_tree", tree)

    def __call__(self, t: FloatArray) -> FloatArray:
        """The value of the formula at each t."""
        with np.errstate(all="ignore"):
            return np.asarray(_numeric(self._tree, np.asarray(t, dtype=np.float64)))

    def to_sympy(self, sympy: ModuleType, symbol: Any) -> Any:
        """The same formula as a SymPy expression in `symbol`; decimal numbers become fractions."""

        def build(node: ast.expr) -> Any:
            match node:
                case ast.Constant():
                    return sympy.Rational(repr(node.value))
                case ast.Name(id="t"):
                    return symbol
                case ast.Name():
                    return sympy.pi if node.id == "pi" else sympy.E
                case ast.UnaryOp():
                    return -build(node.operand) if isinstance(node.op, ast.USub) else build(node.operand)
                case ast.BinOp():
                    return _OPERATORS[type(node.op)](build(node.left), build(node.right))
                case ast.Call(func=ast.Name(id=name)):
                    known = _ALIASES.get(name, name)
                    return getattr(sympy, SYMPY_NAMES.get(known, known))(*map(build, node.args))
            raise AssertionError(node)

        return build(self._tree)


def _refuse(text: str, what: str) -> UserError:
    shown = text if len(text) <= 60 else text[:57] + "…"
    return UserError(
        f'the formula "{shown}" holds {what}. A formula is made of numbers, t, pi, e, + - * / **, '
        f"parentheses and the functions {', '.join(FUNCTIONS)}."
    )


def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        raise UserError(f"a formula has at most {MAX_LENGTH} characters, and this one has {len(text)}.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's remarks on strange code; it is about to be refused
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise UserError(
            f'"{text}" is not a formula: write one in t, such as 1/(1+t**2) or exp(-t).'
        ) from None


def _check(node: ast.expr, text: str, depth: int) -> None:
    """Refuse every node that is no part of a formula, and every number too large to compute with."""
    if depth > MAX_DEPTH:
        raise UserError(f'the formula "{text[:57]}…" is nested more than {MAX_DEPTH} deep.')
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            children: list[ast.expr] = []
        case ast.Name(id=name):
            if name not in ("t", *CONSTANTS):
                raise _refuse(text, f"the name {name!r}")
            children = []
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            children = [node.operand]
        case ast.BinOp(op=ast.BitXor()):
            raise UserError(f'the formula "{text}" holds ^; write a power as **.')
        case ast.BinOp() if type(node.op) in _OPERATORS:
            children = [node.left, node.right]
        case ast.Call(func=ast.Name(id=name), keywords=[]) if _ALIASES.get(name, name) in FUNCTIONS:
            expected = 2 if name in ("min", "max") else 1
            if len(node.args) != expected:
                raise UserError(
                    f'in the formula "{text}", {name} takes {expected} argument{"s"[: expected - 1]}.'
                )
            children = node.args
        case ast.Call():
            raise _refuse(text, "a call of something other than a known function")
        case _:
            raise _refuse(text, f"“{ast.unparse(node)[:30]}”")
    for child in children:
        _check(child, text, depth + 1)
    # Inside out: no constant grows too large to compute exactly before it is refused.
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        _bound(node.right, text, "exponent", MAX_EXPONENT)
    _bound(node, text, "constant", MAX_CONSTANT)


def _bound(node: ast.expr, text: str, what: str, largest: float) -> None:
    """Refuse a constant part of the formula beyond `largest` or too near to 0."""
    if _varies(node):
        return
    with np.errstate(all="ignore"):
        size = abs(float(_numeric(node, np.zeros(()))))
    if not (size == 0 or 1 / MAX_CONSTANT <= size <= largest):
        raise UserError(f'the formula "{text}" holds the {what} {size:g}; it may be at most {largest:g}.')


def _varies(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == "t" for inner in ast.walk(node))


def _numeric(node: ast.expr, t: FloatArray) -> Any:
    match node:
        case ast.Constant():
            return np.float64(node.value)  # type: ignore[arg-type]
        case ast.Name(id="t"):
            return t
        case ast.Name():
            return np.float64(CONSTANTS[node.id])
        case ast.UnaryOp():
            return -_numeric(node.operand, t) if isinstance(node.op, ast.USub) else _numeric(node.operand, t)
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_numeric(node.left, t), _numeric(node.right, t))
        case ast.Call(func=ast.Name(id=name)):
            return FUNCTIONS[_ALIASES.get(name, name)](*(_numeric(argument, t) for argument in node.args))
    raise AssertionError(node)
