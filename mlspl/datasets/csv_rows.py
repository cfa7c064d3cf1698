"""The compiled scanner of CSV rows: numbers in one pass, and where the fields of a column stand."""

import numpy as np

from mlspl._numba_cache import njit
from mlspl.datasets.lexer import (
    FINE,
    NEWLINE,
    SPACE,
    TAB,
    TEXT_AFTER_QUOTE,
    UNCLOSED_QUOTE,
    WRONG_COUNT,
    count,
    read_decimal,
)

__all__ = ["find_fields", "scan_csv"]

(_QUOTE,) = b'"'


@njit(cache=True)
def _field_stop(text, pos, delimiter):
    """Where the field that starts at pos stops, or minus a fault."""
    if text[pos] != _QUOTE:
        while text[pos] != delimiter and text[pos] != NEWLINE:
            pos += 1
        return pos
    pos += 1
    while True:
        while pos < len(text) and text[pos] != _QUOTE:
            pos += 1
        if pos >= len(text):
            return -UNCLOSED_QUOTE
        pos += 1
        if pos >= len(text) or text[pos] != _QUOTE:
            break
        pos += 1
    if text[pos] != delimiter and text[pos] != NEWLINE:
        return -TEXT_AFTER_QUOTE
    return pos


@njit(cache=True)
def _skip(text, pos, delimiter):
    """Past blanks, unless they separate."""
    while text[pos] in (SPACE, TAB) and text[pos] != delimiter:
        pos += 1
    return pos


@njit(cache=True)
def scan_csv(text, delimiter, point, n_columns):
    """Read the numbers of a CSV file below its header."""
    most_rows = count(text, NEWLINE)
    cells = np.full((most_rows, n_columns), np.nan)
    n_words = np.zeros(n_columns, np.int64)
    row_start = np.empty(most_rows, np.int64)
    n_rows = 0
    pos = 0
    while pos < len(text):
        start = pos
        pos = _skip(text, pos, delimiter)
        if text[pos] == NEWLINE:
            pos += 1
            continue
        pos = start
        row_start[n_rows] = start
        column = 0
        while True:
            first = pos + (text[pos] == _QUOTE)
            value, stop = read_decimal(text, _skip(text, first, delimiter), point)
            known = False
            if stop >= 0:
                stop = _skip(text, stop, delimiter)
                if first > pos and text[stop] == _QUOTE:
                    stop += 1
                    known = text[stop] == delimiter or text[stop] == NEWLINE
                else:
                    known = first == pos and (text[stop] == delimiter or text[stop] == NEWLINE)
            if not known:
                stop = _field_stop(text, pos, delimiter)
                if stop < 0:
                    return -stop, pos, 0, cells[:n_rows], n_words, row_start[:n_rows]
            if column < n_columns:
                if known:
                    cells[n_rows, column] = value
                elif _skip(text, first, delimiter) < stop - (first > pos):
                    n_words[column] += 1
            column += 1
            pos = stop + 1
            if text[stop] == NEWLINE:
                break
        if column != n_columns:
            return WRONG_COUNT, start, column, cells[:n_rows], n_words, row_start[:n_rows]
        n_rows += 1
    return FINE, 0, 0, cells[:n_rows], n_words, row_start[:n_rows]


@njit(cache=True)
def find_fields(text, delimiter, row_start, wanted):
    """Return (n_wanted, n_rows, 2): first byte and last byte + 1 of the fields of the columns wanted.

    `wanted` holds column numbers, ascending. The rows are those of a scan without a fault.
    """
    places = np.empty((len(wanted), len(row_start), 2), np.int64)
    for row in range(len(row_start)):
        pos = row_start[row]
        column = 0
        for i in range(len(wanted)):
            while column < wanted[i]:
                pos = _field_stop(text, pos, delimiter) + 1
                column += 1
            places[i, row, 0] = pos
            pos = _field_stop(text, pos, delimiter) + 1
            places[i, row, 1] = pos - 1
            column += 1
    return places
