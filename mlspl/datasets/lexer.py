"""Compiled pieces of the row scanners: bytes, numbers, words, and the faults a row can have.

A text is UTF-8 in a uint8 array and ends in a newline, so that every loop over a line ends.
"""

import numpy as np
from numba import njit

__all__ = [
    "BAD_INDEX",
    "BAD_LABEL",
    "CLOSE",
    "COLON",
    "COMMA",
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
_DOUBLE_QUOTE, _SINGLE_QUOTE, _DOT, _NINE, _LARGE_E, _BACKSLASH, _SMALL_E = b"\"'.9E\\e"

# A mantissa below 2**53 and a power of ten up to 22 are exact doubles: one operation rounds correctly.
_POWERS_OF_TEN = np.array([float(10**power) for power in range(23)])
_LAST_SAFE_MANTISSA = (2**53 - 10) // 10


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
def read_decimal(text, pos):
    """Value of the decimal number at pos and where it stops, or (0, -1) where it cannot be had exactly."""
    negative = text[pos] == MINUS
    if negative or text[pos] == PLUS:
        pos += 1
    mantissa = np.int64(0)
    digits = 0
    after_dot = 0
    dot = False
    while True:
        digit = np.int64(text[pos]) - ZERO
        if 0 <= digit <= 9:
            if mantissa > _LAST_SAFE_MANTISSA:
                return 0.0, -1
            mantissa = mantissa * 10 + digit
            digits += 1
            after_dot += dot
        elif digit == _DOT - ZERO and not dot:
            dot = True
        else:
            break
        pos += 1
    if digits == 0:
        return 0.0, -1
    exponent = -after_dot
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
    if exponent < -22 or exponent > 22:
        return 0.0, -1
    value = float(mantissa)
    value = value / _POWERS_OF_TEN[-exponent] if exponent < 0 else value * _POWERS_OF_TEN[exponent]
    return -value if negative else value, pos


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
