"""Extremes of 32 numbers at a time, in vector instructions (compiled).

Loops over a few numbers that end in a maximum stay scalar, or nearly so; here the vectors are spelled out.
Sums, products and quotients are those of the loops, number by number, so that the answers are theirs, bit for
bit, on every processor.
"""

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

__all__ = ["BLOCK", "block_gain", "block_highest", "block_lowest", "find_gain", "find_sum"]

BLOCK = 32
_DOUBLE = ir.DoubleType()
_VECTOR, _NAME = ir.VectorType(_DOUBLE, BLOCK), f"v{BLOCK}f64"
# Maxima of numbers, none of them NaN, may be taken in any order.
_ANY_ORDER = ("nnan", "nsz")
# numba's annotations count the typing context among the arguments of a call, which it is not.
_intrinsic: Any = extending.intrinsic


def _load(context: Any, builder: Any, kind: Any, array: Any, first: Any) -> Any:
    """The numbers first, …, first + 31 of an array."""
    start = context.make_array(kind)(context, builder, array).data
    return builder.load(builder.bitcast(builder.gep(start, [first]), _VECTOR.as_pointer()), align=8)


def _load_sum(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    """The same of two arrays' sum, or of one array if the other is None."""
    vector = _load(context, builder, kinds[0], arguments[0], arguments[2])
    if isinstance(kinds[1], types.NoneType):
        return vector
    return builder.fadd(vector, _load(context, builder, kinds[1], arguments[1], arguments[2]))


def _spread(builder: Any, number: Any) -> Any:
    """A number 32 times."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK)
    )


def _larger(builder: Any, a: Any, b: Any) -> Any:
    function_type = ir.FunctionType(_VECTOR, [_VECTOR, _VECTOR])
    function = cgutils.get_or_insert_function(builder.module, function_type, f"llvm.maxnum.{_NAME}")
    return builder.call(function, [a, b], fastmath=_ANY_ORDER)


def _reduce(builder: Any, name: str, vector: Any) -> Any:
    function_type = ir.FunctionType(_DOUBLE, [_VECTOR])
    function = cgutils.get_or_insert_function(
        builder.module, function_type, f"llvm.vector.reduce.{name}.{_NAME}"
    )
    return builder.call(function, [vector], fastmath=_ANY_ORDER)


def _first_equal(builder: Any, vector: Any, value: Any) -> Any:
    """The place of the first number that equals the value; 32 if none does."""
    bits = builder.bitcast(builder.fcmp_ordered("==", vector, _spread(builder, value)), ir.IntType(BLOCK))
    wide = builder.or_(builder.zext(bits, ir.IntType(64)), ir.Constant(ir.IntType(64), 1 << BLOCK))
    return builder.cttz(wide, ir.Constant(ir.IntType(1), 1))


def _sum_extreme(name: str) -> Any:
    @_intrinsic
    def extreme(typing_context: Any, a: Any, b: Any, first: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return _reduce(builder, name, _load_sum(context, builder, signature.args, arguments))

        return types.float64(a, b, types.intp), generate

    return extreme


block_highest = _sum_extreme("fmax")
"""The largest a[k] + b[k] over first ≤ k < first + 32; b may be None."""
block_lowest = _sum_extreme("fmin")
"""The smallest."""


@_intrinsic
def find_sum(typing_context: Any, a: Any, b: Any, first: Any, value: Any) -> Any:
    """The first k, counted from `first`, at which a[first + k] + b[first + k] is the value; else 32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _first_equal(builder, _load_sum(context, builder, signature.args, arguments), arguments[3])

    return types.intp(a, b, types.intp, types.float64), generate


def _gains(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    """What a pair step gains with each partner of a block: max(0, top − g − low)² / curvature."""
    g, low, row, diagonal, own, top, flat, first = arguments[:8]
    g, low, row, diagonal = (
        _load(context, builder, kinds[k], array, first) for k, array in enumerate((g, low, row, diagonal))
    )
    gap = builder.fsub(_spread(builder, top), builder.fadd(g, low))
    gap = _larger(builder, gap, ir.Constant(_VECTOR, [0.0] * BLOCK))
    twice = builder.fmul(ir.Constant(_VECTOR, [2.0] * BLOCK), row)
    bend = builder.fsub(builder.fadd(_spread(builder, own), diagonal), twice)
    return builder.fdiv(builder.fmul(gap, gap), _larger(builder, bend, _spread(builder, flat)))


_GAIN_TYPES = (types.float64, types.float64, types.float64, types.intp)


@_intrinsic
def block_gain(
    typing_context: Any, g: Any, low: Any, row: Any, diagonal: Any, own: Any, top: Any, flat: Any, first: Any
) -> Any:
    """The largest gain over a block; `own` is K_ii, `flat` the least curvature."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _reduce(builder, "fmax", _gains(context, builder, signature.args, arguments))

    return types.float64(g, low, row, diagonal, *_GAIN_TYPES), generate


@_intrinsic
def find_gain(
    typing_context: Any,
    g: Any,
    low: Any,
    row: Any,
    diagonal: Any,
    own: Any,
    top: Any,
    flat: Any,
    first: Any,
    value: Any,
) -> Any:
    """The first k, counted from `first`, whose gain is the value; else 32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _first_equal(builder, _gains(context, builder, signature.args, arguments), arguments[8])

    return types.intp(g, low, row, diagonal, *_GAIN_TYPES, types.float64), generate
