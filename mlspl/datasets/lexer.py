"""Compiled pieces of the row scanners: bytes, numbers, words, and the faults a row can have.

A text is UTF-8 in a uint8 array and ends in a newline, so that every loop over a line ends.
"""

from fractions import Fraction

import numpy as np

from mlspl._numba_cache import njit

__all__ = [
    "BAD_INDEX",
    "BAD_LABEL",
    "CLOSE",
    "COLON",
    "COMMA",
    "DOT",
    "EMPTY_VALUE",
    "FINE",
    "HASH",
    "MINUS",
    "NEWLINE",
    "OPEN",
    "OUT_OF_RANGE",
    "PERCENT",
    "PLUS",
    "QUESTION",
    "REPEATED_INDEX",
    "SPACE",
    "TAB",
    "TEXT_AFTER_QUOTE",
    "TEXT_AFTER_ROW",
    "UNCLOSED_BRACE",
    "UNCLOSED_QUOTE",
    "WRONG_COUNT",
    "ZERO",
    "count",
    "ends_value",
    "find_word",
    "is_blank",
    "is_digit",
    "read_decimal",
    "skip_blanks",
    "skip_line",
    "value_stop",
]

(
    FINE,
    WRONG_COUNT,
    EMPTY_VALUE,
    UNCLOSED_QUOTE,
    TEXT_AFTER_QUOTE,
    BAD_INDEX,
    OUT_OF_RANGE,
    REPEATED_INDEX,
    UNCLOSED_BRACE,
    TEXT_AFTER_ROW,
    BAD_LABEL,
) = range(11)

TAB, NEWLINE, SPACE, HASH, PERCENT, PLUS, COMMA, MINUS = b"\t\n #%+,-"
ZERO, COLON, QUESTION, OPEN, CLOSE = b"0:?{}"
_DOUBLE_QUOTE, _SINGLE_QUOTE, DOT, _NINE, _LARGE_E, _BACKSLASH, _SMALL_E = b"\"'.9E\\e"

# Whole numbers up to 2**53 and powers of ten up to 22 are exact doubles: one operation rounds correctly.
_LARGEST_EXACT = 2**53
_LARGEST_EXACT_POWER = 22
# Powers of ten as sums of two doubles, 10**-60 first; longer numbers are multiplied with twice the precision.
_LARGEST_POWER = 60
_POWERS = [Fraction(10) ** power for power in range(-_LARGEST_POWER, _LARGEST_POWER + 1)]
_POWER_HIGH = np.array([float(power) for power in _POWERS])
_POWER_LOW = np.array([float(power - Fraction(float(power))) for power in _POWERS])
_LAST_TO_GROW = 10**17


@njit(cache=True)
def is_blank(byte):
    return byte in (SPACE, TAB)


@njit(cache=True)
def skip_blanks(text, pos):
    while is_blank(text[pos]):
        pos += 1
    return pos


@njit(cache=True)
def count(text, byte):
    n = 0
    for pos in range(len(text)):
        n += text[pos] == byte
    return n


@njit(cache=True)
def skip_line(text, pos):
    while text[pos] != NEWLINE:
        pos += 1
    return pos


@njit(cache=True)
def is_digit(byte):
    return ZERO <= byte <= _NINE


@njit(cache=True)
def ends_value(byte, sparse):
    return byte in (COMMA, NEWLINE, SPACE, TAB) or (sparse and byte == CLOSE)


@njit(cache=True)
def _split(number):
    """Two halves of a double, of 26 bits each (Dekker)."""
    high = 134217729.0 * number
    high = high - (high - number)
    return high, number - high


@njit(cache=True)
def _scale(mantissa, exponent):
    """The double nearest to ``mantissa * 10**exponent``, and whether it is sure to be the nearest.

    Twice the precision of a double leaves it open only for products next to the middle of two doubles.
    """
    m_high = float(mantissa)
    m_low = float(mantissa - np.int64(m_high))
    p_high, p_low = _POWER_HIGH[exponent + _LARGEST_POWER], _POWER_LOW[exponent + _LARGEST_POWER]
    product = m_high * p_high
    (a, b), (c, d) = _split(m_high), _split(p_high)
    rest = ((a * c - product) + a * d + b * c) + b * d
    rest += m_high * p_low + m_low * p_high
    value = product + rest
    rest -= value - product
    # The error of this product is below 2**-100 of it; the margin is four times as wide.
    margin = value * 2.0**-98
    return value, value + (rest - margin) == value + (rest + margin)


@njit(cache=True)
def read_decimal(text, pos, point=DOT):
    """Value of the decimal number at pos and where it stops, or (0, -1) where it cannot be had exactly."""
    negative = text[pos] == MINUS
    if negative or text[pos] == PLUS:
        pos += 1
    mantissa = np.int64(0)
    digits = 0
    exponent = 0
    dot = False
    while True:
        if is_digit(text[pos]):
            if mantissa >= _LAST_TO_GROW:
                return 0.0, -1
            mantissa = mantissa * 10 + (text[pos] - ZERO)
            digits += 1
            exponent -= dot
        elif text[pos] == point and not dot:
            dot = True
        else:
            break
        pos += 1
    if digits == 0:
        return 0.0, -1
    if text[pos] in (_SMALL_E, _LARGE_E):
        pos += 1
        down = text[pos] == MINUS
        if down or text[pos] == PLUS:
            pos += 1
        first_digit = pos
        written = 0
        while is_digit(text[pos]) and pos < first_digit + 4:
            written = written * 10 + (text[pos] - ZERO)
            pos += 1
        if pos == first_digit:
            return 0.0, -1
        exponent += -written if down else written
    value, known = float(mantissa), True
    if mantissa <= _LARGEST_EXACT and -_LARGEST_EXACT_POWER <= exponent <= _LARGEST_EXACT_POWER:
        power = _POWER_HIGH[abs(exponent) + _LARGEST_POWER]
        value = value / power if exponent < 0 else value * power
    elif -_LARGEST_POWER <= exponent <= _LARGEST_POWER:
        value, known = _scale(mantissa, exponent)
    else:
        known = False
    return (-value if negative else value), (pos if known else -1)


@njit(cache=True)
def find_word(text, start, stop, words, word_at, low, high):
    """Position of text[start:stop] among the sorted words low..high-1, or -1."""
    while low < high:
        middle = (low + high) // 2
        word, word_stop = word_at[middle], word_at[middle + 1]
        pos = start
        while pos < stop and word < word_stop and text[pos] == words[word]:
            pos += 1
            word += 1
        if pos == stop and word == word_stop:
            return middle
        if pos == stop or (word < word_stop and text[pos] < words[word]):
            high = middle
        else:
            low = middle + 1
    return -1


@njit(cache=True)
def value_stop(text, pos, sparse):
    """Where the value that starts at pos stops, or minus a fault."""
    quote = text[pos]
    if quote in (_SINGLE_QUOTE, _DOUBLE_QUOTE):
        pos += 1
        while text[pos] != quote:
            if text[pos] == _BACKSLASH:
                pos += 1
            if text[pos] == NEWLINE:
                return -UNCLOSED_QUOTE
            pos += 1
        pos += 1
        return pos if ends_value(text[pos], sparse) else -TEXT_AFTER_QUOTE
    while not ends_value(text[pos], sparse):
        pos += 1
    return pos
