"""Files as clean text: compression, encoding, format by first bytes, and a limit on memory."""

import bz2
import gzip
import math
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlspl._limits import available_memory
from mlspl.errors import DataFormatError, UserError, shorten

COMPRESSIONS = (".gz", ".bz2", ".zst")

# Text tables compress 20 to 50 times, sparse ones 100 times. A larger ratio is treated as an attack.
_LARGEST_RATIO = 300
_ALWAYS_ALLOWED = 2**26
_CHUNK = 2**24
_SNIFFED = 2**16
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_SVMLIGHT_ROW = re.compile(rb"# mlspl |\s*(\d+\s+\d+\s+\d+\s*$|(-?\d+(,-?\d+)*)?\s*\d+:\S)", re.MULTILINE)
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}


def data_suffix(path: Path) -> str:
    """Return the suffix of the format in lower case: ``.csv`` for songs.CSV.gz."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSIONS else suffix


def data_stem(path: Path) -> str:
    """Return the file name without the suffixes of format and compression."""
    return Path(path.stem).stem if path.suffix.lower() in COMPRESSIONS else path.stem


def require_file(path: Path) -> None:
    """Raise an error if there is no such file."""
    if not path.is_file():
        raise UserError(f"{path} is not a file. Check the name and the folder.")


@contextmanager
def explain_damage(path: Path, what: str) -> Iterator[None]:
    """Turn whatever error a decoder raises about damaged bytes into a `DataFormatError`."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        reason = shorten(" ".join(str(error).split()), 100)
        raise DataFormatError(f"this is not {what} ({reason}). Is it complete?", path) from error


def check_memory(n_bytes: float, path: Path, what: str) -> None:
    """Refuse memory above 300 times the size of a file, 67 MB and ``MLSPL_MEMORY``."""
    is_file = path.is_file()
    limit = max(_ALWAYS_ALLOWED, _LARGEST_RATIO * path.stat().st_size) if is_file else 0.0
    if not is_file or os.environ.get("MLSPL_MEMORY"):
        limit = max(limit, available_memory())
    if n_bytes > limit:
        message = (
            f"{what} would take more than {limit / 1e6:.0f} MB of memory, too much for a file of this size. "
            "If you trust the file, set MLSPL_MEMORY to the bytes that may be used."
        )
        raise DataFormatError(message, path)


def check_archive(path: Path, what: str) -> None:
    """Refuse a ZIP archive whose members expand to too much, or to another size than they announce."""
    size = 0
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two members have the same name")
        for member in members:
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("a member is compressed in an unusual way")
            stop = size + member.file_size
            member.file_size = 2**62  # zipfile reads to the end of the member, whatever it announces
            with archive.open(member) as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    check_memory(size, path, what)
            if size != stop:
                raise ValueError("a member has another size than it announces")


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, decompressed if its suffix names a compression."""
    suffix = path.suffix.lower()
    return _decompress(path, suffix) if suffix in COMPRESSIONS else path.read_bytes()


def _decompress(path: Path, suffix: str) -> bytes:
    chunks, size = [], 0
    with explain_damage(path, "a file that can be decompressed"):
        for chunk in _zstandard_chunks(path) if suffix == ".zst" else _decompressed_chunks(path, suffix):
            chunks.append(chunk)
            size += len(chunk)
            check_memory(size, path, "the decompressed content")
    return b"".join(chunks)


def _decompressed_chunks(path: Path, suffix: str) -> Iterator[bytes]:
    with gzip.open(path) if suffix == ".gz" else bz2.open(path) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _zstandard_chunks(path: Path) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise UserError('.zst needs zstandard, which is not installed: pip install "mlspl[zst]"') from None
    raw = path.read_bytes()
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**27)
    while raw:
        frame = decompressor.decompressobj()
        start = 0
        # Small inputs, because four bytes can stand for a block of 128 KiB.
        while not frame.eof and start < len(raw):
            yield frame.decompress(raw[start : start + 2**11])
            start += 2**11
        if not frame.eof:
            raise EOFError("it ends within a frame")
        raw = frame.unused_data + raw[start:]


def decode_text(raw: bytes, encoding: str, path: Path) -> bytes:
    """Return text of another encoding as UTF-8."""
    try:
        return raw.decode(encoding).encode()
    except LookupError:
        raise UserError(f"there is no encoding {encoding!r}. Common ones: cp1252, latin-1, utf-16.") from None
    except (UnicodeError, AttributeError) as error:
        raise DataFormatError(f"this is not {encoding} ({error}). Name its encoding.", path) from None


def read_text(path: Path, encoding: str | None = None) -> bytes:
    """Return the text of a file as UTF-8, decompressed, checked, and without a byte-order mark."""
    require_file(path)
    raw = read_bytes(path)
    if encoding is not None:
        raw = decode_text(raw, encoding, path)
    if raw.startswith(_UTF_16_MARKS):
        message = "the file is UTF-16. Save it as UTF-8, or pass encoding='utf-16' (--encoding utf-16)."
        raise DataFormatError(message, path, 1)
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    if not raw or raw.isspace():
        raise DataFormatError("the file is empty. Check whether the download or the copy is complete.", path)
    if (zero := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, zero) + 1
        raise DataFormatError("a zero byte: this is not a text file. Is it compressed?", path, line)
    if not raw.isascii():
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            message = (
                f"byte 0x{raw[error.start]:02x} is not UTF-8. Save the file as UTF-8 (Excel: CSV UTF-8), or "
                "name its encoding, perhaps encoding='cp1252' (--encoding cp1252)."
            )
            raise DataFormatError(message, path, line) from None
    return raw


def read_lines(path: Path, encoding: str | None = None) -> bytes:
    r"""Return `read_text` with every line ended by ``\n``, including the last one."""
    text = read_text(path, encoding)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text if text.endswith(b"\n") else text + b"\n"


def guess_suffix(path: Path) -> str:
    """Return the suffix that fits the first bytes of a file: ``.csv``, ``.arff.gz`` and the like."""
    with path.open("rb") as stream:
        start = stream.read(_SNIFFED)
    for magic, compression in _MAGIC.items():
        if start.startswith(magic):
            return _guess_format(_decompress(path, compression)[:_SNIFFED]) + compression
    return _guess_format(start)


def _guess_format(start: bytes) -> str:
    if start.startswith(b"PAR1"):
        return ".parquet"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"@", b"%"):
        return ".arff"
    if text[:1] == b"{":
        return ".jsonl"
    return ".svm" if _SVMLIGHT_ROW.match(text) else ".csv"


def is_number(text: str) -> bool:
    """Return whether a text is a finite number, or "nan"; not 1_000, which Python reads."""
    try:
        return "_" not in text and not math.isinf(float(text))
    except ValueError:
        return False
