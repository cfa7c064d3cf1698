"""Slow, obvious twins of what `mlspl.datasets` computes fast."""

import numpy as np


def arff_words(line, sparse):
    """Words, commas and, in a sparse row, the closing brace of a line, up to a comment; quotes stay on."""
    words, pos = [], 0
    separators = " \t," + ("}" if sparse else "")
    while pos < len(line):
        char = line[pos]
        if char in " \t":
            pos += 1
            continue
        if char == "%":
            break
        stop = pos + 1
        if char in "'\"":
            while line[stop] != char:  # IndexError: not closed
                stop += 2 if line[stop] == "\\" else 1
            stop += 1
            if stop < len(line) and line[stop] not in separators:
                raise ValueError("text after a quote")
        elif char not in separators:
            while stop < len(line) and line[stop] not in separators:
                stop += 1
        words.append(line[pos:stop])
        pos = stop
    return words


def arff_value(word, values):
    """Number or code of a word; `values` is None for a number, "text" for what is not read."""
    if word in (",", "}"):
        raise ValueError("no value")
    if values == "text":
        return 0.0
    if word == "?":
        return float("nan")
    if word[0] in "'\"":
        plain, escaped = "", False
        for char in word[1:-1]:
            if escaped:
                plain, escaped = plain + {"n": "\n", "r": "\r", "t": "\t"}.get(char, char), False
            elif char == "\\":
                escaped = True
            else:
                plain += char
        word = plain
    if values is not None:
        return float(values.index(word))
    if "_" in word or np.isinf(float(word)):
        raise ValueError(word)
    return float(word)


def arff_rows(text, columns):
    """Rows of an ARFF data section as {column: value}; ValueError or IndexError where it is not one."""
    rows = []
    for line in text.split("\n"):
        line = line.strip(" \t")
        if not line or line[0] == "%":
            continue
        row = {}
        sparse = line[0] == "{"
        words = arff_words(line[1:] if sparse else line, sparse)
        while words and not (sparse and words[0] == "}"):
            if sparse:
                index, words = words[0], words[1:]
                if not all(char in "0123456789" for char in index) or int(index) in row:
                    raise ValueError(index)
                column = int(index)
            else:
                column = len(row)
            row[column] = arff_value(words[0], columns[column])
            words = words[1:]
            if words and words[0] == ",":
                words = words[1:]
                if not words or words[0] == "}":
                    raise ValueError("nothing after a comma")
        if words != (["}"] if sparse else []) or not (sparse or len(row) == len(columns)):
            raise ValueError(line)
        rows.append(row)
    return rows


def one_hot(rows, nominal):
    """Rows of codes with one 0/1 entry per value in the place of each code, cell by cell."""
    encoded = []
    for row in rows:
        cells = []
        for value, values in zip(row, nominal, strict=True):
            if values is None or (len(values) <= 2 and values != ("1", "0")):
                cells.append(value)
            elif values == ("1", "0"):
                cells.append(1 - value)
            else:
                cells += [value if np.isnan(value) else float(value == code) for code in range(len(values))]
        encoded.append(cells)
    return encoded
