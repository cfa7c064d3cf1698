"""The compiled scanner of ARFF rows, dense and sparse: numbers and codes, or the place of a fault."""

import numpy as np

from mlspl._numba_cache import njit
from mlspl.datasets.lexer import (
    BAD_INDEX,
    CLOSE,
    COMMA,
    EMPTY_VALUE,
    FINE,
    NEWLINE,
    OPEN,
    OUT_OF_RANGE,
    PERCENT,
    QUESTION,
    REPEATED_INDEX,
    SPACE,
    TAB,
    TEXT_AFTER_ROW,
    UNCLOSED_BRACE,
    WRONG_COUNT,
    ZERO,
    count,
    ends_value,
    find_word,
    is_blank,
    is_digit,
    read_decimal,
    skip_blanks,
    skip_line,
    value_stop,
)

__all__ = ["BINARY", "NOMINAL", "NUMERIC", "WORDS", "scan_arff"]

NUMERIC, NOMINAL, BINARY, WORDS = range(4)


@njit(cache=True)
def _read_index(text, pos, n_columns):
    """Index of a sparse value, where it stops, and a fault if it is none."""
    start = pos
    index = 0
    while is_digit(text[pos]):
        index = min(index * 10 + (text[pos] - ZERO), n_columns)
        pos += 1
    if pos > start and is_blank(text[pos]):
        return index, pos, FINE if index < n_columns else OUT_OF_RANGE
    # A line that ends where an index could stand was cut off; anything else is no index.
    cut_off = text[pos] == NEWLINE or text[start] == PERCENT
    return index, pos, UNCLOSED_BRACE if cut_off else BAD_INDEX


@njit(cache=True)
def _read_word(text, pos, sparse, words, word_at, first_word, last_word, codes):
    """Where the value at pos stops, or minus a fault; and its code, NaN for ?, or -1 where it has none."""
    byte = text[pos]
    if byte in (COMMA, NEWLINE, PERCENT) or (sparse and byte == CLOSE):
        return -EMPTY_VALUE, -1.0
    stop = value_stop(text, pos, sparse)
    if byte == QUESTION and stop == pos + 1:
        return stop, np.nan
    if stop > 0 and first_word < last_word:
        word = find_word(text, pos, stop, words, word_at, first_word, last_word)
        if word >= 0:
            return stop, float(codes[word])
    return stop, -1.0


@njit(cache=True)
def scan_arff(text, kinds, words, word_at, first_word, codes):
    """Read the rows of an ARFF data section."""
    n_columns = len(kinds)
    # Every value is followed by a byte of these.
    most_rows = count(text, NEWLINE)
    most_values = most_rows + count(text, COMMA) + count(text, SPACE) + count(text, TAB)
    values = np.empty(most_values, np.float64)
    columns = np.empty(most_values, np.int32)
    hard = np.empty((most_values, 3), np.int64)
    row_stop = np.empty(most_rows, np.int64)
    row_start = np.empty(most_rows, np.int64)
    last_row_with = np.full(n_columns, -1, np.int64)
    n_values = n_hard = n_rows = 0
    any_sparse = False
    fault, place, detail = FINE, 0, 0
    pos = 0
    while pos < len(text):
        pos = skip_blanks(text, pos)
        if text[pos] == PERCENT:
            pos = skip_line(text, pos)
        if text[pos] == NEWLINE:
            pos += 1
            continue
        row_start[n_rows] = pos
        sparse = text[pos] == OPEN
        if sparse:
            any_sparse = True
            pos = skip_blanks(text, pos + 1)
        column = -1
        while not (sparse and text[pos] == CLOSE):
            column += 1
            place = pos
            if sparse:
                column, pos, fault = _read_index(text, pos, n_columns)
                if fault == FINE and last_row_with[column] == n_rows:
                    fault, detail = REPEATED_INDEX, column
                if fault != FINE:
                    break
                last_row_with[column] = n_rows
                pos = skip_blanks(text, pos)
                place = pos
            kind = kinds[column] if column < n_columns else WORDS
            value, stop, known = 0.0, -1, False
            if kind == NUMERIC:
                value, stop = read_decimal(text, pos)
                known = stop >= 0 and ends_value(text[stop], sparse)
            elif kind == BINARY and text[pos] in (ZERO, ZERO + 1):
                value, stop = float(text[pos] - ZERO), pos + 1
                known = ends_value(text[stop], sparse)
            if not known:
                first = first_word[column] if kind == NOMINAL else 0
                last = first_word[column + 1] if kind == NOMINAL else 0
                stop, value = _read_word(text, pos, sparse, words, word_at, first, last, codes)
                known = value != -1
            if column < n_columns:
                values[n_values] = value
                columns[n_values] = column
                if not known:
                    hard[n_hard, 0] = n_values
                    hard[n_hard, 1] = pos
                    hard[n_hard, 2] = stop
                    n_hard += 1
                n_values += 1
            if stop < 0:
                fault = -stop
                break
            pos = skip_blanks(text, stop)
            if text[pos] == COMMA:
                place = pos
                pos = skip_blanks(text, pos + 1)
                if sparse and text[pos] == CLOSE:
                    fault = EMPTY_VALUE
                    break
            elif not sparse and text[pos] in (NEWLINE, PERCENT):
                break
        if fault != FINE:
            break
        if sparse:
            pos = skip_blanks(text, pos + 1)
            if text[pos] not in (NEWLINE, PERCENT):
                fault, place = TEXT_AFTER_ROW, pos
                break
        elif column + 1 != n_columns:
            fault, place, detail = WRONG_COUNT, row_start[n_rows], column + 1
            break
        pos = skip_line(text, pos) + 1
        row_stop[n_rows] = n_values
        n_rows += 1
    return (
        fault,
        place,
        detail,
        values[:n_values],
        columns[:n_values],
        row_stop[:n_rows],
        row_start[:n_rows],
        hard[:n_hard],
        any_sparse,
    )
