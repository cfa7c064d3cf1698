"""Columns of a table: numbers, categories, dates and text; how words become one of them; one-hot columns."""

import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl.datasets.files import check_memory, is_number
from mlspl.errors import DataFormatError, UserError, guess_column, listed, shorten

KINDS = ("numeric", "categorical", "text", "date")
"""The kinds of columns."""

MISSING = frozenset({"?", "NA", "N/A", "n/a", "<NA>", "#N/A", "NaN", "nan", "null", "NULL", "None"})
"""Words for a missing value unless the user names others; an empty field always is one."""

INDEX = "Unnamed: 0"
"""The name that pandas gives to a first column without a name, which holds row numbers."""

_KINDS_OF_DTYPES = {**dict.fromkeys("biuf", "numeric"), "M": "date"}
# Numbers such as 1,234.5 and 53.102,49, by their thousands separator.
_NOTATIONS = {
    ",": re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?"),
    ".": re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?"),
}
# 12.5%; 1 234.50; $1,200; 3 €
_WITH_SIGNS = re.compile(r"[+-]?[$€£¥]?\s?[+-]?(\d+|\d{1,3}([., '’]\d{3})+)([.,]\d+)?\s?[%$€£¥]?")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_DOTTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_SLASHED_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}")
# A column is text if most rows differ and cells have at least three words on average.
_FEW_VALUES = 20
_WORDS_OF_TEXT = 3.0


LabelOption = str | PathLike | list[str] | tuple[str, ...] | int | re.Pattern | None


@dataclass(frozen=True)
class ReadOptions:
    """How to read a table; see `read_dataset`."""

    label_sep: str | None = None
    na_values: Collection[str] | None = None
    drop: Collection[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False
    """Whether the options may name columns that the file does not have."""
    labels: LabelOption = None
    """Which columns are labels; an empty tuple if only features are read."""
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    needed: Collection[str] | None = None
    """Columns that are used, if not all; the words of others are not parsed."""

    def __post_init__(self):
        for name in ("na_values", "drop"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, [getattr(self, name)])
        for column, kind in self.kinds.items():
            if kind not in KINDS:
                raise UserError(f"column {column!r} cannot be {kind!r}. A kind is one of {', '.join(KINDS)}.")
        for option in ("decimal", "thousands"):
            sign = getattr(self, option)
            if sign is not None and (len(sign) != 1 or sign.isalnum() or sign in "+-"):
                raise UserError(f"{option}={sign!r} is not a single sign, such as a comma (--{option} ,).")
        if self.decimal is not None and self.decimal == self.thousands:
            raise UserError(f"decimal and thousands are both {self.decimal!r}. Name two different signs.")

    @property
    def missing(self) -> frozenset[str]:
        """The words for a missing value, beside the empty field."""
        return MISSING if self.na_values is None else frozenset(map(str, self.na_values))

    def check(self, names: Collection[str], path: Path) -> None:
        """Raise an error for columns that the file does not have."""
        if self.lenient:
            return
        for option, wanted in (("drop", self.drop), ("kinds", self.kinds)):
            if absent := [name for name in wanted if name not in names]:
                hint = guess_column(absent[0], names)
                raise UserError(f"{path}: {option} names columns that do not exist: {listed(absent)}.{hint}")


NO_OPTIONS = ReadOptions()


class RawTable(NamedTuple):
    """All columns of a file, before they are split into features and labels.

    Columns of a DataFrame are numbers, dates, categories, or words as they are written.
    """

    path: Path
    table: pd.DataFrame | sparse.csr_array
    names: list[str]
    options: ReadOptions
    line_of: Callable[[int], int] | None = None
    n_labels: int | None = None

    def fault(self, row: int, message: str) -> DataFormatError:
        """Return the error about a row."""
        if self.line_of is None:
            return DataFormatError(f"row {row + 1}: {message}", self.path)
        return DataFormatError(message, self.path, self.line_of(row))


def column_kind(column: pd.Series) -> str:
    """Return the kind of a typed column."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "categorical"
    return _KINDS_OF_DTYPES.get(column.dtype.kind, "text")


def is_numeric(frame: pd.DataFrame) -> bool:
    """Return whether all columns hold numbers."""
    return all(_KINDS_OF_DTYPES.get(dtype.kind) == "numeric" for dtype in frame.dtypes)


def decode(codes: np.ndarray, values: Sequence[str]) -> pd.Categorical:
    """Return categories from their codes, which are NaN or -1 where one is missing."""
    codes = np.nan_to_num(codes, nan=-1).astype(int)
    return pd.Categorical.from_codes(codes, pd.Index(values, dtype=object))


def check_names(names: Sequence[str], path: Path, line: int | None) -> None:
    """Refuse columns without a name, and two columns of the same name."""
    seen: set[str] = set()
    for position, name in enumerate(names, 1):
        if not name or name in seen:
            what = f"two columns are called {shorten(name)!r}" if name else f"column {position} has no name"
            raise DataFormatError(f"{what}. Rename or remove one.", path, line)
        seen.add(name)


def spell_numbers(column: pd.Series) -> pd.Series:
    """Return numbers as words, whole numbers without a decimal point."""
    words = [None if n != n else spell_number(n) for n in column.to_numpy(float).tolist()]
    return pd.Series(words, dtype=object)


def spell_number(number: float) -> str:
    """Return the shortest text that reads back as the same number; ? for NaN."""
    return repr(number).removesuffix(".0") if number == number else "?"


def parse_words(words: pd.Series, name: str, kind: str | None, raw: RawTable) -> pd.Series:
    """Return words as numbers, categories, dates or text; `kind` is None to find it out."""
    codes, values = pd.factorize(words.astype(object), use_na_sentinel=True)
    # A cell without a value has the code -1 and so the last word.
    spelled = [*(str(value).strip() for value in values), ""]
    codes = codes % len(spelled)
    is_known = np.array([word not in {"", *raw.options.missing} for word in spelled])
    is_word = is_known & [not is_number(word) for word in spelled]
    known = [word for word, is_used in zip(spelled, is_known, strict=True) if is_used]

    def spread(known_values: Any, missing: Any, dtype: Any) -> pd.Series:
        cells = np.full(len(spelled), missing, dtype)
        cells[is_known] = known_values
        return pd.Series(cells[codes], dtype=dtype)

    def refuse(bad: np.ndarray, message: str) -> Exception:
        row = int(np.argmax(bad[codes]))
        word = shorten(spelled[codes[row]])
        return raw.fault(row, f"column {shorten(name)!r} {message.format(word=repr(word))}")

    if kind in (None, "numeric"):
        named = raw.options.thousands
        signs = "." if named == "." else _NOTATIONS if is_word.any() else ""
        fits = [sign for sign in signs if all(map(_NOTATIONS[sign].fullmatch, known))]
        if not fits and not is_word.any():
            return spread(list(map(float, known)), np.nan, float)
        if len(fits) == 1:
            if any("." in word for word in known) and fits == ["."] != [named]:
                message = f"column {name!r} has points between thousands. In new rows, they may look like "
                message += "decimal points: name both signs (--decimal , --thousands .)."
                warnings.warn(message, stacklevel=6)
            numbers = [float(word.replace(fits[0], "").replace(",", ".")) for word in known]
            return spread(numbers, np.nan, float)
        if fits:
            message = "has numbers such as {word}, which can be read in two ways. Name the decimal sign or "
            raise refuse(is_word, message + "the thousands separator (--decimal ,).")
        if all(_WITH_SIGNS.fullmatch(spelled[i]) for i in np.flatnonzero(is_word)):
            message = "has numbers with signs, such as {word}. Name their thousands separator (--thousands), "
            raise refuse(is_word, message + "write plain numbers, or drop it (--drop).")
        counts = np.bincount(codes, minlength=len(spelled))
        # A few words in a column of numbers are mistakes, not a reason to make categories of all numbers.
        if kind == "numeric" or counts[is_known & ~is_word].sum() > counts[is_word].sum():
            message = (
                "is numeric, {word} is not a finite number. Leave it empty if unknown, or name the word "
            )
            raise refuse(is_word, message + "word among na_values (--na of fit).")
    if kind in (None, "date"):
        dates = parse_dates(known)
        if dates is not None and (known or kind == "date"):
            return spread(dates, np.datetime64("NaT"), "datetime64[us]")
        if kind == "date" or (known and all(map(_SLASHED_DATE.fullmatch, known))):
            bad = is_known & [parse_dates([word]) is None for word in spelled]
            message = "holds dates; {word} is none, or has the day first. Write 2024-12-31, or --drop it."
            raise refuse(bad if bad.any() else is_known, message)
    categories = sorted(set(known))
    if kind == "text" or (kind is None and _is_text(categories, len(codes))):
        return spread(known, None, object)
    position = {value: j for j, value in enumerate(categories)}
    return pd.Series(decode(spread([position[word] for word in known], -1, int).to_numpy(), categories))


def _is_text(values: list[str], n_rows: int) -> bool:
    if len(values) <= max(_FEW_VALUES, n_rows / 2):
        return False
    return bool(np.mean([value.count(" ") + 1 for value in values]) >= _WORDS_OF_TEXT)


def parse_dates(words: Sequence[str]) -> np.ndarray | None:
    """Return words such as 2024-12-31, 31.12.2024 or 12/31/2024 as dates; None for other words."""
    notations = ((_ISO_DATE, "ISO8601"), (_DOTTED_DATE, "%d.%m.%Y"), (_SLASHED_DATE, "%m/%d/%Y"))
    for pattern, notation in notations:
        if all(map(pattern.fullmatch, words)):
            words = pd.Series(words, dtype=object)
            times = pd.to_datetime(words, errors="coerce", format=notation, utc=True)
            return None if times.isna().any() else _utc_times(times)
    return None


def _utc_times(times: pd.Series) -> np.ndarray:
    """Return times in microseconds, because nanoseconds end in 2262."""
    if times.dt.tz is not None:
        times = times.dt.tz_convert("UTC").dt.tz_localize(None)
    return times.to_numpy("datetime64[us]")


def days_since_1970(times: pd.Series) -> np.ndarray:
    """Return dates as days since 1970, NaN where one is missing."""
    return (_utc_times(times) - np.datetime64(0, "us")) / np.timedelta64(1, "D")


def one_hot(frame: pd.DataFrame, path: Path) -> tuple[np.ndarray, list[str]]:
    """Return a table as numbers: a 0/1 column per category, named ``feature=value``, and dates as days.

    Two categories share a column: 1 for the second value, except that ``{1,0}`` keeps its meaning.
    """
    if is_numeric(frame):
        return as_numbers(frame), list(frame.columns)
    names: list[str] = []
    for name, dtype in zip(frame.columns, frame.dtypes, strict=True):
        values = dtype.categories if isinstance(dtype, pd.CategoricalDtype) else ()
        names += [f"{name}={value}" for value in values] if len(values) > 2 else [name]
    if len(set(names)) < len(names):
        raise DataFormatError("one-hot names such as 'feature=value' are taken. Rename the columns.", path)
    check_memory(8.0 * len(frame) * len(names), path, "one-hot columns")
    return np.hstack([_one_hot_column(frame[name]) for name in frame.columns]), names


def as_numbers(frame: pd.DataFrame) -> np.ndarray:
    """Return columns of numbers as one array in row order; float32 if all of them are."""
    is_single = (frame.dtypes == np.float32).all()
    return np.ascontiguousarray(frame.to_numpy(np.float32 if is_single else float, na_value=np.nan))


def _one_hot_column(column: pd.Series) -> np.ndarray:
    kind = column_kind(column)
    if kind != "categorical":
        numbers = days_since_1970(column) if kind == "date" else column.to_numpy(float, na_value=np.nan)
        return numbers[:, None]
    values = list(column.cat.categories)
    codes = column.cat.codes.to_numpy()[:, None]
    if len(values) <= 2:
        return np.where(codes < 0, np.nan, 1 - codes if values == ["1", "0"] else codes)
    return np.where(codes < 0, np.nan, codes == np.arange(len(values)))
