"""From a path to clean text, or a sentence on why it is none."""

import math
from pathlib import Path

from mlspl.datasets.compression import read_bytes
from mlspl.errors import DataFormatError, UserError

__all__ = ["parse_number", "read_lines", "read_text", "shorten"]

_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_text(path: Path) -> bytes:
    """The bytes of a UTF-8 text file, unpacked, without a byte-order mark, checked from end to end."""
    if not path.is_file():
        raise UserError(f"{path} is not a file. Check the name and the folder.")
    raw = read_bytes(path)
    if raw.startswith(_UTF_16_MARKS):
        raise DataFormatError("the file is UTF-16. Save it as UTF-8.", path, 1)
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if not raw or raw.isspace():
        raise DataFormatError("the file is empty. Was the download or the copy cut short?", path)
    if (junk := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, junk) + 1
        raise DataFormatError("a zero byte: this is no text file. Was it compressed or damaged?", path, line)
    if not raw.isascii():
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            message = (
                f"byte 0x{raw[error.start]:02x} is not UTF-8. Save the file as UTF-8 (Excel: CSV UTF-8)."
            )
            raise DataFormatError(message, path, line) from None
    return raw


def read_lines(path: Path) -> bytes:
    r"""`read_text` with every line ended by ``\n``, be it from Windows, an old Macintosh, or the last one."""
    text = read_text(path)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def parse_number(text: str) -> float:
    """The finite number a text spells, NaN for "nan"; ValueError for 1_000 and inf, which float() takes."""
    value = float(text)
    if "_" in text or math.isinf(value):
        raise ValueError(text)
    return value


def shorten(text: str) -> str:
    """As much of a text as an error message should quote."""
    return text if len(text) <= 40 else text[:39] + "…"
