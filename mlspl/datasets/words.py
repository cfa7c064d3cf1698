"""Columns of words: are they numbers, categories, dates or text, and what is wrong with them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mlspl.datasets.column import Column
from mlspl.datasets.source import parse_number, shorten

__all__ = ["KINDS", "MISSING", "Days", "Words", "days_of", "read_days", "read_words"]

KINDS = ("numeric", "categorical", "text", "date")
"""The kinds of columns."""

MISSING = frozenset({"?", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL", "None"})
"""What stands for a missing value unless somebody says otherwise; an empty field always does."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
# 12.5%, 1,234,567, 1 234.50, $1,200, 3 €
_WITH_SIGNS = re.compile(r"[+-]?[$€£¥]?\s?[+-]?(\d+|\d{1,3}([, '’]\d{3})+)([.,]\d+)?\s?[%$€£¥]?")
_MISSPELLED = (
    (_DECIMAL_COMMA, "decimal commas", "Write decimal points."),
    (_WITH_SIGNS, "numbers with signs", "Write plain numbers, or drop it (--drop)."),
)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_DOTTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_SLASHED_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}")
# Text is what differs in most rows, and has blanks in it; few values are categories however long.
_FEW_VALUES = 20
_WORDS_OF_TEXT = 3.0


class Days(NamedTuple):
    """Dates as days since 1970, the order of day and month if slashes leave it open, and a doubtful one."""

    days: np.ndarray
    day_first: bool | None = None
    ambiguous: str = ""


@dataclass(frozen=True)
class Words:
    """The cells of a column as they were written: row i holds ``values[codes[i]]``, None if nothing."""

    codes: np.ndarray
    values: list[Any]

    @classmethod
    def of(cls, cells: Sequence[Any]) -> "Words":
        """Factorise cells, which must be hashable."""
        codes, values = pd.factorize(pd.Series(cells, dtype=object), use_na_sentinel=True)
        missing = codes < 0
        if missing.any():
            codes = np.where(missing, len(values), codes)
        return cls(codes, [*values, *([None] if missing.any() else [])])

    @classmethod
    def of_column(cls, column: Column, cells: np.ndarray) -> "Words":
        """Spell a column that was read already."""
        if column.values:
            codes = np.nan_to_num(cells, nan=len(column.values)).astype(int)
            return cls(codes, [*column.values, None])
        return cls.of([None if n != n else repr(n).removesuffix(".0") for n in cells.tolist()])


def read_words(
    words: Words,
    name: str,
    kind: str | None,
    na: Iterable[str],
    fault: Callable[[int, str], Exception],
    line: int | None = None,
    day_first: bool | None = None,
) -> tuple[Column, np.ndarray]:
    """The column that these words are, and its cells: numbers, days since 1970, or codes into its values.

    `kind` is what the user says it is, None to find out, and so is `day_first` of dates with slashes; `fault`
    makes the error about a row.
    """
    lists = [value for value in words.values if isinstance(value, list | tuple)]
    if lists:
        return Column(name, "list", (), line), np.zeros(len(words.codes))
    na = {"", *na}
    spelled = ["" if value is None else str(value).strip() for value in words.values]
    missing = np.array([word in na for word in spelled], dtype=bool)
    numbers = np.array([np.nan if word in na else _number(word) for word in spelled], dtype=float)
    is_text = np.isinf(numbers)
    counts = np.bincount(words.codes, minlength=len(spelled))

    def refuse(bad: np.ndarray, message: str) -> Exception:
        row = int(np.argmax(bad[words.codes]))
        return fault(row, message.format(word=shorten(spelled[words.codes[row]]), name=name))

    if kind in (None, "numeric"):
        if not is_text.any():
            return Column(name, "numeric", (), line), numbers[words.codes]
        n_numbers = counts[~missing & ~is_text].sum()
        # One slip in a column of numbers must not make a category of every number.
        if kind == "numeric" or n_numbers > counts[is_text].sum():
            message = "column {name!r} is numeric, {word!r} is no finite number. Leave it empty if unknown, "
            message += "or name the word among na_values (--na); predict and evaluate know those of the fit."
            raise refuse(is_text, message)
        for pattern, what, remedy in _MISSPELLED:
            if all(pattern.fullmatch(word) for word in np.array(spelled, object)[is_text]):
                raise refuse(is_text, f"column {{name!r}} has {what}, such as {{word!r}}. {remedy}")
    if kind in (None, "date"):
        if kind == "date" and missing.all():
            return Column(name, "date", (), line), numbers[words.codes]
        found = read_days([word for word in spelled if word not in na], day_first)
        if found is not None:
            cells = np.full(len(spelled), np.nan)
            cells[~missing] = found.days
            return Column(name, "date", (), line, found.day_first, found.ambiguous), cells[words.codes]
        if kind == "date":
            bad = np.array([word not in na and read_days([word], day_first) is None for word in spelled])
            if not bad.any():
                bad = ~missing
            order = "" if day_first is None else f" with the {'day' if day_first else 'month'} first"
            message = f"column {{name!r}} holds dates{order}, and {{word!r}} is none as the others are. "
            raise refuse(bad, message + "Write 2024-12-31.")
    values = sorted({word for word in spelled if word not in na})
    code = {value: float(position) for position, value in enumerate(values)}
    cells = np.array([code.get(word, np.nan) for word in spelled])[words.codes]
    kind = kind or ("text" if _is_text(values, len(words.codes)) else "categorical")
    return Column(name, kind, tuple(values), line), cells


def _number(word: str) -> float:
    """The number a word spells; ∞ where it spells none."""
    try:
        return parse_number(word)
    except ValueError:
        return np.inf


def _is_text(values: list[str], n_rows: int) -> bool:
    if len(values) <= max(_FEW_VALUES, n_rows / 2):
        return False
    return bool(np.mean([value.count(" ") + 1 for value in values]) >= _WORDS_OF_TEXT)


def read_days(words: list[str], day_first: bool | None = None) -> Days | None:
    """Words that are dates in one notation as days; None where they are not.

    Of dates with slashes `day_first` says the order; where nobody does and both are possible, the month is
    first.
    """
    if not words:
        return None
    for pattern, notation in ((_ISO_DATE, "ISO8601"), (_DOTTED_DATE, "%d.%m.%Y")):
        if all(pattern.fullmatch(word) for word in words):
            days = _parse_days(words, notation)
            return None if days is None else Days(days)
    if not all(_SLASHED_DATE.fullmatch(word) for word in words):
        return None
    by_month = None if day_first is True else _parse_days(words, "%m/%d/%Y")
    by_day = None if day_first is False else _parse_days(words, "%d/%m/%Y")
    if by_month is None:
        return None if by_day is None else Days(by_day, True)
    differs = np.zeros(0, bool) if by_day is None else by_month != by_day
    return Days(by_month, False, words[int(np.argmax(differs))] if differs.any() else "")


def _parse_days(words: list[str], notation: str) -> np.ndarray | None:
    """Days since 1970; None if a word is no date in this notation."""
    times = pd.to_datetime(pd.Series(words, dtype=object), errors="coerce", format=notation, utc=True)
    return None if times.isna().any() else days_of(times)


def days_of(times: pd.Series) -> np.ndarray:
    """Days since 1970, NaN where there is no time."""
    return ((times - pd.Timestamp(0, tz=times.dt.tz)) / pd.Timedelta(days=1)).to_numpy(float)
