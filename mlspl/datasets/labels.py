"""Labels of a table: which columns they are, in columns of 0 and 1 or as label sets in one column."""

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd
from defusedxml import DefusedXmlException, ElementTree
from scipy import sparse

from mlspl._label_sets import LIST, table_of_label_sets
from mlspl._names import split_names
from mlspl._validation import check_labels
from mlspl.datasets.columns import LabelOption, RawTable, column_kind, is_numeric, spell_numbers
from mlspl.datasets.dataset import labels_as_table
from mlspl.datasets.files import data_stem, is_number, read_text
from mlspl.errors import DataFormatError, UserError, guess_column, listed, shorten

# What the publishers of data sets put behind the name of a part of one.
_PART = re.compile(r"-(train|test|validation|sparse|dense|fold\d+|sample\d*|stratified\d*)$", re.IGNORECASE)
LABEL_NAMES = ("labels", "tags")
"""A column of one of these names holds label sets, unless the user names the labels."""

_LABEL_VALUES = {"0": 0.0, "1": 1.0, "-1": -1.0, "false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}
_SEPARATORS = "|;,"
_ALLOWED = "A label must be 0 or 1, −1 or 1, false or true, no or yes"
_NAMESPACE = "http://mulan.sourceforge.net/labels"


def read_labels_xml(path: Path) -> list[str]:
    """Return the names of the labels in a Mulan XML, flat or nested."""
    text = read_text(path)
    try:
        elements = ElementTree.fromstring(text, forbid_dtd=True).iter()
    except ElementTree.ParseError as error:
        message = f"this is no well-formed XML ({error}). Repair or replace the file."
        raise DataFormatError(message, path, error.position[0]) from None
    except DefusedXmlException:
        message = "the XML has a DOCTYPE, through which entities can blow up a parser. Remove it."
        raise DataFormatError(message, path) from None
    except (LookupError, ValueError) as error:
        raise DataFormatError(f"this is no readable XML ({error}). Repair or replace it.", path, 1) from None
    names = [element.get("name", "") for element in elements if element.tag.rpartition("}")[2] == "label"]
    if not all(names) or not names:
        raise DataFormatError('it names no labels, or not all. Write <label name="…"/> for each.', path)
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise DataFormatError(f"label {shorten(twice[0])!r} is named twice. Name it once.", path)
    return names


def labels_xml(names: list[str]) -> str:
    """The Mulan XML that names these labels."""
    lines = "".join(f"<label name={quoteattr(name)}></label>\n" for name in names)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="{_NAMESPACE}">\n{lines}</labels>\n'


def xml_beside(path: Path) -> Path | None:
    """The XML that belongs to a data file: Corel5k.xml for Corel5k.arff and Corel5k-train-sparse.arff."""
    stem = data_stem(path)
    while True:
        if (xml := path.with_name(stem + ".xml")).is_file():
            return xml
        shorter = _PART.sub("", stem)
        if shorter == stem:
            return None
        stem = shorter


def find_label_columns(
    names: list[str], labels: LabelOption, path: Path, announced: int | None = None
) -> np.ndarray:
    """Return the mask of the columns that are labels; `announced` is their number by MEKA's -C."""
    labels = (xml_beside(path) or announced) if labels is None else labels
    source = path
    choice = "the path of an XML, a list of names, a pattern such as 'TAG_*', or a number of columns"
    if labels is None:
        message = f"which columns are labels? Put {data_stem(path)}.xml beside the file, or pass labels "
        raise DataFormatError(f"{message}(--labels): {choice}.", path)
    if isinstance(labels, bool) or not isinstance(labels, str | PathLike | list | tuple | int | re.Pattern):
        raise UserError(f"labels={shorten(repr(labels))}: pass {choice}.")
    wanted: Sequence[str]
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(names):
            message = f"{abs(labels)} labels are announced, but there are {len(names)} columns."
            raise DataFormatError(f"{message} Correct the number.", path)
        wanted = names[:labels] if labels > 0 else names[labels:]
    elif isinstance(labels, re.Pattern):
        wanted = [name for name in names if labels.search(name)]
    elif isinstance(labels, str) and labels in names:
        wanted = [labels]
    elif isinstance(labels, PathLike) or (isinstance(labels, str) and labels.lower().endswith(".xml")):
        source = Path(labels)
        wanted = read_labels_xml(source)
    elif isinstance(labels, str):
        wanted = [name for name in names if fnmatchcase(name, labels)]
        wanted = wanted or (split_names(labels) if "," in labels else [])
    else:
        wanted = labels
    present = set(names)
    if absent := [label for label in wanted if label not in present]:
        wrong, hint = shorten(str(absent[0])), guess_column(str(absent[0]), names)
        raise DataFormatError(f"label {wrong!r} is not a column of {path}.{hint} Correct --labels.", source)
    mask = np.isin(names, list(wanted))
    if not mask.any():
        hint = guess_column(labels, names) if isinstance(labels, str) else ""
        message = f"labels={shorten(repr(labels))} matches none of the {len(names)} columns.{hint}"
        raise DataFormatError(f"{message} Correct the name or pattern.", path)
    if mask.all():
        raise DataFormatError("every column is a label: no features are left to learn from.", path)
    return mask


def label_set_columns(names: list[str], labels: LabelOption, path: Path) -> list[str]:
    """Return the columns that may hold label sets, so that their words are needed as they are written."""
    if labels == ():
        return []
    if labels is None and xml_beside(path) is None:
        return [name for name in names if name.lower() in LABEL_NAMES or len(names) == 1]
    chosen = np.flatnonzero(find_label_columns(names, labels, path))
    return [names[chosen[0]]] if len(chosen) == 1 else []


class ReadLabels(NamedTuple):
    """Y and the names of its columns; for label sets also their column and the text between labels."""

    Y: Any
    names: list[str]
    column: str = ""
    joint: str = ""


def read_labels(raw: RawTable, chosen: list[int]) -> ReadLabels:
    """Return the labels in these columns, or the label sets in the only one."""
    names = [raw.names[j] for j in chosen]
    is_sparse, label_sep = sparse.issparse(raw.table), raw.options.label_sep
    Y: Any = raw.table[:, chosen] if is_sparse else raw.table.iloc[:, chosen]
    if label_sep is not None and (is_sparse or len(chosen) != 1):
        raise UserError(f"{raw.path}: label_sep is for one column of label sets; labels are {listed(names)}.")
    if label_sep is None and not is_sparse and is_numeric(Y):
        Y = Y.to_numpy(float, na_value=np.nan)
    elif not is_sparse:
        columns = [_parse_label(column, raw.options.missing) for _, column in Y.items()]
        if label_sep is not None or (len(columns) == 1 and None in columns[0][1]):
            return _read_label_sets(raw, Y.iloc[:, 0], names[0])
        for j, (codes, numbers) in enumerate(columns):
            if None in numbers:
                row = int(np.argmax(codes == numbers.index(None)))
                word = shorten(str(Y.iloc[row, j]))
                raise raw.fault(row, f"label {shorten(names[j])!r} is {word!r}. {_ALLOWED}.")
        Y = np.column_stack([np.array(numbers, float)[codes] for codes, numbers in columns])
    if not is_sparse:
        is_signed = (Y == -1).any(axis=0) & ~(Y == 0).any(axis=0)
        if is_signed.any():
            Y = np.where((Y == -1) & is_signed, 0.0, Y)
    stored = Y.data if is_sparse else Y
    if not np.all((stored == 0) | (stored == 1) | np.isnan(stored)):
        wrong = sparse.coo_array(Y)
        first = np.flatnonzero((wrong.data != 1) & ~np.isnan(wrong.data))[0]
        name = shorten(names[wrong.col[first]])
        raise raw.fault(int(wrong.row[first]), f"label {name!r} is {wrong.data[first]:g}. {_ALLOWED}.")
    return ReadLabels(labels_as_table(check_labels(Y)), names)


def recognise_label_column(raw: RawTable) -> str | None:
    """Return the one column that holds lists, or that is called labels or tags and holds words."""
    if sparse.issparse(raw.table):
        return None
    words = {name: raw.table[name] for name in raw.names if column_kind(raw.table[name]) != "numeric"}
    found = [name for name, column in words.items() if any(isinstance(cell, tuple) for cell in column)]
    found = found or [
        name
        for name, column in words.items()
        if name.lower() in LABEL_NAMES
        and not all(map(is_number, {*column.dropna().astype(str).str.strip()} - {"", *raw.options.missing}))
    ]
    return found[0] if len(found) == 1 else None


def _parse_label(column: pd.Series, missing: Collection[str]) -> tuple[np.ndarray, list[float | None]]:
    """Return codes and, for each of them, NaN last, the number of its word; None if it is not a label."""
    if column_kind(column) == "numeric":
        return np.arange(len(column)), column.to_numpy(float, na_value=np.nan).tolist()
    codes, values = pd.factorize(column.astype(object), use_na_sentinel=True)
    numbers: list[float | None] = []
    for value in values:
        word = str(value).strip()
        is_plain = not isinstance(value, tuple) and is_number(word)
        number = _LABEL_VALUES.get(word.lower(), float(word) if is_plain else None)
        numbers.append(np.nan if word in {"", *missing} else number)
    return codes, [*numbers, np.nan]


def _read_label_sets(raw: RawTable, column: pd.Series, name: str) -> ReadLabels:
    """Return the labels of a column of label sets: none of an empty cell, unknown of a missing one."""
    missing, separator = raw.options.missing, raw.options.label_sep
    words = spell_numbers(column) if column_kind(column) == "numeric" else column.astype(object)
    codes, values = pd.factorize(words, use_na_sentinel=True)
    texts = [value for value in values if isinstance(value, str) and value.strip() not in {"", *missing}]
    # One broken list among many must not make the comma the separator of all.
    n_lists = sum(value.strip()[0] in "[{" for value in texts)
    has_lists = any(isinstance(value, tuple) for value in values)
    in_brackets = separator is None and len(texts) > 0 and (has_lists or 2 * n_lists > len(texts))
    if separator is None and texts and not in_brackets:
        separator = max(_SEPARATORS, key=lambda sign: sum(sign in value for value in texts))
        if not any(separator in value for value in texts):
            found = shorten("{" + ",".join(texts[:20]) + "}")
            message = (
                f"label {shorten(name)!r} has the values {found}. {_ALLOWED}; several labels have |, ; or a "
                "comma between, or what label_sep names (--label-sep ' '). If every row has one label, name "
                "a sign that never occurs: --label-sep '|'."
            )
            is_odd = [str(value).strip().lower() not in _LABEL_VALUES for value in values]
            raise raw.fault(int(np.argmax(np.array([*is_odd, False])[codes])), message)
    joint = LIST if separator is None else separator
    if separator is not None and any(f"{separator} " in value for value in texts):
        joint += " "
    sets: list[list[str] | None] = []
    for code, value in enumerate(values):
        if not isinstance(value, tuple) and str(value).strip() in missing:
            sets.append(None)
        elif in_brackets and isinstance(value, str) and value.strip():
            sets.append(_parse_list(value))
            if sets[-1] is None:
                message = f'holds {shorten(value)!r}, which is not a list of labels such as ["a", "b"].'
                raise raw.fault(int(np.argmax(codes == code)), f"column {shorten(name)!r} {message}")
        else:
            sets.append(parse_set(value if isinstance(value, tuple) else str(value), joint))
    if not any(sets):
        raise raw.fault(0, f"column {shorten(name)!r} has no label in any row.")
    sets.append(None)
    Y, names = table_of_label_sets([sets[code] for code in codes.tolist()], None, name)
    return ReadLabels(labels_as_table(check_labels(Y)), names, name, joint)


def parse_set(cell: Any, joint: str) -> list[str]:
    """Return the labels of a cell that is not missing."""
    if not isinstance(cell, str):
        return [str(label) for label in cell]
    if joint == LIST:
        return _parse_list(cell) or []
    return [part.strip() for part in cell.split(joint.strip() or joint) if part.strip()]


def _parse_list(text: str) -> list[str] | None:
    """Return the labels in a list as JSON or Python writes it, or in a Python set; None for other text."""
    for parse in (json.loads, ast.literal_eval):
        try:
            labels = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(labels, list | set) and all(isinstance(label, str | int) for label in labels):
            return [str(label).strip() for label in labels]
    return None
