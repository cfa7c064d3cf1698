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
_SYMPY_NAMES = {"abs": "Abs", "min": "Min", "max": "Max"}
_ALIASES = {"arctan": "atan", "ln": "log", "E": "e"} | {name: ours for ours, name in _SYMPY_NAMES.items()}
_CONSTANTS = {"pi": np.float64(np.pi), "e": np.float64(np.e)}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
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
            raise UserError(f'the formula "{self.text}" does not depend on t. Write one such as exp(-t).')
        object.__setattr__(self, "_tree", tree)

    def __call__(self, t: FloatArray) -> FloatArray:
        """Evaluate the formula at each t."""
        with np.errstate(all="ignore"):
            return np.asarray(_numeric(self._tree, np.asarray(t, dtype=np.float64)))

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


def _refuse(text: str, what: str) -> UserError:
    return UserError(
        f'the formula "{shorten(text, 60)}" holds {what}. A formula is made of numbers, t, pi, e, '
        f"+ - * / **, parentheses and the functions {', '.join(FUNCTIONS)}."
    )


def _check(node: ast.expr, text: str, depth: int) -> None:
    """Refuse every node that is not part of a formula, and every constant that is too large."""
    if depth > MAX_DEPTH:
        raise UserError(f'the formula "{text[:57]}…" is nested more than {MAX_DEPTH} deep.')
    children: list[ast.expr] = []
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            pass
        case ast.Name(id=name):
            if _ALIASES.get(name, name) not in ("t", *_CONSTANTS):
                raise _refuse(text, f"the name {name!r}")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            children = [node.operand]
        case ast.BinOp(op=ast.BitXor()):
            raise UserError(f'the formula "{text}" holds ^; write a power as **.')
        case ast.BinOp() if type(node.op) in _OPERATORS:
            children = [node.left, node.right]
        case ast.Call(func=ast.Name(id=name), keywords=[]) if _ALIASES.get(name, name) in FUNCTIONS:
            expected = 2 if name.lower() in ("min", "max") else 1
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
    # Children first: a constant is refused before a larger one is computed from it.
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        _bound(node.right, text, "exponent", MAX_EXPONENT)
    _bound(node, text, "constant", MAX_CONSTANT)


def _bound(node: ast.expr, text: str, what: str, largest: float) -> None:
    """Refuse a constant part of the formula that is beyond `largest` or too close to 0."""
    if _varies(node):
        return
    with np.errstate(all="ignore"):
        size = abs(float(_numeric(node, np.zeros(()))))
    if not (size == 0 or 1 / MAX_CONSTANT <= size <= largest):
        raise UserError(f'the formula "{text}" holds the {what} {size:g}; it may be at most {largest:g}.')


def _varies(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == "t" for inner in ast.walk(node))


def _numeric(node: ast.expr, t: FloatArray) -> Any:
    return _evaluate(node, {"t": t, **_CONSTANTS, **FUNCTIONS}, np.float64)


def _evaluate(node: ast.expr, names: Mapping[str, Any], number: Callable[[Any], Any]) -> Any:
    """Evaluate a checked tree with NumPy or SymPy, whichever `names` and `number` come from."""
    match node:
        case ast.Constant():
            return number(node.value)
        case ast.Name(id=name):
            return names[_ALIASES.get(name, name)]
        case ast.UnaryOp():
            operand = _evaluate(node.operand, names, number)
            return -operand if isinstance(node.op, ast.USub) else operand
        case ast.BinOp():
            left, right = (_evaluate(side, names, number) for side in (node.left, node.right))
            return _OPERATORS[type(node.op)](left, right)
        case ast.Call(func=ast.Name(id=name)):
            return names[_ALIASES.get(name, name)](*(_evaluate(each, names, number) for each in node.args))
    raise AssertionError(node)
