"""The compiled scanner of multi-label svmlight rows: ``label,label index:value index:value # comment``."""

import numpy as np

from mlspl._numba_cache import njit
from mlspl.datasets.lexer import (
    BAD_INDEX,
    BAD_LABEL,
    COLON,
    COMMA,
    EMPTY_VALUE,
    FINE,
    HASH,
    MINUS,
    NEWLINE,
    OUT_OF_RANGE,
    PLUS,
    REPEATED_INDEX,
    ZERO,
    count,
    is_blank,
    is_digit,
    read_decimal,
    skip_blanks,
    skip_line,
)

__all__ = ["scan_svmlight"]

_MOST_DIGITS = 18


@njit(cache=True)
def _word_stop(text, pos):
    while not is_blank(text[pos]) and text[pos] not in (NEWLINE, HASH):
        pos += 1
    return pos


@njit(cache=True)
def _starts_with_labels(text, pos):
    """Whether the word at pos is a list of labels; a row without labels starts with a feature."""
    stop = _word_stop(text, pos)
    return count(text[pos:stop], COLON) == 0


@njit(cache=True)
def _read_label(text, pos):
    """The whole number at pos and where it stops, or (0, -1)."""
    negative = text[pos] == MINUS
    if negative or text[pos] == PLUS:
        pos += 1
    first_digit = pos
    label = np.int64(0)
    while is_digit(text[pos]) and pos - first_digit < _MOST_DIGITS:
        label = label * 10 + (text[pos] - ZERO)
        pos += 1
    if pos == first_digit:
        return np.int64(0), -1
    return -label if negative else label, pos


@njit(cache=True)
def scan_svmlight(text, largest_index):
    """Read the rows of a text; indices are kept as they are written."""
    most_rows = count(text, NEWLINE)
    most_values = count(text, COLON)
    most_labels = most_rows + count(text, COMMA)
    values = np.empty(most_values, np.float64)
    indices = np.empty(most_values, np.int32)
    hard = np.empty((most_values, 3), np.int64)
    labels = np.empty(most_labels, np.int64)
    row_stop = np.empty(most_rows, np.int64)
    row_start = np.empty(most_rows, np.int64)
    label_stop = np.empty(most_rows, np.int64)
    n_values = n_labels = n_hard = n_rows = 0
    fault, place, detail = FINE, 0, 0
    pos = 0
    while pos < len(text):
        pos = skip_blanks(text, pos)
        if text[pos] in (NEWLINE, HASH):
            pos = skip_line(text, pos) + 1
            continue
        row_start[n_rows] = pos
        more_labels = _starts_with_labels(text, pos)
        while more_labels:
            place = pos
            labels[n_labels], pos = _read_label(text, pos)
            more_labels = pos >= 0 and text[pos] == COMMA
            if pos < 0 or not (more_labels or is_blank(text[pos]) or text[pos] in (NEWLINE, HASH)):
                fault = BAD_LABEL
                break
            pos += more_labels
            n_labels += 1
        previous = -1
        while fault == FINE:
            pos = skip_blanks(text, pos)
            if text[pos] in (NEWLINE, HASH):
                break
            place = pos
            index = 0
            while is_digit(text[pos]):
                index = min(index * 10 + (text[pos] - ZERO), largest_index + 1)
                pos += 1
            stop = _word_stop(text, pos)
            if pos == place or text[pos] != COLON:
                fault = BAD_INDEX
            elif index > largest_index:
                fault = OUT_OF_RANGE
            elif index <= previous:
                fault, detail = REPEATED_INDEX, index
            elif stop == pos + 1:
                fault = EMPTY_VALUE
            else:
                previous = index
                values[n_values], value_stop = read_decimal(text, pos + 1)
                indices[n_values] = index
                if value_stop != stop:
                    hard[n_hard, 0] = n_values
                    hard[n_hard, 1] = pos + 1
                    hard[n_hard, 2] = stop
                    n_hard += 1
                n_values += 1
                pos = stop
        if fault != FINE:
            break
        pos = skip_line(text, pos) + 1
        row_stop[n_rows] = n_values
        label_stop[n_rows] = n_labels
        n_rows += 1
    return (
        fault,
        place,
        detail,
        values[:n_values],
        indices[:n_values],
        row_stop[:n_rows],
        row_start[:n_rows],
        hard[:n_hard],
        labels[:n_labels],
        label_stop[:n_rows],
    )
