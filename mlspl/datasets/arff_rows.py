"""The compiled scanner of ARFF rows."""

import numpy as np

from mlspl._numba_cache import njit

NUMERIC, BINARY, WORD = range(3)
(
    FINE,
    NO_VALUE,
    OPEN_QUOTE,
    TEXT_AFTER_QUOTE,
    NO_PAIR,
    OUT_OF_RANGE,
    REPEATED_INDEX,
    OPEN_BRACE,
    TEXT_AFTER_ROW,
    WRONG_COUNT,
) = range(10)
_TAB, _NEWLINE, _SPACE, _QUOTE, _PERCENT, _APOSTROPHE, _PLUS, _COMMA, _MINUS = b"\t\n \"%'+,-"
_DOT, _ZERO, _NINE, _QUESTION, _LARGE_E, _BACKSLASH, _SMALL_E, _OPEN, _CLOSE = b".09?E\\e{}"
# A whole number up to 2**53, multiplied or divided by a power of ten up to 10**22, is rounded correctly.
_LARGEST_MANTISSA = 2**53 // 10
_POWERS = 10.0 ** np.arange(23)


@njit(cache=True)
def _skip_blanks(text, pos):
    while text[pos] == _SPACE or text[pos] == _TAB:
        pos += 1
    return pos


@njit(cache=True)
def _ends_value(byte, is_sparse):
    return byte in (_COMMA, _NEWLINE, _SPACE, _TAB) or (is_sparse and byte == _CLOSE)


@njit(cache=True)
def _read_digits(text, pos, number):
    """Append digits to a whole number; return it and where the digits stop."""
    while _ZERO <= text[pos] <= _NINE and number <= _LARGEST_MANTISSA:
        number = number * 10 + (text[pos] - _ZERO)
        pos += 1
    return number, pos


@njit(cache=True)
def _read_decimal(text, pos):
    """Return a number and where it stops; the stop is `pos` if it is not a short decimal."""
    start = pos
    is_negative = text[pos] == _MINUS
    if is_negative or text[pos] == _PLUS:
        pos += 1
    first = pos
    number, pos = _read_digits(text, pos, np.int64(0))
    n_digits, exponent = pos - first, 0
    if text[pos] == _DOT:
        first = pos + 1
        number, pos = _read_digits(text, first, number)
        n_digits, exponent = n_digits + pos - first, first - pos
    if text[pos] == _SMALL_E or text[pos] == _LARGE_E:
        pos += 1
        is_small = text[pos] == _MINUS
        if is_small or text[pos] == _PLUS:
            pos += 1
        first = pos
        power, pos = _read_digits(text, pos, np.int64(0))
        n_digits = 0 if pos == first else n_digits
        exponent += -power if is_small else power
    if n_digits == 0 or abs(exponent) >= len(_POWERS):
        return 0.0, start
    value = -float(number) if is_negative else float(number)
    if exponent < 0:
        return value / _POWERS[-exponent], pos
    return value * _POWERS[exponent], pos


@njit(cache=True)
def _find_stop(text, pos, is_sparse):
    """Return where the value at `pos` stops, or minus a fault."""
    quote = text[pos]
    if quote in (_COMMA, _NEWLINE, _PERCENT) or (is_sparse and quote in (_OPEN, _CLOSE)):
        return -NO_VALUE
    if quote in (_APOSTROPHE, _QUOTE):
        pos += 1
        while text[pos] != quote:
            pos += text[pos] == _BACKSLASH
            if text[pos] == _NEWLINE:
                return -OPEN_QUOTE
            pos += 1
        return pos + 1 if _ends_value(text[pos + 1], is_sparse) else -TEXT_AFTER_QUOTE
    while not _ends_value(text[pos], is_sparse):
        pos += 1
    return pos


@njit(cache=True)
def _read_index(text, pos, n_columns):
    """Return the index of a sparse value, where the value starts, and a fault."""
    index, stop = _read_digits(text, pos, np.int64(0))
    start = _skip_blanks(text, stop)
    if stop > pos and text[start] == _NEWLINE:
        return index, start, OPEN_BRACE
    if stop == pos or (start == stop and not _ZERO <= text[stop] <= _NINE):
        return index, start, NO_PAIR
    if index >= n_columns or start == stop:
        return index, start, OUT_OF_RANGE
    return index, start, NO_PAIR if text[start] in (_CLOSE, _COMMA) else FINE


@njit(cache=True)
def scan_rows(text, kinds):
    """Scan the data section of an ARFF file, whose last byte ends a line.

    Parameters
    ----------
    text : array of uint8
        The data section.
    kinds : array of int
        For each attribute NUMERIC, BINARY (0 or 1) or WORD.

    Returns
    -------
    values, columns : arrays
        The numbers of all rows and their attributes.
    words : array of shape (n, 3)
        Values that are not short decimals, 0 or 1: their position in `values`, and where they start and stop.
    row_start, row_stop : arrays
        Where each row starts in the text, and its end in `values`.
    is_sparse : bool
        Whether a row is sparse.
    fault, place, detail : int
        The first mistake or FINE, where it is in the text, and the number that its message needs.
    """
    n_columns = len(kinds)
    n_rows, n_values, n_words = 0, 0, 0
    for byte in text:
        n_rows += byte == _NEWLINE
        n_values += byte in (_COMMA, _SPACE, _TAB, _NEWLINE)
    values, columns = np.empty(n_values), np.empty(n_values, np.int32)
    words = np.empty((n_values, 3), np.int64)
    row_start, row_stop = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    last_row = np.full(n_columns, -1)
    n_rows, n_values, pos = 0, 0, 0
    has_sparse, fault, column = False, FINE, 0
    while fault == FINE and pos < len(text):
        pos = _skip_blanks(text, pos)
        is_sparse = text[pos] == _OPEN
        is_row = text[pos] != _NEWLINE and text[pos] != _PERCENT
        row_start[n_rows], column, comma = pos, -1, False
        if is_sparse:
            has_sparse = True
            pos = _skip_blanks(text, pos + 1)
        while text[pos] != _NEWLINE and text[pos] != _PERCENT and not (is_sparse and text[pos] == _CLOSE):
            column += 1
            if is_sparse:
                column, pos, fault = _read_index(text, pos, n_columns)
                if fault == FINE and last_row[column] == n_rows:
                    fault = REPEATED_INDEX
                if fault != FINE:
                    break
                last_row[column] = n_rows
            kind = kinds[column] if column < n_columns else WORD
            if kind == NUMERIC:
                values[n_values], stop = _read_decimal(text, pos)
            elif kind == BINARY and (text[pos] == _ZERO or text[pos] == _ZERO + 1):
                values[n_values], stop = text[pos] - _ZERO, pos + 1
            else:
                values[n_values], stop = 0.0, pos
            if stop == pos and text[pos] == _QUESTION:
                values[n_values], stop = np.nan, pos + 1
            if stop == pos or not _ends_value(text[stop], is_sparse):
                stop = _find_stop(text, pos, is_sparse)
                if stop < 0:
                    fault = -stop
                    break
                words[n_words, 0], words[n_words, 1], words[n_words, 2] = n_values, pos, stop
                n_words += 1
            columns[n_values] = column
            n_values += 1
            pos = _skip_blanks(text, stop)
            comma = text[pos] == _COMMA
            if comma:
                pos = _skip_blanks(text, pos + 1)
        if fault != FINE:
            break
        if comma:
            fault = NO_VALUE
        elif is_sparse and text[pos] != _CLOSE:
            fault = OPEN_BRACE
        elif is_sparse:
            pos = _skip_blanks(text, pos + 1)
            fault = FINE if text[pos] == _NEWLINE or text[pos] == _PERCENT else TEXT_AFTER_ROW
        elif is_row and column + 1 != n_columns:
            fault, column = WRONG_COUNT, column + 1
        while fault == FINE and text[pos] != _NEWLINE:
            pos += 1
        pos += fault == FINE
        if is_row:
            row_stop[n_rows] = n_values
            n_rows += 1
    words, row_start, row_stop = words[:n_words], row_start[:n_rows], row_stop[:n_rows]
    return values[:n_values], columns[:n_values], words, row_start, row_stop, has_sparse, fault, pos, column
