"""A column of label sets: ``a|b|c``, ``a, b``, ``a;b``, or a JSON list in every cell."""

import ast
import json
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from scipy import sparse

from mlspl._label_sets import LIST, table_of_label_sets
from mlspl.datasets.source import shorten
from mlspl.datasets.words import Words

__all__ = ["read_label_sets", "read_set"]

_SEPARATORS = "|;,"


def read_label_sets(
    words: Words,
    name: str,
    separator: str | None,
    missing: Collection[str],
    fault: Callable[[int, str], Exception],
) -> tuple[sparse.csr_array, list[str], str] | None:
    """The labels of a column, as a CSR table of 1 and NaN, their names, and what joins them in a cell.

    None if nothing separates them. An empty cell has no label; one that holds a word for what is missing, or
    nothing (null), is unknown.
    """

    def refuse(value: Any, message: str) -> Exception:
        row = int(np.flatnonzero(words.codes == words.values.index(value))[0])
        return fault(row, f"column {name!r} {message}")

    spelled = [
        value for value in words.values if isinstance(value, str) and value.strip() not in {"", *missing}
    ]
    # One broken list among many must not make commas the separator of all.
    n_lists = sum(value.strip()[0] in "[{" for value in spelled)
    has_lists = any(isinstance(value, list | tuple) for value in words.values)
    in_brackets = separator is None and len(spelled) > 0 and (has_lists or 2 * n_lists > len(spelled))
    if separator is None and spelled and not in_brackets:
        separator = max(_SEPARATORS, key=lambda sign: sum(sign in value for value in spelled))
        if not any(separator in value for value in spelled):
            return None
    joint = LIST if separator is None else separator
    if separator is not None and any(f"{separator} " in value for value in spelled):
        joint += " "
    sets: list[list[str] | None] = []
    for value in words.values:
        if isinstance(value, list | tuple):
            sets.append([str(label) for label in value])
        elif value is None or value.strip() in missing:
            sets.append(None)
        elif in_brackets and value.strip():
            labels = _read_list(value)
            if labels is None:
                raise refuse(
                    value, f'holds {shorten(value)!r}, which is no list of labels such as ["a", "b"].'
                )
            sets.append(labels)
        else:
            sets.append(read_set(value, joint))
    if not any(sets):
        raise refuse(words.values[0], "has no label in any row.")
    return *table_of_label_sets([sets[code] for code in words.codes.tolist()], None, name), joint


def read_set(cell: Any, joint: str) -> list[str]:
    """The labels of a cell that is not missing."""
    if not isinstance(cell, str):
        return [str(label) for label in cell]
    if joint == LIST:
        return _read_list(cell) or []
    return [part.strip() for part in cell.split(joint.strip() or joint) if part.strip()]


def _read_list(text: str) -> list[str] | None:
    """The labels in a list as JSON or Python writes it, or in a set of Python's; None if it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            labels = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(labels, list | set) and all(isinstance(label, str | int) for label in labels):
            return [str(label).strip() for label in labels]
    return None
